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

	begun bool // the arrays are open
	older bool // an earlier run wrote the 0 that lists begin with

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
	dtype  graph.DType
	row    []int
	words  int  // of a row in graphs.values
	counts bool // of a ptr: its values are lengths in graphs
	array  *store.Array
}

// list is arrays of equal length, with one run per graph, and the ends of the runs.
type list struct {
	ptr   *stream
	items []*stream
	width int // words of the first item per element of a run
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

// NewCollection begins a collection in w. Close it.
func NewCollection(w *store.Writer, s *sample.Sampler, opt CollectionOptions) (*Collection, error) {
	c := newCollection(s, opt)
	before, err := c.begin(w, opt.Checkpoint, opt.Progress)
	if err != nil || before == nil {
		return c, err
	}
	lists := c.lists()
	if len(before.Totals) != len(lists) {
		return nil, fmt.Errorf("checkpoint: found %d lists, expected %d", len(before.Totals), len(lists))
	}
	for i, l := range lists {
		l.total = before.Totals[i]
	}
	c.older = true
	return c, nil
}

// newCollection describes the arrays of a collection.
func newCollection(s *sample.Sampler, opt CollectionOptions) *Collection {
	c := &Collection{s: s, opt: opt}
	g, plan := s.Graph(), s.Plan()
	nodes, edges := Reach(g, plan)
	ends := c.ends()
	for _, i := range nodes {
		dir := store.NodesDir(g.Nodes[i].Type)
		c.nodes = append(c.nodes, collectionNodes{i, c.list(dir, "graph_ptr", "node_id"), c.stream(dir+"/num_sampled_nodes.npy", graph.Uint32, s.Hops()+1)})
	}
	for _, i := range edges {
		dir := store.EdgesDir(g.Edges[i].Type)
		e := collectionEdges{number: i, list: c.edgeList(dir, "graph_ptr", ends, s.Wide(i))}
		if plan.Kind == sample.Directional {
			e.hops = c.stream(dir+"/num_sampled_edges.npy", graph.Uint32, s.Hops())
		}
		c.edges = append(c.edges, e)
	}
	seeds := []string{"seed_local"}
	if plan.Negatives != nil {
		seeds = append(seeds, "negative_local")
	}
	c.seeds = c.list("context", "seed_ptr", seeds...)
	c.seeds.width = s.SeedWidth()
	c.epoch = c.stream("context/epoch.npy", graph.Int64)
	c.batch = c.stream("context/batch.npy", graph.Int64)
	if opt.Ops {
		for i := range plan.Ops {
			dir := fmt.Sprintf("ops/%d", i+1)
			t, _ := s.Walk(i + 1)
			c.ops = append(c.ops, collectionOp{c.list(dir, "frontier_ptr", "frontier"), c.edgeList(dir, "edge_ptr", ends, s.Wide(t))})
		}
	}
	return c
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

// stream describes an array.
func (c *Collection) stream(name string, dtype graph.DType, row ...int) *stream {
	s := &stream{number: len(c.streams), name: name, dtype: dtype, row: row, words: dtype.Size() / 4}
	for _, n := range row {
		s.words *= n
	}
	c.streams = append(c.streams, s)
	return s
}

func (c *Collection) list(dir, ptr string, items ...string) list {
	return c.edgeList(dir, ptr, items, false)
}

// edgeList is list for the items of collectionEdges. Edge ids have 64 bits where they are wide.
func (c *Collection) edgeList(dir, ptr string, items []string, wide bool) list {
	l := list{ptr: c.stream(dir+"/"+ptr+".npy", graph.Uint64), width: 1}
	l.ptr.words, l.ptr.counts = 1, true
	for _, name := range items {
		dtype := graph.Uint32
		switch {
		case wide && name == edgeID:
			dtype = graph.Uint64
		case name == sample.WeightsColumn:
			dtype = graph.Float32
		}
		l.items = append(l.items, c.stream(dir+"/"+name+".npy", dtype))
	}
	return l
}

// beginArrays makes the files of the arrays, or opens those of a checkpoint. rows is the number of rows of each; nil where it is not known.
func (c *Collection) beginArrays(w *store.Writer, rows []uint64) (err error) {
	if c.begun {
		return nil
	}
	c.begun = true
	for i, s := range c.streams {
		if rows == nil {
			s.array, err = w.Array(s.name, s.dtype, s.row...)
		} else {
			s.array, err = w.Sized(s.name, rows[i], s.dtype, s.row...)
		}
		if err != nil {
			return err
		}
	}
	if c.older {
		return nil
	}
	for _, l := range c.lists() {
		if _, err := l.ptr.array.Write(make([]byte, 8)); err != nil {
			return err
		}
	}
	return nil
}

// Sizes is the distributions of nodes and edges over the subgraphs so far.
func (c *Collection) Sizes() (nodes, edges *report.Histogram) { return &c.all.Nodes, &c.all.Edges }

// graphs is the subgraphs of one batch: values to append to each stream. The values of a ptr are the lengths of the
// runs until sink adds them up. A value of 64 bits is two words, the lower one first.
type graphs struct {
	values [][]uint32
	unread []int64 // by stream, the number of values that were left in the piece: none of values is there then
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
	if from := c.opt.Elsewhere; from != nil && from.Shares(job) > 1 {
		if err := c.fresh(&job); err != nil {
			return c.all.Stats, err
		}
		c.begun = true // by others
		return c.all.Stats, from.Write(ctx, job, func(folder string, part *Written) error {
			if part.Whole != nil {
				if err := c.setTotals(part.Whole.Totals); err != nil {
					return err
				}
			}
			return c.takeShare(ctx, folder, part)
		})
	}
	if err := c.beginArrays(c.w, nil); err != nil {
		return c.all.Stats, err
	}
	if c.opt.Elsewhere != nil {
		err := join(ctx, &c.course, job, c.opt.Elsewhere, c.newGraphs(), c.sink)
		return c.all.Stats, err
	}
	_, err = runExecutor(ctx, c.s, c.opt.Stream, job, c.newGraphs, c.encode, c.sink)
	return c.all.Stats, err
}

func (c *Collection) newGraphs() *graphs {
	return &graphs{values: make([][]uint32, len(c.streams)), unread: make([]int64, len(c.streams))}
}

// setTotals sets the lengths of the lists, of an output whose frames have totals bytes by section.
func (c *Collection) setTotals(totals []int64) error {
	if len(totals) != firstStream+len(c.streams) {
		return fmt.Errorf("found the sizes of %d sections, expected %d; install the same version on all machines", len(totals), firstStream+len(c.streams))
	}
	for _, l := range c.lists() {
		l.total = uint64(totals[l.items[0].number+firstStream]) / uint64(4*l.width)
	}
	return nil
}

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

// words is the number of values of a stream, read or not.
func (g *graphs) words(s *stream) uint64 {
	return uint64(len(g.values[s.number])) + uint64(g.unread[s.number])
}

// sink appends batches to the arrays and empties them. It leaves out what was not read.
func (c *Collection) sink(out *graphs) error {
	count := out.words(c.seeds.ptr) // of graphs
	write := func(s *stream) error {
		if n := out.unread[s.number]; n > 0 {
			out.unread[s.number] = 0
			return s.array.Skip(4 * n)
		}
		_, err := s.array.Write(graph.Bytes(out.values[s.number]))
		out.values[s.number] = out.values[s.number][:0]
		return err
	}
	run := func(l *list) error {
		end := l.total + out.words(l.items[0])/uint64(l.width)
		if n := out.unread[l.ptr.number]; n > 0 {
			out.unread[l.ptr.number] = 0
			if err := l.ptr.array.Skip(8 * n); err != nil {
				return err
			}
		} else {
			sums := out.sums[:0]
			for _, n := range out.values[l.ptr.number] {
				l.total += uint64(n)
				sums = append(sums, l.total)
			}
			out.sums, out.values[l.ptr.number] = sums, out.values[l.ptr.number][:0]
			if len(sums) > 0 && l.total != end {
				return fmt.Errorf("%w: %s has %d elements, expected %d", errPiece, l.items[0].name, end, l.total)
			}
			if _, err := l.ptr.array.Write(graph.Bytes(sums)); err != nil {
				return err
			}
		}
		l.total = end
		for _, s := range l.items {
			if err := write(s); err != nil {
				return err
			}
		}
		return nil
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
		if err != nil {
			break
		}
		if n := int64(8 * count); !same.s.array.WantsNext(n) {
			err = same.s.array.Skip(n)
			continue
		}
		out.sums = out.sums[:0]
		for range count {
			out.sums = append(out.sums, uint64(same.v))
		}
		_, err = same.s.array.Write(graph.Bytes(out.sums))
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
	if err := errors.Join(c.beginArrays(c.w, nil), c.Close()); err != nil {
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
