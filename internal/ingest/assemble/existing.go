package assemble

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Existing are the nodes or edges of a store for which WriteColumns writes columns.
type Existing struct {
	// Dir is the folder of their files, and What what they are, such as "nodes of type paper", for errors.
	Dir, What string
	Rows      int
	// IDs finds the node of an id; nil: the rows of the table are in the order of the nodes or edges.
	IDs *store.IDs
}

// ColumnValues is a table with the values of columns for nodes or edges that exist.
type ColumnValues struct {
	Table table.Table
	// ID is the column of ids, if Existing has IDs: Uint64 if these are integers, else String.
	ID table.Column
	// Columns are what to read, and Names what they are called in the store.
	Columns []table.Column
	Names   []string
	// Lacking gives a node without a row the values of an empty cell. Without it, such a node is an error.
	Lacking bool
	// Unknown and Duplicates say how to treat a row whose id no node has, and one whose id an earlier row has: Error or Drop.
	Unknown, Duplicates Policy

	Threads  int
	Progress func(rows int)
}

// ColumnsResult says what WriteColumns has written.
type ColumnsResult struct {
	Columns map[string]store.ColumnMeta // by their names
	Rows    uint64                      // of the table
	// Unknown and Duplicates are the rows that were dropped, and Lacking the nodes without a row.
	Unknown, Duplicates, Lacking uint64
}

// spillMemory bounds the chunks in memory that wait for earlier ones.
const spillMemory = 64 << 20

// WriteColumns writes columns from a table whose rows are in the order of the nodes or edges, or have the ids of the nodes. The
// bytes do not depend on Threads. Memory holds a few chunks per thread and, for a table with ids, a bit per node; rows of strings
// and lists with ids go through unnamed files in the folder of the output.
func WriteColumns(ctx context.Context, fsys vfs.FS, w *store.Writer, v ColumnValues, to Existing) (_ *ColumnsResult, err error) {
	x := &existing{fs: fsys, w: w, ColumnValues: v, Existing: to, result: &ColumnsResult{Columns: map[string]store.ColumnMeta{}}}
	x.spill = extsort.NewSpill(fsys, w.Dir(), spillMemory)
	defer func() { err = errors.Join(err, x.close()) }()
	for i := range v.Columns {
		if err := x.begin(&v.Columns[i], v.Names[i]); err != nil {
			return nil, err
		}
	}
	if to.IDs == nil {
		err = x.inOrder(ctx)
	} else {
		err = x.byID(ctx)
	}
	if err != nil {
		return nil, err
	}
	return x.result, x.finish()
}

// existing is a run of WriteColumns.
type existing struct {
	ColumnValues
	Existing
	fs      vfs.FS
	w       *store.Writer
	spill   *extsort.Spill
	columns []existingColumn
	result  *ColumnsResult
}

// existingColumn is a column that is being written.
type existingColumn struct {
	table.Column
	name  string
	meta  store.ColumnMeta
	width int
	array *store.Array        // of rows of fixed size; nil: of variable size, or closed
	vars  *store.ColumnWriter // nil: of fixed size, or closed
	rows  *scattered          // of variable size, with ids
}

// begin begins the files of a column.
func (x *existing) begin(c *table.Column, name string) (err error) {
	n := existingColumn{Column: *c, name: name}
	dir := store.ColumnDir(x.Dir, name)
	if isVariable(c) {
		if n.vars, err = x.w.Column(dir, name, c.DType, c.Shape); err == nil && x.IDs != nil {
			n.rows, err = newScattered(x.fs, x.w.Dir())
		}
	} else {
		n.width, n.meta = rowBytes(c), fixedMeta(x.Dir, name, c.DType, c.Shape)
		if err := vfs.Room(x.fs, x.w.Dir(), uint64(x.Rows), uint64(n.width), "the column "+name); err != nil {
			return err
		}
		n.array, err = x.w.Array(n.meta.File, c.DType, c.Shape...)
	}
	x.columns = append(x.columns, n)
	return err
}

// close closes what an error has left open.
func (x *existing) close() error {
	err := x.spill.Close()
	for i := range x.columns {
		c := &x.columns[i]
		if c.rows != nil {
			err = errors.Join(err, c.rows.close())
		}
		if c.array != nil {
			err = errors.Join(err, c.array.Close())
		}
		if c.vars != nil {
			_, closed := c.vars.Close()
			err = errors.Join(err, closed)
		}
	}
	return err
}

// finish closes the columns, and completes their entries.
func (x *existing) finish() (err error) {
	for i := range x.columns {
		c := &x.columns[i]
		if c.array != nil {
			err = c.array.Close()
			c.array = nil
		} else {
			c.meta, err = c.vars.Close()
			c.vars = nil
		}
		if err != nil {
			return err
		}
		c.Name = c.name // of the files of categories
		if err := meaning(x.w, x.Dir, &c.Column, &c.meta); err != nil {
			return err
		}
		x.result.Columns[c.name] = c.meta
	}
	return nil
}

// place names the table in errors.
func (x *existing) place() string {
	if files := x.Table.Files(); len(files) > 0 {
		return files[0]
	}
	return "table"
}

// told reports rows that were read.
func (x *existing) told(rows int) {
	if x.Progress != nil {
		x.Progress(rows)
	}
}

// inOrder writes rows that are in the order of the nodes or edges.
func (x *existing) inOrder(ctx context.Context) error {
	want := uint64(x.Rows)
	wrong := func(found string) error {
		return fmt.Errorf("%s: found %s, expected %d, one for each of the %s, in their order; give a file with as many", x.place(), found, want, x.What)
	}
	if t, ok := x.Table.(interface{ Rows() uint64 }); ok && t.Rows() != want {
		return wrong(fmt.Sprintf("%d rows", t.Rows()))
	}
	var vars []*store.ColumnWriter
	for i := range x.columns {
		if x.columns[i].vars != nil {
			vars = append(vars, x.columns[i].vars)
		}
	}
	order := newInOrder(x.spill, vars)
	threads := max(x.Threads, 1)
	vectors := make([][]table.Vector, threads)
	rows, err := x.Table.Scan(ctx, x.Columns, threads, func(worker int, c *table.Chunk) error {
		if c.First+uint64(c.Rows) > want {
			return wrong(fmt.Sprintf("more than %d rows", want))
		}
		vs := vectors[worker][:0]
		for i := range x.columns {
			v := c.Columns[i]
			if x.columns[i].array == nil {
				vs = append(vs, v)
			} else if len(v.Data) > 0 {
				if _, err := x.columns[i].array.WriteAt(v.Data, int64(c.First)*int64(x.columns[i].width)); err != nil {
					return err
				}
			}
		}
		vectors[worker] = vs
		x.told(c.Rows)
		return order.put(c.First, uint64(c.Rows), vs)
	})
	if err != nil {
		return err
	}
	if rows != want {
		return wrong(fmt.Sprintf("%d rows", rows))
	}
	x.result.Rows = rows
	return nil
}

// emptyCell is the form that records carry of a row of a column whose cell is empty; the value itself of a column of fixed size.
func emptyCell(ctx context.Context, t table.Table, c *table.Column) (row []byte, err error) {
	_, err = views.EmptyRow(t).Scan(ctx, []table.Column{*c}, 1, func(_ int, chunk *table.Chunk) error {
		cur := newCursor(c, &chunk.Columns[0])
		row = cur.blob(nil)
		return nil
	})
	return row, err
}

// appendRows appends rows in the form that records carry to a column.
type appendRows struct {
	c      *existingColumn
	vector table.Vector
	rows   int
}

// add appends a row.
func (a *appendRows) add(row []byte) error {
	unblob(row, &a.c.Column, &a.vector)
	if a.rows++; len(a.vector.Data)+4*len(a.vector.Ends) < 1<<18 && a.rows < 1<<15 {
		return nil
	}
	return a.flush()
}

// flush writes the rows that wait.
func (a *appendRows) flush() error {
	if a.rows == 0 {
		return nil
	}
	v := &a.vector
	err := a.c.vars.Append(v.Data, v.Ends, v.Lengths...)
	v.Data, v.Ends, a.rows = v.Data[:0], v.Ends[:0], 0
	for k := range v.Lengths {
		v.Lengths[k] = v.Lengths[k][:0]
	}
	return err
}
