package assemble

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Result is what a build made, and what it left out.
type Result struct {
	Meta   *store.Meta   // all but Made
	Nodes  []NodesResult // in byte order of the types of the input
	Edges  []EdgesResult // in byte order of the types of the input
	Stages []Stage       // in the order in which they ran
	Left   []string      // columns that a homogeneous graph cannot hold: "paper.year"
	// Underflows counts, by "paper: column x", doubles that float32 holds as 0 or with
	// few digits; see table.Column.
	Underflows map[string]uint64
}

// NodesResult counts a node type. Rows + Added = Count + Duplicates where there is
// a table.
type NodesResult struct {
	Type       string
	Rows       uint64 // of the table
	Count      uint64 // nodes of the type
	Duplicates uint64 // rows dropped for an id that came before
	Added      uint64 // nodes that edges name and the table lacks
}

// EdgesResult counts an edge type. Count = Rows + Reversed - all others.
type EdgesResult struct {
	Type       graph.EdgeType
	Rows       uint64 // of the table
	Filtered   uint64 // rows that Where leaves out
	Absent     uint64 // rows with an empty end, or of a node that was dropped
	Dangling   uint64 // rows with an end that is no node
	SelfLoops  uint64 // rows dropped as self-loops
	Reversed   uint64 // edges that Symmetrise added
	Duplicates uint64 // edges dropped for an equal one before
	Count      uint64 // edges of the type
}

// Stage is a step of the work.
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
	types []*nodeType // in byte order
	parts []*part     // in the order of Input.Edges
	// ends are the partitions and arrays that outlive a stage.
	closers []func() error

	seed  uint64         // of the hashes that tell keys apart
	spill *extsort.Spill // of keys

	mu          sync.Mutex
	open        map[*store.Array]bool
	openColumns map[*store.ColumnWriter]bool
}

// Build writes all arrays and columns of a store. It is deterministic: the bytes
// depend neither on Threads nor on Memory. After an error the Writer is good for
// Abort only.
func Build(ctx context.Context, fsys vfs.FS, w *store.Writer, in Input, opt Options) (_ *Result, err error) {
	b := &builder{fs: fsys, w: w, in: &in, opt: &opt, tmp: opt.TempDir, res: &Result{}, nodes: map[string]*nodeType{}, open: map[*store.Array]bool{}, openColumns: map[*store.ColumnWriter]bool{}}
	if b.tmp == "" {
		b.tmp = w.Dir()
	}
	underflows := watch(&in)
	if b.budget, err = newBudget(&opt); err != nil {
		return nil, err
	}
	if err := b.model(); err != nil {
		return nil, err
	}
	b.seed = rand.Uint64()
	b.spill = extsort.NewSpill(fsys, b.tmp, b.budget.spill())
	b.later(b.spill.Close)
	b.res.Meta = &store.Meta{Format: 1, Kind: store.KindStore, Nodes: map[string]*store.NodesMeta{}, Edges: map[string]*store.EdgesMeta{}}
	defer func() {
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
	}()
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	b.res.Underflows = underflows.Counts()
	return b.res, nil
}

// watch asks for the underflows of all columns. It changes no slice of the caller.
func watch(in *Input) *table.Underflows {
	u := &table.Underflows{}
	in.Nodes, in.Edges = slices.Clone(in.Nodes), slices.Clone(in.Edges)
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

func (b *builder) run(ctx context.Context) error {
	if err := b.scanNodes(ctx); err != nil {
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
	for _, t := range b.types {
		b.res.Nodes = append(b.res.Nodes, t.stats)
	}
	for _, p := range b.parts {
		b.res.Edges = append(b.res.Edges, p.stats)
	}
	slices.SortFunc(b.res.Edges, func(x, y EdgesResult) int { return strings.Compare(x.Type.String(), y.Type.String()) })
	return nil
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

// scanned tells of a chunk of a table whose number of rows is known (not 0) or
// not.
func (b *builder) scanned(stage string, t table.Table, c *table.Chunk, rows uint64, done *atomic.Int64) {
	switch {
	case b.opt.Progress == nil:
	case rows == 0 && c.Bytes > 0:
		b.opt.Progress(stage, done.Add(c.Bytes), t.Bytes(), "bytes")
	default:
		b.progress(stage, done.Add(int64(c.Rows)), int64(rows))
	}
}

// array begins an array that is closed in any case.
func (b *builder) array(name string, dtype graph.DType, row ...int) (*store.Array, error) {
	a, err := b.w.Array(name, dtype, row...)
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

// later registers what Build closes at its end.
func (b *builder) later(f func() error) { b.closers = append(b.closers, f) }

// indexType is the type of ids below n, or of offsets up to n - 1.
func indexType(n uint64) graph.DType {
	if n <= 1<<32 {
		return graph.Uint32
	}
	return graph.Uint64
}
