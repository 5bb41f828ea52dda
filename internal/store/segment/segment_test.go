package segment_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store/segment"
)

// edge is an edge of a history: the number of its part, and its row in it.
type edge struct{ part, row int }

// change is the change that a segment makes to the list of one node.
type change struct {
	drop []int // places, ascending
	add  int   // edges
}

// merge is the reference: it changes the lists of nodes one segment after the other.
func merge(base []int, segments [][]change, nodes int) (lists [][]edge) {
	lists = make([][]edge, nodes)
	rows := 0
	for v, n := range base {
		for range n {
			lists[v] = append(lists[v], edge{0, rows})
			rows++
		}
	}
	for i, s := range segments {
		rows := 0
		for v, c := range s {
			for _, place := range slices.Backward(c.drop) {
				lists[v] = slices.Delete(lists[v], place, place+1)
			}
			for range c.add {
				lists[v] = append(lists[v], edge{i + 1, rows})
				rows++
			}
		}
	}
	return lists
}

// index is values in 32 or 64 bits.
func index(values []uint64, wide bool) graph.Index {
	if wide {
		return graph.Index{U64: append([]uint64{}, values...)}
	}
	x := graph.Index{U32: []uint32{}}
	for _, v := range values {
		x.U32 = append(x.U32, uint32(v))
	}
	return x
}

// history draws a base and segments, and gives them as Lists and to the reference.
func history(t *rapid.T) (*segment.Lists, [][]edge) {
	wide := func() bool { return rapid.Bool().Draw(t, "wide") }
	had := rapid.IntRange(0, 12).Draw(t, "nodes of the base")
	base := rapid.SliceOfN(rapid.IntRange(0, 4), had, had).Draw(t, "degrees")
	starts := []uint64{0}
	for _, n := range base {
		starts = append(starts, starts[len(starts)-1]+uint64(n))
	}
	l := &segment.Lists{Nodes: had}
	if had > 0 || rapid.Bool().Draw(t, "offsets of no nodes") {
		l.Base = index(starts, wide())
	}
	var segments [][]change
	for range rapid.IntRange(0, 4).Draw(t, "segments") {
		l.Nodes += rapid.IntRange(0, 3).Draw(t, "new nodes")
		have := merge(base, segments, l.Nodes)
		s := make([]change, l.Nodes)
		dense := rapid.Bool().Draw(t, "dense")
		var nodes, starts, dropped, droppedStarts, places []uint64
		starts, droppedStarts = []uint64{0}, []uint64{0}
		for v := range s {
			if !dense && rapid.IntRange(0, 3).Draw(t, "left") > 0 {
				continue
			}
			for place := range have[v] {
				if rapid.IntRange(0, 2).Draw(t, "drop") == 0 {
					s[v].drop = append(s[v].drop, place)
					places = append(places, uint64(place))
				}
			}
			s[v].add = rapid.IntRange(0, 3).Draw(t, "add")
			if s[v].add > 0 || rapid.Bool().Draw(t, "empty entry") {
				nodes, starts = append(nodes, uint64(v)), append(starts, starts[len(starts)-1]+uint64(s[v].add))
			}
			if len(s[v].drop) > 0 {
				dropped, droppedStarts = append(dropped, uint64(v)), append(droppedStarts, uint64(len(places)))
			}
		}
		segments = append(segments, s)
		l.Later = append(l.Later, segment.List{Nodes: index(nodes, wide()), Starts: index(starts, wide()), DroppedNodes: index(dropped, wide()), DroppedStarts: index(droppedStarts, wide()), Dropped: index(places, wide())})
	}
	return l, merge(base, segments, l.Nodes)
}

// Runs, Start and Offsets of any range of nodes are those of the reference.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, want := history(t)
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		starts := []uint64{0}
		for _, list := range want {
			starts = append(starts, starts[len(starts)-1]+uint64(len(list)))
		}
		from := rapid.IntRange(0, l.Nodes).Draw(t, "from")
		to := rapid.IntRange(from, l.Nodes).Draw(t, "to")
		var got []edge
		if err := l.Runs(from, to, func(part int, first, last uint64) {
			if first >= last {
				t.Fatalf("found a run of part %d from %d to %d, expected edges", part, first, last)
			}
			for row := first; row < last; row++ {
				got = append(got, edge{part, int(row)})
			}
		}); err != nil {
			t.Fatal(err)
		}
		if all := slices.Concat(want[from:to]...); !slices.Equal(got, all) {
			t.Fatalf("found the edges %v of the nodes %d to %d, expected %v", got, from, to, all)
		}
		if s := l.Start(from); s != starts[from] {
			t.Fatalf("found the first edge %d of node %d, expected %d", s, from, starts[from])
		}
		if n := l.Edges(); n != starts[l.Nodes] {
			t.Fatalf("found %d edges, expected %d", n, starts[l.Nodes])
		}
		out := index(make([]uint64, to-from+1), rapid.Bool().Draw(t, "wide offsets"))
		l.Offsets(from, to, out)
		for i := range to - from + 1 {
			if out.At(i) != starts[from+i] {
				t.Fatalf("found the offset %d of node %d, expected %d", out.At(i), from+i, starts[from+i])
			}
		}
	})
}

// A dropped place beyond the list of its node is an error, and so is every form of list that Check documents.
func TestDamaged(t *testing.T) {
	u := func(v ...uint64) graph.Index { return index(v, false) }
	good := func() *segment.Lists {
		return &segment.Lists{Base: u(0, 2, 2), Nodes: 3, Later: []segment.List{{Nodes: u(0, 2), Starts: u(0, 1, 3), DroppedNodes: u(0), DroppedStarts: u(0, 2), Dropped: u(0, 1)}}}
	}
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(l *segment.Lists, s *segment.List){
		"base of more nodes":          func(l *segment.Lists, _ *segment.List) { l.Nodes = 1 },
		"node beyond the last":        func(_ *segment.Lists, s *segment.List) { s.Nodes = u(0, 3) },
		"nodes that do not ascend":    func(_ *segment.Lists, s *segment.List) { s.Nodes = u(2, 2) },
		"too few offsets":             func(_ *segment.Lists, s *segment.List) { s.Starts = u(0, 3) },
		"offsets that descend":        func(_ *segment.Lists, s *segment.List) { s.Starts = u(0, 4, 3) },
		"offsets of no list":          func(_ *segment.Lists, s *segment.List) { s.Starts = index([]uint64{0, 1, 1 << 63}, true) },
		"dropped places of no node":   func(_ *segment.Lists, s *segment.List) { s.DroppedStarts, s.DroppedNodes = u(), u() },
		"dropped places out of order": func(_ *segment.Lists, s *segment.List) { s.Dropped = u(1, 0) },
	} {
		l := good()
		damage(l, &l.Later[0])
		if err := l.Check(); !errors.Is(err, segment.ErrDamaged) {
			t.Errorf("%s: found %v, expected an error of damage", name, err)
		}
	}
	l := good()
	l.Later[0].Dropped = u(0, 2)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	if err := l.Runs(0, 3, func(int, uint64, uint64) {}); !errors.Is(err, segment.ErrDamaged) {
		t.Errorf("found %v, expected an error of damage", err)
	}
}
