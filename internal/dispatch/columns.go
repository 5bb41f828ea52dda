package dispatch

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// tensor is a column in the files of the parts, which have the rows that the part owns.
type tensor struct {
	t      int    // node type, or edge type
	name   string // "paper/feat"
	dtype  dgl.DType
	shape  []int64
	width  int                        // bytes of a row as written
	values []byte                     // rows of the store; nil: a row's value is its number, unless wide is set
	wide   widening.Write             // writes rows of a feature that the store holds in pieces
	from   int                        // bytes of a row in the store
	stored int64                      // bytes of all rows in the store
	widen  func(dst, src []byte) bool // converts a row; nil: unchanged. False: a value does not fit
	byNode bool                       // an edge has the row of its destination
	bool   bool                       // the bytes are bools; the configuration says so
}

// trainerID is the column with the trainer of each node within its part.
const trainerID = "trainer_id"

// dtypes are the dtypes in DGL. A bool is stored as a byte, because DGL's server maps no bools.
var dtypes = map[graph.DType]dgl.DType{
	graph.Bool: dgl.Uint8, graph.Int8: dgl.Int8, graph.Int16: dgl.Int16, graph.Int32: dgl.Int32, graph.Int64: dgl.Int64,
	graph.Uint8: dgl.Uint8, graph.Float16: dgl.Float16, graph.BFloat16: dgl.BFloat16, graph.Float32: dgl.Float32, graph.Float64: dgl.Float64,
	// These are widened, see below.
	graph.Uint16: dgl.Int32, graph.Uint32: dgl.Int64, graph.Uint64: dgl.Int64,
}

// widened converts the dtypes that PyTorch does not have.
var widened = map[graph.DType]func(dst, src []byte) bool{
	graph.Uint16: func(dst, src []byte) bool {
		for i := range len(src) / 2 {
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(binary.LittleEndian.Uint16(src[2*i:])))
		}
		return true
	},
	graph.Uint32: func(dst, src []byte) bool {
		for i := range len(src) / 4 {
			binary.LittleEndian.PutUint64(dst[8*i:], uint64(binary.LittleEndian.Uint32(src[4*i:])))
		}
		return true
	},
	graph.Uint64: func(dst, src []byte) bool {
		copy(dst, src)
		for i := range len(src) / 8 {
			if int64(binary.LittleEndian.Uint64(src[8*i:])) < 0 {
				return false
			}
		}
		return true
	},
}

// trainer widens the trainers of an assignment.
func trainer(dst, src []byte) bool {
	binary.LittleEndian.PutUint64(dst, uint64(binary.LittleEndian.Uint16(src)))
	return true
}

// tensors chooses the columns of a type that parts have; rows is the number of rows that a part owns. DGL's
// server does not start where a part has no row of a feature. So trainer_id is added only where all parts have
// rows, and the columns of a type without rows are left out.
func (d *dispatcher) tensors(t int, typeName string, columns []*widening.Column, rows func(p, t int) int64) []tensor {
	var list []tensor
	all, least := int64(0), int64(math.MaxInt64)
	for p := range d.num.parts {
		all, least = all+rows(p, t), min(least, rows(p, t))
	}
	for _, c := range columns {
		name := typeName + "." + c.Name
		switch {
		case c.Name == graph.PositionColumn:
		case c.Name == trainerID && d.a.Trainers > 0:
			d.leave(name, "the assignment's trainers have its place")
		case strings.Contains(c.Name, "/"):
			d.leave(name, "DGL takes no name with a /")
		case c.DType == graph.String:
			d.leave(name, "strings are no tensor")
		case c.Ragged():
			d.leave(name, "rows of variable length are no tensor")
		case c.RowBytes() == 0:
			d.leave(name, "a row has no values")
		case all == 0:
			d.leave(name, "the type has no rows")
		default:
			x := tensor{t: t, name: typeName + "/" + c.Name, dtype: dtypes[c.DType], values: c.Values, from: c.RowBytes(), stored: c.StoredBytes(), widen: widened[c.DType], bool: c.DType == graph.Bool}
			for _, n := range c.Shape {
				x.shape = append(x.shape, int64(n))
			}
			x.width = c.RowValues() * int(x.dtype.Size())
			if c.Wide() {
				x.wide, x.from = c.Writer(c.DType, nil), int(x.stored)/max(c.Rows, 1)
			}
			if x.widen != nil && c.DType != graph.Uint64 {
				d.report.Widened = append(d.report.Widened, fmt.Sprintf("%s: %s to %s", name, c.DType, x.dtype))
			}
			list = append(list, x)
			if meaning := store.Meaning(c.Column); meaning != "" {
				d.leave(meaning+" "+name, "a tensor has only numbers")
			}
		}
	}
	switch {
	case d.a.Trainers == 0 || all == 0:
	case least == 0:
		d.leave(typeName+"."+trainerID, "a part has no rows of the type")
	default:
		list = append(list, tensor{t: t, name: typeName + "/" + trainerID, dtype: dgl.Int64, width: 8, from: 2, widen: trainer})
	}
	slices.SortFunc(list, func(a, b tensor) int { return cmp.Compare(a.name, b.name) })
	return list
}

func (d *dispatcher) leave(column, why string) {
	d.report.LeftOut = append(d.report.LeftOut, column+": "+why)
}

// readColumns finds the columns of all types, with the features that the store holds in pieces.
func (d *dispatcher) readColumns() error {
	features, err := widening.Read(d.fs, d.dir)
	if err != nil {
		return err
	}
	d.nodeColumns, d.edgeColumns = make([][]*widening.Column, len(d.g.Nodes)), make([][]*widening.Column, len(d.g.Edges))
	for t, n := range d.g.Nodes {
		if d.nodeColumns[t], err = features.Nodes(n); err != nil {
			return fmt.Errorf("%s: %w", d.dir, err)
		}
	}
	for t, e := range d.g.Edges {
		if d.edgeColumns[t], err = features.Edges(e); err != nil {
			return fmt.Errorf("%s: %w", d.dir, err)
		}
	}
	return nil
}

// wideMemory is the most memory that features in pieces take while the given number of parts has buffers.
func (d *dispatcher) wideMemory(parts int64) (n int64) {
	widest := int64(0)
	for _, c := range slices.Concat(slices.Concat(d.nodeColumns, d.edgeColumns)...) {
		if c.Wide() {
			n, widest = n+c.NumberBytes(), max(widest, int64(c.RowBytes()))
		}
	}
	if widest > 0 {
		n += int64(d.opt.Threads) * (widest + 8*mostAhead*parts)
	}
	return n
}

// chooseColumns decides the content of the feature files.
func (d *dispatcher) chooseColumns() {
	for _, c := range d.g.Context {
		d.leave("context."+c.Name, "parts have no context")
	}
	for t, n := range d.g.Nodes {
		if n.IDs != nil {
			d.leave("original ids of "+n.Type, "parts number the nodes")
		}
		list := d.tensors(t, n.Type, d.nodeColumns[t], d.nodeRows)
		for i := range list {
			if list[i].from == 2 && strings.HasSuffix(list[i].name, "/"+trainerID) && d.a.Trainers > 0 {
				list[i].values = graph.Bytes(d.a.TrainersOf(t))
				list[i].stored = int64(len(list[i].values))
			}
		}
		d.nodeTensors = append(d.nodeTensors, list...)
		d.origNodes = append(d.origNodes, tensor{t: t, name: n.Type, dtype: dgl.Int64, width: 8})
	}
	for e, in := range d.edges {
		list := d.tensors(e, in.name, d.edgeColumns[e], d.edgeRows)
		for i := range list {
			if strings.HasSuffix(list[i].name, "/"+trainerID) && d.a.Trainers > 0 {
				list[i].values, list[i].byNode = graph.Bytes(d.a.TrainersOf(in.dst)), true
				list[i].stored = int64(len(list[i].values))
			}
		}
		d.edgeTensors = append(d.edgeTensors, list...)
	}
}

// dicts creates a file of tensors for each part of the group, and returns the offsets of its tensors.
func (g *group) dicts(file string, tensors []tensor, rows func(p, t int) int64) (files []vfs.File, at [][]int64, err error) {
	for p := g.from; p < g.to; p++ {
		l, offsets := dictLayout(tensors, p, rows)
		f, err := g.file(partName(p, file), l)
		if err != nil {
			return files, at, err
		}
		files, at = append(files, f), append(at, offsets)
	}
	return files, at, nil
}

// dictLayout is the layout of the file of tensors of part p, and the offsets of the tensors.
func dictLayout(tensors []tensor, p int, rows func(p, t int) int64) (l *dgl.Layout, at []int64) {
	var list []dgl.Tensor
	for _, x := range tensors {
		list = append(list, dgl.Tensor{Name: x.name, DType: x.dtype, Shape: append([]int64{rows(p, x.t)}, x.shape...)})
	}
	l = dgl.DictLayout(list)
	for _, x := range tensors {
		at = append(at, l.Slot(x.name).Offset)
	}
	return l, at
}

// nodeRows and edgeRows are the number of nodes or edges of a type that part p owns.
func (d *dispatcher) nodeRows(p, t int) int64 {
	i := p*d.num.types + t
	return int64(d.num.start[i+1] - d.num.start[i])
}

func (d *dispatcher) edgeRows(p, e int) int64 {
	i := p*len(d.edges) + e
	return int64(d.edgeStart[i+1] - d.edgeStart[i])
}

// writeNodes writes, for each part, a file with a row per owned node.
func (g *group) writeNodes(ctx context.Context, file string, tensors []tensor, buffer int) (err error) {
	files, at, err := g.dicts(file, tensors, g.nodeRows)
	defer func() { err = errors.Join(err, closeAll(files)) }()
	if err != nil {
		return err
	}
	to, rows := writers(files), g.rowWorkers(buffer)
	for k := range tensors {
		err := g.each(ctx, func(_ context.Context, w, i int) error { return g.nodeRun(rows[w], &tensors[k], to, at, k, i) })
		if err != nil {
			return err
		}
	}
	return nil
}

// nodeRun writes the rows of a segment of tensor k, which begins at at[p][k] in the file of part from+p.
func (g *group) nodeRun(r *rowWriter, x *tensor, files []io.WriterAt, at [][]int64, k, segment int) error {
	s := g.segs[segment]
	if s.t != x.t {
		return nil
	}
	r.begin(x, files, func(p int) int64 { return at[p][k] + int64(x.width)*int64(s.nodes[g.from+p]) })
	part := g.num.part[g.num.base[s.t]:]
	for v := s.from; v < s.to; v++ {
		if p := part[v]; g.has(p) {
			if err := r.row(int(p)-g.from, v); err != nil {
				return err
			}
		}
	}
	if err := r.end(); err != nil {
		return err
	}
	return g.read(x.from * (s.to - s.from))
}

// writers are files of which only WriteAt is needed.
func writers(files []vfs.File) (list []io.WriterAt) {
	for _, f := range files {
		list = append(list, f)
	}
	return list
}

// writeEdgeColumns writes, for each part, a file with a row per owned edge.
func (g *group) writeEdgeColumns(ctx context.Context, file string, tensors []tensor, buffer int) (err error) {
	files, at, err := g.dicts(file, tensors, g.edgeRows)
	defer func() { err = errors.Join(err, closeAll(files)) }()
	if err != nil {
		return err
	}
	to, rows := writers(files), g.rowWorkers(buffer)
	for k := range tensors {
		err := g.each(ctx, func(ctx context.Context, w, i int) error { return g.edgeRun(ctx, rows[w], &tensors[k], to, at, k, i) })
		if err != nil {
			return err
		}
	}
	return nil
}

// edgeRun is nodeRun for a tensor of edges: it writes the rows of the edges into the nodes of a segment.
func (g *group) edgeRun(ctx context.Context, r *rowWriter, x *tensor, files []io.WriterAt, at [][]int64, k, segment int) error {
	s := g.segs[segment]
	if s.t != g.edges[x.t].dst {
		return nil
	}
	j := slices.Index(g.into[s.t], x.t)
	counts := g.counts[segment][j*g.num.parts:]
	r.begin(x, files, func(p int) int64 { return at[p][k] + int64(x.width)*int64(counts[g.from+p]) })
	in := g.readers(s.t)[j]
	step, bytes := g.gather(in.incoming, int64(x.from), x.stored)
	part := g.num.part[g.num.base[s.t]:]
	for from := s.from; from < s.to; from += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+step, s.to)
		offsets, _, err := in.block(from, to)
		if err != nil {
			return err
		}
		for v := from; v < to; v++ {
			p := part[v]
			if !g.has(p) {
				continue
			}
			for e := offsets[v-from]; e < offsets[v-from+1]; e++ {
				row := v
				if !x.byNode {
					id, err := in.edge(e)
					if err != nil {
						return err
					}
					row = int(id)
				}
				if err := r.row(int(p)-g.from, row); err != nil {
					return err
				}
			}
		}
		if err := g.read(8*len(offsets) + (8+bytes)*int(offsets[to-from]-offsets[0])); err != nil {
			return err
		}
	}
	return r.end()
}
