// Package flight hands sampled batches to trainers on other machines, over Arrow Flight: the same
// batches as package feed puts into shared memory.
//
// # What goes over the wire
//
// A Request is JSON and names a stream: an epoch, from a batch on, for a rank of so many; or one
// batch of given seeds. It is the ticket of DoGet, and the command of a descriptor for GetFlightInfo and
// GetSchema. A batch is a record batch of one row: each column is a list, whose values are the rows of the
// feed's column one after the other. The field's metadata has the dtype and the shape of a row,
// the schema's what an epoch has (key "graphmill"), and the metadata of each message the number of its batch.
// docs/flight.md says it byte for byte.
//
// # Bounds
//
// At most Options.Threads batches are made at a time, over all streams, each in memory of its
// thread. A stream holds at most nine batches, and two more on their way to the connection; there are
// at most Options.Streams streams: what is more is refused, not queued. A trainer that does not
// read stops its stream (gRPC's flow control) and no other. A batch of more than Options.MaxMessage
// bytes is an error before memory is taken for its columns.
//
// # Trust
//
// The package encrypts and asks for a token where its Options say so; Listen refuses an address
// that other machines reach without both. Requests are not trusted: whatever they say, the answer is a batch
// or an error of the gRPC status.
//
// The package imports feed and what is below, arrow-go and grpc. It is a module of its own, so that
// the main one stays light.
package flight
