// Package audit verifies partitioned graphs: that every node, edge and row of features
// is there exactly once and in its place, whoever wrote the parts.
//
// # What is checked
//
//   - the configuration: types, ranges that follow one another, files;
//   - of each part that the nodes it owns come first, then halo nodes, each once and
//     at the end of an edge; that ids, types and owners are those of the ranges; the
//     same of edges, which are owned with their destination;
//   - that COO, CSC and CSR have the same edges;
//   - that halo edges are those of their owners, and that the halo is complete: the in-edges of all
//     nodes that less than halo_hops in-edges lead to, and nothing else but the edges
//     from owned to other nodes, which are there in all parts (partition_graph) or in none (DGL's
//     dispatch);
//   - that features have a row for each that the part owns, bools 0 or 1, with the same dtype and shape in
//     all parts;
//   - that original ids are there once each;
//   - on request that edges and features are those of a store.
//
// The types with features of which a part owns nothing are noted: such parts are whole, but DGL's server does not
// start for them.
//
// # Memory
//
// Files are mapped, one part after another is read. What is held is bitmaps of nodes
// and edges, 4 bytes a node for more than one hop, 8 bytes an edge of parts without COO; against a
// store 8 bytes an edge of one type at a time.
//
// The package imports dispatch/parts, format/dgl, store, graph, internal/* and the
// standard library.
package audit
