// Package build makes a store out of tables: one way of building, in memory and
// beyond it.
//
// Input says which tables hold the nodes and edges of which type and what their
// columns mean; the formats of package ingest make it. Build
//
//  1. scans the node tables: columns go straight to their files, original ids
//     and their hashes to partitions by hash, which give the index that finds an
//     id;
//  2. scans the edge tables: ends are resolved to type-wise ids (numbers as they
//     are; keys by a join of hash partitions), and records (near, far, position,
//     row of the columns) go to buckets by range of the near id;
//  3. finishes each bucket in cache: counting sort by near id, input order kept,
//     and writes neighbours, input positions and columns at their final places.
//
// Buckets are extents of one unnamed temporary file, or memory while the budget
// allows. The bytes written are the same for any budget and thread count.
//
// The package imports store, graph, ingest/table and internal/*.
package build
