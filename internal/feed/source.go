package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/host"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
)

// Source is the seeds, the plan and the columns of batches. It is immutable and safe for concurrent use.
type Source struct {
	sampler *sample.Sampler
	columns []column
	tables  tables
	loading sync.WaitGroup
	halt    func() // ends the loading
	job     sample.Job
	width   int  // ids per seed
	links   bool // the seeds are links with columns
	order   batch.Order
	sets    bool  // a batch has each seed once, ascending
	slot    int64 // bytes that hold every batch of an epoch
	leftOut []string
	// stream makes the batches of streams; nil where Makers make them.
	stream *outofcore.Executor
	// hosts have the graph; nil where the store is here.
	hosts    *host.Client
	features Features
	ops      bool
	wait     time.Duration // see streams
	// Of SeedsAlone: the columns of the batches that clients make, and their plan as JSON; else nil.
	made []ColumnInfo
	plan []byte
}

// NewSource prepares batches of job.Seeds with the columns of f. With ops they also have the frontier and the edges of
// each op, for which the sampler must have been made with sample.Options.Ops. Under scope seed, the subgraphs of the
// seeds of a batch are side by side. Rank, Ranks, Epoch and Threads of the job are not used.
func NewSource(s *sample.Sampler, job sample.Job, f Features, ops bool) (*Source, error) {
	p := s.Plan()
	switch {
	case ops && p.Scope == sample.ScopeSeed:
		return nil, errors.New("found ops with scope seed, expected scope batch or epoch: message-flow blocks are made from one subgraph per batch; give `Scope` batch, or leave `Ops` out")
	case p.Before != nil && job.Times == nil:
		return nil, errors.New("found no times of seeds and a plan with before, expected one time per seed")
	case p.Before == nil && len(f.Ages) > 0:
		return nil, errors.New("found ages and a plan without times, expected a time per seed, at which ages are; give `Before`, or leave `Age` out")
	case job.BatchSize < 1:
		return nil, fmt.Errorf("found batch size %d, expected at least 1", job.BatchSize)
	}
	for _, t := range []struct {
		what  string
		named map[string][]string
		known func(string) bool
	}{
		{"node type", f.Nodes, func(name string) bool { return s.Graph().NodeType(name) >= 0 }},
		{"edge type", f.Edges, func(name string) bool {
			e, err := s.Graph().EdgeType(name)
			return err == nil && s.Graph().Edges[e].Type.String() == name
		}},
	} {
		for name := range t.named {
			if !t.known(name) {
				return nil, fmt.Errorf("found columns of %s %q, expected a type of the graph", t.what, name)
			}
		}
	}
	f.unevenLists = job.Negatives.Ends != nil || s.Plan().Negatives != nil && s.Plan().Negatives.Uneven()
	src := &Source{sampler: s, job: job, width: s.SeedWidth(), links: len(f.Links) > 0, leftOut: f.LeftOut, features: f, ops: ops}
	if _, err := job.Batches(src.width); err != nil {
		return nil, err
	}
	columnRows := src.Seeds()
	if x := job.Positives; x != nil {
		src.features.rows, columnRows = x.Rows(), x.Edges()
	}
	src.order = batch.Sequential(uint64(src.Seeds()))
	if job.Shuffle {
		src.order = batch.Shuffled(uint64(src.Seeds()))
	}
	if err := checkLinks(f.Links, columnRows); err != nil {
		return nil, err
	}
	src.tables.numbers = &widening.Numbers{}
	if f.NarrowIDs && !f.NoEdgeIDs {
		src.features.farPositions = farPositions(s.Graph())
	}
	var err error
	if src.columns, err = columnsOf(s, src.features, ops, &src.tables, nil); err != nil {
		return nil, err
	}
	if p.Before != nil {
		src.columns = append(src.columns, times(job.Times))
	}
	src.slot, err = mostBytes(s, src.columns, job.BatchSize)
	return src, err
}

// Load begins to copy the large columns that batches look rows up in to faster memory, up to the given number of bytes, and calls
// loaded when it has finished. Meanwhile batches can be made; their content is the same. It is called at most once,
// before Close.
func (s *Source) Load(memory int64, loaded func()) {
	var ctx context.Context
	ctx, s.halt = context.WithCancel(context.Background())
	s.loading.Go(func() {
		// Rows that cannot be read stay in the map, and fail the batch that needs them.
		_ = guard.Do(func() error { s.tables.load(ctx, memory); return nil })
		loaded()
	})
}

// Close ends the copying of Load and frees the copies, and ends the connections to hosts. No Maker may be in use.
func (s *Source) Close() {
	if s.hosts != nil {
		s.hosts.Close()
	}
	if s.halt != nil {
		s.halt()
	}
	s.loading.Wait()
	s.tables.close()
}

// Batches is the number of batches per epoch, over all ranks.
func (s *Source) Batches() int {
	seeds, size := int(s.order.Len()), s.job.BatchSize
	n := seeds / size
	if seeds%size > 0 {
		n++
	}
	return n
}

// End is the batch number, over all ranks, at which a pass ends that starts with batch first: batch.Tail.End for the
// batches that the tail takes. Numbers from Batches on repeat batches of the epoch (batch.Fill).
func (s *Source) End(tail batch.Tail, first, ranks int) int {
	n := s.Batches()
	if tail == batch.Drop {
		n = int(s.order.Len()) / s.job.BatchSize
	}
	return tail.End(n, first, ranks)
}

// CheckFirst refuses a batch number at which no pass with the given number of ranks can start. A pass that starts where an earlier
// pass ended has no batches.
func (s *Source) CheckFirst(first uint64, ranks int) error {
	if most := uint64(s.Batches() + ranks - 1); first > most {
		return fmt.Errorf("found a start at batch %d, expected 0 to %d", first, most)
	}
	return nil
}

// MostRanks bounds the number of ranks and workers, so that sums of batch numbers do not overflow.
const MostRanks = 1 << 20

// ParseTail is the tail with this name, which must be one that sampled batches can have.
func ParseTail(name string) (batch.Tail, error) {
	return batch.ParseTail(name, batch.Short, batch.Fill, batch.Drop)
}

// Hops is the number of hops of the plan.
func (s *Source) Hops() int { return s.sampler.Hops() }

func (s *Source) describe(w *welcome) {
	w.Hops, w.Seeds, w.SeedTypes, w.SeedEdges, w.Negatives = s.Hops(), s.Seeds(), s.SeedTypes(), s.SeedEdges(), s.Negatives()
	w.Columns, w.Ops, w.LeftOut = s.Columns(), s.Ops(), s.leftOut
	w.Made, w.Plan = s.made, s.plan
}

func (s *Source) newMaker() maker  { return s.Maker() }
func (s *Source) slotBytes() int64 { return s.slot }

// Seeds is the number of seeds. A link is one seed.
func (s *Source) Seeds() int { return len(s.job.Seeds) / s.width }

// SeedTypes is the node type of the seeds or, for links, the types of source and target.
func (s *Source) SeedTypes() []string { return s.sampler.Plan().SeedType }

// SeedEdges is the edge type of seeds that are links; empty where it is not known.
func (s *Source) SeedEdges() string { return s.sampler.Plan().SeedEdges }

// TimeUnit is the unit of the times of seeds; "" where they are plain numbers, or the plan looks at none.
func (s *Source) TimeUnit() graph.Unit {
	if s.sampler.Plan().Before == nil {
		return ""
	}
	return s.sampler.Plan().TimeUnit(s.sampler.Graph())
}

// Ages names the columns of batches with the ages of rows at the times of their seeds.
func (s *Source) Ages() []string {
	var names []string
	for _, a := range s.features.Ages {
		kind := "nodes"
		if strings.Contains(a.Type, ":") {
			kind = "edges"
		}
		names = append(names, fmt.Sprintf("%s/%s/x/%s", kind, Escaped(a.Type), AgeColumn))
	}
	return names
}

// Negatives describes the negative links of batches, nil without any.
func (s *Source) Negatives() *NegativesInfo {
	n := s.sampler.Plan().Negatives
	if n == nil {
		return nil
	}
	return &NegativesInfo{How: n.How.String(), Each: n.Most(), KeepsSources: n.How == sample.Triplet || n.How == sample.InBatch || s.job.Negatives.Targets}
}

// SetOrder sets the order of the seeds of each epoch, in place of the job's order. It is called before the first Maker.
func (s *Source) SetOrder(o batch.Order) error {
	if o.Items() != uint64(s.Seeds()) {
		return fmt.Errorf("found an order of %d items, expected the %d seeds", o.Items(), s.Seeds())
	}
	s.order = o
	return nil
}

// SetSets is SetOrder for batches of sets of nodes: each seed of a batch comes once, in ascending order, however often the order has
// it in the batch. The seeds are all nodes of their type.
func (s *Source) SetSets(o batch.Order) error {
	s.sets = true
	return s.SetOrder(o)
}

// BatchSize is the number of seeds per batch, or the most of a set.
func (s *Source) BatchSize() int { return s.job.BatchSize }

// Ops is the edge type and the hop of each op, from op 1.
func (s *Source) Ops() []OpInfo {
	var ops []OpInfo
	plan := s.sampler.Plan()
	for k, hop := range plan.OpHops()[1:] {
		ops = append(ops, OpInfo{plan.Ops[k].Edges, hop})
	}
	return ops
}

// Columns describes the columns of every batch.
func (s *Source) Columns() []ColumnInfo {
	var infos []ColumnInfo
	for _, c := range s.columns {
		infos = append(infos, c.info)
	}
	return infos
}

// NewStreamed is NewSource for batches that streams of x make (NewStream), which must outlive the source.
func NewStreamed(x *outofcore.Executor, job sample.Job, f Features, ops bool) (*Source, error) {
	src, err := NewSource(x.Sampler(), job, f, ops)
	if err != nil {
		return nil, err
	}
	src.stream, src.wait = x, patience
	return src, nil
}

// Streamed says whether batches come from streams. There are no Makers then.
func (s *Source) Streamed() bool { return s.stream != nil }

// Maker makes batches, one at a time. First a batch is sampled (Batch, Of), then its columns are written to buffers of
// the caller (Rows, Fill). It serves one goroutine at a time. Its methods read maps: the caller calls them inside guard.Do,
// and may use the Maker again after a fault.
type Maker struct {
	src     *Source
	columns []column
	context *sample.Context
	broken  bool // sampling ended in a panic: context and disjoint hold anything
	// disjoint is set under scope seed.
	disjoint *disjoint
	// The seeds of the batch, their rows in the list of seeds, and their lists of negatives.
	seeds, rows []uint32
	negatives   sample.NegativeLists
	made        made
	at          []int
	hosted      *hosted // where hosts have the graph
}

// Maker is a new maker.
func (s *Source) Maker() *Maker {
	m := &Maker{src: s, columns: s.columns, at: make([]int, len(s.columns))}
	if s.hosts != nil {
		m.hosted, m.columns = newHosted(s)
	}
	m.renew()
	return m
}

// Until makes batches from now on end with a context where hosts are waited for. It is valid until the next call.
func (m *Maker) Until(ctx context.Context) {
	if m.hosted != nil {
		m.hosted.sampling.Until(ctx)
		m.hosted.rows.Until(ctx)
	}
}

// renew makes what sampling changes.
func (m *Maker) renew() {
	s := m.src.sampler
	if m.hosted != nil && m.broken {
		m.hosted, m.columns = newHosted(m.src)
	}
	m.context, m.broken = s.NewContext(), false
	if s.Plan().Scope == sample.ScopeSeed {
		m.disjoint = newDisjoint(s)
	}
}

// Epoch is the order of the seeds in an epoch.
func (s *Source) Epoch(number uint64) batch.Items { return s.order.Epoch(s.job.Seed, number) }

// Batch samples batch b of an epoch, with the order of Source.Epoch, and returns the bytes that it takes in a slot. The
// batch is valid until the next call. A batch after the last of the epoch (Source.End) has the seeds of batch b mod
// Batches, and draws of its own.
func (m *Maker) Batch(order batch.Items, epoch uint64, b int) (int, error) {
	src := m.src
	first := b % max(1, src.Batches()) * src.job.BatchSize
	n := min(src.job.BatchSize, int(src.order.Len())-first)
	if cap(m.made.input) < n {
		m.made.input = make([]uint64, n)
	}
	m.made.input = m.made.input[:n]
	order.Fill(m.made.input, uint64(first))
	if src.sets {
		slices.Sort(m.made.input)
		m.made.input = slices.Compact(m.made.input)
	}
	seeds, edges := src.job.Seeds, []uint32(nil)
	if x := src.job.Positives; x != nil {
		links, err := x.Links(epoch)
		if err != nil {
			return 0, err
		}
		seeds, edges = links.Ends, links.Edges
	}
	m.seeds, m.rows, m.made.times, m.made.edges = m.seeds[:0], m.rows[:0], m.made.times[:0], m.made.edges[:0]
	for _, i := range m.made.input {
		at := int(i) * src.width
		m.seeds = append(m.seeds, seeds[at:at+src.width]...)
		if edges != nil {
			m.made.edges = append(m.made.edges, uint64(edges[i]))
		}
		if src.job.Times != nil {
			m.made.times = append(m.made.times, src.job.Times[i])
		}
		m.rows = append(m.rows, uint32(i))
	}
	m.negatives.Take(&src.job, m.rows)
	return m.sample(epoch, uint64(b))
}

// Of samples a batch of given seeds (of links source and target in turn) with the draws of batch unit of an epoch.
func (m *Maker) Of(seeds []int64, epoch, unit uint64) (int, error) {
	return m.OfTimes(seeds, nil, epoch, unit)
}

// OfTimes is Of for seeds with a time each, which a plan with before needs.
func (m *Maker) OfTimes(seeds []int64, times []sample.Time, epoch, unit uint64) (int, error) {
	s := m.src.sampler
	switch timed := s.Plan().Before != nil; {
	case timed && times == nil:
		return 0, errors.New("found a plan with before and seeds without times, expected a time per seed: neighbours are those before it; give the times, or sample with the seeds in a file")
	case !timed && times != nil:
		return 0, errors.New("found times of seeds and a plan without times, expected none; leave the times out")
	case timed && len(times)*m.src.width != len(seeds):
		return 0, fmt.Errorf("found %d times of %d seeds, expected one per seed; give as many", len(times), len(seeds)/m.src.width)
	case !m.src.job.Negatives.Empty():
		return 0, errors.New("found listed negatives, expected none: links that are asked for have no lists; leave `NegativesFrom` out")
	case m.src.job.Positives != nil:
		return 0, errors.New("found positives, expected none: seeds that are asked for have no positives that are drawn; leave `Positives` out, and ask for links")
	case m.src.links:
		return 0, errors.New("found links with columns, expected none: links that are asked for have no columns; give links as ids of their ends alone")
	case len(seeds)%m.src.width != 0:
		return 0, fmt.Errorf("found %d ids, expected pairs of source and target; give two ids per link", len(seeds))
	}
	var counts []int64
	for _, t := range m.src.SeedTypes() {
		counts = append(counts, int64(s.Graph().Nodes[s.Graph().NodeType(t)].Count))
	}
	m.seeds, m.made.input, m.made.times = m.seeds[:0], m.made.input[:0], m.made.times[:0]
	for i, t := range times {
		if _, _, float := t.Number(); float != m.src.floatTimes() {
			return 0, fmt.Errorf("seed %d: found the time %s, expected %s, as the times of the store are; write it so", i, timeText(t), map[bool]string{true: "a number with a point", false: "a whole number"}[m.src.floatTimes()])
		}
		m.made.times = append(m.made.times, t)
	}
	for i, v := range seeds {
		if n := counts[i%m.src.width]; v < 0 || v >= n {
			return 0, fmt.Errorf("seed %d: found node %d, expected 0 to %d; seeds are row numbers of the store; look original ids up with find", i/m.src.width, v, n-1)
		}
		m.seeds = append(m.seeds, uint32(v))
		if i%m.src.width == 0 {
			m.made.input = append(m.made.input, uint64(i/m.src.width))
		}
	}
	return m.sample(epoch, unit)
}

// floatTimes says whether the times of seeds are floats, as column seed_time has them.
func (s *Source) floatTimes() bool {
	if len(s.job.Times) == 0 {
		return false
	}
	_, _, float := s.job.Times[0].Number()
	return float
}

// timeText is a time for an error.
func timeText(t sample.Time) string {
	if i, f, float := t.Number(); float {
		return fmt.Sprint(f)
	} else {
		return fmt.Sprint(i)
	}
}

func (m *Maker) sample(epoch, unit uint64) (size int, err error) {
	if m.broken {
		m.renew()
	}
	m.broken = true
	m.made.undivide()
	in := sample.Input{Seeds: m.seeds, Negatives: m.negatives, Seed: m.src.job.Seed, Epoch: epoch, Unit: unit}
	switch {
	case m.src.alone():
		m.made.seeds = m.seeds
		m.made.sub, err = m.negativesAlone(in)
	case m.hosted != nil:
		err = m.hosted.sample(m, in)
	case m.disjoint != nil:
		m.made.sub, err = m.each(in)
	default:
		m.made.sub, err = m.context.Sample(in)
	}
	m.broken = false
	if err != nil {
		return 0, err
	}
	return placeColumns(m.columns, &m.made, m.at), nil
}

// each samples a subgraph per seed, and joins them side by side.
func (m *Maker) each(in sample.Input) (*sample.Subgraph, error) {
	m.disjoint.begin()
	for i := range len(m.seeds) / m.src.width {
		sub, err := m.context.Sample(m.one(in, i))
		if err == nil {
			err = m.disjoint.add(sub)
		}
		if err != nil {
			return nil, err
		}
	}
	m.made.batch = m.disjoint.batch
	return m.disjoint.join(), nil
}

// one is the input of the subgraph of seed i of the batch.
func (m *Maker) one(in sample.Input, i int) sample.Input {
	in.Seeds = m.seeds[i*m.src.width : (i+1)*m.src.width]
	if len(m.made.times) > 0 {
		in.Time = m.made.times[i]
	}
	in.Negatives = m.negatives.One(i, len(m.seeds)/m.src.width)
	return in
}

// Rows is the number of rows of a column in the sampled batch.
func (m *Maker) Rows(column int) int { return m.columns[column].rows(&m.made) }

// RowBytes is the bytes per row of a column.
func (m *Maker) RowBytes(column int) int { return m.columns[column].width }

// Fill writes a column of the sampled batch to dst, which has the bytes of its rows and is aligned to 8 bytes.
func (m *Maker) Fill(column int, dst []byte) {
	if len(dst) > 0 {
		m.columns[column].write(dst, &m.made)
	}
}

// Write writes the sampled batch, with a number, to dst as in a slot. dst has its size, and is aligned to 8 bytes. Bytes between columns keep what dst has.
func (m *Maker) Write(dst []byte, number uint64) { m.write(dst, ticket{seq: number}) }

// write writes the sampled batch to dst, which has its size.
func (m *Maker) write(dst []byte, t ticket) { writeBatch(dst, m.columns, &m.made, m.at, t) }
