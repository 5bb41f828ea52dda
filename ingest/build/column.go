package build

import (
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/store"
)

// arrayNames are the files of a type's folder that are no columns.
var arrayNames = []string{"indptr", "far", "other_indptr", "other_far", "other_edge_id", "ids", "id_buckets", "id_slots"}

// columnDir is the folder of a column's files: that of its type, or one below
// where the name would be that of another file.
func columnDir(dir, name string) string {
	stem, _, offsets := strings.Cut(name, ".")
	if slices.Contains(arrayNames, name) || offsets && (stem == "ids" || strings.HasSuffix(name, ".row_offsets") || strings.HasSuffix(name, ".string_offsets")) {
		return dir + "/columns"
	}
	return dir
}

// fixedMeta describes a column of rows of fixed width.
func fixedMeta(dir, name string, dtype graph.DType, shape []int) store.ColumnMeta {
	return store.ColumnMeta{File: columnDir(dir, name) + "/" + store.FileName(name) + ".npy", DType: dtype.String(), Shape: append([]int{}, shape...)}
}

// column begins a column of rows of variable size that is closed in any case.
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
