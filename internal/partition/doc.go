// Package partition divides the nodes of a graph into parts, for training on
// several machines, and measures the division.
//
// Run takes a store, Divide a graph in memory (a METIS file). Either
//
//  1. makes the graph that is cut: undirected, simple, all types in one (package
//     undirected); rows that do not fit the memory lie in a temporary file;
//  2. weighs the nodes: each thing that is to be spread evenly is a constraint
//     (Balance), by default the nodes of each type;
//  3. divides, by a Method: multilevel (package multilevel), fennel (package fennel),
//     random, hash, or the assignment of another program; where types are spread, multilevel and
//     fennel give every part a node of each type that has enough of them;
//  4. measures: the cut, the volume, the balance of each constraint, and what a random
//     division would be expected to have.
//
// The result is a function of the graph and the options but Threads and Memory, as
// long as the method is the one asked for: where multilevel does not fit the
// memory, fennel takes its place, which Result says.
//
// The package imports its subpackages, store, graph, draw and internal/*.
package partition
