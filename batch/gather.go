package batch

import "unsafe"

// ahead is how many rows are asked for before they are copied, and widest the
// longest row, in bytes, for which asking pays: memory streams longer ones by itself.
const (
	ahead  = 16
	widest = 1 << 10
)

// Gather copies rows of src, width bytes each, to dst in the order of rows; dst has
// room for them and src holds every one of them, else it panics.
func Gather[I uint32 | uint64](dst, src []byte, width int, rows []I) {
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
	// The rows of the next block are on their way while those of this one are copied.
	var offsets [2][ahead]uintptr
	ask := func(b int, part []I) {
		for i, r := range part {
			if r >= n {
				panic("batch: a row lies outside of the column")
			}
			offsets[b][i] = uintptr(r) * uintptr(width)
		}
		prefetch(unsafe.SliceData(src), &offsets[b][0], len(part), width)
	}
	part := rows[:min(ahead, len(rows))]
	ask(0, part)
	for b := 0; len(part) > 0; b ^= 1 {
		rows = rows[len(part):]
		next := rows[:min(ahead, len(rows))]
		if len(next) > 0 {
			ask(b^1, next)
		}
		copyRows(dst, src, width, offsets[b][:len(part)])
		dst = dst[len(part)*width:]
		part = next
	}
}

// copyRows copies the rows at some offsets. Rows of common widths move in registers:
// calling memmove costs as much as they do.
func copyRows(dst, src []byte, width int, offsets []uintptr) {
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
	case 64:
		for i, o := range offsets {
			*(*[64]byte)(unsafe.Add(d, i*64)) = *(*[64]byte)(unsafe.Add(s, o))
		}
	default:
		for i, o := range offsets {
			copy(dst[i*width:(i+1)*width], src[o:o+uintptr(width)])
		}
	}
}
