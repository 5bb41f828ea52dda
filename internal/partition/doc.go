// Package partition divides the nodes of a graph into parts, for training on several machines, and
// measures the division.
//
// Run divides a store, File a METIS file, Divide a graph in memory. Each
//
//  1. builds the graph to be cut: undirected and simple, all types together (package
//     internal/partition/undirected); its rows go to a temporary file if they do not fit the memory;
//  2. weighs the nodes: each quantity to be spread evenly is a constraint (Balance), by default the
//     number of nodes of each type;
//  3. divides the nodes by a method: multilevel, fennel or ranges (packages of these names), random,
//     hash, or the assignment of another program. Unless Balance.TypesTogether is set, multilevel,
//     fennel, ranges and random give every part a node of each type that has enough of them;
//  4. measures the cut, the volume and the balance of each constraint, and computes the values
//     expected of a random division.
//
// With Options.Elsewhere, workers of a cluster (package internal/partition/cluster) do 1 and 3 of a store, by ranges. Run then does the
// rest from the rows that they wrote.
//
// The result depends on the graph and the options, but not on Threads. It depends on Memory only if
// multilevel does not fit it, or has too many edges to hold: it then runs out of core (package
// internal/partition/outofcore), and Result.OutOfCore and a note say so; and if ranges has more clusters
// than fit it, which a note says, too.
package partition
