package collection

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Bytes that an import holds in any case, for the program and its buffers; per array; and per scan.
const (
	baseBytes  = limits.ProcessBytes + 6<<20
	arrayBytes = 72 << 10
	scanBytes  = 16 << 20
)

// importer is one import.
type importer struct {
	w      *store.Writer
	in     *Input
	opt    Options
	graphs int
	nodes  []*nodeWriter
	edges  []*edgeWriter
	ctx    []columns
	left   int64 // bytes of the memory that are left for offsets
}

// nodeWriter writes the columns of a node type.
type nodeWriter struct {
	*Nodes
	cols []columns // one per table
	ptr  []uint64
}

// Import reads the tables of an input into the arrays of a collection in w. The caller seals w.
func Import(ctx context.Context, w *store.Writer, in *Input, opt Options) (_ *Result, err error) {
	opt.Threads = max(1, opt.Threads)
	if opt.Progress == nil {
		opt.Progress = func(int64) {}
	}
	i := &importer{w: w, in: in, opt: opt, graphs: unknown, left: 1 << 62}
	underflows := i.watch()
	if err := i.budget(); err != nil {
		return nil, err
	}
	meta := &store.Meta{Format: store.Format, Kind: store.KindCollection, Nodes: map[string]*store.NodesMeta{}, Edges: map[string]*store.EdgesMeta{}, Context: &store.ContextMeta{}}
	if meta.Context.Columns, err = i.context(ctx); err != nil {
		return nil, err
	}
	if err := i.split(ctx); err != nil {
		return nil, err
	}
	meta.Context.Count = i.graphs
	if err := i.rows(ctx, meta); err != nil {
		return nil, err
	}
	r := i.result(meta)
	r.Underflows = underflows.Counts()
	return r, nil
}

// watch asks the tables to count the underflows of all columns.
func (i *importer) watch() *table.Underflows {
	u := &table.Underflows{}
	of := func(what string, t *Rows) {
		t.Columns = slices.Clone(t.Columns) // reversed edges share the columns
		for k := range t.Columns {
			u.WatchOne(what, &t.Columns[k].Column)
		}
	}
	for k := range i.in.Context {
		of("context", &i.in.Context[k])
	}
	for _, n := range i.in.Nodes {
		for k := range n.Tables {
			of(n.Type, &n.Tables[k])
		}
	}
	for j := range i.in.Edges {
		e := &i.in.Edges[j]
		e.Beside = slices.Clone(e.Beside)
		of(e.Type.String(), &e.Rows)
		for k := range e.Beside {
			of(e.Type.String(), &e.Beside[k])
		}
	}
	return u
}

// budget computes the memory that is left for offsets.
func (i *importer) budget() error {
	if i.opt.Memory == 0 {
		return nil
	}
	arrays := len(i.in.Nodes) + 3*len(i.in.Edges)
	count := func(tables ...Rows) {
		for _, t := range tables {
			for _, c := range t.Columns {
				arrays += 2 + len(c.Shape)
			}
		}
	}
	count(i.in.Context...)
	for _, n := range i.in.Nodes {
		count(n.Tables...)
	}
	for _, e := range i.in.Edges {
		count(e.Rows)
		count(e.Beside...)
	}
	need := baseBytes + i.opt.Held + int64(arrays)*arrayBytes + int64(i.opt.Threads)*scanBytes
	if i.left = (i.opt.Memory - need) / int64(2*(len(i.in.Nodes)+len(i.in.Edges))+2); i.left < 4096 {
		return tagged.Errorf(errMemory, "found `Memory` %s, expected at least %d MiB for %d threads and %d arrays, and 8 bytes per graph and type; give more `Memory` or fewer `Threads`",
			human.Bytes(i.opt.Memory), need>>20+1, i.opt.Threads, arrays)
	}
	return nil
}

// scan writes the columns of tables that have the same rows, one table after the other. It returns the number of
// rows, which must be want if that is known.
func (i *importer) scan(ctx context.Context, tables []Rows, dir string, want int, cols []columns, twice bool, metas map[string]store.ColumnMeta) (int, error) {
	for k := range tables {
		t, c := &tables[k], &cols[k]
		c.of = t.Columns
		rows, err := i.scanTable(ctx, t, dir, c, twice, metas)
		if err != nil {
			return 0, err
		}
		if want == unknown {
			want = rows
		}
		if rows != want {
			return 0, badf("%s: found %d rows, expected %d, as in the other tables; give all tables of the type one row per node or edge", t.Table.Files()[0], rows, want)
		}
	}
	return want, nil
}

func (i *importer) scanTable(ctx context.Context, t *Rows, dir string, c *columns, twice bool, metas map[string]store.ColumnMeta) (_ int, err error) {
	defer func() { err = errors.Join(err, c.close(metas)) }()
	if err := c.open(i.w, dir); err != nil {
		return 0, err
	}
	rows, err := t.Table.Scan(ctx, c.asked(nil), 1, func(_ int, chunk *table.Chunk) error {
		i.opt.Progress(int64(chunk.Rows))
		return c.write(chunk, twice)
	})
	return int(rows), err
}

// context writes the context, which has one row per graph.
func (i *importer) context(ctx context.Context) (map[string]store.ColumnMeta, error) {
	metas := map[string]store.ColumnMeta{}
	i.ctx = make([]columns, len(i.in.Context))
	rows, err := i.scan(ctx, i.in.Context, "context", unknown, i.ctx, false, metas)
	i.graphs = rows
	return metas, err
}

// likelyGraphs is a number of graphs that is believed, whatever the files have.
const likelyGraphs = 1 << 23

// likely is the most graphs that the files are believed to have: rows without content compress to nothing.
func (i *importer) likely() int64 {
	bytes := int64(0)
	add := func(tables ...Rows) {
		for _, t := range tables {
			bytes += t.Table.Bytes()
		}
	}
	add(i.in.Context...)
	for _, n := range i.in.Nodes {
		add(n.Tables...)
		if n.Split.Table != nil {
			bytes += n.Split.Table.Bytes()
		}
	}
	for _, e := range i.in.Edges {
		add(e.Rows)
		add(e.Beside...)
		if e.Split.Table != nil {
			bytes += e.Split.Table.Bytes()
		}
	}
	return max(likelyGraphs, limits.PerByte*bytes)
}

// split computes the offsets of the rows of each graph. It begins with the types whose offsets or counts give the
// number of graphs.
func (i *importer) split(ctx context.Context) error {
	for k := range i.in.Nodes {
		i.nodes = append(i.nodes, &nodeWriter{Nodes: &i.in.Nodes[k]})
	}
	for k := range i.in.Edges {
		i.edges = append(i.edges, &edgeWriter{Edges: &i.in.Edges[k]})
	}
	likely := i.likely()
	for _, ids := range []bool{false, true} {
		known := i.graphs
		for _, n := range i.nodes {
			if (n.Split.Kind == IDs) != ids {
				continue
			}
			ptr, err := n.Split.offsets(ctx, known, i.left, likely)
			if err != nil {
				return err
			}
			n.ptr = ptr
			i.graphs = max(i.graphs, len(ptr)-1)
			if !ids {
				known = i.graphs
			}
		}
	}
	for _, n := range i.nodes {
		for len(n.ptr) <= i.graphs {
			n.ptr = append(n.ptr, n.ptr[len(n.ptr)-1])
		}
		if err := checkSizes(n.Type, n.ptr); err != nil {
			return err
		}
	}
	for _, e := range i.edges {
		e.srcPtr, e.dstPtr = i.node(e.Type.Src).ptr, i.node(e.Type.Dst).ptr
		switch {
		case e.Parent != "":
			e.rows = e.srcPtr
		case e.Split.Kind != NoSplit:
			var err error
			if e.rows, err = e.Split.offsets(ctx, i.graphs, i.left, likely); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *importer) node(typ string) *nodeWriter {
	return i.nodes[slices.IndexFunc(i.nodes, func(n *nodeWriter) bool { return n.Type == typ })]
}

// rows writes nodes and edges, several types at a time. Of several errors it returns the error of the first type: an error
// stops only the types after it.
func (i *importer) rows(ctx context.Context, meta *store.Meta) error {
	var tasks []func(context.Context) error
	for _, n := range i.nodes {
		m := &store.NodesMeta{Count: int(n.ptr[i.graphs]), Columns: map[string]store.ColumnMeta{}, Arrays: map[string]string{}}
		meta.Nodes[n.Type] = m
		tasks = append(tasks, func(ctx context.Context) error { return i.writeNodes(ctx, n, m) })
	}
	for _, e := range i.edges {
		m := &store.EdgesMeta{Columns: map[string]store.ColumnMeta{}, Arrays: map[string]string{}}
		meta.Edges[e.Type.String()] = m
		tasks = append(tasks, func(ctx context.Context) error { return i.writeEdges(ctx, e, m) })
	}
	var group guard.Group
	group.SetLimit(i.opt.Threads)
	errs := make([]error, len(tasks))
	for k, task := range tasks {
		own := ctx
		behind, cancel := context.WithCancel(own)
		defer cancel()
		group.Go(func() error {
			if errs[k] = task(own); errs[k] != nil {
				cancel()
			}
			return nil
		})
		ctx = behind
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return cmp.Or(errs...)
}

func (i *importer) writeNodes(ctx context.Context, n *nodeWriter, m *store.NodesMeta) error {
	dir := store.NodesDir(n.Type)
	m.Arrays["graph_ptr"] = dir + "/graph_ptr.npy"
	if err := i.offsets(m.Arrays["graph_ptr"], n.ptr); err != nil {
		return err
	}
	n.cols = make([]columns, len(n.Tables))
	_, err := i.scan(ctx, n.Tables, dir, m.Count, n.cols, false, m.Columns)
	return err
}

// offsets writes an array of offsets.
func (i *importer) offsets(name string, ptr []uint64) error {
	a, err := i.w.Array(name, graph.Uint64)
	if err != nil {
		return err
	}
	_, err = a.Write(graph.Bytes(ptr))
	return errors.Join(err, a.Close())
}

func (i *importer) writeEdges(ctx context.Context, e *edgeWriter, m *store.EdgesMeta) (err error) {
	dir := store.EdgesDir(e.Type)
	e.cols.of = e.Columns
	for _, x := range []struct {
		name string
		to   **store.Array
	}{{"src", &e.src}, {"dst", &e.dst}} {
		m.Arrays[x.name] = dir + "/" + x.name + ".npy"
		if *x.to, err = i.w.Array(m.Arrays[x.name], graph.Uint32); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, (*x.to).Close()) }()
	}
	defer func() { err = errors.Join(err, e.cols.close(m.Columns)) }()
	if err := e.cols.open(i.w, dir); err != nil {
		return err
	}
	if err := e.scan(ctx, i.opt.Progress); err != nil {
		return err
	}
	m.Count = int(e.count)
	rows := m.Count
	if e.Symmetrise {
		rows /= 2
	}
	e.beside = make([]columns, len(e.Beside))
	if _, err := i.scan(ctx, e.Beside, dir, rows, e.beside, e.Symmetrise, m.Columns); err != nil {
		return err
	}
	m.Arrays["graph_ptr"] = dir + "/graph_ptr.npy"
	return i.offsets(m.Arrays["graph_ptr"], e.ptr)
}

// result describes the collection.
func (i *importer) result(meta *store.Meta) *Result {
	r := &Result{Meta: meta}
	for g := range i.graphs {
		var nodes, edges uint64
		for _, n := range i.nodes {
			nodes += n.ptr[g+1] - n.ptr[g]
		}
		for _, e := range i.edges {
			edges += e.ptr[g+1] - e.ptr[g]
		}
		r.Nodes.Add(nodes)
		r.Edges.Add(edges)
	}
	tell := func(what string, cols ...columns) {
		for _, c := range cols {
			for k, n := range c.nan {
				if n > 0 {
					r.NaN = append(r.NaN, Counted{what + "." + c.of[k].Name, n})
				}
			}
		}
	}
	tell("context", i.ctx...)
	for _, n := range i.nodes {
		tell(n.Type, n.cols...)
	}
	for _, e := range i.edges {
		tell(e.Type.String(), e.cols)
		tell(e.Type.String(), e.beside...)
	}
	slices.SortStableFunc(r.NaN, func(a, b Counted) int { return cmp.Compare(a.Name, b.Name) })
	return r
}
