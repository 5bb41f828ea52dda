// Package multilevel is a multilevel k-way partitioner: it divides a graph into parts of equal weight
// with few edges between them.
//
// Partition makes a series of ever smaller graphs. Each level clusters its nodes by label propagation
// and contracts each cluster to a node. The smallest level is divided several times by recursive
// bisection. These starts are crossed with each other, and the best is projected back through the
// levels and refined on each: many nodes move at once, regardless of the caps, then the parts are
// rebalanced (after Jet, Gilbert et al. 2023). The cost of relieving a part becomes its price, which
// later moves into it pay. Small levels are also searched node by node. The preset high refines the
// result again over additional levels.
//
// In graphs with hubs and without communities, filling the parts in the order of falling degree is a better start: it is refined on
// the given graph and taken if it cuts at least 3 % less.
//
// Every random choice is a function of the random seed. Parallel work is cut into blocks that do not
// depend on the number of threads, and sums do not depend on their order. So equal graphs, options
// and seeds give equal parts at any number of threads.
//
// Large arrays are allocated outside the heap (extsort.Slab) and released level by level.
package multilevel
