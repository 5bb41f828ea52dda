// Package chunk writes the edges of a store as chunk files: what the streaming sampler
// reads. docs/format-chunk.md gives the layout; package format/chunk holds it.
//
// Each edge type is read once, from front to back, in the direction that is asked for
// where the store has it, else in the primary one. Memory is a buffer of 256 KiB and the
// mapped pages of the store, which are given back on the way. Columns and original ids
// have no place in the format and are named in the result.
//
// The package imports format/chunk, graph, store and internal/*.
package chunk
