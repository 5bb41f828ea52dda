package arrayfiles

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/vfs"
)

// CSC is a table of the edges of a sparse matrix: edge e leads from indices[e] to the row d with indptr[d] <= e <
// indptr[d+1]. Its fields are src and dst, and its rows are sorted by destination.
type CSC struct {
	indptr, indices *Npy
}

// OpenCSC opens the two arrays, both one-dimensional and of integers. Each scan checks the values of indptr.
func OpenCSC(fsys vfs.FS, indptr, indices string) (*CSC, error) {
	t := &CSC{}
	for _, c := range []struct {
		name, path string
		table      **Npy
	}{{"indptr", indptr, &t.indptr}, {"indices", indices, &t.indices}} {
		n, err := OpenNpy(fsys, []NpyColumn{{Name: c.name, Path: c.path}})
		if err != nil {
			return nil, err
		}
		if a := n.cols[0]; !a.dtype.IsInt() || len(a.Shape) > 0 {
			return nil, badf("%s: found %s with rows of shape %v, expected integers in one dimension", c.path, a.dtype, a.Shape)
		}
		*c.table = n
	}
	if t.indptr.rows == 0 {
		return nil, badf("%s: found no values, expected one more value than there are nodes; write the array again", indptr)
	}
	return t, nil
}

// Nodes is the number of destinations, which is the length of indptr less one.
func (t *CSC) Nodes() uint64 { return uint64(t.indptr.rows) - 1 }

// edges is the number of edges.
func (t *CSC) edges() uint64 { return uint64(t.indices.rows) }

// Fields implements Table.
func (t *CSC) Fields() []table.Field {
	return []table.Field{{Name: "src", DType: t.indices.cols[0].dtype}, {Name: "dst", DType: t.indptr.cols[0].dtype}}
}

// Files implements Table.
func (t *CSC) Files() []string { return []string{t.indptr.cols[0].path, t.indices.cols[0].path} }

// Bytes implements Table.
func (t *CSC) Bytes() int64 { return t.indptr.bytes + t.indices.bytes }

// Where implements Table: "indices.npy[17]".
func (t *CSC) Where(row uint64, column string) string { return t.indices.Where(row, column) }

// check reads indptr. It must start with 0, never decrease, and end with the number of edges.
func (t *CSC) check(ctx context.Context, threads int) error {
	a := &t.indptr.cols[0]
	edges := t.edges()
	// The ends of neighbouring chunks are compared after the scan. All chunks except the last one have the same
	// number of rows.
	type ends struct{ row, first, last uint64 }
	seen := make([][]ends, max(threads, 1))
	bad := func(row, found uint64, expected string) error {
		return badf("%s: found %d, expected %s; write the matrix again", a.place(row), found, expected)
	}
	asked := []table.Column{{Name: "indptr", DType: graph.Uint64}}
	_, err := t.indptr.Scan(ctx, asked, threads, func(worker int, c *table.Chunk) error {
		w := scalar.AsWords(c.Columns[0].Data)
		for i := 1; i < len(w); i++ {
			if w[i] < w[i-1] {
				return bad(c.First+uint64(i), w[i], fmt.Sprintf("at least %d, which is before it", w[i-1]))
			}
		}
		seen[worker] = append(seen[worker], ends{c.First, w[0], w[len(w)-1]})
		return nil
	})
	if err != nil {
		return err
	}
	var all []ends
	for _, s := range seen {
		all = append(all, s...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].row < all[j].row })
	if all[0].first != 0 {
		return bad(0, all[0].first, "0")
	}
	for i := 1; i < len(all); i++ {
		if all[i].first < all[i-1].last {
			return bad(all[i].row, all[i].first, fmt.Sprintf("at least %d, which is before it", all[i-1].last))
		}
	}
	if last := all[len(all)-1].last; last != edges {
		return bad(t.Nodes(), last, fmt.Sprintf("%d, the number of edges in %s", edges, t.indices.cols[0].path))
	}
	return nil
}

// Scan implements Table. dst is read as Uint64, and src as any dtype that the array can be read as.
func (t *CSC) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *CSC) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	if err := t.check(ctx, threads); err != nil {
		return 0, err
	}
	var inner []table.Column // columns that the indices contain
	at := make([]int, len(columns))
	for i, c := range columns {
		at[i] = -1
		switch {
		case c.Name == "src":
			c.Name = "indices"
			at[i] = len(inner)
			inner = append(inner, c)
		case c.Name != "dst" || c.DType != graph.Uint64 || len(c.Shape) > 0:
			return 0, badf("%s: found the columns src and dst, expected %q as %s among them; read dst as uint64", t.indptr.cols[0].path, c.Name, c.DType)
		}
	}
	if len(inner) == 0 {
		inner = append(inner, table.Column{Name: "indices", DType: t.indices.cols[0].dtype})
	}
	threads = max(threads, 1)
	workers := make([]cscWorker, threads)
	for i := range workers {
		workers[i].indptr = newReader(t.indptr.fsys, 0)
		workers[i].chunk.Columns = make([]table.Vector, len(columns))
	}
	rows, err := t.indices.Scan(ctx, inner, threads, func(worker int, c *table.Chunk) error {
		w := &workers[worker]
		w.chunk.First, w.chunk.Rows = c.First, c.Rows
		filled := false
		for i := range columns {
			if at[i] >= 0 {
				w.chunk.Columns[i] = c.Columns[at[i]]
				continue
			}
			if !filled {
				if err := w.destinations(t, c.First, c.Rows); err != nil {
					return err
				}
				filled = true
			}
			w.chunk.Columns[i] = table.Vector{Data: w.dst.Bytes()[:w.dst.N:w.dst.N]}
		}
		return fn(worker, &w.chunk)
	})
	for i := range workers {
		err = errors.Join(err, workers[i].indptr.close())
	}
	if err != nil {
		return 0, err
	}
	return rows, nil
}

type cscWorker struct {
	indptr npyReader
	window scalar.Words // values of indptr
	dst    scalar.Words
	chunk  table.Chunk
}

// read returns n values of indptr, starting at a row.
func (w *cscWorker) read(t *CSC, row, n int) ([]uint64, error) {
	a := &t.indptr.cols[0]
	raw, err := w.indptr.at(a.path, a.offset+int64(row)*a.stride, n*int(a.stride))
	if err != nil {
		return nil, err
	}
	w.window.N = 0
	w.window.Add(8 * n)
	scalar.Widen(w.window.W[:n], raw, int(a.stride), a.dtype)
	return w.window.W[:n], nil
}

// destinations fills dst for the edges of a chunk. It finds the first row by bisection and the others by advancing.
func (w *cscWorker) destinations(t *CSC, first uint64, rows int) error {
	var err error
	row := sort.Search(int(t.Nodes()), func(r int) bool {
		v, e := w.read(t, r+1, 1)
		if e != nil {
			err = e
			return true
		}
		return v[0] > first
	})
	if err != nil {
		return err
	}
	w.dst.N = 0
	w.dst.Add(8 * rows)
	dst := w.dst.W[:rows]
	const window = 8192
	for done := 0; done < rows; {
		n := min(window, int(t.Nodes())-row)
		if n == 0 {
			return badf("%s: found other values than in the first read, expected a file that does not change; run again", t.indptr.cols[0].path)
		}
		ends, err := w.read(t, row+1, n)
		if err != nil {
			return err
		}
		for i, end := range ends {
			for done < rows && first+uint64(done) < end {
				dst[done] = uint64(row + i)
				done++
			}
		}
		row += n
	}
	return nil
}
