//go:build !purego

package prefetch

// At prefetches table[i] of each i in at.
//
//go:noescape
func At(table *uint32, at []uint32)

// Wide is At for 8-byte values.
//
//go:noescape
func Wide(table *float64, at []uint32)

// Hashed prefetches table[id*draw.Gamma >> shift] of each id in ids.
//
//go:noescape
func Hashed(table *uint64, ids []uint32, shift uint8)
