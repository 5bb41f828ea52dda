package output

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/report"
)

// CollectionOptions says what a collection keeps in addition to its graphs.
type CollectionOptions struct {
	// Ops keeps the frontier and the edges of each op. The sampler must have been made with sample.Options.Ops.
	Ops bool
	// Progress, if not nil, is called with the number of subgraphs that were written, including subgraphs of the run that
	// this one resumes.
	Progress func(subgraphs int)
	// Stream, if not nil, samples instead of sample.Run. The sampler must be Stream's.
	Stream *outofcore.Executor
	// Elsewhere, if not nil, samples instead of this process.
	Elsewhere Elsewhere
	// Checkpoint is the time between two checkpoints, which a run makes after a batch; 0 makes none. store.Writer.Begin
	// must have been called.
	Checkpoint time.Duration
}

// Collection writes subgraphs as a collection.
type Collection struct {
	course
	s   *sample.Sampler
	opt CollectionOptions

	// All arrays of the folder, as streams.
	streams []*stream
	nodes   []collectionNodes
	edges   []collectionEdges
	ops     []collectionOp
	seeds   list
	epoch   *stream
	batch   *stream
}

// stream is an array that is written from front to back.
type stream struct {
	number int // in graphs.values
	name   string
	array  *store.Array
}

// list is arrays of equal length, with one run per graph, and the ends of the runs.
type list struct {
	ptr   *stream
	items []*stream
	total uint64
}

type collectionNodes struct {
	number int // node type
	list       // node_id
	hops   *stream
}

type collectionEdges struct {
	number int     // edge type
	list           // src, dst, and edge_id and the weights of edges where there are any
	hops   *stream // nil where edges have no hops: in other subgraphs than directional ones
}

type collectionOp struct {
	frontier, edges list // edges has the items of collectionEdges
}

// NewCollection begins the arrays of a collection in w. Close it.
func NewCollection(w *store.Writer, s *sample.Sampler, opt CollectionOptions) (*Collection, error) {
	c := &Collection{s: s, opt: opt}
	before, err := c.begin(w, opt.Checkpoint, opt.Progress)
	if err != nil {
		return nil, err
	}
	if err := c.open(before); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// open makes the arrays, or opens the arrays of a checkpoint.
func (c *Collection) open(before *saved) error {
	g, plan := c.s.Graph(), c.s.Plan()
	nodes, edges := Reach(g, plan)
	b, ends := builder{c: c, begun: before != nil}, c.ends()
	for _, i := range nodes {
		dir := store.NodesDir(g.Nodes[i].Type)
		c.nodes = append(c.nodes, collectionNodes{i, b.list(dir, "graph_ptr", "node_id"), b.stream(dir+"/num_sampled_nodes.npy", graph.Uint32, c.s.Hops()+1)})
	}
	for _, i := range edges {
		dir := store.EdgesDir(g.Edges[i].Type)
		e := collectionEdges{number: i, list: b.edges(dir, "graph_ptr", ends, c.s.Wide(i))}
		if plan.Kind == sample.Directional {
			e.hops = b.stream(dir+"/num_sampled_edges.npy", graph.Uint32, c.s.Hops())
		}
		c.edges = append(c.edges, e)
	}
	seeds := []string{"seed_local"}
	if plan.Negatives != nil {
		seeds = append(seeds, "negative_local")
	}
	c.seeds = b.list("context", "seed_ptr", seeds...)
	c.epoch = b.stream("context/epoch.npy", graph.Int64)
	c.batch = b.stream("context/batch.npy", graph.Int64)
	if c.opt.Ops {
		for i := range plan.Ops {
			dir := fmt.Sprintf("ops/%d", i+1)
			t, _ := c.s.Walk(i + 1)
			c.ops = append(c.ops, collectionOp{b.list(dir, "frontier_ptr", "frontier"), b.edges(dir, "edge_ptr", ends, c.s.Wide(t))})
		}
	}
	if before != nil {
		lists := c.lists()
		if len(before.Totals) != len(lists) {
			return fmt.Errorf("checkpoint: found %d lists, expected %d", len(before.Totals), len(lists))
		}
		for i, l := range lists {
			l.total = before.Totals[i]
		}
	}
	return b.err
}

// lists is all lists, always in the same order.
func (c *Collection) lists() []*list {
	lists := []*list{&c.seeds}
	for i := range c.nodes {
		lists = append(lists, &c.nodes[i].list)
	}
	for i := range c.edges {
		lists = append(lists, &c.edges[i].list)
	}
	for i := range c.ops {
		lists = append(lists, &c.ops[i].frontier, &c.ops[i].edges)
	}
	return lists
}

// builder opens arrays until one fails.
type builder struct {
	c     *Collection
	begun bool // an earlier run wrote the 0 that lists begin with
	err   error
}

func (b *builder) stream(name string, dtype graph.DType, row ...int) *stream {
	if b.err != nil {
		return nil
	}
	s := &stream{number: len(b.c.streams), name: name}
	if b.c.w != nil { // pieces have no files
		if s.array, b.err = b.c.w.Array(name, dtype, row...); b.err != nil {
			return nil
		}
	}
	b.c.streams = append(b.c.streams, s)
	return s
}

func (b *builder) list(dir, ptr string, items ...string) list { return b.edges(dir, ptr, items, false) }

// edges is list for the items of collectionEdges. Edge ids have 64 bits where they are wide.
func (b *builder) edges(dir, ptr string, items []string, wide bool) list {
	l := list{ptr: b.stream(dir+"/"+ptr+".npy", graph.Uint64)}
	for _, name := range items {
		dtype := graph.Uint32
		switch {
		case wide && name == edgeID:
			dtype = graph.Uint64
		case name == sample.WeightsColumn:
			dtype = graph.Float32
		}
		l.items = append(l.items, b.stream(dir+"/"+name+".npy", dtype))
	}
	if b.err == nil && !b.begun && l.ptr.array != nil {
		_, b.err = l.ptr.array.Write(make([]byte, 8))
	}
	return l
}

// Sizes is the distributions of nodes and edges over the subgraphs so far.
func (c *Collection) Sizes() (nodes, edges *report.Histogram) { return &c.all.Nodes, &c.all.Edges }

// graphs is the subgraphs of one batch: values to append to each stream. The values of a ptr are the lengths of the
// runs until sink adds them up. A value of 64 bits is two words, the lower one first.
type graphs struct {
	values [][]uint32
	sums   []uint64
	epoch  int64
	batch  int64
	tally
}

// Run samples a job and writes its subgraphs after the subgraphs of earlier jobs. It counts all subgraphs so far.
// Subgraphs that the resumed run wrote are counted and left out: the jobs must be the same.
func (c *Collection) Run(ctx context.Context, job sample.Job) (sample.Stats, error) {
	job, err := c.rest(job, c.s.SeedWidth())
	if err != nil {
		return c.all.Stats, err
	}
	if c.opt.Elsewhere != nil {
		err := join(ctx, &c.course, job, c.opt.Elsewhere, c.newGraphs(), c.sink)
		return c.all.Stats, err
	}
	_, err = runExecutor(ctx, c.s, c.opt.Stream, job, c.newGraphs, c.encode, c.sink)
	return c.all.Stats, err
}

func (c *Collection) newGraphs() *graphs { return &graphs{values: make([][]uint32, len(c.streams))} }

// encode copies a subgraph, in a worker.
func (c *Collection) encode(out *graphs, b *sample.Batch, sub *sample.Subgraph) error {
	out.epoch, out.batch = int64(b.Epoch), int64(b.Number)
	add := func(s *stream, v []uint32) { out.values[s.number] = append(out.values[s.number], v...) }
	run := func(l *list, n int, items ...[]uint32) {
		out.values[l.ptr.number] = append(out.values[l.ptr.number], uint32(n))
		for i, s := range l.items {
			add(s, items[i])
		}
	}
	nodes, edges := 0, 0
	for i := range c.nodes {
		n := &c.nodes[i]
		ids := sub.Nodes[n.number]
		nodes += len(ids)
		run(&n.list, len(ids), ids)
		add(n.hops, sub.NodesByHop[n.number])
	}
	for i := range c.edges {
		e := &c.edges[i]
		lists := &sub.Edges[e.number]
		edges += len(lists.Src)
		run(&e.list, len(lists.Src), c.values(lists)...)
		if e.hops != nil {
			add(e.hops, sub.EdgesByHop[e.number])
		}
	}
	run(&c.seeds, len(sub.SeedLocal)/c.s.SeedWidth(), sub.SeedLocal, sub.Negatives.Local)
	for i := range c.ops {
		op := &sub.Ops[i]
		run(&c.ops[i].frontier, len(op.Frontier), op.Frontier)
		run(&c.ops[i].edges, len(op.Src), c.values(&op.SubEdges)...)
	}
	out.add(sub, c.s.SeedWidth())
	out.Nodes.Add(uint64(nodes))
	out.Edges.Add(uint64(edges))
	return nil
}

// words is the memory of an index as words of 32 bits.
func words(x graph.Index) []uint32 {
	if x.U64 != nil {
		return graph.View[uint32](graph.Bytes(x.U64))
	}
	return x.U32
}

// sink appends a batch to the arrays and empties it.
func (c *Collection) sink(out *graphs) error {
	write := func(s *stream) error {
		_, err := s.array.Write(graph.Bytes(out.values[s.number]))
		out.values[s.number] = out.values[s.number][:0]
		return err
	}
	run := func(l *list) error {
		sums := out.sums[:0]
		for _, n := range out.values[l.ptr.number] {
			l.total += uint64(n)
			sums = append(sums, l.total)
		}
		out.sums, out.values[l.ptr.number] = sums, out.values[l.ptr.number][:0]
		_, err := l.ptr.array.Write(graph.Bytes(sums))
		for _, s := range l.items {
			if err == nil {
				err = write(s)
			}
		}
		return err
	}
	for i := range c.nodes {
		if err := errors.Join(run(&c.nodes[i].list), write(c.nodes[i].hops)); err != nil {
			return err
		}
	}
	for i := range c.edges {
		err := run(&c.edges[i].list)
		if hops := c.edges[i].hops; hops != nil && err == nil {
			err = write(hops)
		}
		if err != nil {
			return err
		}
	}
	for i := range c.ops {
		if err := errors.Join(run(&c.ops[i].frontier), run(&c.ops[i].edges)); err != nil {
			return err
		}
	}
	err := run(&c.seeds)
	for _, same := range []struct {
		s *stream
		v int64
	}{{c.epoch, out.epoch}, {c.batch, out.batch}} {
		out.sums = out.sums[:0]
		for range out.Stats.Subgraphs {
			out.sums = append(out.sums, uint64(same.v))
		}
		if err == nil {
			_, err = same.s.array.Write(graph.Bytes(out.sums))
		}
	}
	if err != nil {
		return err
	}
	if c.wrote(&out.tally) {
		return c.save()
	}
	return nil
}

// save makes a checkpoint.
func (c *Collection) save() error {
	for _, s := range c.streams {
		if err := s.array.Flush(); err != nil {
			return err
		}
	}
	var state saved
	for _, l := range c.lists() {
		state.Totals = append(state.Totals, l.total)
	}
	return c.checkpoint(&state)
}

// Finish completes the arrays and describes them, for store.Writer.Seal. made says how the collection was made.
func (c *Collection) Finish(made store.Made) (*store.Meta, error) {
	if err := c.Close(); err != nil {
		return nil, err
	}
	g := c.s.Graph()
	meta := &store.Meta{
		Format: store.Format, Kind: store.KindCollection, Made: made,
		Nodes: map[string]*store.NodesMeta{}, Edges: map[string]*store.EdgesMeta{},
		Context: &store.ContextMeta{
			Count:    int(c.all.Stats.Subgraphs),
			SeedType: c.s.Plan().SeedType,
			Columns: map[string]store.ColumnMeta{
				"epoch": {File: c.epoch.name, DType: graph.Int64.String(), Shape: []int{}},
				"batch": {File: c.batch.name, DType: graph.Int64.String(), Shape: []int{}},
			},
			Arrays: map[string]string{"seed_ptr": c.seeds.ptr.name, "seed_local": c.seeds.items[0].name},
		},
	}
	if n := c.s.Plan().Negatives; n != nil {
		meta.Context.Negatives, meta.Context.Arrays["negative_local"] = n.Most(), c.seeds.items[1].name
	}
	for _, n := range c.nodes {
		meta.Nodes[g.Nodes[n.number].Type] = &store.NodesMeta{
			Count: int(n.total), Columns: map[string]store.ColumnMeta{},
			Arrays: map[string]string{"graph_ptr": n.ptr.name, "node_id": n.items[0].name, "num_sampled_nodes": n.hops.name},
		}
	}
	for _, e := range c.edges {
		arrays, columns := map[string]string{"graph_ptr": e.ptr.name}, map[string]store.ColumnMeta{}
		if e.hops != nil {
			arrays["num_sampled_edges"] = e.hops.name
		}
		for i, s := range e.items {
			if name := c.ends()[i]; name == sample.WeightsColumn {
				columns[name] = store.ColumnMeta{File: s.name, DType: graph.Float32.String(), Shape: []int{}}
			} else {
				arrays[name] = s.name
			}
		}
		meta.Edges[g.Edges[e.number].Type.String()] = &store.EdgesMeta{Count: int(e.total), Columns: columns, Arrays: arrays}
	}
	for i, op := range c.ops {
		arrays := map[string]*stream{"frontier_ptr": op.frontier.ptr, "frontier": op.frontier.items[0], "edge_ptr": op.edges.ptr}
		for i, s := range op.edges.items {
			arrays[c.ends()[i]] = s
		}
		for key, s := range arrays {
			meta.Context.Arrays[fmt.Sprintf("op_%d_%s", i+1, key)] = s.name
		}
	}
	return meta, nil
}

const edgeID = "edge_id"

// ends is the names of the arrays of an edge.
func (c *Collection) ends() []string {
	names := []string{"src", "dst"}
	if c.s.EdgeIDs() {
		names = append(names, edgeID)
	}
	if c.s.Weights() {
		names = append(names, sample.WeightsColumn)
	}
	return names
}

// values is the arrays of edges, in the order of their names (ends), as words.
func (c *Collection) values(e *sample.SubEdges) [][]uint32 {
	lists := [][]uint32{e.Src, e.Dst}
	if c.s.EdgeIDs() {
		lists = append(lists, words(e.ID))
	}
	if c.s.Weights() {
		lists = append(lists, weightWords(e))
	}
	return lists
}

// weightWords is the weights of edges as words.
func weightWords(e *sample.SubEdges) []uint32 { return graph.View[uint32](graph.Bytes(e.Weight)) }

// Close closes the open arrays. It does nothing after Finish.
func (c *Collection) Close() error {
	var errs []error
	for _, s := range c.streams {
		if s.array != nil {
			errs = append(errs, s.array.Close())
			s.array = nil
		}
	}
	return errors.Join(errs...)
}
