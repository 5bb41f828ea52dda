// Package chunk reads and writes the chunk files of the stream executor: the edges of one edge type, cut into chunks
// that are each read as a whole, one after the other. docs/format-chunk.md specifies every byte. (DGL's chunked
// graphs are another format: package dglchunks.)
//
// A folder has chunks.json (Metadata) and, for each edge type, a file of chunks and a chunk-info file with their
// start ids (Set). A chunk consists of 32-bit little-endian words:
//
//	n                 number of nodes
//	s                 id of the first node
//	n + 1 offsets     of the neighbours of nodes s, s + 1, ... and the end of the last ones,
//	                  in words from the start of the chunk
//	neighbours        node by node, in the order of the graph
//	zeros             up to the size of a chunk; in the last chunk, to a multiple of 512 bytes
//
// A chunk takes as many nodes as fit, and a node is never split. A node that fits into no chunk is ErrTooLarge, and
// the error names the size that would hold it. Ids are below None. Edge ids are not stored: the id of an edge is its
// index among the neighbours of all chunks.
//
// A Writer has a buffer of 256 KiB. OpenSet reads the start ids, and the first words and the last offset of each
// chunk; its memory is bounded by the size of the chunk-info file. Every number in a file is checked against the size
// of the file before it is used.
//
// The API may change in any version: see package format.
package chunk
