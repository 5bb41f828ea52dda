// Package audit verifies partitioned graphs: every node, edge and row of features must be there
// exactly once and in its place, whichever program wrote the parts.
//
// # Checks
//
//   - the configuration: its types, consecutive ranges, files;
//   - each part: owned nodes come first, then halo nodes, each once and each the end of an edge; ids,
//     types and owners agree with the ranges. The same holds for edges, which the owner of their
//     destination owns;
//   - COO, CSC and CSR have the same edges;
//   - halo edges equal the same edges in their owners, and the halo is complete: it has the in-edges of all
//     nodes that fewer than halo_hops in-edges reach, and no other edges but those from owned to
//     other nodes. All parts have the latter (partition_graph), or none has (DGL's dispatch);
//   - features have one row per node or edge that the part owns, and the same dtype and shape in all
//     parts; bools are 0 or 1;
//   - each original id occurs once;
//   - on request, edges and features equal a store's.
//
// A type with features of which a part owns nothing is noted: such a part is whole, but DGL's server
// does not start with it.
//
// # Memory
//
// Files are mapped, and Options.Threads parts are read at a time. For each of these, Verify holds bitmaps
// of all nodes and edges. It holds 4 bytes per node for more than one hop. Of parts without COO it holds
// 1/16 byte per edge, or 8 bytes where edges are not in the order of their ids. When it compares with a
// store, it holds 1/16 byte per edge of one type at a time, and 4 or 8 bytes more where edges have
// positions in an input.
package audit
