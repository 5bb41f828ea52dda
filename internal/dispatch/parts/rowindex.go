package parts

// RowIndex finds the row of a place in a matrix of rows. It holds 1/16 byte per place.
type RowIndex struct {
	offset func(row int64) int64
	first  []uint32 // row of each place that is a multiple of 1<<placeShift
	last   int64    // row
}

const placeShift = 6

// NewRowIndex makes the index of rows 0..rows-1, of which there are less than 2^32, and of a number of places. Row r has the places
// offset(r)..offset(r+1)-1. Offsets that do not ascend to the number of places give wrong rows, but no panic.
func NewRowIndex(rows, places int64, offset func(row int64) int64) *RowIndex {
	x := &RowIndex{offset: offset, first: make([]uint32, 0, places>>placeShift+1), last: rows - 1}
	for row := range rows {
		for end := min(offset(row+1), places); int64(len(x.first))<<placeShift < end; {
			x.first = append(x.first, uint32(row))
		}
	}
	for len(x.first) < cap(x.first) {
		x.first = append(x.first, uint32(max(x.last, 0)))
	}
	return x
}

// At returns the row of a place.
func (x *RowIndex) At(place int64) int64 {
	k := place >> placeShift
	low, high := int64(x.first[k]), x.last // the row is one of these
	if k+1 < int64(len(x.first)) {
		high = int64(x.first[k+1])
	}
	for low < high { // the last row that begins at the place or before it
		if middle := (low + high + 1) / 2; x.offset(middle) <= place {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}
