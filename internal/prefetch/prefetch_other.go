//go:build !amd64 || purego

package prefetch

// Without an instruction for it nothing is asked for ahead: loads in its place
// make loops slower.

// At asks for table[i] of each i in at.
func At(*uint32, []uint32) {}

// Wide is At for 8-byte values.
func Wide(*float64, []uint32) {}

// Hashed asks for table[id*draw.Gamma >> shift] of each id in ids.
func Hashed(*uint64, []uint32, uint8) {}
