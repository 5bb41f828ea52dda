// Package draw is the law of randomness. Every random choice of the product is a pure function of a random seed and a
// list of words, and any choice can be computed on its own.
//
// A state is 64 bits. Key(seed, words...) absorbs the words one after the other, and At(h, j) is draw number j of state
// h. The code that draws defines the words. The first is the epoch, the second says what the draw belongs to. Order is
// the shuffled order of n items that a state gives, in which loaders take them. RMAT is a graph made of draws alone.
//
// Version is the number of the law. Outputs record it as "law" in graph.json or made.json. States of loaders and
// checkpoints of another version are refused, because they would continue in another order.
//
// The reference in Python (internal/sample/testdata/reference) defines the law; its vectors.json holds values of it.
package draw
