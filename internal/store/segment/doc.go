// Package segment merges the edges of a store that grew: of its base, and of the segments that were appended to it.
//
// # The law
//
// The base lists the edges of each near node in the order of the input. A segment changes the list of a node in two steps: it drops the edges at
// some places of the list, counted from 0 among those that were left, and then adds its own edges at the end, in the order of its input. The list of
// a node in the snapshot after segment k is the base's, changed by the segments 1 to k in order. The id of an edge is its place in the lists of all nodes, one
// after the other. So the lists, the ids and every draw are those of a store that was imported at once from all tables without the dropped edges.
// The reference is merge in the tests of this package: it does that and nothing else.
//
// # The form
//
// Lists of later segments are sparse: they name the nodes that they change. Runs gives the merged lists as runs of edges of one part, in order, so that any array with a
// row per edge is merged by copies of runs. Start finds the id of a node's first edge without those before it, so that ranges of nodes are merged by
// several goroutines.
package segment
