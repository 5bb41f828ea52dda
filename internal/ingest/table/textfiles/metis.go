package textfiles

import (
	"context"
	"errors"
	"slices"

	"github.com/graphmill/graphmill/format/metis"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/vfs"
)

// metisTable is a table of the neighbours, or of the nodes, of a METIS file.
type metisTable struct {
	fsys   vfs.FS
	path   string
	bytes  int64
	nodes  bool // one row per node, else one per neighbour
	fields []table.Field
}

// OpenMETIS opens a METIS file. The rows of edges are the neighbours of all nodes, in the order of the file, from the
// node to its neighbour: src, dst and, if the file has weights of edges, weight. Nodes count from 0. nodes has the
// columns weight and size, as far as the file has them; it is nil if it has neither.
func OpenMETIS(fsys vfs.FS, path string) (edges, nodes table.Table, h metis.Header, err error) {
	if h, err = metis.ReadHeader(fsys, path); err != nil {
		return nil, nil, h, metisError(err)
	}
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, nil, h, err
	}
	e := &metisTable{fsys: fsys, path: path, bytes: info.Size(), fields: []table.Field{{Name: "src", DType: graph.Uint32}, {Name: "dst", DType: graph.Uint32}}}
	if h.EdgeWeights {
		e.fields = append(e.fields, table.Field{Name: "weight", DType: graph.Uint32})
	}
	n := &metisTable{fsys: fsys, path: path, bytes: info.Size(), nodes: true}
	if h.Weights {
		f := table.Field{Name: "weight", DType: graph.Uint32}
		if h.Constraints > 1 {
			f.Shape = []int{h.Constraints}
		}
		n.fields = append(n.fields, f)
	}
	if h.Sizes {
		n.fields = append(n.fields, table.Field{Name: "size", DType: graph.Uint32})
	}
	if len(n.fields) == 0 {
		return e, nil, h, nil
	}
	return e, n, h, nil
}

// metisError makes an error about the content of a file one of a table.
func metisError(err error) error {
	if errors.Is(err, metis.ErrFormat) {
		return badf("%w", err)
	}
	return err
}

// Fields implements Table.
func (t *metisTable) Fields() []table.Field { return t.fields }

// Files implements Table.
func (t *metisTable) Files() []string { return []string{t.path} }

// Bytes implements Table.
func (t *metisTable) Bytes() int64 { return t.bytes }

// Where implements Table.
func (t *metisTable) Where(row uint64, _ string) string {
	return metis.Place(context.Background(), t.fsys, t.path, row, t.nodes)
}

// Scan implements Table. Numbers are asked for as Uint32 or, if they are scalars, as Uint64. Several goroutines parse,
// and one calls fn. It takes the memory that metis.Scan takes, and one chunk.
func (t *metisTable) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (rows uint64, err error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *metisTable) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (rows uint64, err error) {
	for _, c := range columns {
		i := slices.IndexFunc(t.fields, func(f table.Field) bool { return f.Name == c.Name })
		if i < 0 || c.DType != graph.Uint32 && (c.DType != graph.Uint64 || len(c.Shape) > 0) || !slices.Equal(c.Shape, t.fields[i].Shape) {
			return 0, badf("%s: found a request for %q as %s %v, expected a column of the file as uint32", t.path, c.Name, c.DType, c.Shape)
		}
	}
	data := make([]scalar.Words, len(columns))
	chunk := table.Chunk{Columns: make([]table.Vector, len(columns))}
	var src []uint32
	err = metis.Scan(ctx, t.fsys, t.path, threads, func(b *metis.Block) error {
		chunk.First, chunk.Rows = rows, len(b.Neighbours)
		if t.nodes {
			chunk.Rows = len(b.Ends)
		} else if src = src[:0]; slices.ContainsFunc(columns, func(c table.Column) bool { return c.Name == "src" }) {
			for i, end := range b.Ends {
				for len(src) < int(end) {
					src = append(src, uint32(b.First)+uint32(i))
				}
			}
		}
		if chunk.Rows == 0 {
			return nil
		}
		rows += uint64(chunk.Rows)
		for i, c := range columns {
			var from []uint32
			switch {
			case c.Name == "src":
				from = src
			case c.Name == "dst":
				from = b.Neighbours
			case c.Name == "size":
				from = b.Sizes
			case t.nodes:
				from = b.Weights
			default:
				from = b.EdgeWeights
			}
			d := &data[i]
			d.N = 0
			if c.DType == graph.Uint64 {
				d.Add(8 * len(from))
				for k, to := 0, d.W[:len(from)]; k < len(to); k++ {
					to[k] = uint64(from[k])
				}
			} else {
				copy(d.Add(4*len(from)), graph.Bytes(from))
			}
			chunk.Columns[i].Data = d.Bytes()[:d.N:d.N]
		}
		return fn(0, &chunk)
	})
	if err != nil {
		return 0, metisError(err)
	}
	return rows, nil
}
