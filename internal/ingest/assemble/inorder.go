package assemble

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/graphmill/graphmill/graph"

	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
)

// inOrder appends rows of variable size to columns, or hands them to a function, in input order, whatever order it receives them in. Rows that are
// early wait in a Spill.
type inOrder struct {
	columns []*store.ColumnWriter
	sink    func(rows uint64, vs []table.Vector) error // takes the rows instead of the columns; nil: none
	spill   *extsort.Spill

	mu      sync.Mutex
	next    uint64 // the row to append next
	waiting map[uint64]waiting
	buf     []byte
	err     error
}

// waiting is a run of rows that were early.
type waiting struct {
	rows uint64
	data extsort.Extent
}

func newInOrder(spill *extsort.Spill, columns []*store.ColumnWriter) *inOrder {
	return &inOrder{columns: columns, spill: spill, waiting: map[uint64]waiting{}}
}

// put takes the rows from first on. rows counts input rows; the vectors may hold fewer. Several goroutines may call
// it.
func (o *inOrder) put(first, rows uint64, vs []table.Vector) error {
	if len(o.columns) == 0 && o.sink == nil || rows == 0 {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	o.err = o.take(first, rows, vs)
	return o.err
}

func (o *inOrder) take(first, rows uint64, vs []table.Vector) error {
	if first != o.next {
		o.buf = o.buf[:0]
		for i := range vs {
			o.buf = appendVector(o.buf, &vs[i])
		}
		e, err := o.spill.Put(o.buf)
		o.waiting[first] = waiting{rows, e}
		return err
	}
	if err := o.append(rows, vs); err != nil {
		return err
	}
	vs = make([]table.Vector, len(vs))
	for {
		w, ok := o.waiting[o.next]
		if !ok {
			return nil
		}
		delete(o.waiting, o.next)
		if cap(o.buf) < w.data.Len() {
			o.buf = make([]byte, w.data.Len())
		}
		b := o.buf[:w.data.Len()]
		if err := o.spill.Get(w.data, b); err != nil {
			return err
		}
		o.spill.Free(w.data)
		for i := range vs {
			vs[i], b, _ = cutVector(b)
		}
		if err := o.append(w.rows, vs); err != nil {
			return err
		}
	}
}

func (o *inOrder) append(rows uint64, vs []table.Vector) error {
	if o.sink != nil {
		if err := o.sink(rows, vs); err != nil {
			return err
		}
	}
	for i, c := range o.columns {
		if err := c.Append(vs[i].Data, vs[i].Ends, vs[i].Lengths...); err != nil {
			return err
		}
	}
	o.next += rows
	return nil
}

// appendVector appends the lengths of the lists of a vector, and then the lists, padded so that the next vector is
// aligned.
func appendVector(b []byte, v *table.Vector) []byte {
	put := func(n int) { b = binary.LittleEndian.AppendUint32(b, uint32(n)) }
	put(len(v.Ends))
	put(len(v.Data))
	put(len(v.Lengths))
	for _, l := range v.Lengths {
		put(len(l))
	}
	for _, l := range v.Lengths {
		b = append(b, graph.Bytes(l)...)
	}
	b = append(b, graph.Bytes(v.Ends)...)
	b = append(b, v.Data...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// cutVector is the inverse of appendVector. It returns a view, and false if b does not begin with a whole vector.
func cutVector(b []byte) (v table.Vector, rest []byte, ok bool) {
	ok = true
	ints := func(n uint32) []uint32 {
		if ok = ok && uint64(n) <= uint64(len(b))/4; !ok {
			return nil
		}
		x := graph.View[uint32](b[:4*n])
		b = b[4*n:]
		return x
	}
	head := ints(3)
	if !ok {
		return v, nil, false
	}
	for _, n := range ints(head[2]) {
		v.Lengths = append(v.Lengths, ints(n))
	}
	v.Ends = ints(head[0])
	padded := (uint64(head[1]) + 3) &^ 3
	if !ok || padded > uint64(len(b)) {
		return v, nil, false
	}
	v.Data, b = b[:head[1]], b[padded:]
	return v, b, true
}

// fits says whether a vector has rows of a column, and nothing else.
func fits(v *table.Vector, c *table.Column, rows int) bool {
	if len(v.Lengths) != dimensions(c) {
		return false
	}
	n, k := rows, 0
	for _, d := range c.Shape {
		if d > 0 {
			n *= d
			continue
		}
		if len(v.Lengths[k]) != n {
			return false
		}
		n = 0
		for _, x := range v.Lengths[k] {
			n += int(x)
		}
		k++
	}
	if c.DType != graph.String {
		return len(v.Ends) == 0 && len(v.Data) == n*c.DType.Size()
	}
	return len(v.Ends) == n && slices.IsSorted(v.Ends) && (n == 0 || int(v.Ends[n-1]) <= len(v.Data))
}
