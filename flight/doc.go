// Package flight serves sampled batches to trainers on other machines, over Arrow Flight. The batches
// equal those that package internal/feed puts into shared memory.
//
// # Protocol
//
// A Request is JSON and selects a stream: the batches of an epoch from a given batch on, for one rank of
// several; or one batch of given seeds. It is the ticket of DoGet, and the command of a descriptor for
// GetFlightInfo and GetSchema. A batch is a record batch of one row. Each column is a list; its values
// are the rows of the feed's column, one after another. The metadata of a field has the dtype and the
// shape of a row, the metadata of the schema (key "graphmill") describes the epoch, and the metadata of
// each message has the number of its batch. docs/flight.md describes the protocol byte by byte.
//
// # Bounds
//
// At most Options.Threads batches are made at a time, over all streams, each in memory of its thread.
// A stream holds at most nine batches, and two more that are being sent. There are at most
// Options.Streams streams; further ones are rejected, not queued. A trainer that does not read stops
// its own stream (gRPC's flow control) and no other. A batch of more than Options.MaxMessage bytes is
// an error before its columns are allocated. A connection must finish its greeting, and a call must send its request, within
// a time; a connection without calls and a stream whose trainer takes nothing end.
//
// # Trust
//
// The server encrypts and requires a token if its Options say so. Listen rejects an address that other
// machines reach if either is missing. Requests are not trusted: the answer to any request is a batch or
// an error with a gRPC status. The token is checked before the request is read. Options.Log gets the address of each client
// that was refused or cut off, and the reason.
//
// It is a module of its own, so that the main module has few dependencies.
package flight
