package assemble

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
)

// errKeys ends the scan of integer ids that are not the row numbers.
var errKeys = errors.New("ids are keys")

// id returns the type-wise id of a row of the node table. Added nodes have the rows after it.
func (t *nodeType) id(row uint64) uint64 {
	switch {
	case t.dropped == nil:
		return row
	case row >= t.stats.Rows: // an added node
		return row - t.dropped.count
	case t.dropped.has(row):
		return leftOut
	}
	return row - t.dropped.before(row)
}

// scanNodes reads the node tables. It finds the numbers of nodes and makes the keys that edges are joined with. It
// also writes columns, unless they need information that is not known yet.
func (b *builder) scanNodes(ctx context.Context) error {
	for _, t := range b.types {
		if t.Table == nil {
			continue
		}
		if t.ID.Name != "" && t.ID.DType == graph.Uint64 {
			if err := b.stage("ids", t.Type, func() (uint64, error) { return b.compareIDs(ctx, t) }); err != nil {
				return err
			}
		}
		now := !b.opt.Homogeneous && (!t.keyed || b.opt.DuplicateNodes == Error)
		if err := b.stage("nodes", t.Type, func() (uint64, error) { return b.scanType(ctx, t, t.keyed, now) }); err != nil {
			return err
		}
		if now || b.opt.Homogeneous {
			continue
		}
		// The rows to leave out had to be known first.
		if err := b.stage("columns", t.Type, func() (uint64, error) { return b.scanType(ctx, t, false, true) }); err != nil {
			return err
		}
	}
	return nil
}

// compareIDs finds out whether integer ids are the row numbers.
func (b *builder) compareIDs(ctx context.Context, t *nodeType) (uint64, error) {
	if b.opt.DanglingEdges == Zeros {
		t.keyed = true
		return 0, nil
	}
	rows, err := t.Table.Scan(ctx, []table.Column{t.ID}, b.budget.threads, isRowNumber)
	if errors.Is(err, errKeys) {
		t.keyed = true
		return 0, nil
	}
	return rows, err
}

// isRowNumber returns errKeys for a chunk with an id that is not its row number.
func isRowNumber(_ int, c *table.Chunk) error {
	for i, v := range u64s(c.Columns[0].Data)[:c.Rows] {
		if v != c.First+uint64(i) {
			return errKeys
		}
	}
	return nil
}

// scanType reads a node table for its keys, its columns, or both.
func (b *builder) scanType(ctx context.Context, t *nodeType, keys, columns bool) (rows uint64, err error) {
	var out *nodeSink
	if columns {
		if out, err = b.newNodeSink([]*nodeType{t}, store.NodesDir(t.Type)); err != nil {
			return 0, err
		}
	}
	if keys {
		t.keys = b.newKeys(t, t.Table.Bytes()/24)
	}
	if rows, err = b.readType(ctx, t, keys, out); err != nil {
		return 0, err
	}
	switch {
	case out == nil:
	case t.keyed && b.opt.DanglingEdges == Zeros:
		t.sink = out
	default:
		err = out.close(b.nodesMeta(t.Type))
	}
	if !t.known {
		t.known, t.count, t.stats.Rows = true, rows, rows
	}
	if keys && err == nil {
		if err = t.keys.part.Finish(); err == nil {
			err = b.indexTable(ctx, t)
		}
	}
	return rows, err
}

// nodesMeta returns the entry of a node type of the store.
func (b *builder) nodesMeta(typ string) *store.NodesMeta {
	m := b.res.Meta.Nodes[typ]
	if m == nil {
		m = &store.NodesMeta{Columns: map[string]store.ColumnMeta{}}
		b.res.Meta.Nodes[typ] = m
	}
	return m
}

// place returns the folder and the entry of the node type that a type becomes.
func (b *builder) place(t *nodeType) (dir string, m *store.NodesMeta) {
	name := t.Type
	if b.opt.Homogeneous {
		name = graph.HomogeneousNode
	}
	return store.NodesDir(name), b.nodesMeta(name)
}

// readType scans a node table once.
func (b *builder) readType(ctx context.Context, t *nodeType, keys bool, out *nodeSink) (uint64, error) {
	var ask []table.Column
	if keys {
		ask = append(ask, t.ID)
	}
	var places []int
	if out != nil {
		for i := range out.columns {
			c := out.columns[i].Column
			if out.columns[i].id {
				c = t.ID
			} else {
				c = t.Columns[findColumn(t.Columns, &c)]
			}
			if at := slices.IndexFunc(ask, func(x table.Column) bool { return x.Name == c.Name && reflect.DeepEqual(x, c) }); at >= 0 {
				places = append(places, at)
				continue
			}
			places = append(places, len(ask))
			ask = append(ask, c)
		}
	}
	threads := b.budget.threads
	workers := make([]nodeWorker, threads)
	for i := range workers {
		w := &workers[i]
		if keys {
			var err error
			if w.keys, err = t.keys.part.Writer(); err != nil {
				return 0, err
			}
		}
	}
	if out != nil {
		out.begin()
		if pieces, ok := t.Table.(*chunks); ok && !keys {
			pieces.skip = func(first uint64, end *chunkEnd) (bool, error) {
				return out.skip(t, first, end, pieces, ask, places)
			}
		}
	}
	var done atomic.Int64
	rows, err := t.Table.Scan(ctx, ask, threads, func(worker int, c *table.Chunk) error {
		w := &workers[worker]
		if keys {
			if err := w.addKeys(b.seed, t, c); err != nil {
				return err
			}
		}
		if out != nil {
			if err := out.chunk(t, w, c, places); err != nil {
				return err
			}
		}
		b.scanned("nodes "+t.Type, t.Table, c, t.stats.Rows, &done)
		return nil
	})
	if err == nil && rows > maxUnknown {
		err = fmt.Errorf("%s: found %d rows, expected at most 2^40", t.Table.Files()[0], rows)
	}
	return rows, err
}

// nodeWorker is the state of one worker that reads a node table.
type nodeWorker struct {
	keys    *extsort.Writer
	buf     []byte
	vectors []table.Vector
}

// nodeSink writes the columns of nodes: of one type or, in a homogeneous graph, of all types, one after the other.
type nodeSink struct {
	*builder
	dir     string
	columns []nodeColumn
	order   *inOrder
	spill   *extsort.Spill
}

// nodeColumn is a column of nodes that is being written.
type nodeColumn struct {
	table.Column
	id    bool // holds the original ids
	meta  store.ColumnMeta
	array *store.Array // for rows of fixed size; nil: variable size
	width int
	vars  *store.ColumnWriter
}

// newNodeSink begins the columns that all the types have.
func (b *builder) newNodeSink(types []*nodeType, dir string) (*nodeSink, error) {
	s := &nodeSink{builder: b, dir: dir}
	lists := make([][]table.Column, len(types))
	keyed := true
	for i, t := range types {
		lists[i] = t.Columns
		keyed = keyed && t.keyed && t.Table != nil && t.ID.DType == types[0].ID.DType
	}
	cols, left := common(lists)
	for i, t := range types {
		for j := range t.Columns {
			if left[i] > 0 && findColumn(cols, &t.Columns[j]) < 0 {
				b.res.Left = append(b.res.Left, t.Type+"."+t.Columns[j].Name)
			}
		}
	}
	cols = slices.Clone(cols)
	slices.SortFunc(cols, func(x, y table.Column) int { return strings.Compare(x.Name, y.Name) })
	if keyed && len(types) > 0 {
		id := types[0].ID
		id.Shape = nil
		cols = append(cols, id)
	}
	s.spill = extsort.NewSpill(b.fs, b.tmp, b.budget.spill())
	b.later(s.spill.Close)
	var vars []*store.ColumnWriter
	for i, c := range cols {
		n := nodeColumn{Column: c, id: keyed && i == len(cols)-1}
		name, folder := c.Name, store.ColumnDir(dir, c.Name)
		if n.id {
			name, folder = idsName(types), dir
		}
		var err error
		if isVariable(&c) {
			if n.vars, err = b.column(folder, name, c.DType, c.Shape, extentOf(types, &c, n.id)); err != nil {
				return nil, err
			}
			vars = append(vars, n.vars)
		} else {
			n.width = rowBytes(&c)
			n.meta = store.ColumnMeta{File: folder + "/" + store.FileName(name) + ".npy", DType: c.DType.String(), Shape: append([]int{}, c.Shape...)}
			if n.array, err = b.sized(n.meta.File, countOf(types), c.DType, c.Shape...); err != nil {
				return nil, err
			}
		}
		s.columns = append(s.columns, n)
	}
	s.order = newInOrder(s.spill, vars)
	return s, nil
}

// idColumn is the column of the original ids in a homogeneous graph of several types, where an id alone does not
// identify a node.
const idColumn = "#id"

func idsName(types []*nodeType) string {
	if len(types) > 1 {
		return idColumn
	}
	return "ids"
}

// begin begins the rows of a table.
func (s *nodeSink) begin() { s.order.next = 0 }

// countOf is the number of nodes of types, as far as it is known.
func countOf(types []*nodeType) (n uint64) {
	for _, t := range types {
		n += t.count
	}
	return n
}

// skip leaves out the rows of a file of pieces, from row first on, unless one of the columns wants some. places are the columns' in ask.
func (s *nodeSink) skip(t *nodeType, first uint64, end *chunkEnd, pieces *chunks, ask []table.Column, places []int) (bool, error) {
	extent := func(i int) *store.Extent { return &end.Columns[pieces.place(&ask[places[i]])] }
	node := int64(t.offset + first)
	for i := range s.columns {
		if c := &s.columns[i]; c.array != nil && c.array.Wants(node*int64(c.width), int64(end.Rows)*int64(c.width)) ||
			c.array == nil && c.vars.Wants(extent(i)) {
			return false, nil
		}
	}
	for i := range s.columns {
		if c := &s.columns[i]; c.array == nil {
			if err := c.vars.Skip(extent(i)); err != nil {
				return false, err
			}
		}
	}
	s.order.next = first + end.Rows
	return true, nil
}

// chunk writes the columns of a chunk. places gives their indices in the chunk.
func (s *nodeSink) chunk(t *nodeType, w *nodeWorker, c *table.Chunk, places []int) error {
	keep, id := s.keep(t, c)
	w.vectors = w.vectors[:0]
	for i := range s.columns {
		x := &s.columns[i]
		v := &c.Columns[places[i]]
		if x.array != nil {
			data := v.Data
			if keep != nil {
				data = w.buf[:0]
				for row, ok := range keep {
					if ok {
						data = append(data, v.Data[row*x.width:][:x.width]...)
					}
				}
				w.buf = data
			}
			if len(data) == 0 {
				continue
			}
			if _, err := x.array.WriteAt(data, int64(t.offset+id)*int64(x.width)); err != nil {
				return err
			}
			continue
		}
		if keep == nil {
			w.vectors = append(w.vectors, *v)
			continue
		}
		var kept table.Vector
		cur := newCursor(&x.Column, v)
		var blob []byte
		for _, ok := range keep {
			blob = cur.blob(blob[:0])
			if ok {
				unblob(blob, &x.Column, &kept)
			}
		}
		w.vectors = append(w.vectors, kept)
	}
	return s.order.put(c.First, uint64(c.Rows), w.vectors)
}

// keep marks the rows of a chunk that become nodes, and returns the id of the first of them. It returns nil if all
// rows become nodes.
func (s *nodeSink) keep(t *nodeType, c *table.Chunk) (keep []bool, first uint64) {
	if t.dropped == nil {
		return nil, c.First
	}
	first = c.First - t.dropped.before(c.First)
	keep = make([]bool, c.Rows)
	for i := range keep {
		keep[i] = !t.dropped.has(c.First + uint64(i))
	}
	return keep, first
}

// close completes the columns and adds them to m.
func (s *nodeSink) close(m *store.NodesMeta) (err error) {
	for i := range s.columns {
		x := &s.columns[i]
		if x.array != nil {
			err = s.closeArray(x.array)
		} else {
			x.meta, err = s.closeColumn(x.vars)
		}
		if err != nil {
			return err
		}
		if !x.id {
			if err := meaning(s.w, s.dir, &x.Column, &x.meta); err != nil {
				return err
			}
		}
		switch {
		case !x.id:
			m.Columns[x.Name] = x.meta
		case strings.HasSuffix(x.meta.File, "/ids.npy"):
			m.IDs = &x.meta
		default:
			m.Columns[idColumn] = x.meta
		}
	}
	return s.spill.Close()
}

// finishNodes writes the rest of the nodes after their numbers are known.
func (b *builder) finishNodes(ctx context.Context) error {
	if b.opt.Homogeneous {
		return b.finishHomogeneous(ctx)
	}
	for _, t := range b.types {
		m := b.nodesMeta(t.Type)
		m.Count = int(t.count)
		t.stats.Count = t.count
	}
	return nil
}
