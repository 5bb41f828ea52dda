// Package pack packs many small graphs into few packs of one fixed shape.
//
// # Input
//
// A Histogram has the number of graphs of each shape. A shape is the sizes of a graph in one to seven
// components (nodes, edges, triplets, ...). A Problem adds the limits of a pack, one per component,
// and the largest number of graphs per pack. The number of graphs is one more component, of which
// every graph takes 1. All algorithms work on the histogram: a thousand million graphs of a few
// hundred shapes are a few hundred numbers.
//
// # Output
//
// A Packing lists patterns, each with the number of packs that are filled alike. Packing.Check checks
// that it deals every graph exactly once and keeps the limits. Every packing that this package
// returns has passed this check.
//
// # Algorithms
//
// Solve runs a portfolio and keeps the best packing. First it runs a bin-centric search, which fills
// one pack after another (mbs.go), with variants for random mixtures of graphs (mix.go), for few
// large graphs (balance.go) and for packs limited by their number of graphs (card.go). Then it runs,
// concurrently (slow.go), column generation for the linear program over patterns (colgen.go, lp.go,
// inverse.go) and ruin and recreate (ruin.go), which ends with swaps: exchanges of graphs that empty packs (swaps.go). The method dlpfhp is the algorithm of Krell et al.
// ("Tuple Packing", 2022), exactly. The other methods are baselines. Stream packs graphs of which it
// sees a few at a time.
//
// The linear program has a row per shape, or, if there are many, a row per group of similar shapes and one per
// component. The patterns that it needs next come from a table of all rooms (knapsack.go) if a pack has one or
// two components and the table is small, else from branch and bound in all components (branch.go).
//
// Of very many shapes, similar ones are first made equal, each as large as the largest, and the graphs are dealt
// to the places of the packing that results (coarse.go). Swaps of the graphs themselves then regain most of the room.
//
// Graphs of no size in any component, such as single atoms if only edges are limited, are left out by
// all methods but next-fit and none. Afterwards they are dealt to the packs with the fewest graphs
// (nosize.go). They take a pack of their own only if the cap leaves no place.
//
// Work is counted in steps, not in seconds, so that a result does not depend on the machine, its load
// or the number of threads.
//
// # Bounds
//
// Result.LowerBound is a proof that no packing has fewer packs. It does not depend on floating-point
// accuracy: the duals of the linear program are rounded to integers, and the bound is computed from
// these in integers. An inaccurate simplex gives a weak bound, never a false one. Nor does a branch and bound
// that is cut short: it bounds what it has not searched.
package pack
