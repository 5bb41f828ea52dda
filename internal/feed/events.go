package feed

import (
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/event"
	"github.com/graphmill/graphmill/internal/features/widening"
)

// EventsInfo describes batches of events (package event). Several come in one slot, one after the other in each column. docs/format-feed.md has the columns.
type EventsInfo struct {
	// Together is the batches in a slot; the last slot of an epoch may have fewer.
	Together int `json:"together"`
	Batches  int `json:"batches"` // per epoch, of all ranks
	Events   int `json:"events"`  // of batches
	// Types are the edge types of the events.
	Types []string `json:"types"`
	// Nodes are the node types, with the number of the first node of each.
	Nodes []FirstNode `json:"nodes"`
	Unit  string      `json:"unit"` // of times; "" where they are plain numbers
	// Roots says that neighbours are those of the roots of a batch, and not of its nodes.
	Roots bool `json:"roots"`
}

// FirstNode is the number of the first node of a type among all nodes.
type FirstNode struct {
	Type  string `json:"type"`
	First int    `json:"first"`
}

// EventOptions say which batches a source of events has.
type EventOptions struct {
	event.Options
	Types       []int // numbers of the edge types of the events, as they were given to event.Open
	Rank, Ranks int   // the batches Rank, Rank + Ranks, ...
}

// Events is a source of batches of events. It is immutable and safe for concurrent use.
type Events struct {
	g        *graph.Graph
	stream   *event.Stream
	division *event.Division
	o        EventOptions
	f        Features
	tables   tables
	columns  []column
	together int
	most     *bounds // of a slot
	slot     int64
	ofNodes  bool // batches have columns of nodes
}

// NewEvents prepares batches of events, which own the stream, with the columns of f; those of edges come with events and neighbours.
func NewEvents(g *graph.Graph, s *event.Stream, d *event.Division, o EventOptions, f Features) (*Events, error) {
	if o.Ranks < 1 || o.Rank < 0 || o.Rank >= o.Ranks {
		return nil, fmt.Errorf("found rank %d of %d, expected 0 to %d", o.Rank, o.Ranks, o.Ranks-1)
	}
	src := &Events{g: g, stream: s, division: d, o: o, f: f}
	src.tables.numbers = &widening.Numbers{}
	most := src.mostRows(1)
	if most.reached[0] >= plenty {
		return nil, fmt.Errorf("found batches of up to %d events with 2^30 neighbours or more, expected fewer; take smaller batches, or fewer neighbours or negatives", d.Most())
	}
	if err := src.addColumns(); err != nil {
		return nil, err
	}
	const block, mostTogether = 4 << 20, 1 << 10
	src.together = int(max(1, min(block/src.slotBytesOf(most), mostTogether)))
	src.most = src.mostRows(src.together)
	src.slot = src.slotBytesOf(src.most)
	return src, nil
}

// Close frees the copies of columns and the stream. No maker may be in use.
func (s *Events) Close() {
	s.tables.close()
	s.stream.Close()
}

// mostRows bounds what some batches have.
func (s *Events) mostRows(batches int) *bounds {
	events := min(int64(s.division.Most()), plenty)
	negatives := min(events*int64(s.o.Negatives), plenty)
	if s.o.Lists != nil {
		negatives = min(events*int64(s.o.Lists.Most()), plenty)
	}
	edges := min((2*events+negatives)*int64(s.o.Neighbours), plenty)
	n := int64(batches)
	b := &bounds{seeds: min(events*n, plenty), hops: n, negatives: min(negatives*n, plenty)}
	b.ops = []int64{min(edges*n, plenty)}
	b.reached = []int64{min((2*events+negatives+edges)*n, plenty)}
	return b
}

func (s *Events) slotBytesOf(b *bounds) int64 {
	n := int64(align(8 * (headerWords + columnWords*len(s.columns))))
	for _, c := range s.columns {
		n = int64(align(int(n + c.most(b)*int64(c.width))))
	}
	return n
}

// The most rows of the columns of a slot.
func mostBatches(b *bounds) int64   { return b.hops }
func mostEvents(b *bounds) int64    { return b.seeds }
func mostNegatives(b *bounds) int64 { return b.negatives }
func mostEntries(b *bounds) int64   { return b.ops[0] }
func mostNodes(b *bounds) int64     { return b.reached[0] }

// madeEvents is a batch of events, and the rows of each type in it.
type madeEvents struct {
	*event.Batch
	nodes           [][]uint32 // by node type
	events, entries [][]uint32 // by place of the edge type among those of events: edge ids
}

// addColumns makes the columns.
func (s *Events) addColumns() error {
	list := func(name string, of func(e *madeEvents) []uint32, most func(*bounds) int64) {
		s.columns = append(s.columns, ints(name, func(m *made) []uint32 { return of(m.events) }, most))
	}
	places := func(name string, of func(e *madeEvents) []uint32, most func(*bounds) int64) {
		s.columns = append(s.columns, column{ColumnInfo{Name: name, DType: "int64", Shape: []int{}}, 8,
			func(m *made) int { return len(of(m.events)) },
			func(dst []byte, m *made) { m.events.Places(graph.View[int64](dst), of(m.events)) }, most})
	}
	s.columns = append(s.columns, rowCount("ends/events", func(e *madeEvents) int { return len(e.Events) }))
	s.columns = append(s.columns, rowCount("ends/nodes", func(e *madeEvents) int { return len(e.Nodes) }))
	s.columns = append(s.columns, rowCount("ends/edges", func(e *madeEvents) int { return len(e.Far) }))
	s.columns = append(s.columns, rowCount("ends/negatives", func(e *madeEvents) int { return len(e.Negatives) }))
	list("event", func(e *madeEvents) []uint32 { return e.Events }, mostEvents)
	list("src", func(e *madeEvents) []uint32 { return e.Src }, mostEvents)
	list("dst", func(e *madeEvents) []uint32 { return e.Dst }, mostEvents)
	places("src_index", func(e *madeEvents) []uint32 { return e.Src }, mostEvents)
	places("dst_index", func(e *madeEvents) []uint32 { return e.Dst }, mostEvents)
	s.columns = append(s.columns, s.timesOf("t", func(e *madeEvents) []uint32 { return e.Events }, mostEvents))
	if s.o.Lists != nil || s.o.Negatives > 0 {
		places("neg_index", func(e *madeEvents) []uint32 { return e.Negatives }, mostNegatives)
	}
	if s.o.Lists != nil && s.o.Lists.Ends != nil {
		list("neg_end", func(e *madeEvents) []uint32 { return e.ListEnds }, mostEvents)
	}
	list("n_id", func(e *madeEvents) []uint32 { return e.Nodes }, mostNodes)
	s.columns = append(s.columns, s.edgeIndex())
	list("neighbor/event", func(e *madeEvents) []uint32 { return e.By }, mostEntries)
	if len(s.o.Types) > 1 {
		list("type", func(e *madeEvents) []uint32 { return s.typesOf(e.Events) }, mostEvents)
		list("neighbor/type", func(e *madeEvents) []uint32 { return s.typesOf(e.By) }, mostEntries)
	}
	if s.f.OfEdges() {
		s.columns = append(s.columns, s.timesOf("neighbor/t", func(e *madeEvents) []uint32 { return e.By }, mostEntries))
	}
	for k := range s.o.Types {
		if err := s.addTypeColumns(k); err != nil {
			return err
		}
	}
	for t := range s.g.Nodes {
		if err := s.addNodeColumns(t); err != nil {
			return err
		}
	}
	return nil
}

// rowCount is a column with the number of rows that each batch of a slot has of some columns.
func rowCount(name string, of func(*madeEvents) int) column {
	return column{ColumnInfo{Name: name, DType: "int64", Shape: []int{}}, 8,
		func(*made) int { return 1 },
		func(dst []byte, m *made) { graph.View[int64](dst)[0] = int64(of(m.events)) },
		mostBatches,
	}
}

// edgeIndex is the places of the neighbours, then those of their roots.
func (s *Events) edgeIndex() column {
	return column{ColumnInfo{Name: "edge_index", DType: "int64", Shape: []int{}}, 8,
		func(m *made) int { return 2 * len(m.events.Far) },
		func(dst []byte, m *made) {
			e, to := m.events, graph.View[int64](dst)
			e.Places(to, e.Far)
			if s.o.History == event.BeforeEvent {
				widen(dst[8*len(e.Far):], e.Root)
			} else {
				e.RootPlaces(to[len(e.Far):])
			}
		},
		func(b *bounds) int64 { return 2 * mostEntries(b) },
	}
}

// timesOf is the times of events.
func (s *Events) timesOf(name string, of func(*madeEvents) []uint32, most func(*bounds) int64) column {
	dtype := "int64"
	if s.stream.Float {
		dtype = "float64"
	}
	return column{ColumnInfo{Name: name, DType: dtype, Shape: []int{}}, 8,
		func(m *made) int { return len(of(m.events)) },
		func(dst []byte, m *made) {
			to := graph.View[int64](dst)
			for i, e := range of(m.events) {
				to[i] = s.stream.Time(e)
			}
		}, most,
	}
}

// typesOf is the places of the edge types of events.
func (s *Events) typesOf(events []uint32) []uint32 {
	types := make([]uint32, len(events))
	for i, e := range events {
		types[i] = uint32(s.stream.Of(e))
	}
	return types
}

// addTypeColumns adds the columns of the edges of a type: of events, and of neighbours.
func (s *Events) addTypeColumns(k int) error {
	e := s.g.Edges[s.o.Types[k]]
	name := e.Type.String()
	l := &columnList{g: s.g, f: s.f, tabs: &s.tables}
	for _, part := range []struct {
		at   string
		of   func(*madeEvents) []uint32
		most func(*bounds) int64
		ids  bool
	}{
		{"events/", func(m *madeEvents) []uint32 { return m.events[k] }, mostEvents, !s.f.NoEdgeIDs},
		{"neighbors/", func(m *madeEvents) []uint32 { return m.entries[k] }, mostEntries, false},
	} {
		at := part.at + Escaped(name) + "/"
		rows := func(m *made) graph.Index { return graph.Index{U32: part.of(m.events)} }
		if len(s.o.Types) > 1 && (part.ids || s.f.OfEdges()) {
			l.addColumns(rowCount(at+"ends", func(m *madeEvents) int { return len(part.of(m)) }))
		}
		if part.ids {
			id, err := positions(&s.tables, at+"e_id", e.Type, e.Columns, rows, rows, part.most)
			if err != nil {
				return err
			}
			l.addColumns(id)
		}
		if err := l.addFeatures(at, e.Columns, s.f.Edges[name], rows, part.most); err != nil {
			return err
		}
		if err := l.addJoined(at, name, e.Columns, e.Count, rows, part.most); err != nil {
			return err
		}
	}
	s.columns = append(s.columns, l.columns...)
	return nil
}

// addNodeColumns adds the columns of the nodes of a type.
func (s *Events) addNodeColumns(t int) error {
	n := s.g.Nodes[t]
	at := "nodes/" + Escaped(n.Type) + "/"
	rows := func(m *made) graph.Index { return graph.Index{U32: m.events.nodes[t]} }
	l := &columnList{g: s.g, f: s.f, tabs: &s.tables}
	l.addColumns(rowCount(at+"ends", func(m *madeEvents) int { return len(m.nodes[t]) }))
	if err := l.addFeatures(at, n.Columns, s.f.Nodes[n.Type], rows, mostNodes); err != nil {
		return err
	}
	if err := l.addJoined(at, n.Type, n.Columns, n.Count, rows, mostNodes); err != nil {
		return err
	}
	if len(l.columns) > 1 {
		s.columns, s.ofNodes = append(s.columns, l.columns...), true
	}
	return nil
}

// info describes the batches.
func (s *Events) info() *EventsInfo {
	i := &EventsInfo{Together: s.together, Batches: s.division.Batches(), Events: s.stream.Chosen(), Unit: string(s.stream.Unit), Roots: s.o.History == event.BeforeEvent}
	for _, t := range s.o.Types {
		i.Types = append(i.Types, s.g.Edges[t].Type.String())
	}
	for t, n := range s.g.Nodes {
		i.Nodes = append(i.Nodes, FirstNode{n.Type, int(s.stream.First(t))})
	}
	return i
}

// Columns describes the columns of every slot.
func (s *Events) Columns() (infos []ColumnInfo) {
	for _, c := range s.columns {
		infos = append(infos, c.info)
	}
	return infos
}

// Batches is the number of batches of an epoch, of this rank.
func (s *Events) Batches() int {
	return max(0, (s.division.Batches()-s.o.Rank+s.o.Ranks-1)/s.o.Ranks)
}

// Slots is the number of slots that the batches of an epoch come in.
func (s *Events) Slots() int { return (s.Batches() + s.together - 1) / s.together }

func (s *Events) describe(w *welcome) {
	w.Events, w.Columns, w.LeftOut, w.Seeds, w.SeedTypes = s.info(), s.Columns(), s.f.LeftOut, s.stream.Chosen(), []string{}
}

// End is the number of slots: a slot counts as a batch of the feed, which has one rank.
func (s *Events) End(batch.Tail, int, int) int { return s.Slots() }

// CheckFirst refuses a slot at which no pass can start.
func (s *Events) CheckFirst(first uint64, _ int) error {
	if most := uint64(s.Slots()); first > most {
		return fmt.Errorf("found a start at slot %d, expected 0 to %d", first, most)
	}
	return nil
}

// Streamed says that makers make the batches.
func (s *Events) Streamed() bool { return false }

// Epoch is nil: events come by time.
func (s *Events) Epoch(uint64) batch.Items { return nil }

func (s *Events) slotBytes() int64 { return s.slot }
func (s *Events) newMaker() maker  { return s.Maker() }

// EventMaker makes batches of events. It serves one goroutine at a time. Its methods read maps: the caller calls them inside guard.Do.
type EventMaker struct {
	src    *Events
	maker  *event.Maker
	made   made
	events madeEvents
	// The slot under way: its epoch and number, and by column the place of its first row in the slot and its rows so far.
	epoch    uint64
	slot     int
	at, rows []int
}

// Maker is a new maker.
func (s *Events) Maker() *EventMaker {
	m := &EventMaker{src: s, maker: event.NewMaker(s.division, s.o.Options), at: make([]int, len(s.columns)), rows: make([]int, len(s.columns))}
	m.events.nodes = make([][]uint32, len(s.g.Nodes))
	m.events.events, m.events.entries = make([][]uint32, len(s.o.Types)), make([][]uint32, len(s.o.Types))
	m.made.events = &m.events
	return m
}

// Make makes batch b of this rank in an epoch. It is valid until the next call.
func (m *EventMaker) Make(epoch uint64, b int) {
	s, e := m.src, &m.events
	e.Batch = m.maker.Make(epoch, s.o.Rank+b*s.o.Ranks)
	if s.f.OfEdges() || !s.f.NoEdgeIDs {
		s.divide(e.events, e.Events)
	}
	if s.f.OfEdges() {
		s.divide(e.entries, e.By)
	}
	if s.ofNodes {
		t := 0
		for k := range e.nodes {
			e.nodes[k] = e.nodes[k][:0]
		}
		for _, v := range e.Nodes { // ascending
			for v >= s.stream.First(t+1) {
				t++
			}
			e.nodes[t] = append(e.nodes[t], v-s.stream.First(t))
		}
	}
}

// divide sets the edge ids of events by type.
func (s *Events) divide(to [][]uint32, events []uint32) {
	for k := range to {
		to[k] = to[k][:0]
	}
	for _, x := range events {
		k := s.stream.Of(x)
		to[k] = append(to[k], s.stream.ID(x))
	}
}

// Rows is the number of rows of a column of the batch.
func (m *EventMaker) Rows(column int) int { return m.src.columns[column].rows(&m.made) }

// RowBytes is the bytes per row of a column.
func (m *EventMaker) RowBytes(column int) int { return m.src.columns[column].width }

// Fill writes a column to dst, which has the bytes of its rows and is aligned to 8 bytes.
func (m *EventMaker) Fill(column int, dst []byte) {
	if len(dst) > 0 {
		m.src.columns[column].write(dst, &m.made)
	}
}

// Batch prepares to write slot b, and returns the bytes that it may take. In a slot of several batches, each column has room for the most rows, of which those that no
// batch fills take no memory; so a batch is written while the processor's caches still have it. A batch that has a slot of its own is made at once, and takes its
// own size.
func (m *EventMaker) Batch(_ batch.Items, epoch uint64, b int) (int, error) {
	m.epoch, m.slot = epoch, b
	if m.src.together > 1 {
		return int(m.src.slot), nil
	}
	m.Make(epoch, b)
	return placeColumns(m.src.columns, &m.made, m.at), nil
}

// Of refuses seeds: events come in the order of time.
func (m *EventMaker) Of([]int64, uint64, uint64) (int, error) {
	return 0, errors.New("found seeds that are asked for, expected epochs: events come in the order of time; iterate over the loader")
}

// write makes the batches of the slot, and writes them one after the other.
func (m *EventMaker) write(dst []byte, t ticket) {
	s := m.src
	if s.together == 1 {
		writeBatch(dst, s.columns, &m.made, m.at, t)
		return
	}
	words := graph.View[uint64](dst[:8*(headerWords+columnWords*len(s.columns))])
	end := align(len(words) * 8)
	for i, c := range s.columns {
		m.at[i], m.rows[i] = end, 0
		end = align(end + int(c.most(s.most))*c.width)
	}
	first, events := m.slot*s.together, 0
	for b := first; b < min(first+s.together, s.Batches()); b++ {
		m.Make(m.epoch, b)
		events += len(m.events.Events)
		for i, c := range s.columns {
			n := c.rows(&m.made)
			if n == 0 {
				continue
			}
			at := m.at[i] + m.rows[i]*c.width
			c.write(dst[at:at+n*c.width], &m.made)
			m.rows[i] += n
		}
	}
	copy(words, []uint64{magic, t.gen, t.seq, uint64(len(dst)), uint64(events), uint64(len(s.columns)), t.run, 0})
	for i := range s.columns {
		words[headerWords+columnWords*i], words[headerWords+columnWords*i+1] = uint64(m.at[i]), uint64(m.rows[i])
	}
}
