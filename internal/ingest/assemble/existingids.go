package assemble

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// scattered holds rows of variable size, in the form that records carry, and finds the row of a node. Both files are unnamed.
type scattered struct {
	rows, index vfs.File
	out         *bufio.Writer
	size        uint64
}

// newScattered makes the files in a folder.
func newScattered(fsys vfs.FS, dir string) (*scattered, error) {
	rows, err := fsys.Temp(dir)
	if err != nil {
		return nil, err
	}
	index, err := fsys.Temp(dir)
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	return &scattered{rows: rows, index: index, out: bufio.NewWriterSize(rows, 1<<18)}, nil
}

// add takes the row of a node, once per node.
func (s *scattered) add(node uint64, row []byte) error {
	var b [8]byte
	put64(b[:], s.size+1)
	if _, err := s.index.WriteAt(b[:], int64(node)*8); err != nil {
		return err
	}
	put32(b[:4], uint32(len(row)))
	if _, err := s.out.Write(b[:4]); err != nil {
		return err
	}
	s.size += 4 + uint64(len(row))
	_, err := s.out.Write(row)
	return err
}

// each calls fn with the row of every node of 0..n-1 in order, or with none where it has none.
func (s *scattered) each(ctx context.Context, n int, fn func(row []byte) error, none []byte) (err error) {
	if err := s.out.Flush(); err != nil {
		return err
	}
	if err := s.index.Truncate(int64(n) * 8); err != nil {
		return err
	}
	index, unmap, err := s.index.Map()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unmap()) }()
	rows, unmapRows, err := s.rows.Map()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unmapRows()) }()
	for i := range n {
		if i%(1<<16) == 0 {
			if err := errors.Join(context.Cause(ctx), vfs.Release(index), vfs.Release(rows)); err != nil {
				return err
			}
		}
		row := none
		if at := binary.LittleEndian.Uint64(index[8*i:]); at > 0 {
			size := uint64(binary.LittleEndian.Uint32(rows[at-1:]))
			row = rows[at+3:][:size]
		}
		if err := fn(row); err != nil {
			return err
		}
	}
	return nil
}

// close removes the files.
func (s *scattered) close() error { return errors.Join(s.rows.Close(), s.index.Close()) }

// faultyRows is the number of rows of a kind, and the first of them with its id.
type faultyRows struct {
	count, row uint64
	id         string
}

// add counts a row. Rows come in order.
func (f *faultyRows) add(row uint64, id string) {
	if f.count++; f.count == 1 {
		f.row, f.id = row, id
	}
}

// more is the end of a clause about the first row.
func (f *faultyRows) more() string {
	if f.count == 1 {
		return ""
	}
	return fmt.Sprintf(", and %d more", f.count-1)
}

// idRows writes rows that have ids, in the order of the table.
type idRows struct {
	*existing
	seen       *bitmap // nodes that have a row
	next       uint64  // the row of the first vector
	nodes      []uint64
	unknown    faultyRows
	duplicates faultyRows
	blob       []byte
}

// droppedRow stands for the node of a row that is left out.
const droppedRow = ^uint64(0)

// byID writes rows that have the ids of nodes.
func (x *existing) byID(ctx context.Context) error {
	r := &idRows{existing: x, seen: newBitmap(uint64(x.Rows))}
	order := newInOrder(x.spill, nil)
	order.sink = r.put
	threads := max(x.Threads, 1)
	ask := append([]table.Column{x.ID}, x.Columns...)
	rows, err := x.Table.Scan(ctx, ask, threads, func(_ int, c *table.Chunk) error {
		x.told(c.Rows)
		return order.put(c.First, uint64(c.Rows), c.Columns)
	})
	if err != nil {
		return err
	}
	x.result.Rows, x.result.Unknown, x.result.Duplicates = rows, r.unknown.count, r.duplicates.count
	if err := r.check(); err != nil {
		return err
	}
	return r.complete(ctx)
}

// put writes the next rows. The first vector has the ids.
func (r *idRows) put(rows uint64, vs []table.Vector) error {
	r.find(int(rows), &vs[0])
	for i := range r.columns {
		var err error
		if r.columns[i].array != nil {
			err = r.putFixed(&r.columns[i], &vs[i+1])
		} else {
			err = r.putVariable(&r.columns[i], &vs[i+1])
		}
		if err != nil {
			return err
		}
	}
	r.next += rows
	return nil
}

// find finds the nodes of rows, and marks those that are found.
func (r *idRows) find(rows int, ids *table.Vector) {
	r.nodes = r.nodes[:0]
	start := uint32(0)
	for i := range rows {
		var node uint64
		var ok bool
		var text []byte
		if r.ID.DType == graph.String {
			text = ids.Data[start:ids.Ends[i]]
			start = ids.Ends[i]
			node, ok = r.IDs.Find(text)
		} else {
			node, ok = r.IDs.FindInteger(binary.LittleEndian.Uint64(ids.Data[8*i:]))
		}
		at := r.next + uint64(i)
		switch {
		case !ok:
			r.unknown.add(at, r.idText(i, ids, text))
			node = droppedRow
		case r.seen.has(node):
			r.duplicates.add(at, r.idText(i, ids, text))
			node = droppedRow
		default:
			r.seen.add(node)
		}
		r.nodes = append(r.nodes, node)
	}
}

// idText is the id of row i of a vector of ids, whose text is given if it is one.
func (r *idRows) idText(i int, ids *table.Vector, text []byte) string {
	if r.ID.DType == graph.String {
		return string(text)
	}
	return strconv.FormatUint(binary.LittleEndian.Uint64(ids.Data[8*i:]), 10)
}

// putFixed writes values of fixed size, of neighbouring nodes with one call.
func (r *idRows) putFixed(c *existingColumn, v *table.Vector) error {
	for i := 0; i < len(r.nodes); {
		node, from := r.nodes[i], i
		for i++; i < len(r.nodes) && node != droppedRow && r.nodes[i] == node+uint64(i-from); i++ {
		}
		if node == droppedRow {
			continue
		}
		if _, err := c.array.WriteAt(v.Data[from*c.width:i*c.width], int64(node)*int64(c.width)); err != nil {
			return err
		}
	}
	return nil
}

// putVariable takes values of variable size.
func (r *idRows) putVariable(c *existingColumn, v *table.Vector) error {
	cur := newCursor(&c.Column, v)
	for _, node := range r.nodes {
		r.blob = cur.blob(r.blob[:0])
		if node == droppedRow {
			continue
		}
		if err := c.rows.add(node, r.blob); err != nil {
			return err
		}
	}
	return nil
}

// check refuses rows and nodes that break a rule.
func (r *idRows) check() error {
	if u := &r.unknown; u.count > 0 && r.Unknown != Drop {
		return fmt.Errorf("%s: found the id %q, which none of the %s has%s, expected ids of these; correct them, or leave such rows out by `UnknownIDs` drop", r.Table.Where(u.row, r.ID.Name), u.id, r.What, u.more())
	}
	if d := &r.duplicates; d.count > 0 && r.Duplicates != Drop {
		return fmt.Errorf("%s: found the id %q, which an earlier row has%s, expected each id once; remove the rows, or leave them out by `DuplicateNodes` drop", r.Table.Where(d.row, r.ID.Name), d.id, d.more())
	}
	lacking, first := uint64(0), uint64(0)
	for node := range uint64(r.Rows) {
		if !r.seen.has(node) {
			if lacking++; lacking == 1 {
				first = node
			}
		}
	}
	r.result.Lacking = lacking
	if lacking > 0 && !r.Lacking {
		return fmt.Errorf("%s: found no row for %d of the %d %s, the first of which has the id %q, expected one for each; add the rows, or say by `Missing` what values they get", r.place(), lacking, r.Rows, r.What, r.IDs.Text(first))
	}
	return nil
}

// complete writes the values of the nodes without a row, and the rows of variable size.
func (r *idRows) complete(ctx context.Context) error {
	for i := range r.columns {
		c := &r.columns[i]
		var none []byte
		var err error
		if r.result.Lacking > 0 {
			if none, err = emptyCell(ctx, r.Table, &c.Column); err != nil {
				return err
			}
		}
		if c.array != nil {
			err = r.fillFixed(ctx, c, none)
		} else {
			out := &appendRows{c: c}
			if err = c.rows.each(ctx, r.Rows, out.add, none); err == nil {
				err = out.flush()
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fillFixed writes a value for the nodes without a row.
func (r *idRows) fillFixed(ctx context.Context, c *existingColumn, value []byte) error {
	if r.result.Lacking == 0 {
		return nil
	}
	var run []byte
	for i := 0; i < max(1, (1<<16)/max(c.width, 1)); i++ {
		run = append(run, value...)
	}
	for node := 0; node < r.Rows; {
		if r.seen.has(uint64(node)) {
			node++
			continue
		}
		from := node
		for node < r.Rows && (node-from+1)*c.width <= len(run) && !r.seen.has(uint64(node)) {
			node++
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if _, err := c.array.WriteAt(run[:(node-from)*c.width], int64(from)*int64(c.width)); err != nil {
			return err
		}
	}
	return nil
}
