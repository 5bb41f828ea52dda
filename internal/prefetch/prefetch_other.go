//go:build !amd64 || purego

package prefetch

// Without an instruction for it nothing is prefetched: loads in its place make loops slower.

// At prefetches table[i] of each i in at.
func At(*uint32, []uint32) {}

// Wide is At for 8-byte values.
func Wide(*float64, []uint32) {}

// Hashed prefetches table[id*draw.Gamma >> shift] of each id in ids.
func Hashed(*uint64, []uint32, uint8) {}
