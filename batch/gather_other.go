//go:build !amd64 || purego

package batch

// Without an instruction for it nothing is asked for ahead.
func prefetch([]byte, int, []uintptr) {}

// copyRows copies the rows of src at the first offsets to dst, which has room for them and for
// no other.
func copyRows(dst, src []byte, width int, offsets []uintptr, _ bool) {
	copyNarrow(dst, src, width, offsets[:len(dst)/width])
}
