package assemble

import (
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
)

// fixedMeta describes a column whose rows have a fixed size.
func fixedMeta(dir, name string, dtype graph.DType, shape []int) store.ColumnMeta {
	return store.ColumnMeta{File: store.ColumnDir(dir, name) + "/" + store.FileName(name) + ".npy", DType: dtype.String(), Shape: append([]int{}, shape...)}
}

// meaning completes the entry of a column, whose files are in dir, with its unit and its categories.
func meaning(w *store.Writer, dir string, c *table.Column, m *store.ColumnMeta) (err error) {
	m.Unit = string(c.Unit)
	if c.Categories != nil {
		m.Categories, err = w.Categories(store.ColumnDir(dir, c.Name), c.Name, c.Categories.Texts())
	}
	return err
}

// column begins a column of rows of variable size that Build closes even after an error. rows is the extent of all rows; nil: the column is never divided.
func (b *builder) column(dir, name string, dtype graph.DType, shape []int, rows *store.Extent) (*store.ColumnWriter, error) {
	var c *store.ColumnWriter
	var err error
	if rows == nil {
		c, err = b.w.Column(dir, name, dtype, shape)
	} else {
		c, err = b.w.SizedColumn(dir, name, dtype, shape, rows)
	}
	if err == nil {
		b.mu.Lock()
		b.openColumns[c] = true
		b.mu.Unlock()
	}
	return c, err
}

func (b *builder) closeColumn(c *store.ColumnWriter) (store.ColumnMeta, error) {
	b.mu.Lock()
	delete(b.openColumns, c)
	b.mu.Unlock()
	return c.Close()
}
