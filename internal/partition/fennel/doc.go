// Package fennel divides a graph into parts while its rows stream by, in the
// memory of a few bytes a node: for graphs whose neighbours are not to be held.
//
// Each node goes to the part where the most of its neighbours are, less a penalty
// that grows with what the part holds already (Tsourakakis and others: FENNEL, WSDM
// 2014). Two things are done beyond that:
//
//   - A node that has not come yet is remembered under the part that its last
//     neighbour went to, and counts there by half. Nodes that share a neighbour but
//     do not know each other, such as the files of a directory, so stay together.
//   - Further passes stream the nodes again, all parts known, with a steeper penalty:
//     parts below the mean attract, and none stands at its cap, where nothing could
//     move into it.
//
// The result is a function of the graph and the options; one goroutine works. No
// part exceeds its cap where a node finds one that has room.
//
// The package imports partition/undirected and the standard library.
package fennel
