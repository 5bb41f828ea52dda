// Package assemble makes a store from tables, in memory or with temporary files, by one algorithm.
//
// Input says which tables hold the nodes and edges of each type, and what their columns mean; the formats of package
// ingest make it. Build
//
//  1. scans the node tables: columns go directly to their files, and original ids go as hashes to partitions, which
//     reveal duplicates and give the index of the ids;
//  2. scans the edge tables: ends are resolved to type-wise ids, and records (near, far, position, columns) go to
//     buckets by range of the near id. Numbers are ids already. Keys are looked up in memory if the keys of their node
//     tables fit there, and otherwise joined by hash partitions, whose results a partition of positions puts into the
//     order of the rows;
//  3. finishes each bucket in cache: sorts it by near id with a counting sort that keeps the input order, and writes
//     neighbours, input positions and columns at their final places; at the same time it cuts the edges into buckets by
//     the far id, from which the other direction is made in the same way.
//
// Keys without a node table are numbered between steps 1 and 2: the first appearance of each key is found by hash,
// and its rank among the first appearances is the id. Keys that a table lacks and that are to be added are numbered
// in the same way, after its rows.
//
// Buckets are extents of one unnamed temporary file, or memory as far as the budget allows. Records without columns
// are packed there to half of their size. A bucket that is too large for the memory of a worker, because ids are
// skewed or their number was unknown, is cut again: by id, and the edges of one node by position. The bytes of the
// store are the same for any budget, number of threads and order of chunks.
//
// # Shared by processes
//
// A Share is a build that several processes share, for package ingest/cluster. Rows are read, checked and placed by the
// functions above: ScanEdges is step 2 for a run of rows, with the ids of keys given; a Range is step 3 for a bucket, into a
// piece of the store; and Join writes the store from the pieces of all.
//
// # Memory
//
// The categories of columns are in memory before a build and count as Options.Held.
//
// Options.Memory bounds buffers, extents and the chunks of tables. Two bitmaps are added only where they are needed:
// one bit per row of a node table in which duplicates are dropped, and one bit per far node while duplicates are
// searched among the edges of one node that exceed a worker's memory.
package assemble
