package batch

import "unsafe"

// Rows are looked up a block at a time, and each row is prefetched a fixed number of rows ahead, because a load from memory
// takes as long as several copies. The processor itself prefetches rows longer than widest.
const (
	block  = 64
	ahead  = 16
	widest = 1 << 10
)

// Gather copies rows of src, of width bytes each, to dst in the order of rows. It panics if dst has no room for them or
// src does not have all of them.
func Gather[I uint32 | uint64](dst, src []byte, width int, rows []I) {
	gather(dst, src, width, rows, false)
}

// GatherAway is Gather to memory that is larger than a cache and that others read later. The stores bypass the cache.
func GatherAway[I uint32 | uint64](dst, src []byte, width int, rows []I) {
	gather(dst, src, width, rows, true)
}

func gather[I uint32 | uint64](dst, src []byte, width int, rows []I, away bool) {
	if width == 0 || len(rows) == 0 {
		return
	}
	dst = dst[:len(rows)*width]
	n := I(len(src) / width)
	if width > widest {
		for i, r := range rows {
			copy(dst[i*width:(i+1)*width], src[int(r)*width:(int(r)+1)*width])
		}
		return
	}
	var offsets [block + ahead]uintptr
	for first := true; len(rows) > 0; first = false {
		part := rows[:min(len(offsets), len(rows))]
		for i, r := range part {
			if r >= n {
				panic("batch: a row is outside of the column")
			}
			offsets[i] = uintptr(r) * uintptr(width)
		}
		asked := offsets[:len(part)]
		if first {
			prefetch(src, width, asked[:min(ahead, len(asked))])
		}
		copied := min(block, len(rows))
		copyRows(dst[:copied*width], src, width, asked, away)
		dst, rows = dst[copied*width:], rows[copied:]
	}
}

// copyNarrow copies rows of a few bytes.
func copyNarrow(dst, src []byte, width int, offsets []uintptr) {
	d, s := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	switch width {
	case 4:
		for i, o := range offsets {
			*(*[4]byte)(unsafe.Add(d, i*4)) = *(*[4]byte)(unsafe.Add(s, o))
		}
	case 8:
		for i, o := range offsets {
			*(*[8]byte)(unsafe.Add(d, i*8)) = *(*[8]byte)(unsafe.Add(s, o))
		}
	default:
		for i, o := range offsets {
			copy(dst[i*width:(i+1)*width], src[o:o+uintptr(width)])
		}
	}
}
