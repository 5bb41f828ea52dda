package assemble

import (
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/store"
)

// sink finishes the buckets of one direction of an edge type: it sorts each bucket in memory and writes it at its
// final place.
type sink struct {
	*group
	lay    layout
	way    graph.Direction
	second bool               // the other direction: seq is the edge id
	other  *extsort.Partition // receives the edges by their far end; nil: none

	indptr  *tail
	lists   *lists // in place of indptr; nil: there are offsets of all nodes
	far     io.WriterAt
	seq     io.WriterAt
	types   io.WriterAt    // the edge type, in a homogeneous graph
	arrays  []*store.Array // far, seq and types; nil for a range, whose places are in a piece
	nearTop uint64         // one more than the largest near id
	wideFar bool
	wideSeq bool
	columns []outColumn
	queue   *queue
	bad     *firstRow       // rows are seq
	drops   []atomic.Uint64 // number of duplicates of each part

	edges   uint64                // number of edges, where it is known before they are written
	extents map[int]*store.Extent // of columns of variable size, as edges
}

// outColumn is a column that is being written: an array of rows of fixed size, or a writer that takes rows in order.
type outColumn struct {
	meta  store.ColumnMeta
	at    io.WriterAt
	vars  appender
	array *store.Array        // at, of a store
	file  *store.ColumnWriter // vars, of a store
}

// appender takes rows of variable size, as store.ColumnWriter does.
type appender interface {
	Append(data []byte, ends []uint32, lengths ...[]uint32) error
}

// queue assigns the places of buckets. If the number of edges that each bucket keeps is known, all places are known.
// Otherwise, and if rows of variable size are appended, a bucket waits for those before it.
type queue struct {
	bases []uint64 // first edge of each bucket; nil: unknown

	mu   sync.Mutex
	cond *sync.Cond
	turn int
	base uint64
	dead bool
}

// wait waits for the turn of bucket b and returns the place of its first edge.
func (q *queue) wait(b int) (base uint64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.turn != b && !q.dead {
		q.cond.Wait()
	}
	return q.base, !q.dead
}

// done ends the turn of bucket b, which kept n edges.
func (q *queue) done(n uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.turn++
	q.base += n
	q.cond.Broadcast()
}

// kill wakes the waiting workers after an error.
func (q *queue) kill() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dead = true
	q.cond.Broadcast()
}

func (s *sink) dedupe() bool { return !s.second && s.opt.DuplicateEdges != Keep }

// inOrder says whether buckets must be written one after the other.
func (s *sink) inOrder() bool { return s.dedupe() || s.lay.variable }

// finish writes all buckets and returns the number of edges.
func (s *sink) finish(ctx context.Context, edges *extsort.Partition) (uint64, error) {
	var total, rows uint64
	bases := make([]uint64, edges.Buckets())
	for b := range bases {
		bases[b] = total
		if s.lay.variable {
			total += uint64(edges.Bytes(b)) / uint64(s.lay.least())
		} else {
			total += uint64(edges.Bytes(b) / int64(s.lay.fixed))
		}
	}
	if s.lay.variable {
		total = s.counted()
	}
	for _, p := range s.parts {
		rows = max(rows, p.rows)
	}
	s.queue = &queue{}
	s.queue.cond = sync.NewCond(&s.queue.mu)
	if !s.inOrder() {
		s.queue.bases = bases
	}
	s.bad = newFirstRow()
	s.drops = make([]atomic.Uint64, len(s.parts))
	if err := s.create(total, rows); err != nil {
		return 0, err
	}
	var next atomic.Int64
	var done atomic.Int64
	n := s.buckets(edges)
	stage := "adjacency"
	if s.second {
		stage = "other direction"
	}
	err := parallel(ctx, s.budget.threads, func(ctx context.Context, _ int) error {
		stop := context.AfterFunc(ctx, s.queue.kill)
		defer stop()
		w := &finisher{sink: s}
		defer w.close()
		if s.other != nil {
			var err error
			if w.otherWriter, err = s.other.Writer(); err != nil {
				return err
			}
		}
		for {
			b := int(next.Add(1) - 1)
			if b >= n {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			size := edges.Bytes(b)
			if err := w.bucket(ctx, edges, b); err != nil {
				return err
			}
			s.progress(stage+" "+s.etype.String(), done.Add(size/int64(s.lay.fixed)), int64(total))
		}
	})
	if err != nil {
		return 0, err
	}
	if err := s.bad.check(ctx); err != nil {
		return 0, err
	}
	if s.inOrder() {
		total = s.queue.base
	}
	return total, s.end(total, n, edges.Shift())
}

// buckets returns the number of buckets that nodes can be in.
func (s *sink) buckets(edges *extsort.Partition) int {
	n := 0
	for b := range edges.Buckets() {
		if edges.Bytes(b) > 0 {
			n = b + 1
		}
	}
	return n
}

// counted returns the number of edges that the scan counted.
func (s *sink) counted() uint64 {
	var n uint64
	for _, p := range s.parts {
		n += p.stats.Count
	}
	return n
}

// idTop returns one more than the largest id at the near end of a direction.
func (s *sink) idTop(way graph.Direction) uint64 {
	var n uint64
	for _, p := range s.parts {
		n = max(n, s.top(p.near(way).t))
	}
	return n
}

func (s *sink) create(total, rows uint64) (err error) {
	if err := s.checkNodes(); err != nil {
		return err
	}
	types := []*nodeType{}
	for _, p := range s.parts {
		if t := p.near(s.way).t; !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	nodes := uint64(0)
	for _, t := range types {
		nodes += t.count
	}
	if !s.opt.Listed {
		if err := s.room(max(nodes, s.idTop(s.way)), indexType(total+1)); err != nil {
			return err
		}
	}
	prefix := ""
	if s.second {
		prefix = "other_"
	}
	open := func(file string, dtype graph.DType) (*store.Array, error) {
		a, err := s.sized(file, s.edges, dtype)
		s.arrays = append(s.arrays, a)
		return a, err
	}
	array := func(name string, dtype graph.DType) (a *store.Array, err error) {
		s.meta.Arrays[prefix+name] = s.dir + "/" + prefix + name + ".npy"
		return open(s.meta.Arrays[prefix+name], dtype)
	}
	if s.opt.Listed {
		err = s.createLists(total)
	} else {
		err = s.createOffsets(prefix, total)
	}
	if err != nil {
		return err
	}
	s.widths(total, rows)
	if s.far, err = array("far", indexType(s.idTop(1-s.way))); err != nil {
		return err
	}
	if s.second {
		s.seq, err = array("edge_id", indexType(total))
		return err
	}
	if s.positioned() {
		return s.createColumns()
	}
	made := len(s.parts) > 0 && s.parts[0].Made > 0
	s.meta.NoPositions = s.opt.NoPositions && !made
	if !s.opt.NoPositions && !made {
		pos := fixedMeta(s.dir, graph.PositionColumn, indexType(rows), nil)
		if s.seq, err = open(pos.File, indexType(rows)); err != nil {
			return err
		}
		s.meta.Columns[graph.PositionColumn] = pos
	}
	if s.opt.Homogeneous {
		x := fixedMeta(s.dir, typeColumn, typeDType(len(s.parts)), nil)
		if s.types, err = open(x.File, typeDType(len(s.parts))); err != nil {
			return err
		}
		s.meta.Columns[typeColumn] = x
		for _, p := range s.parts {
			s.meta.Types = append(s.meta.Types, p.Type.String())
		}
	}
	return s.createColumns()
}

// createOffsets begins the offsets of all near nodes.
func (s *sink) createOffsets(prefix string, total uint64) (err error) {
	s.indptr = &tail{dtype: indexType(total + 1)}
	for _, p := range s.parts {
		s.indptr.add(p.near(s.way).t)
	}
	if s.opt.Homogeneous {
		s.indptr.types = s.builder.types
	}
	s.meta.Arrays[prefix+"indptr"] = s.dir + "/" + prefix + "indptr.npy"
	if s.indptr.array, err = s.sized(s.meta.Arrays[prefix+"indptr"], s.indptr.nodes()+1, s.indptr.dtype); err != nil {
		return err
	}
	s.indptr.out = s.indptr.array // it is closed later
	s.tails = append(s.tails, s.indptr)
	return nil
}

// positioned says whether the positions in the input are among the columns.
func (s *sink) positioned() bool {
	return slices.ContainsFunc(s.lay.cols, func(c column) bool { return c.Name == graph.PositionColumn })
}

// createColumns begins the columns of the input.
func (s *sink) createColumns() (err error) {
	for i, c := range s.lay.cols {
		var out outColumn
		if c.width > 0 {
			out.meta = fixedMeta(s.dir, c.Name, c.DType, c.Shape)
			out.array, err = s.sized(out.meta.File, s.edges, c.DType, c.Shape...)
			out.at = out.array
		} else {
			out.file, err = s.column(store.ColumnDir(s.dir, c.Name), c.Name, c.DType, c.Shape, s.extents[i])
			out.vars = out.file
		}
		if err != nil {
			return err
		}
		s.columns = append(s.columns, out)
	}
	return nil
}

// widths chooses the widths of ids, for total edges from tables of at most the given number of rows.
func (s *sink) widths(total, rows uint64) {
	s.nearTop = s.idTop(s.way)
	s.wideFar = indexType(s.idTop(1-s.way)) == graph.Uint64
	s.wideSeq = indexType(rows) == graph.Uint64
	if s.second {
		s.wideSeq = indexType(total) == graph.Uint64
	}
}

func (t *tail) add(n *nodeType) {
	for _, x := range t.types {
		if x == n {
			return
		}
	}
	t.types = append(t.types, n)
}

// typeDType returns the dtype of the numbers of n types.
func typeDType(n int) graph.DType {
	if n <= 1<<8 {
		return graph.Uint8
	}
	return graph.Uint16
}

// end closes everything except the offsets of all nodes, whose tail waits for the number of nodes.
func (s *sink) end(total uint64, buckets int, shift uint) error {
	if s.lists != nil {
		if err := s.endLists(total); err != nil {
			return err
		}
	} else {
		s.indptr.edges = total
		s.indptr.filled = min(uint64(buckets)<<shift, s.nearTop)
	}
	s.meta.Count = int(total)
	for _, a := range s.arrays {
		if err := s.closeArray(a); err != nil {
			return err
		}
	}
	for i, c := range s.columns {
		var err error
		if c.array != nil {
			err = s.closeArray(c.array)
		} else {
			c.meta, err = s.closeColumn(c.file)
		}
		if err != nil {
			return err
		}
		if err := meaning(s.w, s.dir, &s.lay.cols[i].Column, &c.meta); err != nil {
			return err
		}
		s.meta.Columns[s.lay.cols[i].Name] = c.meta
	}
	if s.dedupe() {
		for i, p := range s.parts {
			p.stats.Duplicates = s.drops[i].Load()
			p.stats.Count -= p.stats.Duplicates
		}
	}
	return nil
}
