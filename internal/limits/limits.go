// Package limits holds sizes that several stages go by: the largest that numbers of 32 bits allow, and the memory of the
// program itself. The former and the sizes of blocks are variables so that a test reaches them with a small graph. Nothing else changes them.
package limits

import (
	"errors"
	"math"
)

// ErrMemory is the kind of all errors about a bound on the memory that is too small.
var ErrMemory = errors.New("too little memory")

// Neighbours is the most neighbours that a graph in memory can list, two for each pair, because their places are
// numbers of 32 bits.
var Neighbours int64 = math.MaxUint32

// Positions is the most edges of a type whose positions and ids are kept in 32 bits while they are sampled, dispatched and
// partitioned; for a larger type they take 64 bits. The results are the same.
var Positions int64 = math.MaxUint32

// ProductBytes is the size of the block of embeddings with which many others are compared.
var ProductBytes int64 = 4 << 20

// ShardAlign is what the sizes of the shards of a file are multiples of, except the last one's: a page of every system, so that they are mapped next to each other, and read
// past the page cache.
var ShardAlign int64 = 64 << 10

// ProcessBytes is the memory that the program holds before it works: its code, the runtime of Go, and its first pages.
const ProcessBytes = 26 << 20

// Names is the most types and columns of a graph, and names of values in a format that does not say how many there are. Each has files of its
// own, so a small input with many of them would take hours.
const Names = 10_000

// PerByte is the most nodes or graphs that a source is believed to have for each byte of its files, where numbers of them need no bytes of their own.
const PerByte = 64
