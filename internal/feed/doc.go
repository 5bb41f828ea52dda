// Package feed hands sampled batches to other processes through shared memory: the
// live end of the product, which the Python client's loaders start and stop.
//
// A Server samples a plan on a store, joins the columns asked for, and fills the slots of a
// ring, one ring a connection. A client maps the ring and reads batches where they lie.
// docs/format-feed.md gives every byte. A Source says what batches are made of, and its Makers
// make them: for the ring, or for whoever hands them on in another form.
//
// # Life cycle
//
// The server is started with one end of a socket pair, the lifeline. It writes one JSON line there:
// where to connect, or why it could not start. The end of the lifeline is the end of the
// server, whatever else happens: an owner that was killed leaves no process and no
// memory behind. Rings are anonymous memory, which is gone with its last map.
//
// # Flow
//
// A consumer (a process, a DataLoader worker, a rank) has a connection of its own.
// START asks for an epoch; batches come in order, each in a slot that the client leases until it sends
// RELEASE. No free slot means waiting: that is all the back-pressure there is, and what bounds
// memory. A batch that is larger than a slot comes in a memory of its own (JUMBO), and
// leases a slot all the same. SAMPLE asks for a batch of given seeds.
//
// The package imports batch, graph, sample, internal/direct and golang.org/x/sys, and runs on Linux.
package feed
