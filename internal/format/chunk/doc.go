// Package chunk holds the chunk files of the streaming sampler: the edges of one edge
// type, cut into pieces that are read whole, one after the other. docs/format-chunk.md
// gives every byte. (The chunked graphs of DGL are another format: package chunked.)
//
// A folder has chunks.json (Metadata) and, for each edge type, a file of chunks and a
// chunk-info file of their start ids (Set). A chunk is 32-bit little-endian words:
//
//	n                 number of nodes
//	s                 id of the first node
//	n + 1 offsets     of the neighbours of nodes s, s + 1, ... and the end of the last,
//	                  in words from the start of the chunk
//	neighbours        node by node, in the order of the graph
//	zeros             up to the size of a chunk; of the last, to a multiple of Sector
//
// A chunk takes as many nodes as fit, and a node is never cut: one that no chunk holds
// is ErrTooLarge, and the error names the size that does. Ids are below None. Edge ids
// are not stored: an edge's id is its place among the neighbours of all chunks.
//
// Writer needs a buffer of 256 KiB. OpenSet reads the start ids and two places of each
// chunk; memory is bounded by the bytes of the file of start ids. What a file says is
// held against its size first.
//
// The package knows words only. It imports internal/* and the standard library.
package chunk
