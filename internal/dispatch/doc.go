// Package dispatch writes the parts of a divided graph in DGL's distributed format:
// what dgl.distributed.partition_graph leaves behind a partitioner, and what
// dispatch_data.py makes of a chunked graph and an assignment.
//
// Input are a store and an assignment (package partition/assign). The output folder has
//
//	<graph name>.json, metadata.json    the configuration; equal
//	part<p>/graph.dgl                   nodes and edges of the part and its halo
//	part<p>/node_feat.dgl, edge_feat.dgl    columns of what the part owns
//	part<p>/orig_nids.dgl, orig_eids.dgl    the store's ids, on request
//
// # What a part holds
//
// Nodes are counted anew by (part, type, id), edges by (part, edge type, new id of the
// destination, edge id); an edge is owned with its destination. Types are numbered in
// byte order of their names. A part lists the nodes that it owns and then its halo, the edges that
// it owns and then those of the halo, each by ascending new id.
//
// The halo follows from the hops and from what leaves the part:
//
//	hops 0 and 1    the in-edges of owned nodes, which are the owned edges, and their sources
//	hops h > 1      and the in-edges of all nodes reached by fewer than h of them, and their sources
//	Leaving         and, for h >= 1, the edges from owned nodes to others, and their destinations
//
// With Leaving the parts are those of partition_graph, without it those of DGL's dispatch.
// (partition_graph with num_hops 0 drops the edges between parts and then fails; hops 0 keeps
// them here, since a part without the in-edges of its nodes can be trained on by nobody.)
//
// A part that owns no row of a type has features of 0 rows for it. DGL loads them, but its server
// cannot map them and does not start: Report.Gaps names these types and parts.
//
// Original ids are type-wise ids of the store for nodes, and for edges the
// column #input_position where there is one, else the edge id. Columns of strings or with variable rows
// cannot be tensors; they are left out and named. uint16 becomes int32 and uint32 int64, for
// PyTorch has no such types; a uint64 must fit an int64. A bool is written as uint8, as DGL does it
// (its server maps no bools), and the configuration names it, so that import gives the bool back.
//
// # How
//
// Nothing of the graph is sorted where the store lists in-edges: a first pass
// counts and marks the halo of each part in a bitmap, whose ranks are local ids; then all
// sizes are known and a second pass writes every array in its place, front to back. Columns
// are streamed once. Parts are made all at once, or as many at a time as the memory allows. The
// bytes depend on neither threads nor memory. In-edges that the store does not list are
// made in a temporary file first, and columns of such edges are read row by row, in no order:
// a large graph is better imported by destination.
//
// Ids of nodes take 32 bits. The memory bound holds for everything but a node whose in-edges, of a
// type that is stored by source, exceed it alone.
//
// The package imports graph, store, partition/assign, dispatch/parts, format/dgl, internal/* and the
// standard library.
package dispatch
