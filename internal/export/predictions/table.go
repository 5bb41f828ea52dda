package predictions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// table is the rows to write, and the open files that they come from.
type table struct {
	*subject
	pages      pages
	numbers    *numbers
	arrays     []*array
	columns    []column
	match      func(row int) bool
	ends       [2]*graph.Nodes          // types of the ends of edges; nil: ends are not written
	unlabelled map[string]*atomic.Int64 // by column
}

// openTable opens what the options name, and checks it against the store.
func openTable(fsys vfs.FS, s *store.Store, o *Options) (_ *table, err error) {
	t := &table{pages: pages{store: s, most: mappedBytes}, unlabelled: map[string]*atomic.Int64{}}
	if t.subject, err = findSubject(fsys, s, o.Type); err != nil {
		return nil, o.discard(err)
	}
	if o.made != nil {
		t.numbers, t.arrays = o.made.numbers(t.subject), o.made.arrays()
		if err := t.addColumns(o); err != nil {
			return nil, errors.Join(err, t.close())
		}
		return t, nil
	}
	if t.match, err = t.matching(o.Rows); err != nil {
		return nil, err
	}
	if t.numbers, err = openNumbers(fsys, o.Nodes, t.subject); err != nil {
		return nil, err
	}
	for _, a := range o.Arrays {
		var open *array
		if open, err = openArray(fsys, a); err == nil {
			t.arrays = append(t.arrays, open)
			err = t.rowsOf(open)
		}
		if err != nil {
			return nil, errors.Join(err, t.close())
		}
	}
	if err := t.addColumns(o); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// rowsOf refuses an array of another number of rows.
func (t *table) rowsOf(a *array) error {
	want := t.numbers.rows()
	switch {
	case a.rows == want:
		return nil
	case t.numbers.file != nil:
		return fmt.Errorf("%s: found %d rows, expected %d, one per row of %s; give the arrays and `Nodes` of the same rows", a.File, a.rows, want, t.numbers.file.File)
	}
	return fmt.Errorf("%s: found %d rows, expected %d, one per %s of %s; for rows of some %ss only, give their numbers as `Nodes` FILE.npy", a.File, a.rows, want, t.kind(), t.name(), t.kind())
}

// addColumns adds all columns in their order: ids, arrays, columns of the store.
func (t *table) addColumns(o *Options) error {
	if err := t.addIDs(o); err != nil {
		return err
	}
	for k, a := range t.arrays {
		if err := t.addArray(a, k); err != nil {
			return err
		}
	}
	for _, name := range o.With {
		if err := t.addStored(name); err != nil {
			return err
		}
	}
	return t.checkNames()
}

// addIDs adds the ids of nodes, or of both ends of edges.
func (t *table) addIDs(o *Options) error {
	add := func(name string, n *graph.Nodes, of rowsOf) error {
		c, err := idColumn(name, n, o.IntegerIDs, of, t.pages.touched)
		t.columns = append(t.columns, c)
		return err
	}
	if t.nodes != nil {
		if o.EdgeIDs {
			return usagef("found `EdgeIDs` with the nodes of type %s, expected it with an edge type; leave it out", t.name())
		}
		return add(cmp.Or(o.IDName, "id"), t.nodes, own)
	}
	if o.IDName != "" {
		return usagef("found `IDName` with the %ss of type %s, expected it with a node type: %[1]ss have the columns source and target; leave it out", t.kind(), t.name())
	}
	if t.ends = t.pair; t.edges != nil {
		for i, name := range []string{t.edges.Type.Src, t.edges.Type.Dst} {
			var err error
			if t.ends[i], err = t.end(name); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(add("source", t.ends[0], sources), add("target", t.ends[1], targets)); err != nil {
		return err
	}
	if o.EdgeIDs {
		if t.edges == nil {
			return usagef("found `EdgeIDs` with the pairs of types %s, expected it with an edge type; leave it out", t.name())
		}
		t.columns = append(t.columns, edgeIDColumn())
	}
	return nil
}

// addArray adds the column of array k.
func (t *table) addArray(a *array, k int) error {
	if a.Classes == "" {
		c := arrayColumn(a, k)
		raw, err := a.incompressible()
		c.raw = raw
		t.columns = append(t.columns, c)
		return err
	}
	if !a.dtype.IsInt() || a.width > 0 {
		return fmt.Errorf("%s: found %s %s, expected one integer per row, the number of a class; leave `Classes` out to write the numbers", a.File, a.dtype, a.shape())
	}
	labels, err := t.column("Classes", a.Classes)
	if err != nil {
		return err
	}
	if labels.Categories == nil || len(labels.Shape) > 0 {
		return usagef("`Classes`: found the column %q of %s, expected one of categories, one per row; leave `Classes` out to write the numbers", a.Classes, labels.DType)
	}
	t.unlabelled[a.Name] = &atomic.Int64{}
	t.columns = append(t.columns, classColumn(a, k, labels.Column, t.unlabelled[a.Name]))
	return labels.Categories.CheckOffsets()
}

// addStored adds a column of the store.
func (t *table) addStored(name string) error {
	if name == graph.PositionColumn && t.edges != nil && !t.edges.NoPositions && graph.FindColumn(t.edges.Columns, name) == nil {
		c := edgeIDColumn() // a store without the column numbers its edges in the order of the input
		c.name = strings.TrimPrefix(name, "#")
		t.columns = append(t.columns, c)
		return nil
	}
	from, err := t.column("With", name)
	if err != nil {
		return err
	}
	c, err := storeColumn(strings.TrimPrefix(name, "#"), from)
	t.columns = append(t.columns, c)
	return err
}

// checkNames refuses names that no table can have.
func (t *table) checkNames() error {
	var names []string
	for _, c := range t.columns {
		switch {
		case slices.Contains(names, c.name):
			return usagef("found two columns %q, expected each name once; give another name to the array, leave `With` of the column out, or name the ids by `IDName`", c.name)
		case strings.ContainsFunc(c.name, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }):
			return usagef("found the name %q of a column, expected one in UTF-8 without control characters; choose another name", c.name)
		}
		names = append(names, c.name)
	}
	return nil
}

// close closes all files.
func (t *table) close() error {
	err := t.numbers.close()
	if t.numbers.targets != nil && t.numbers.targets.file.f != t.numbers.file.f {
		err = errors.Join(err, t.numbers.targets.close())
	}
	for _, a := range t.arrays {
		err = errors.Join(err, a.f.Close())
	}
	return err
}

// rowBytes is the size of a row, about.
func (t *table) rowBytes() int64 {
	n := int64(16) // its number and its place
	for _, c := range t.columns {
		n += int64(c.bytes)
	}
	if t.nodes == nil {
		n += 16
	}
	return n
}

// reader returns a reader from the first row on.
func (t *table) reader(ctx context.Context) *reader {
	size := min(max(blockBytes/t.rowBytes(), 1), blockRows)
	return &reader{ctx: ctx, numbers: t.numbers, arrays: t.arrays, match: t.match, touched: t.pages.touched, size: int(size)}
}

// cellsOf fills in the cells of a block.
func (t *table) cellsOf(b *block, e *ends) error {
	b.touched = t.pages.touched
	if t.edges != nil {
		if err := t.endsOf(b, e); err != nil {
			return err
		}
	}
	b.cells = slices.Grow(b.cells[:0], len(t.columns))[:len(t.columns)]
	for i := range t.columns {
		if err := t.columns[i].fill(b, &b.cells[i]); err != nil {
			return err
		}
	}
	return nil
}

// endsOf finds the ends of the edges of a block.
func (t *table) endsOf(b *block, e *ends) error {
	b.src, b.dst = b.src[:0], b.dst[:0]
	for _, id := range b.rows {
		src, dst := e.of(id)
		if src >= uint64(t.ends[0].Count) || dst >= uint64(t.ends[1].Count) {
			return fmt.Errorf("%s: found the ends %d and %d of edge %d of %s, expected nodes below %d and %d; graphmill verify finds damage", t.store.Dir, src, dst, id, t.name(), t.ends[0].Count, t.ends[1].Count)
		}
		b.src, b.dst = append(b.src, src), append(b.dst, dst)
		if err := b.at(id, 12); err != nil { // an end and an offset
			return err
		}
	}
	return nil
}
