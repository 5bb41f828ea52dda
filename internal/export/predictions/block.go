package predictions

import (
	"context"
	"io"
	"slices"

	"github.com/graphmill/graphmill/format/parquet"
)

// blockBytes is about the size of the values of a block, and blockRows the most rows of one.
const (
	blockBytes = 1 << 20
	blockRows  = 1 << 16
)

// block is a run of rows.
type block struct {
	rows     []uint64 // their nodes or edges
	places   []int    // their rows in the arrays
	arrays   [][]byte // their values, by array
	src, dst []uint64 // the ends of edges
	cells    []cells  // by column
	read     int      // rows of the arrays that were looked at for it

	last      uint64 // row of the store that was read
	bytesRead int64  // of its maps, that are not counted yet
	touched   func(bytes int64) error

	bytes []byte         // of a file
	pages []parquet.Page // by column, in bytes
}

// A row at random brings up to farBytes of the maps of the store into memory: the system reads 64 KiB around each page, and a text also has its
// offset. They are counted in steps of countBytes.
const (
	farBytes   = 192 << 10
	countBytes = 1 << 20
)

// at is called after row of a column of the store was read, whose rows have width bytes, about.
func (b *block) at(row uint64, width int) error {
	step := (row - b.last) * uint64(width) // far too many for a row before the last one
	b.last = row
	if b.bytesRead += int64(min(step, farBytes)); b.bytesRead < countBytes {
		return nil
	}
	n := b.bytesRead
	b.bytesRead = 0
	return b.touched(n)
}

// reader makes blocks, from the first row of the arrays to the last.
type reader struct {
	ctx     context.Context
	numbers *numbers
	arrays  []*array
	match   func(row int) bool // nil: all
	touched func(bytes int64) error
	size    int // rows of a block
	next    int // row of the arrays
	part    []uint64
	raw     []byte
}

// fill makes the next block. The error is io.EOF after the last.
func (r *reader) fill(b *block) error {
	b.rows, b.places, b.read = b.rows[:0], b.places[:0], 0
	b.src, b.dst = b.src[:0], b.dst[:0]
	b.arrays = slices.Grow(b.arrays[:0], len(r.arrays))[:len(r.arrays)]
	for k, a := range r.arrays {
		b.arrays[k] = grown(b.arrays[k], r.size*a.rowBytes())
	}
	for all := r.numbers.rows(); len(b.rows) < r.size && r.next < all; {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		n := min(r.size-len(b.rows), all-r.next)
		if err := r.take(b, n); err != nil {
			return err
		}
		r.next, b.read = r.next+n, b.read+n
	}
	if b.read == 0 {
		return io.EOF
	}
	for k, a := range r.arrays {
		b.arrays[k] = b.arrays[k][:len(b.rows)*a.rowBytes()]
	}
	return nil
}

// take adds to a block the ones of the next n rows that fulfil the condition.
func (r *reader) take(b *block, n int) error {
	at := len(b.rows)
	if err := r.choose(b, n); err != nil || at == len(b.rows) {
		return err
	}
	places := b.places[at:]
	from := places[0]
	span := places[len(places)-1] + 1 - from
	for k, a := range r.arrays {
		width := a.rowBytes()
		to := b.arrays[k][at*width : len(b.rows)*width]
		if span == len(places) {
			if err := a.read(to, from); err != nil {
				return err
			}
			continue
		}
		r.raw = grown(r.raw, span*width)
		if err := a.read(r.raw, from); err != nil {
			return err
		}
		for i, place := range places {
			copy(to[i*width:(i+1)*width], r.raw[(place-from)*width:])
		}
	}
	return nil
}

// choose adds the numbers and places of the rows among the next n that fulfil the condition.
func (r *reader) choose(b *block, n int) error {
	r.part = slices.Grow(r.part[:0], n)[:n]
	if r.numbers.targets != nil {
		if err := r.numbers.targets.read(r.part, r.next); err != nil {
			return err
		}
		b.dst = append(b.dst, r.part...)
	}
	if err := r.numbers.read(r.part, r.next); err != nil {
		return err
	}
	if r.numbers.targets != nil {
		b.src = append(b.src, r.part...)
	}
	for i, v := range r.part {
		if r.match == nil || r.match(int(v)) {
			b.rows, b.places = append(b.rows, v), append(b.places, r.next+i)
		}
	}
	if r.match == nil {
		return nil
	}
	return r.touched(int64(16 * n)) // a value and its offset
}

// count is the number of rows of all blocks. It reads all numbers, so that a wrong one is found before anything is written.
func (r *reader) count() (rows int64, err error) {
	all := r.numbers.rows()
	if r.numbers.file == nil && r.match == nil {
		return int64(all), nil
	}
	var b block
	for r.next = 0; r.next < all; r.next += blockRows {
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		b.rows, b.places = b.rows[:0], b.places[:0]
		b.src, b.dst = b.src[:0], b.dst[:0]
		if err := r.choose(&b, min(blockRows, all-r.next)); err != nil {
			return 0, err
		}
		rows += int64(len(b.rows))
	}
	r.next = 0
	return rows, nil
}
