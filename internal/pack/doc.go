// Package pack puts many small graphs into few packs of one fixed shape.
//
// # Input
//
// A Histogram says how many graphs there are of each shape: the sizes of a graph
// in one to seven components (nodes, edges, triplets, ...). A Problem adds the
// limits of a pack, one a component, and how many graphs a pack may have; the
// number of graphs is one more component, of which every graph takes 1. All
// algorithms work on the histogram: a thousand million graphs of a few hundred
// shapes are a few hundred numbers.
//
// # Output
//
// A Packing lists patterns, each with the number of packs that are filled so.
// Check says whether it deals every graph exactly once and keeps the limits; every
// packing that leaves this package has been checked.
//
// # Algorithms
//
// Solve runs a portfolio and keeps the best: a bin-centric search, which fills one
// pack after the other (mbs.go), modes of it for graphs drawn at random (mix.go),
// for few large graphs (balance.go) and for packs whose number of graphs binds
// (card.go); then, beside each other (slow.go), column generation for the linear
// program over patterns (colgen.go, lp.go, inverse.go) and ruin and recreate
// (ruin.go). LongestFirst is the algorithm of Krell et al. ("Tuple Packing", 2022),
// to the digit; FirstFit, BestFit, NextFit and None are what else people do.
// Stream packs graphs of which it sees a few at a time.
//
// Graphs of no size in any component, such as single atoms where only edges are
// limited, are left out of all this but of NextFit and None, and then dealt to the packs
// of the fewest graphs (nosize.go): they take a pack of their own only where the cap
// leaves no place.
//
// Work is counted in steps, not in seconds, so that a result does not depend on
// the machine, its load or the number of threads.
//
// # Bounds
//
// Bound proves that no packing has fewer packs. It is safe against floating
// point: duals of the linear program are rounded to integers, and what they prove
// is computed in integers, so a sloppy simplex gives a weak bound, never a false one.
//
// The package imports the standard library, xxh3, internal/tagged and
// internal/vector.
package pack
