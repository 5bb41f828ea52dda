//go:build !linux

package sample

// makeTable is a zeroed slice that is read at random.
func makeTable[T uint32 | ~uint64 | float64](n int) []T { return make([]T, n) }
