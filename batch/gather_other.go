//go:build !amd64 || purego

package batch

// prefetch does nothing without an instruction for it.
func prefetch([]byte, int, []uintptr) {}

// copyRows copies the rows of src at the first offsets to dst, which has the size of these rows.
func copyRows(dst, src []byte, width int, offsets []uintptr, _ bool) {
	copyNarrow(dst, src, width, offsets[:len(dst)/width])
}
