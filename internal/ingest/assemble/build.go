package assemble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Result describes what a build made and what it left out.
type Result struct {
	Meta   *store.Meta   // all of it except Made
	Nodes  []NodesResult // sorted by the types of the input
	Edges  []EdgesResult // sorted by the types of the input
	Stages []Stage       // in the order in which they ran
	Left   []string      // columns that a homogeneous graph cannot hold: "paper.year"
	// Underflows counts, by "paper: column x", the doubles that become 0 or lose most of their digits in float32; see
	// table.Column.
	Underflows map[string]uint64
}

// NodesResult counts the nodes of a node type. If there is a table, Rows + Added = Count + Duplicates.
type NodesResult struct {
	Type       string
	Rows       uint64 // of the table
	Count      uint64 // nodes of the type
	Duplicates uint64 // rows dropped because an earlier row has the same id
	Added      uint64 // nodes that edges name and the table lacks
}

// EdgesResult counts the edges of an edge type. Count = Rows + Reversed - the sum of the others.
type EdgesResult struct {
	Type       graph.EdgeType
	Rows       uint64 // of the table
	Filtered   uint64 // rows that Where excludes
	Absent     uint64 // rows with an empty end, or of a node that was dropped
	Dangling   uint64 // rows with an end that is no node
	SelfLoops  uint64 // rows dropped as self-loops
	Reversed   uint64 // edges that Symmetrise added
	Duplicates uint64 // edges dropped because an earlier edge is equal
	Count      uint64 // edges of the type
}

// Stage is a step of the work and its time.
type Stage struct {
	Name    string // "nodes", "ends", "join", "edges", "adjacency", "other direction", ...
	Type    string
	Seconds float64
	Rows    uint64
}

// builder is the state of one Build.
type builder struct {
	fs     vfs.FS
	w      *store.Writer
	in     *Input
	opt    *Options
	budget budget
	tmp    string
	res    *Result

	nodes map[string]*nodeType
	types []*nodeType // sorted by name
	parts []*part     // in the order of Input.Edges
	// closers close the partitions and arrays that outlive a stage.
	closers []func() error

	seed  uint64         // random seed of the hashes that distinguish keys
	spill *extsort.Spill // holds the keys

	mu          sync.Mutex
	open        map[*store.Array]bool
	openColumns map[*store.ColumnWriter]bool
}

// Build writes all arrays and columns of a store. It is deterministic: the bytes depend neither on Threads nor on
// Memory. After an error the caller must call Abort on the Writer.
func Build(ctx context.Context, fsys vfs.FS, w *store.Writer, in Input, opt Options) (_ *Result, err error) {
	b := &builder{fs: fsys, w: w, in: &in, opt: &opt, tmp: opt.TempDir, res: &Result{}, nodes: map[string]*nodeType{}, open: map[*store.Array]bool{}, openColumns: map[*store.ColumnWriter]bool{}}
	if b.tmp == "" {
		b.tmp = w.Dir()
	}
	if b.budget, err = newBudget(&opt); err != nil {
		return nil, err
	}
	defer func() { err = b.end(err) }()
	in.Edges = slices.Clone(in.Edges)
	if err := b.cut(ctx); err != nil {
		return nil, err
	}
	underflows := watch(&in)
	if err := b.model(); err != nil {
		return nil, err
	}
	if opt.Foreseen != nil {
		opt.Foreseen(b.foresee())
	}
	b.seed = rand.Uint64()
	b.spill = extsort.NewSpill(fsys, b.tmp, b.budget.spill())
	b.later(b.spill.Close)
	b.res.Meta = &store.Meta{Format: store.Format, Kind: store.KindStore, Nodes: map[string]*store.NodesMeta{}, Edges: map[string]*store.EdgesMeta{}}
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	b.res.Underflows = underflows.Counts()
	return b.res, nil
}

// mostNodes is the most nodes of a type: ids of nodes have 32 bits, and the largest stands for none.
const mostNodes = 1<<32 - 1

// checkNodes refuses types with more nodes than that, as far as their numbers are known.
func (b *builder) checkNodes() error {
	total := uint64(0)
	for _, t := range b.types {
		if total += t.count; t.count > mostNodes {
			return fmt.Errorf("node type %s: found %d nodes, expected fewer than 2^32, because ids of nodes have 32 bits within a type; divide the type into several", t.Type, t.count)
		}
	}
	if b.opt.Homogeneous && total > mostNodes {
		return fmt.Errorf("found %d nodes of all types, expected fewer than 2^32 in a homogeneous graph, because ids of nodes have 32 bits within a type; keep the types", total)
	}
	return nil
}

// watch asks the tables to count the underflows of all columns. It changes in.Edges, and no other slice of the caller.
func watch(in *Input) *table.Underflows {
	u := &table.Underflows{}
	in.Nodes = slices.Clone(in.Nodes)
	for i := range in.Nodes {
		n := &in.Nodes[i]
		n.Columns = u.Watch(n.Type, n.Columns)
	}
	for i := range in.Edges {
		e := &in.Edges[i]
		e.Columns = u.Watch(e.Type.String(), e.Columns)
	}
	if in.Context != nil {
		c := *in.Context
		c.Columns = u.Watch("context", c.Columns)
		in.Context = &c
	}
	return u
}

// end closes what is still open.
func (b *builder) end(err error) error {
	if err != nil {
		b.w.Abandon()
	}
	for a := range b.open {
		err = errors.Join(err, a.Close())
	}
	for c := range b.openColumns {
		_, cerr := c.Close()
		err = errors.Join(err, cerr)
	}
	for _, f := range slices.Backward(b.closers) {
		err = errors.Join(err, f())
	}
	return err
}

func (b *builder) run(ctx context.Context) error {
	if err := b.scanNodes(ctx); err != nil {
		return err
	}
	if err := b.checkNodes(); err != nil {
		return err
	}
	if err := b.numberByAppearance(ctx); err != nil {
		return err
	}
	groups, err := b.groups(ctx)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if err := g.build(ctx); err != nil {
			return err
		}
		if g.counted() { // a graph can have more edge types than a process can have open files
			if err := g.stage("offsets", g.etype.String(), func() (uint64, error) { return 0, g.close() }); err != nil {
				return err
			}
		}
	}
	if err := b.checkNodes(); err != nil {
		return err
	}
	if err := b.finishNodes(ctx); err != nil {
		return err
	}
	if err := b.context(ctx); err != nil {
		return err
	}
	for _, g := range groups {
		if err := g.close(); err != nil {
			return err
		}
	}
	b.results()
	return nil
}

// results collects the counts of all types.
func (b *builder) results() {
	for _, t := range b.types {
		b.res.Nodes = append(b.res.Nodes, t.stats)
	}
	for _, p := range b.parts {
		b.res.Edges = append(b.res.Edges, p.stats)
	}
	slices.SortFunc(b.res.Edges, func(x, y EdgesResult) int { return strings.Compare(x.Type.String(), y.Type.String()) })
}

// stage times a step.
func (b *builder) stage(name, typ string, fn func() (rows uint64, err error)) error {
	start := time.Now()
	rows, err := fn()
	b.res.Stages = append(b.res.Stages, Stage{name, typ, time.Since(start).Seconds(), rows})
	return err
}

func (b *builder) progress(stage string, done, total int64) {
	if b.opt.Progress != nil {
		b.opt.Progress(stage, done, total, "rows")
	}
}

// scanned reports the progress of a scan after a chunk. rows is the number of rows of the table, or 0 if it is
// unknown.
func (b *builder) scanned(stage string, t table.Table, c *table.Chunk, rows uint64, done *atomic.Int64) {
	switch {
	case b.opt.Progress == nil:
	case rows == 0 && c.Bytes > 0:
		b.opt.Progress(stage, done.Add(c.Bytes), t.Bytes(), "bytes")
	default:
		b.progress(stage, done.Add(int64(c.Rows)), int64(rows))
	}
}

// sized begins an array that Build closes even after an error. The number of rows matters to a Join of shares alone: others may give any.
func (b *builder) sized(name string, rows uint64, dtype graph.DType, row ...int) (*store.Array, error) {
	a, err := b.w.Sized(name, rows, dtype, row...)
	if err == nil {
		b.mu.Lock()
		b.open[a] = true
		b.mu.Unlock()
	}
	return a, err
}

func (b *builder) closeArray(a *store.Array) error {
	b.mu.Lock()
	delete(b.open, a)
	b.mu.Unlock()
	return a.Close()
}

// later registers a function that Build calls at its end.
func (b *builder) later(f func() error) { b.closers = append(b.closers, f) }

// narrowTop returns the most ids that 32 bits number: 2^32, or fewer in a test.
func narrowTop() uint64 { return uint64(limits.Positions) + 1 }

// indexType returns the dtype of ids below n, or of offsets up to n - 1.
func indexType(n uint64) graph.DType {
	if n <= narrowTop() {
		return graph.Uint32
	}
	return graph.Uint64
}

// Add adds the counts of other rows of the same table.
func (r *EdgesResult) Add(x *EdgesResult) {
	r.Rows += x.Rows
	r.Filtered += x.Filtered
	r.Absent += x.Absent
	r.Dangling += x.Dangling
	r.SelfLoops += x.SelfLoops
	r.Reversed += x.Reversed
	r.Duplicates += x.Duplicates
	r.Count += x.Count
}
