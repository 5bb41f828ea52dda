//go:build !linux

package sample

// allocHuge is n zeroed words; only Linux takes advice on page sizes.
func allocHuge(n int) (words []uint32, free func(), err error) {
	return make([]uint32, n), func() {}, nil
}

// makeTable is a zeroed slice that is read at random.
func makeTable[T uint32 | uint64 | float64](n int) []T { return make([]T, n) }
