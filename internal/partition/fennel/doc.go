// Package fennel divides a graph into parts while it streams the rows. It needs a few bytes of memory
// per node and is meant for graphs whose neighbours do not fit the memory.
//
// Each node goes to the part that has most of its neighbours, minus a penalty that grows with the
// load of the part (Tsourakakis and others: FENNEL, WSDM 2014). The package differs in two points:
//
//   - A node that is not yet placed is remembered with the part to which its last neighbour went, and
//     counts there by half. So nodes that share a neighbour but are not neighbours themselves, such as
//     the files of a directory, stay together.
//   - Further passes stream the nodes again, when all parts are known, with a steeper penalty: parts
//     below the mean attract nodes, and no part stays at its cap, where no node could move into it.
//
// The result depends only on the graph and the options. One goroutine does the work. No part exceeds
// its caps as long as each node finds a part with room.
package fennel
