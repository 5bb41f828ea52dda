// Package sample turns a graph and a plan into subgraphs: the plan, the kernel, and
// the executor that runs it over many batches in memory.
//
// # The law
//
// Every draw is a pure function of (seed, epoch, scope, batch or seed, op, node)
// and its number: see package draw. So a subgraph is the same at any number of
// threads, on any rank and after any restart. testdata/reference holds the law
// as two small Python programs; the tests compare every node, edge and order
// with them.
//
// # The plan
//
// A Plan is a list of ops over the seed nodes. Op 0 visits the seeds; an op
// expands a frontier (the nodes that earlier ops reached) along one edge type in
// one direction and takes some edges of each node. Fanout lists compile to it
// (FromFanouts), and its JSON is what a plan file holds (ParsePlan).
//
// # From a plan to subgraphs
//
//	s, err := sample.New(g, plan, sample.Options{})   // compiles; s is shared
//	c := s.NewContext()                               // buffers of one goroutine
//	sub, err := c.Sample(sample.Input{Seeds: ids, Unit: batch, Seed: 42, Epoch: 0})
//
// Run does this over a whole epoch with several workers, in order.
//
// # Ownership
//
// A Subgraph belongs to its Context and is valid until that context's next
// Sample: encode or copy it before. A Sampler reads the graph's slices for as
// long as it lives, so close it before what the graph is mapped from; Close must
// not run beside Sample.
//
// # Limits
//
// Ids are 32-bit: a node type or an edge type with 2^32 or more members is
// refused by New (ErrTooLarge). A subgraph holds fewer than 2^31 nodes of a
// type.
//
// The package imports draw, graph, format/example (for the small floats),
// internal/direct (for memory), internal/prefetch, internal/tagged and x/sys, and does
// no file I/O.
package sample
