// Package chunk writes the edges of a store as chunk files, which the stream executor reads. docs/format-chunk.md
// specifies the layout, which package format/chunk implements.
//
// Each edge type is read once, from start to end: in the direction that the caller asks for, which the store must
// have, or by default in its primary direction. Memory is a buffer of 256 KiB and the mapped pages of the store,
// which are released on the way. Columns and original ids do not fit into the format and are named in the result.
package chunk
