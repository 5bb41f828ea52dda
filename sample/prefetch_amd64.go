//go:build !purego

package sample

// The loops that ask for cache lines ahead of their use. They change no memory
// and cannot fault; a far line takes ten times as long to come as the loop's
// turn takes, and the processor alone looks ahead only a few turns.

// prefetchAt asks for table[i] of each i in at.
//
//go:noescape
func prefetchAt(table *uint32, at []uint32)

// prefetchWide is prefetchAt for 8-byte values.
//
//go:noescape
func prefetchWide(table *float64, at []uint32)

// prefetchHashed asks for the slot of a wide table that each id hashes to.
//
//go:noescape
func prefetchHashed(table *uint64, ids []uint32, shift uint8)
