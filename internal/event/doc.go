// Package event hands out the edges of a graph as events: in the order of their times, in batches, each with the neighbours that the ends
// of its events had before. Training with a memory of nodes (TGN) and dynamic link prediction read graphs in this way.
//
// # The order
//
// The events are all edges of the chosen types, which have a column of times. They are ordered by time, then by type in the order of the
// graph, then by their row in the imported input. The number of an event is its place in this order, from 0. Nodes of all types share one
// numbering too: those of the first type come first, in the order of the graph.
//
// # Batches
//
// Some or all of the events are chosen; the neighbours of a batch are of all events. A batch is Size chosen events in order, or
// those in one window of time: the windows begin at the multiples of their width, and windows without events have no batch.
//
// # Neighbours
//
// An event is an entry of both of its ends: of the source with the destination as neighbour, and the other way round. An event of a node
// with itself is two entries. The roots of a batch are the sources of its events, then their destinations, then the negatives. What a root
// has are the latest Neighbours entries of its node, latest first; where an event joins a node with itself, the entry of the destination
// counts as the later of the two. Which of its entries count says History:
//
//   - BeforeEvent: those of events whose time is below the time of the root's event. So no batch shows anything of its own moment, and
//     the neighbours of an event do not depend on the batch that it is in.
//   - BeforeBatch: those of events before the first event of the batch. Each node of the roots is one root, whatever it is the end of.
//   - LikePyG: BeforeBatch, as PyG's LastNeighborLoader keeps them: where a batch has more than Neighbours entries of a node, it
//     keeps the last Neighbours of the list of those as destination, followed by those as source. Batches are counted from the
//     first chosen event, and before it from event 0.
//
// # Negatives
//
// Negative j of event e is a node between the least and the greatest destination of the event's type: lo + draw.Below(draw.At(h, j),
// hi - lo + 1), where h absorbs e into draw.Key(seed, epoch, negativeWord). So it depends on no batch.
//
// The law is testdata/reference.py, which the tests compare with.
package event
