package dispatch

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/graphmill/graphmill/graph"
)

// rowWriter writes the rows of one tensor to the files of the parts. It belongs to one goroutine.
type rowWriter struct {
	x     *tensor
	files []io.WriterAt
	at    []int64 // offset of the next byte, by part
	buf   []byte  // room bytes per part
	n     []int
	room  int
	ahead [][]uint64 // by part, rows of a feature in pieces that come after those in buf; widening many at a time is faster
	one   []byte     // a row of such a feature that is wider than room
}

// mostAhead is the most rows that are widened at a time.
const mostAhead = 64

func (g *group) rowWorkers(room int) []*rowWriter {
	list := make([]*rowWriter, g.opt.Threads)
	for i := range list {
		list[i] = newRowWriter(g.to-g.from, room)
	}
	return list
}

func newRowWriter(parts, room int) *rowWriter {
	return &rowWriter{at: make([]int64, parts), n: make([]int, parts), buf: make([]byte, parts*room), room: room, ahead: make([][]uint64, parts)}
}

// begin starts a tensor; at is its offset in the file of a part.
func (r *rowWriter) begin(x *tensor, files []io.WriterAt, at func(p int) int64) {
	r.x, r.files = x, files
	for p := range files {
		r.at[p], r.n[p] = at(p), 0
	}
}

// row appends a row of the store to part from+p.
func (r *rowWriter) row(p, row int) error {
	x := r.x
	if x.wide != nil {
		return r.rowAhead(p, row)
	}
	if r.n[p]+x.width > r.room {
		if err := r.flush(p); err != nil {
			return err
		}
		if x.width > r.room {
			return r.wide(p, row)
		}
	}
	to := r.buf[p*r.room+r.n[p]:][:x.width]
	r.n[p] += x.width
	switch {
	case x.values == nil:
		binary.LittleEndian.PutUint64(to, uint64(row))
	case x.widen != nil:
		if !x.widen(to, x.values[row*x.from:][:x.from]) {
			return x.misfit(row)
		}
	case x.width == 4:
		*(*[4]byte)(to) = [4]byte(x.values[row*4:])
	case x.width == 8:
		*(*[8]byte)(to) = [8]byte(x.values[row*8:])
	default:
		copy(to, x.values[row*x.width:])
	}
	return nil
}

// rowAhead is row for a feature in pieces.
func (r *rowWriter) rowAhead(p, row int) error {
	x := r.x
	if x.width > r.room {
		return r.wideAhead(p, row)
	}
	if len(r.ahead[p]) == mostAhead || r.n[p]+(len(r.ahead[p])+1)*x.width > r.room {
		r.widen(p)
	}
	if r.n[p]+x.width > r.room {
		if err := r.flush(p); err != nil {
			return err
		}
	}
	r.ahead[p] = append(r.ahead[p], uint64(row))
	return nil
}

// widen moves rows from ahead to the buffer, which has room for them.
func (r *rowWriter) widen(p int) {
	n := len(r.ahead[p]) * r.x.width
	if n > 0 {
		r.x.wide(r.buf[p*r.room+r.n[p]:][:n], graph.Index{U64: r.ahead[p]})
	}
	r.n[p], r.ahead[p] = r.n[p]+n, r.ahead[p][:0]
}

// wideAhead writes a row of a feature in pieces that is wider than the buffer.
func (r *rowWriter) wideAhead(p, row int) error {
	r.one = slices.Grow(r.one[:0], r.x.width)[:r.x.width]
	r.x.wide(r.one, graph.Index{U64: []uint64{uint64(row)}})
	for part := range slices.Chunk(r.one, r.room) {
		if _, err := r.files[p].WriteAt(part, r.at[p]); err != nil {
			return err
		}
		r.at[p] += int64(len(part))
	}
	return nil
}

// wide writes a row that is wider than the buffer, piece by piece.
func (r *rowWriter) wide(p, row int) error {
	x := r.x
	from := x.values[row*x.from:][:x.from]
	piece := r.room / 8 * 8
	ratio := x.width / x.from // bytes written per byte read
	for len(from) > 0 {
		n := min(len(from), piece/ratio)
		to := r.buf[p*r.room:][:n*ratio]
		if x.widen == nil {
			to = from[:n]
		} else if !x.widen(to, from[:n]) {
			return x.misfit(row)
		}
		if _, err := r.files[p].WriteAt(to, r.at[p]); err != nil {
			return err
		}
		r.at[p] += int64(len(to))
		from = from[n:]
	}
	return nil
}

func (x *tensor) misfit(row int) error {
	return fmt.Errorf("%s, row %d: found a value of 2^63 or more, expected one that fits an int64, because PyTorch has no uint64; import the table without this column", x.name, row)
}

func (r *rowWriter) flush(p int) error {
	n := r.n[p]
	if n == 0 {
		return nil
	}
	r.n[p] = 0
	_, err := r.files[p].WriteAt(r.buf[p*r.room:][:n], r.at[p])
	r.at[p] += int64(n)
	return err
}

// end writes the buffered rows.
func (r *rowWriter) end() error {
	for p := range r.files {
		r.widen(p)
		if err := r.flush(p); err != nil {
			return err
		}
	}
	return nil
}
