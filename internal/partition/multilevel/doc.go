// Package multilevel divides a graph into parts of equal weight between which few
// edges run: a multilevel k-way partitioner.
//
// Partition makes a series of ever smaller graphs. Each level clusters its nodes by label
// propagation and contracts each cluster to a node. The smallest level is divided by
// recursive bisection, several times over. These starts are crossed with each other, and
// the best is carried back through the levels and refined on each: synchronous moves of
// many nodes at once, unconstrained by the caps, then rebalancing (after Jet, Gilbert et al.
// 2023). What it cost to relieve a part becomes its price, which later moves into it pay.
// Small levels are then searched node by node. The preset high refines the result over
// levels of its own.
//
// Every random choice is a function of the seed. Work that runs in parallel is
// cut into blocks that do not depend on the number of threads, and sums do not depend on
// their order, so that equal graphs, options and seeds give equal parts at any
// number of threads.
//
// Large arrays lie outside the heap (extsort.Slab) and are given back level by
// level.
//
// The package imports partition/undirected, internal/extsort and the standard library.
package multilevel
