// Package draw is the law of randomness: every random choice of the product is a
// pure function of a seed and a list of words, and any one can be asked for on its
// own.
//
// A state is 64 bits: Key(seed, words...) absorbs the words one after the other, and
// At(h, j) is draw number j of state h. What the words are is said where draws are used; the
// first is the epoch, the second what the draw belongs to. Order is the
// shuffled order of n items that a state gives: what loaders walk through. RMAT is a
// graph made of draws alone.
//
// Version is the number of the law. Outputs record it in graph.json, or made.json, as "law"; states of
// loaders and checkpoints of another version are refused, as they would go on in another order.
//
// The reference in Python (testdata/reference of package sample) defines the law;
// vectors.json there holds values of it.
//
// The package imports the standard library alone.
package draw
