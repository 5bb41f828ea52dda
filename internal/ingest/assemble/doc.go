// Package assemble makes a store out of tables: one way of building, in memory and
// beyond it.
//
// Input says which tables hold the nodes and edges of which type and what their
// columns mean; the formats of package ingest make it. Build
//
//  1. scans the node tables: columns go straight to their files, original ids
//     as hashes to partitions, which show duplicates and give the index that
//     finds an id;
//  2. scans the edge tables: ends are resolved to type-wise ids (numbers as they
//     are; keys by a lookup in memory while the keys of their node tables fit
//     there, else by a join of hash partitions, whose results are put into the
//     order of the rows by a partition of positions), and records (near, far,
//     position, columns) go to buckets by range of the near id;
//  3. finishes each bucket in cache: counting sort by near id, input order kept,
//     and writes neighbours, input positions and columns at their final places;
//     on the way it cuts the edges into buckets by the far id, from which the
//     other direction is made in the same manner.
//
// Keys without a node table are numbered between 1 and 2: the first appearance of
// each is found by hash, and its rank among them is the id. Keys that a table lacks,
// where they are to be added, are numbered in the same way behind its rows.
//
// Buckets are extents of one unnamed temporary file, or memory while the budget
// allows; records without columns are packed there to half of their size. A bucket
// that is too large for the memory of a worker, because ids are skewed or their
// number was not known, is cut again: by id, and the edges of one node by position. The
// bytes written are the same for any budget, thread count and order of chunks.
//
// # Memory
//
// Options.Memory bounds buffers, extents and the chunks of tables. Two bitmaps
// come on top, and only where they are needed: one bit a row of a node table
// with duplicates that are dropped, and one bit a far node while duplicate edges
// are looked for at a node whose edges alone exceed a worker's memory.
//
// The package imports store, graph, ingest/table and internal/*.
package assemble
