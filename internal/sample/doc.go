// Package sample turns a graph and a plan into subgraphs. It has the plan, the kernel, and the memory executor, which
// runs the kernel over many batches.
//
// # The draw law
//
// Every draw is a pure function of (random seed, epoch, scope, batch or seed, op, node) and its number: see package
// draw. So a subgraph is the same for any number of threads, on any rank and after any restart. testdata/reference
// holds the law as two small Python programs. The tests compare every node, edge and order with theirs.
//
// # The plan
//
// A Plan is a list of ops over the seeds. Op 0 visits the seeds. An op expands a frontier (the nodes that earlier ops
// reached) along one edge type in one direction, and takes some edges of each node. Fanout lists compile to a plan
// (FromFanouts). ParsePlan reads the JSON of a plan.
//
// Op 0 visits the ends of link seeds, and the ends of their negatives (Plan.Negatives), which it draws first. What Before and
// Exclude keep out of a subgraph is taken out of the list of a node before an op draws from it. Plan.Kind adds edges after
// the last op, and changes no draw.
//
// # Strategies
//
// How an op takes edges is its strategy (How). Each strategy is a file: what it is called, which columns and parameters an op may have,
// what it needs in memory, how it is compiled, and the drawer that draws (see strategy). The rest of the package knows an op by its traits.
//
// A drawer draws the edges of a node, given those that the op may take; so times and exclusions are no part of it. It may also draw a block
// of nodes at once (blockDrawer), look at all nodes of the op first (preparer), or reach nodes without edges (nodeReacher). The stream
// executor and the workers of a cluster draw with the same drawers: Context.Frontier, Draw and Take.
//
// # From a plan to subgraphs
//
//	s, err := sample.New(g, plan, sample.Options{})   // compiles; s is shared
//	c := s.NewContext()                               // buffers of one goroutine
//	sub, err := c.Sample(sample.Input{Seeds: ids, Unit: batch, Seed: 42, Epoch: 0})
//
// Run does this over whole epochs with several workers, and hands on the batches in order.
//
// # Ownership
//
// A Subgraph belongs to its Context and is valid until the next Sample of the context: encode or copy it before. A
// Sampler reads the slices of the graph as long as it lives, so close it before the files that the graph is mapped
// from. Close must not run at the same time as Sample.
//
// # Limits
//
// Ids of nodes have 32 bits: New refuses a node type with 2^32 or more members (ErrTooLarge). Positions and ids of edges
// have 32 bits where the edge type has at most limits.Positions edges, else 64: the type is wide. A node has fewer than
// 2^32 - 1 edges of a type, and a subgraph fewer than 2^31 nodes of a type.
//
// The package reads and writes no files.
package sample
