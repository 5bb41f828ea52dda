package batch

import (
	"bytes"
	"slices"

	"github.com/graphmill/graphmill/graph"
)

// GroupsOf is the first row of each group, and the number of rows. Adjacent rows with equal values in a column of ids
// are a group. An id that comes again after another id is an error, because its rows would be two groups.
func GroupsOf(ids *graph.Column) ([]uint64, error) {
	if ids.DType == graph.String || ids.Ragged() || ids.RowBytes() == 0 || ids.RowBytes() > 8 {
		return nil, errOrder("column %q: found %s rows of shape %v, expected numbers as ids of groups", ids.Name, ids.DType, ids.Shape)
	}
	ptr := []uint64{}
	seen := map[string]int{}
	for r := range ids.Rows {
		if id := ids.Row(r); r == 0 || !bytes.Equal(id, ids.Row(r-1)) {
			if first, again := seen[string(id)]; again {
				return nil, errOrder("column %q, row %d: found the id of the group at row %d again, expected the rows of a group together; sort the rows by it", ids.Name, r, first)
			}
			seen[string(id)] = r
			ptr = append(ptr, uint64(r))
		}
	}
	return append(ptr, uint64(ids.Rows)), nil
}

// checkGroups refuses a ptr that does not divide the rows.
func checkGroups(ptr []uint64, rows int) error {
	last := uint64(0)
	for i, at := range ptr {
		if i == 0 && at != 0 || at < last || i == len(ptr)-1 && at != uint64(rows) {
			return errOrder("found offset %d of group %d, expected offsets that ascend from 0 to the %d rows", at, i, rows)
		}
		last = at
	}
	return nil
}

// fillGroups gathers the rows of the groups that are the items.
func (f *filler) fillGroups(w *worker, b *Batch) {
	places := len(b.Items) // groups, padding included
	if f.o.Tail == Pad && !f.g.CountRows {
		places = f.o.Size
	}
	b.Ptr = append(b.Ptr[:0], 0)
	longest := uint64(0)
	w.rows = w.rows[:0]
	for _, g := range b.Items {
		from, to := f.ptr[g], f.ptr[g+1]
		longest = max(longest, to-from)
		b.Ptr = append(b.Ptr, b.Ptr[len(b.Ptr)-1]+to-from)
		for r := from; r < to; r++ {
			w.rows = append(w.rows, r)
		}
	}
	for len(b.Ptr) < places+1 {
		b.Ptr = append(b.Ptr, b.Ptr[len(b.Ptr)-1])
	}
	if !f.g.Padded {
		b.Rows = len(w.rows)
		for i, src := range f.columns {
			dst := &b.Columns[i]
			size(dst, b.Rows, src.RowBytes())
			Gather(dst.Values, src.Values, src.RowBytes(), w.rows)
		}
		return
	}
	if f.g.Bucketed {
		longest = f.bucketLongest(b, longest)
	}
	f.pad(w, b, places, int(longest))
}

// bucketLongest is the size of the longest group in the bucket of a batch, so that all batches of the bucket have one
// shape. A batch of padding alone has the shape of the longest group of all.
func (f *filler) bucketLongest(b *Batch, longest uint64) uint64 {
	p := f.pass.(*bucketed)
	if from := f.source(b.Number); from >= 0 {
		k, _ := p.bucketOf(from)
		return p.longest[k]
	}
	if len(p.longest) > 0 {
		return slices.Max(p.longest)
	}
	return longest
}

// pad gathers the rows of each group to the beginning of its place.
func (f *filler) pad(w *worker, b *Batch, places, longest int) {
	b.Rows = places
	for i, src := range f.columns {
		dst, width := &b.Columns[i], src.RowBytes()
		if len(dst.Shape) == len(src.Shape) { // still the shape of the column
			dst.Shape = append([]int{longest}, src.Shape...)
		}
		dst.Shape[0] = longest
		size(dst, places, longest*width)
		at := 0
		for g := range places {
			place := dst.Values[g*longest*width:][:longest*width]
			n := int(b.Ptr[g+1] - b.Ptr[g])
			Gather(place[:n*width], src.Values, src.RowBytes(), w.rows[at:at+n])
			clear(place[n*width:])
			at += n
		}
	}
	b.Mask = slices.Grow(b.Mask[:0], places*longest)[:places*longest]
	for g := range places {
		n := int(b.Ptr[g+1] - b.Ptr[g])
		for j := range longest {
			b.Mask[g*longest+j] = j < n
		}
	}
}
