// Package outofcore is a multilevel k-way partitioner for graphs whose rows lie on disk.
//
// Partition reads the rows in passes, in the order of the nodes, and holds a few bytes per node. On the way down it
// clusters the nodes by label propagation under a bound of the weight of a cluster, and contracts each cluster to a node
// by an external sort of the pairs between clusters, until the graph fits the memory. Package multilevel divides this
// core. On the way up the parts are projected level by level and refined in passes (price passes, then a plain one):
//
//   - A plain pass moves a node to the part with most of its neighbours that has room.
//   - In a price pass a part that has no room for a node that wants to join becomes more expensive. Its own nodes pay the
//     price too, so those leave it that gain the least from being there.
//
// The best division after any pass is kept. A second start fills the parts in the order of falling degree, which is better
// on graphs with a dense centre and many nodes outside of it; it is refined too as long as it may win, and the smaller cut
// is the result.
//
// Semi-external label propagation is by Akhremtsev, Sanders and Schulz (2014).
//
// The result depends on the graph, the options and Memory, which decides on the size of the core. It does not depend
// on Threads: passes are done by one goroutine, and multilevel is deterministic.
//
// What is held at once, for n nodes with c weights: 4 bytes per node for its cluster, and if c > 1, 4c bytes more; or 2 x 2 bytes
// for two divisions; in addition the given weights, and 12 MiB of buffers. Coarser levels have fewer nodes. The rest of
// Memory holds pairs that are sorted, or the core. Large arrays are allocated outside the heap and released level by level.
package outofcore
