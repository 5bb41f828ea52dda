// Package dispatch writes the parts of a partitioned graph in DGL's distributed format:
// the output of dgl.distributed.partition_graph, or of dispatch_data.py for a chunked
// graph and an assignment.
//
// The inputs are a store and an assignment (package internal/partition/assign). The output folder has
//
//	<graph name>.json, metadata.json    the configuration, twice
//	part<p>/graph.dgl                   nodes and edges of the part and its halo
//	part<p>/node_feat.dgl, edge_feat.dgl    columns of the nodes and edges that the part owns
//	part<p>/orig_nids.dgl, orig_eids.dgl    the store's ids, on request
//
// # Content of a part
//
// Nodes get new ids in the order of (part, type, id), edges in the order of (part, edge type, new id
// of the destination, edge id). A part owns the edges into its nodes. Types are numbered in byte
// order of their names. A part lists the nodes that it owns and then its halo nodes, and the edges
// that it owns and then its halo edges, each by ascending new id.
//
// Options.Hops and Options.Leaving define the halo:
//
//	hops 0 and 1    the in-edges of owned nodes, which are the owned edges, and their sources
//	hops h > 1      also the in-edges of all nodes that fewer than h in-edges reach, and their sources
//	Leaving         also, for h >= 1, the edges from owned nodes to others, and their destinations
//
// With Leaving the parts equal the parts of partition_graph, and without it the parts of DGL's dispatch.
// (partition_graph with num_hops 0 drops the edges between parts and then fails. This package keeps
// them, because a part without the in-edges of its nodes cannot be used for training.)
//
// A part that owns no row of a type has features of 0 rows for it. DGL loads them, but its server
// cannot map them and does not start; Report.Gaps lists these types and parts.
//
// Original ids of nodes are type-wise ids of the store. Those of edges are the column
// #input_position, or the edge ids where the store has no such column, or where edges share a
// position, as an edge and its reverse do. Columns of strings or with
// rows of variable length cannot be tensors; Report.LeftOut lists them. PyTorch has no unsigned
// types but uint8, so uint16 becomes int32 and uint32 int64; a uint64 must fit an int64. A bool is
// stored as uint8, as DGL stores it (its server maps no bools). The configuration lists the bools,
// so that import restores them.
//
// # Method
//
// Where the store lists in-edges, the graph is not sorted. A first pass counts the edges and marks
// the halo of each part in a bitmap, whose ranks are the local ids. Then all sizes are known, and a
// second pass writes every array at its offset, front to back. Each column is read once, in order.
// All parts are written together, or as many at a time as the memory allows. The output does not
// depend on the number of threads or the memory. In-edges that the store does not list are first
// written to a temporary file, and the columns of such edges are read row by row, out of order. A
// large graph should therefore be imported by destination.
//
// Other processes can make the parts (Maker), from what Count counted. Each segment of the store then gives records for parts,
// bytes of files with their offsets, by the code that writes the files here. The graph of a part follows from the lists of
// its edges, which fit the memory of a process. Package internal/dispatch/cluster runs this on an engine.
//
// Node ids take 32 bits. The memory bound holds, except for a node whose in-edges of one type that
// is stored by source exceed it alone.
package dispatch
