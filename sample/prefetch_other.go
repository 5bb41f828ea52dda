//go:build !amd64 || purego

package sample

// Without an instruction for it nothing is asked for ahead: loads in its place
// make the kernel slower.

func prefetchAt(*uint32, []uint32) {}

func prefetchWide(*float64, []uint32) {}

func prefetchHashed(*uint64, []uint32, uint8) {}
