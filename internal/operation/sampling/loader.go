package sampling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/messages"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
	"github.com/graphmill/graphmill/option"
)

// Loader samples batches from a store: subgraphs around seeds, with the columns that training needs. Batches and the feed
// of the Python client use it. Close it before the store.
type Loader struct {
	source   *feed.Source
	executor executor
	o        request
	notes    []string
	sets     *sets           // of the nodes of batches; nil for neighbourhoods
	spare    int64           // with Memory: the bytes that copies of columns may take
	own      int64           // bytes that the plan takes beside the columns of the store, with the memory executor
	scratch  string          // folder of scratch files for rows; "" for none
	segments string          // folder of the merged edges of a store with segments; "" for none
	percent  int             // of the garbage collector before the stream executor was opened
	opened   *store.Store    // closed with the loader; nil: the store is the caller's
	messages *messages.Store // that is sampled
}

// OpenLoader is newBatchLoader of the store in a folder, which is closed with the loader.
func OpenLoader(ctx context.Context, dir string, o option.Batches) (*Loader, error) {
	s, err := openSampled(vfs.OS, dir, o.Executor == option.ExecutorStream || len(o.Hosts) > 0)
	if err != nil {
		return nil, err
	}
	l, err := NewLoader(ctx, s, o)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	l.opened = s
	return l, nil
}

// OpenSeedsAlone is OpenLoader for batches that have their seeds alone (feed.Source.SeedsAlone). Neighbours and columns stay in the maps of the store.
func OpenSeedsAlone(ctx context.Context, dir string, o option.Batches) (*Loader, error) {
	s, err := openSampled(vfs.OS, dir, false)
	if err != nil {
		return nil, err
	}
	l, err := newLoader(ctx, s, o, answering{inPlace: true}, func(*Loader) error { return nil })
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	l.opened = s
	readLarge(s)
	if err := l.source.SeedsAlone(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// find opens the original ids of the types of the seeds.
func (l *Loader) find() (Find, error) {
	return (&sharedStore{Store: l.messages.Store, ids: map[string]*store.IDs{}}).find(l.source.SeedTypes())
}

// NewLoader prepares to sample batches from a store. With ExecutorAuto, they come from the stream executor if Memory is given
// and the memory executor needs more. It refuses a Format, as batches are not files.
func NewLoader(ctx context.Context, s *store.Store, o option.Batches) (*Loader, error) {
	return newLoader(ctx, s, o, answering{}, func(*Loader) error { return nil })
}

// newLoader is NewLoader, also for answers. open opens more of the store, before columns are copied beside.
func newLoader(ctx context.Context, s *store.Store, options option.Batches, of answering, open func(*Loader) error) (_ *Loader, err error) {
	defer guard.Catch(&err)()
	o := ofBatches(&options)
	if o.answering = of; o.asked && o.sets() {
		return nil, operation.Usagef("found `Sampler` %s with seeds that are asked for, expected a sampler of neighbours: its batches are sets of nodes, which have no seeds", o.Sampler)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.slots < 0 {
		return nil, operation.Usagef("found `Slots` %d, expected at least 1", o.slots)
	}
	if o.Overwrite {
		return nil, operation.Usagef("found `Overwrite` with batches, expected it with output files")
	}
	operation.SetDefault(&o.slots, ordered.Slots(o.Threads))
	p, err := o.resolve(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := p.plan.TakesPlaces(s.Graph); err != nil {
		return nil, err
	}
	order, err := seedOrder(o.Order, s.Graph, p)
	if err != nil {
		return nil, err
	}
	columns, err := o.columnsOfBatches(ctx, s, p)
	if err != nil {
		return nil, err
	}
	l := &Loader{o: o}
	if text := ownMessages(s.Graph, p.plan); text != "" {
		l.note("%s", text)
	}
	for _, text := range p.warnings(s.Graph, o.Seeds) {
		operation.Warn(&o.Run, "%s", text)
		l.note("%s", text)
	}
	if l.messages, err = OpenMessages(ctx, &o.Run, s, p.plan, ""); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.messages.Close())
		}
	}()
	l.noteMessages(s.Graph, p.plan)
	s = l.messages.Store
	held := orderBytes(order)
	if l.sets, err = o.openSets(ctx, s, p); err != nil {
		return nil, err
	}
	if l.sets != nil {
		held = l.sets.need
	}
	if err := l.open(ctx, s, p, columns, held); err != nil {
		l.sets.close()
		return nil, err
	}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if order != nil {
		if err := l.source.SetOrder(order); err != nil {
			return nil, err
		}
	}
	if l.sets != nil {
		if err := l.source.SetSets(l.sets.order); err != nil {
			return nil, err
		}
	}
	if l.executor.stream != nil {
		return l, l.foretell(ctx)
	}
	if err := l.messages.Unname(); err != nil {
		return nil, err
	}
	if err := open(l); err != nil {
		return nil, err
	}
	if !o.inPlace && len(o.Hosts) == 0 {
		l.load(s)
	}
	return l, nil
}

// columnsOfBatches are the columns that batches have.
func (o *request) columnsOfBatches(ctx context.Context, s *store.Store, p *planned) (*feed.Features, error) {
	made, err := features.ReadFile(vfs.OS, s.Dir)
	if err != nil {
		return nil, err
	}
	wide, err := wideFeaturesOf(made)
	if err != nil {
		return nil, err
	}
	nodes, edges, joined, err := o.features(s.Graph, wide)
	if err != nil {
		return nil, err
	}
	if joined, err = o.joinedColumns(s.Graph, wide, nodes, edges, joined); err != nil {
		return nil, err
	}
	var links []*widening.Column
	if !o.asked { // links that are asked for have no columns
		if links, err = widening.Of(made).Among(p.edges, p.columns); err != nil {
			return nil, err
		}
	}
	f := &feed.Features{Nodes: nodes, Edges: edges, Joined: joined, Links: linkColumns(links), LeftOut: o.leftOut(s.Graph, made, links), NoEdgeIDs: o.NoEdgeIDs, NarrowIDs: o.narrowIDs, AgeUnit: o.AgeUnit}
	if f.Texts, err = o.texts(s.Graph); err != nil {
		return nil, err
	}
	if f.Kept, err = o.keptNodes(ctx, s.Graph); err != nil {
		return nil, err
	}
	f.Ages, err = o.ages(ctx, s, p, f)
	return f, err
}

// open compiles the plan for an executor, and makes the source. order is the bytes of the order of the seeds, or of the sets of nodes.
func (l *Loader) open(ctx context.Context, s *store.Store, p *planned, f *feed.Features, order int64) error {
	o := &l.o
	options := sample.Options{Ops: o.Ops, Small: o.asked, After: o.after, Shared: o.shared, NoEdgeIDs: o.NoEdgeIDs && !f.OfEdges(), Warn: func(text string) { operation.Warn(&o.Run, "%s", text) }}
	o.after = nil // which is closed soon
	if p.plan.Weighs() {
		options.Weights = true
		if err := freeOfWeights(s.Graph, f); err != nil {
			return err
		}
	}
	if len(o.Hosts) > 0 {
		return l.openHosted(ctx, s, p, f, options)
	}
	columns := columnBytes(s.Graph, f) + s.Merged()
	need := samplerBytes(s.Graph, p.plan, o.Threads) + columns + f.NumberBytes() + order + p.job.Negatives.Bytes() + p.job.Positives.Bytes()
	if o.Executor == option.ExecutorMemory || o.Executor == option.ExecutorAuto && (o.Memory == 0 || need <= o.Memory) {
		sampler := NewSampler
		if o.inPlace {
			sampler = newMappedSampler
		}
		m, err := sampler(s, p.plan, need, o.Memory, options)
		if err != nil {
			return err
		}
		l.executor.sampler, l.spare, l.own = m, o.Memory-(need-columns), need-columns
		l.note("executor memory: the plan and the columns need about %s", human.Bytes(need))
		if l.source, err = feed.NewSource(m, p.job, *f, o.Ops); err != nil {
			m.Close()
		}
		return err
	}
	if len(f.Texts) > 0 {
		return operation.Usagef("found `Texts` and a plan and columns that need %s, more than `Memory`, expected more memory: batches of the stream executor have no texts; leave `Texts` out, or give more", human.Bytes(need))
	}
	c := choice{threads: o.Threads, memory: o.Memory, options: options}
	held := int64(feedBytes) + f.NumberBytes() + order + jobBytes(&p.job)
	for _, column := range f.Links {
		held += column.StoredBytes()
	}
	if l.scratch = scratchFolder(s.Dir); l.scratch != "" {
		l.scratch, _ = filepath.Abs(l.scratch) // for the note; the folder is there
	}
	if err := l.spillSegments(ctx, s); err != nil {
		return err
	}
	x, err := outofcore.Open(ctx, vfs.OS, s, p.plan, outofcore.Options{Memory: c.bound(), Held: held, Threads: o.Threads, Ops: o.Ops, NoEdgeIDs: options.NoEdgeIDs,
		Epochs: 1, Slots: o.slots, Scratch: l.scratch, Warn: options.Warn})
	if o.Executor == option.ExecutorAuto {
		l.executor.need = need
		l.note("executor stream: %s", tooLarge(need, o.Memory))
	} else {
		l.note("executor stream, as `Executor` says")
	}
	if err != nil {
		return l.executor.both(err)
	}
	l.executor.stream, l.executor.sampler = x, x.Sampler()
	// Little is allocated once the buffers have grown, but before that garbage could exceed the budget.
	l.percent = debug.SetGCPercent(20)
	if l.source, err = feed.NewStreamed(x, p.job, *f, o.Ops); err != nil {
		debug.SetGCPercent(l.percent)
		return errors.Join(err, x.Close())
	}
	return nil
}

// foretell refuses too little memory for the stream executor, and notes what epochs take.
func (l *Loader) foretell(ctx context.Context) error {
	f, err := l.source.Forecast(ctx)
	if err != nil {
		return l.executor.both(err)
	}
	batches := uint64(l.source.Batches())
	windows := (batches + f.Batches - 1) / max(f.Batches, 1)
	switch {
	case f.Design == outofcore.Condensed:
		l.note("the samples of an epoch are in memory once per node, and an epoch is sampled by one sweep per hop")
	case windows <= 1:
		l.note("an epoch is one window, sampled by one sweep while the batches of the epoch before are taken")
	default:
		l.note("an epoch has %s windows, each sampled by one sweep while the batches of the window before are taken", human.ExactU(windows))
	}
	if f.Written > 0 {
		l.note("rows that several parts of a window want go through a scratch file without a name in %s: %s per epoch", l.scratch, human.Bytes(f.Written))
	}
	l.note("forecast: %s read per epoch, %s of memory", human.Bytes(f.Bytes), human.Bytes(f.Memory))
	return nil
}

func (l *Loader) note(format string, a ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, a...))
}

// Notes says in lines of text which executor makes the batches, why, and what that takes.
func (l *Loader) Notes() []string { return l.notes }

// scratchFolder is the folder of scratch files for rows: TMPDIR, or the one that has the store; "" where no file can be made.
func scratchFolder(store string) string {
	dir := cmp.Or(os.Getenv("TMPDIR"), filepath.Dir(store))
	f, err := vfs.OS.Temp(dir)
	if err != nil {
		return ""
	}
	_ = f.Close() // nothing was written
	return dir
}

// feedBytes is the memory that a process takes to hand batches on: for the code of its servers, sockets, and garbage.
const feedBytes = 8 << 20

// load begins to copy the columns into memory, where rows are found faster, as far as the memory allows.
func (l *Loader) load(s *store.Store) {
	// The copies replace the mapped columns, whose pages the system may drop.
	l.source.Load(l.room(), func() { _ = s.Release() })
}

// room is the bytes that copies of columns may take.
func (l *Loader) room() int64 {
	if l.o.Memory == 0 {
		return operation.Available(vfs.OS) / 2
	}
	return l.spare
}

// Close frees the memory of the loader. None of its batches may be in use.
func (l *Loader) Close() {
	l.close()
	_ = l.messages.Close() // temporary files
	if l.segments != "" {
		_ = vfs.OS.RemoveAll(l.segments) // temporary files
	}
	if l.opened != nil {
		_ = l.opened.Close() // its maps were only read
	}
}

// spillSegments writes the merged edges of a store with segments to temporary files, which the stream executor reads.
func (l *Loader) spillSegments(ctx context.Context, s *store.Store) error {
	if s.Segments() == 0 {
		return nil
	}
	if l.scratch == "" {
		return s.OnePiece()
	}
	l.segments = filepath.Join(l.scratch, "graphmill-segments-"+workfolder.Unique())
	err := s.Spill(ctx, vfs.OS, l.segments)
	if err != nil {
		err = errors.Join(err, vfs.OS.RemoveAll(l.segments))
	}
	return err
}

// close frees what the batches are made with.
func (l *Loader) close() {
	l.source.Close()
	if l.executor.stream != nil {
		debug.SetGCPercent(l.percent)
	}
	_ = l.executor.close() // files that were only read
	l.sets.close()
}

// Opened is the store in the folder that the loader was opened from; nil where the store is the caller's.
func (l *Loader) Opened() *store.Store { return l.opened }

// Source is the source of batches of the servers: the feed and Flight.
func (l *Loader) Source() *feed.Source { return l.source }

// freeOfWeights refuses columns of edges that have the name of the weights that a sampler makes.
func freeOfWeights(g *graph.Graph, f *feed.Features) error {
	for _, e := range g.Edges {
		typ := e.Type.String()
		if slices.Contains(f.Edges[typ], sample.WeightsColumn) || slices.ContainsFunc(f.Joined, func(j feed.Joined) bool { return j.Type == typ && j.Name == sample.WeightsColumn }) {
			return operation.Usagef("found the column %s of %s with a sampler whose batches have the weights of edges in it, expected another name; leave it out of `EdgeFeatures`", sample.WeightsColumn, typ)
		}
	}
	return nil
}

// seedOrder returns the order that the field Order describes, nil for none.
func seedOrder(text string, g *graph.Graph, p *planned) (batch.Order, error) {
	if text == "" {
		return nil, nil
	}
	law, of, _ := strings.Cut(text, ":")
	switch law {
	case "weighted", "stratified":
		c, rows, err := seedColumn(of, g, p)
		if err != nil {
			return nil, operation.Usagef("`Order`: %w", err)
		}
		by := feed.WeightedBy
		if law == "stratified" {
			by = feed.StratifiedBy
		}
		o, err := by(c, rows)
		if err != nil {
			return nil, operation.Usagef("`Order`: %w", err)
		}
		return o, nil
	case "windowed":
		first, second, _ := strings.Cut(of, ",")
		block, errBlock := strconv.ParseUint(first, 10, 32)
		window, errWindow := strconv.ParseUint(second, 10, 32)
		if errBlock != nil || errWindow != nil || block == 0 || window == 0 {
			return nil, operation.Usagef("found `Order` %s, expected windowed:BLOCK,BLOCKS: seeds per block, and the number of blocks that are shuffled together, such as windowed:4096,16", text)
		}
		return batch.Windowed(uint64(p.seeds()), block, window)
	}
	return nil, operation.Usagef("found `Order` %s, expected weighted:COLUMN, stratified:COLUMN or windowed:BLOCK,BLOCKS", text)
}

// seedColumn returns a column of the seed nodes or links, and the row of each seed.
func seedColumn(name string, g *graph.Graph, p *planned) (*graph.Column, []uint32, error) {
	var columns []*graph.Column
	var what string
	var rows []uint32
	if p.job.Positives != nil {
		n := g.Nodes[g.NodeType(p.plan.SeedType[0])]
		columns, what, rows = n.Columns, "node type "+n.Type, p.job.Positives.Nodes()
	} else if p.plan.Link() {
		columns, what = p.columns, "the links"
		for i := range uint32(p.seeds()) {
			rows = append(rows, i)
		}
	} else {
		n := g.Nodes[g.NodeType(p.plan.SeedType[0])]
		columns, what, rows = n.Columns, "node type "+n.Type, p.job.Seeds
	}
	if c := graph.FindColumn(columns, name); c != nil {
		return c, rows, nil
	}
	var have []string
	for _, c := range columns {
		if !strings.HasPrefix(c.Name, "#") {
			have = append(have, c.Name)
		}
	}
	return nil, nil, operation.Usagef("found no column %q of %s, expected one of %s; name one of these, or import the column", name, what, strings.Join(have, ", "))
}

// orderBytes returns the memory that an order takes.
func orderBytes(o batch.Order) int64 {
	if o == nil {
		return 0
	}
	return 32 * int64(o.Items()) // the largest lists that an order holds, and those it is made from
}

// linkColumns returns the columns of links that batches can have: numbers of a fixed shape.
func linkColumns(columns []*widening.Column) []*widening.Column {
	var out []*widening.Column
	for _, c := range columns {
		if operation.InBatches(c.Column) {
			out = append(out, c)
		}
	}
	return out
}
