// Package feed hands sampled batches to other processes through shared memory. The loaders of the Python client start
// and stop it.
//
// Serve samples a plan on a store, joins the columns asked for, and fills the slots of a ring, one ring per
// connection. A client maps the ring and reads batches in place. docs/format-feed.md describes every byte. A Source has
// the seeds, the plan and the columns of batches. Its Makers make batches, for the ring or for a caller that hands them
// on in another form.
//
// # Streams
//
// Of a source that is made by NewStreamed, a Stream makes the batches of one consumer, in order, by sweeps of the stream
// executor (RunStream): the bytes equal the bytes of Makers. While the batches of a window are taken, the next window is swept.
// Rows of columns come from the tables of the executor, not from the map of the store (fetched). Each connection has a
// stream of its own, and they share the memory (streams).
//
// # Life cycle
//
// The server is started with one end of a socket pair, the lifeline of its first owner. Others, the ranks of a training
// on one machine, can join, with a lifeline each. The server writes one JSON line to every lifeline: the address to
// connect to, or why it could not start. It ends when the other ends of all lifelines are closed, for any reason. So
// owners that are killed leave no process and no memory behind, and none of them ends what others use. Rings are
// anonymous memory, which is freed with its last map.
//
// # Flow
//
// Each consumer (a process, a DataLoader worker, a rank) has a connection of its own. START asks for an epoch. Batches
// come in order, each in a slot that the client leases until it sends RELEASE. Without a free slot the server waits,
// which bounds the memory. A batch that is larger than a slot comes in memory of its own (JUMBO), and still leases a
// slot. SAMPLE asks for a batch of given seeds.
//
// It runs on Linux and macOS, where packets are framed in a stream (packets_other.go).
package feed
