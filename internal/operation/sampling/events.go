package sampling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/event"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// EventLoader makes batches of the events of a store. Close it before the store.
type EventLoader struct {
	source *feed.Events
	o      option.Events
	notes  []string
	opened *store.Store // closed with the loader; nil: the store is the caller's
}

// OpenEvents is NewEventLoader of the store in a folder, which is closed with the loader.
func OpenEvents(ctx context.Context, dir string, o option.Events) (*EventLoader, error) {
	s, err := store.OpenMerged(vfs.OS, dir, -1)
	if err != nil {
		return nil, err
	}
	l, err := NewEventLoader(ctx, s, o)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	l.opened = s
	return l, nil
}

// Opened is the store in the folder that the loader was opened from; nil where the store is the caller's.
func (l *EventLoader) Opened() *store.Store { return l.opened }

// NewEventLoader orders the events of a store. It holds them in memory.
func NewEventLoader(ctx context.Context, s *store.Store, o option.Events) (_ *EventLoader, err error) {
	defer guard.Catch(&err)()
	history, err := checkEvents(&o)
	if err != nil {
		return nil, err
	}
	l := &EventLoader{o: o}
	types, err := l.typesOf(s.Graph)
	if err != nil {
		return nil, err
	}
	f, err := l.columns(s, types)
	if err != nil {
		return nil, err
	}
	if err := l.checkMemory(s, types, f); err != nil {
		return nil, err
	}
	stream, err := event.Open(ctx, s.Graph, types)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			stream.Close()
		}
	}()
	division, err := l.divide(stream)
	if err != nil {
		return nil, err
	}
	options := feed.EventOptions{Options: event.Options{Neighbours: o.Neighbors, History: history, Negatives: o.Negatives, Seed: o.Seed}, Rank: o.Rank, Ranks: o.Ranks}
	for _, t := range types {
		options.Types = append(options.Types, t.Edges)
	}
	if options.Lists, err = l.lists(ctx, s, stream, options.Types); err != nil {
		return nil, err
	}
	l.source, err = feed.NewEvents(s.Graph, stream, division, options, *f)
	return l, err
}

// checkEvents refuses options that contradict each other, and fills in defaults.
func checkEvents(o *option.Events) (event.History, error) {
	if err := operation.CheckRun(&o.Run); err != nil {
		return 0, err
	}
	if o.Every != "" && o.BatchSize != 0 {
		return 0, operation.Usagef("found `Every` %s and `BatchSize` %d, expected one of them", o.Every, o.BatchSize)
	}
	if o.NegativesFrom != "" && o.Negatives != 0 {
		return 0, operation.Usagef("found `NegativesFrom` and `Negatives` %d, expected one of them: lists, or draws", o.Negatives)
	}
	operation.SetDefault(&o.BatchSize, 200)
	operation.SetDefault(&o.Epochs, 1)
	operation.SetDefault(&o.Ranks, 1)
	switch {
	case o.BatchSize < 1:
		return 0, operation.Usagef("found `BatchSize` %d, expected at least 1", o.BatchSize)
	case o.Neighbors < 0 || o.Neighbors > sample.MostNegatives:
		return 0, operation.Usagef("found `Neighbors` %d, expected 0 to %d", o.Neighbors, sample.MostNegatives)
	case o.Negatives < 0 || o.Negatives > sample.MostNegatives:
		return 0, operation.Usagef("found `Negatives` %d, expected 0 to %d", o.Negatives, sample.MostNegatives)
	case o.Epochs < 1:
		return 0, operation.Usagef("found `Epochs` %d, expected at least 1", o.Epochs)
	case o.Ranks < 1 || o.Ranks > feed.MostRanks || o.Rank < 0 || o.Rank >= o.Ranks:
		return 0, operation.Usagef("found `Rank` %d of %d, expected 0 to %d", o.Rank, o.Ranks, max(o.Ranks, 1)-1)
	}
	histories := []string{"event", "batch", "pyg"}
	i := slices.Index(histories, o.History)
	if o.History == "" {
		i = 0
	}
	if i < 0 {
		return 0, operation.Usagef("found `History` %q, expected one of %s", o.History, strings.Join(histories, ", "))
	}
	return event.History(i), nil
}

// typesOf are the edge types of the events, with their times.
func (l *EventLoader) typesOf(g *graph.Graph) ([]event.Source, error) {
	var named []int
	for _, name := range l.o.Types {
		t, err := g.EdgeType(name)
		if err != nil {
			return nil, operation.Usagef("`Types`: %w", err)
		}
		if slices.Contains(named, t) {
			return nil, operation.Usagef("found `Types` with %s twice, expected each edge type once", g.Edges[t].Type)
		}
		named = append(named, t)
	}
	all := named == nil
	for t := range g.Edges {
		if all {
			named = append(named, t)
		}
	}
	slices.Sort(named)
	column, err := l.timeColumn(g, named)
	if err != nil {
		return nil, err
	}
	var types []event.Source
	var names, left []string
	for _, t := range named {
		e := g.Edges[t]
		c := graph.FindColumn(e.Columns, column)
		switch {
		case c == nil && all:
			left = append(left, e.Type.String())
			continue
		case c == nil:
			return nil, operation.Usagef("found no column %q of %s with the times of its events, expected %s; name one in `Time`, or leave the edge type out of `Types`", column, e.Type, timesAmong(e))
		case !event.IsTime(c):
			return nil, operation.Usagef("found %s rows of shape %v in column %q of %s, expected a time or a number per edge; name a column of times in `Time`", c.DType, c.Shape, column, e.Type)
		}
		types = append(types, event.Source{Edges: t, Time: c})
		names = append(names, e.Type.String())
	}
	if types == nil {
		return nil, operation.Usagef("found no column %q of an edge type, expected one with the times of events; name it in `Time`, or import one", column)
	}
	l.note("events are the edges of %s, by the column %s", strings.Join(names, ", "), column)
	for _, t := range types {
		if e := g.Edges[t.Edges]; e.NoPositions {
			l.note("the import left out the order of the rows of %s, so its events of one time come in the order of their edge ids", e.Type)
		}
	}
	if left != nil {
		l.note("edges of %s are no events: they lack the column", strings.Join(left, ", "))
	}
	return types, l.choose(g, types)
}

// timeColumn is the name of the column of times.
func (l *EventLoader) timeColumn(g *graph.Graph, types []int) (string, error) {
	if l.o.Time != "" {
		return l.o.Time, nil
	}
	var units, usual, all []string
	for _, t := range types {
		for _, c := range g.Edges[t].Columns {
			switch {
			case !event.IsTime(c):
			case c.Unit != "" && !slices.Contains(units, c.Name):
				units = append(units, c.Name)
			case slices.Contains([]string{"time", "timestamp", "ts", "t"}, c.Name) && !slices.Contains(usual, c.Name):
				usual = append(usual, c.Name)
			}
			if event.IsTime(c) && !slices.Contains(all, c.Name) {
				all = append(all, c.Name)
			}
		}
	}
	if len(units) == 1 {
		return units[0], nil
	}
	if len(units) == 0 && len(usual) == 1 {
		return usual[0], nil
	}
	if all == nil {
		return "", operation.Usagef("found no column of times or numbers of the edge types, expected one with the times of events; import the edges with their times")
	}
	return "", operation.Usagef("found no `Time` and the columns %s, expected to know which of them has the times of events; name it in `Time`", strings.Join(all, ", "))
}

// timesAmong names the columns of an edge type that can be times.
func timesAmong(e *graph.Edges) string {
	var names []string
	for _, c := range e.Columns {
		if event.IsTime(c) {
			names = append(names, c.Name)
		}
	}
	if names == nil {
		return "one, and it has no column of times or numbers"
	}
	return "one of " + strings.Join(names, ", ")
}

// choose sets which events batches have.
func (l *EventLoader) choose(g *graph.Graph, types []event.Source) error {
	if len(l.o.Events) == 0 {
		return nil
	}
	var names []string
	for _, t := range types {
		names = append(names, g.Edges[t.Edges].Type.String())
	}
	var p sample.Plan
	if err := SetMessages(g, &p, "Events", l.o.Events, names...); err != nil {
		return err
	}
	for name := range p.Messages {
		if !slices.Contains(names, name) {
			return operation.Usagef("found `Events` of %s, expected an edge type of the events: %s", name, strings.Join(names, ", "))
		}
	}
	for i, name := range names {
		if m, ok := p.Messages[name]; ok {
			var err error
			if types[i].Chosen, err = m.Match(g.Edges[types[i].Edges]); err != nil {
				return UsageOf(err)
			}
		}
	}
	return nil
}

// columns are the columns of batches.
func (l *EventLoader) columns(s *store.Store, types []event.Source) (*feed.Features, error) {
	made, err := features.ReadFile(vfs.OS, s.Dir)
	if err != nil {
		return nil, err
	}
	wide, err := wideFeaturesOf(made)
	if err != nil {
		return nil, err
	}
	// Columns are asked for of the types of events and their nodes; those of other edge types are not in batches.
	g := &graph.Graph{Nodes: s.Graph.Nodes}
	for _, t := range types {
		g.Edges = append(g.Edges, s.Graph.Edges[t.Edges])
	}
	o := request{Columns: l.o.Columns}
	nodes, edges, joined, err := o.features(g, wide)
	if err != nil {
		return nil, err
	}
	if joined, err = o.joinedColumns(s.Graph, wide, nodes, edges, joined); err != nil {
		return nil, err
	}
	return &feed.Features{Nodes: nodes, Edges: edges, Joined: joined, LeftOut: o.leftOut(g, made, nil), NoEdgeIDs: l.o.NoEdgeIDs}, nil
}

// checkMemory refuses a store whose events take more than the memory of the run, and notes what they take.
func (l *EventLoader) checkMemory(s *store.Store, types []event.Source, f *feed.Features) error {
	events, nodes := 0, 0
	for _, t := range types {
		events += s.Graph.Edges[t.Edges].Count
	}
	for _, n := range s.Graph.Nodes {
		nodes += n.Count
	}
	need := limits.ProcessBytes + event.Need(events, nodes) + int64(l.o.Threads)*event.MakerBytes(nodes) + columnBytes(s.Graph, f) + f.NumberBytes() + s.Merged()
	if l.o.Memory > 0 && need > l.o.Memory {
		return tagged.Errorf(operation.ErrMemory, "found `Memory` %s, expected at least %s: the events and their columns are in memory; give more memory, or take fewer edge types", human.Bytes(l.o.Memory), human.Bytes(need))
	}
	l.note("%s and the columns need about %s", human.Exact(int64(events))+" "+human.Things(int64(events), "events"), human.Bytes(need))
	return nil
}

// divide divides the events into batches.
func (l *EventLoader) divide(s *event.Stream) (*event.Division, error) {
	if l.o.Every == "" {
		return s.Divide(l.o.BatchSize, l.o.DropLast), nil
	}
	if l.o.DropLast {
		return nil, operation.Usagef("found `DropLast` with `Every`, expected it with `BatchSize`: windows have as many events as there are")
	}
	width, err := ageOf("Every", l.o.Every, s.Unit)
	if err != nil {
		return nil, err
	}
	d, err := s.Windows(width)
	if err != nil {
		return nil, operation.Usagef("`Every`: %w", err)
	}
	return d, nil
}

// lists are the negatives that NegativesFrom gives of each event of batches, as numbers among all nodes.
func (l *EventLoader) lists(ctx context.Context, s *store.Store, stream *event.Stream, types []int) (*event.Lists, error) {
	if l.o.NegativesFrom == "" {
		return nil, nil
	}
	of := s.Graph.Edges[types[0]].Type
	for _, t := range types {
		if to := s.Graph.Edges[t].Type.Dst; to != of.Dst {
			return nil, operation.Usagef("found `NegativesFrom` with events to nodes of the types %s and %s, expected one type of destinations, whose ids the negatives are; name the edge types of one in `Types`", of.Dst, to)
		}
	}
	if !strings.Contains(l.o.NegativesFrom, ".npy") {
		return nil, operation.Usagef("found `NegativesFrom` %s, expected an .npy file of node ids", l.o.NegativesFrom)
	}
	links := &seeds.Seeds{Types: []string{of.Src, of.Dst}, Nodes: make([]uint32, 2*stream.Chosen())}
	found, most, err := seeds.Negatives(ctx, vfs.OS, s, links, l.o.NegativesFrom)
	if err != nil {
		return nil, err
	}
	if !found.Targets {
		return nil, operation.Usagef("found `NegativesFrom` %s with pairs of nodes, expected destinations: [events, negatives]", l.o.NegativesFrom)
	}
	first := stream.First(s.Graph.NodeType(of.Dst))
	for i := range found.Nodes {
		found.Nodes[i] += first
	}
	lists := &event.Lists{Nodes: found.Nodes}
	if found.Ends == nil {
		lists.Each = most
		return lists, nil
	}
	lists.Ends = make([]uint32, len(found.Ends))
	for i, end := range found.Ends {
		if end > 1<<32-1 {
			return nil, fmt.Errorf("%s: found %d negatives or more, expected fewer than 2^32; list fewer", l.o.NegativesFrom, end)
		}
		lists.Ends[i] = uint32(end)
	}
	return lists, nil
}

func (l *EventLoader) note(format string, a ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, a...))
}

// Notes says in lines of text which edges are events, and what they take.
func (l *EventLoader) Notes() []string { return l.notes }

// Source is the source of batches of the feed.
func (l *EventLoader) Source() *feed.Events { return l.source }

// Close frees the memory of the loader. None of its batches may be in use.
func (l *EventLoader) Close() {
	l.source.Close()
	if l.opened != nil {
		_ = l.opened.Close() // its maps were only read
	}
}

// Batches iterates over the batches of the loader, as the function Batches does. The loader can be iterated again.
func (l *EventLoader) Batches(ctx context.Context) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		o, infos, end := &l.o, l.source.Columns(), l.source.Batches()
		epoch, number := o.Epoch, 0
		if end == 0 {
			return
		}
		err := ordered.Run(ctx, o.Threads, l.source.Maker, func() *buffered { return newBuffered(infos) }, ordered.Stages[*feed.EventMaker, *buffered]{
			Fill: func(i *buffered) error {
				if number == end {
					if epoch, number = epoch+1, 0; epoch-o.Epoch >= uint64(o.Epochs) {
						return io.EOF
					}
				}
				i.batch.Epoch, i.batch.Number = epoch, o.Rank+number*o.Ranks
				number++
				return nil
			},
			Work: func(_ context.Context, m *feed.EventMaker, i *buffered) error {
				return guard.Do(func() error {
					m.Make(i.batch.Epoch, i.batch.Number/o.Ranks)
					i.fill(m)
					return nil
				})
			},
			Sink: func(i *buffered) error {
				if !yield(i.batch, nil) {
					return errEnough
				}
				return nil
			},
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}
