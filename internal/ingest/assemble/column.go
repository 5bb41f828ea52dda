package assemble

import (
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
)

// fixedMeta describes a column whose rows have a fixed size.
func fixedMeta(dir, name string, dtype graph.DType, shape []int) store.ColumnMeta {
	return store.ColumnMeta{File: store.ColumnDir(dir, name) + "/" + store.FileName(name) + ".npy", DType: dtype.String(), Shape: append([]int{}, shape...)}
}

// column begins a column of rows of variable size that Build closes even after an error.
func (b *builder) column(dir, name string, dtype graph.DType, shape []int) (*store.ColumnWriter, error) {
	c, err := b.w.Column(dir, name, dtype, shape)
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
