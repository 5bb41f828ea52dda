//go:build !purego

package batch

import "unsafe"

// prefetch prefetches the cache lines of the rows at some offsets of src. It changes no memory and cannot fault.
func prefetch(src []byte, width int, offsets []uintptr) {
	askRows(unsafe.SliceData(src), unsafe.SliceData(offsets), len(offsets), width)
}

// copyRows copies the rows of src at the first offsets to dst, which has the size of these rows, and prefetches the
// rows at the other offsets.
func copyRows(dst, src []byte, width int, offsets []uintptr, away bool) {
	n := len(dst) / width
	d, s, o := unsafe.SliceData(dst), unsafe.SliceData(src), unsafe.SliceData(offsets)
	switch {
	case width < 16:
		if len(offsets) > ahead {
			prefetch(src, width, offsets[ahead:])
		}
		copyNarrow(dst, src, width, offsets[:n])
	case away && width%16 == 0 && uintptr(unsafe.Pointer(d))%16 == 0:
		copyAway(d, s, o, n, len(offsets), width)
	default:
		copyAhead(d, s, o, n, len(offsets), width)
	}
}

// askRows prefetches n rows.
//
//go:noescape
func askRows(src *byte, offsets *uintptr, n, width int)

// copyAhead copies the rows at the first n offsets, at least 16 bytes each. Meanwhile it prefetches the rows at all
// offsets except the first ahead ones.
//
//go:noescape
func copyAhead(dst, src *byte, offsets *uintptr, n, offered, width int)

// copyAway is copyAhead with stores that bypass the cache. width and dst are multiples of 16.
//
//go:noescape
func copyAway(dst, src *byte, offsets *uintptr, n, offered, width int)
