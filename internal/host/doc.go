// Package host divides a store among processes on several machines: each hosts a range of the nodes of every type, and draws edges and reads rows
// for loaders elsewhere. A loader asks all hosts, and its batches equal those of one process that has the whole store.
//
// # Ranges
//
// Host i of n has the nodes Bounds(count, n)[i] to Bounds(count, n)[i+1] of each type, the edges of these nodes in both directions that the store has, their
// rows of node columns, and the rows of edge columns of the edges that are stored with them. It refuses others, so what a host reads, and with it the
// memory that its pages take, is its share.
//
// # The law
//
// The edges that an op takes of a node are a function of the node's list and of the key of the subgraph (package draw), so the process that has the list draws
// them, and which one that is changes nothing. Sampling asks for a batch wave by wave (sample.Sampler.Waves): one question to each host for the ops of
// a wave, and then one for all rows. The ordinary kernel makes the subgraphs of the answers (sample.Context.SampleGiven).
//
// # Questions
//
// A question is a function of its bytes alone, so it can be asked again. Session asks a host that went away until it is back, for at most
// Options.Patience; a host with another store is refused. docs/format-hosts.md describes every byte.
//
// # Types
//
//   - Server answers on a listener; drawer has a plan of a loader, rows reads columns.
//   - Client knows the hosts of a loader. A Session is one connection to each of them.
//   - Sampling makes the subgraphs of batches, and Rows the rows of a batch, through a Session each.
//
// # Limits
//
// Plans are those whose ops need no other edges than the ones that they take (sample.Plan.CanGive). Directions that are followed are in the store.
package host
