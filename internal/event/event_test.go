package event

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/reftest"
)

// testCase is a graph and the options of its batches, as the reference reads it.
type testCase struct {
	Types     [][][6]any `json:"types"` // of each event: row, source, destination, time, edge id, chosen
	BatchSize int        `json:"batch_size"`
	Every     string     `json:"every"`
	Neighbors int        `json:"neighbors"`
	History   History    `json:"history"`
	Negatives int        `json:"negatives"`
	Lists     [][]uint32 `json:"lists"`
	Seed      uint64     `json:"seed"`
	Epoch     uint64     `json:"epoch"`

	g       *graph.Graph
	sources []Source
	lists   *Lists
}

// testBatch is a batch as the reference writes it.
type testBatch struct {
	Events    []uint32 `json:"events"`
	Src       []uint32 `json:"src"`
	Dst       []uint32 `json:"dst"`
	Negatives []uint32 `json:"negatives"`
	Lengths   []uint32 `json:"lengths"`
	Nodes     []uint32 `json:"nodes"`
	Far       []uint32 `json:"far"`
	Root      []uint32 `json:"root"`
	By        []uint32 `json:"by"`
	Edges     []uint32 `json:"edges"`
}

// newCase is a random graph of few nodes, with types without edges, times that many events share, and rows that are not in the order of time.
func newCase(r *rand.Rand) *testCase {
	c := &testCase{g: &graph.Graph{}, Neighbors: r.IntN(5), History: History(r.IntN(3)), Seed: r.Uint64() >> 1, Epoch: uint64(r.IntN(3)), BatchSize: 1 + r.IntN(6)}
	first := []int{0}
	for t := range 1 + r.IntN(3) {
		n := &graph.Nodes{Type: string(rune('a' + t)), Count: 1 + r.IntN(6)*r.IntN(20)}
		c.g.Nodes = append(c.g.Nodes, n)
		first = append(first, first[t]+n.Count)
	}
	float, whole := r.IntN(2) == 0, 1+r.IntN(30)
	chosen := r.IntN(3) == 0
	chosenOf := map[[2]int]bool{}
	for t := range 1 + r.IntN(3) {
		src, dst := r.IntN(len(c.g.Nodes)), r.IntN(len(c.g.Nodes))
		e := &graph.Edges{Type: graph.EdgeType{Src: c.g.Nodes[src].Type, Rel: strconv.Itoa(t), Dst: c.g.Nodes[dst].Type}, Count: r.IntN(3) * r.IntN(20), Primary: graph.Direction(r.IntN(2))}
		type edge struct {
			src, dst, row int
			time          float64
		}
		var edges []edge
		for row := range e.Count {
			x := edge{r.IntN(c.g.Nodes[src].Count), r.IntN(c.g.Nodes[dst].Count), row, float64(r.IntN(whole) - whole/2)}
			if r.IntN(2) == 0 && src == dst {
				x.dst = x.src
			}
			if float {
				x.time /= 4
			}
			edges = append(edges, x)
		}
		near := func(x edge) int {
			if e.Primary == graph.In {
				return x.dst
			}
			return x.src
		}
		positions := r.IntN(2) == 0
		slices.SortStableFunc(edges, func(a, b edge) int { return near(a) - near(b) })
		a := &graph.Adjacency{}
		e.Adj[e.Primary] = a
		rows, of := []uint32{}, make([][6]any, 0)
		times := make([]float64, 0)
		for id, x := range edges {
			a.Far.U32 = append(a.Far.U32, uint32(x.src+x.dst-near(x)))
			row := id
			if positions {
				row = 3 * x.row
			}
			rows = append(rows, uint32(row))
			times = append(times, x.time)
			is := !chosen || r.IntN(3) > 0
			chosenOf[[2]int{t, id}] = is
			of = append(of, [6]any{row, first[src] + x.src, first[dst] + x.dst, strconv.FormatFloat(x.time, 'g', -1, 64), id, is})
		}
		nearType := src
		if e.Primary == graph.In {
			nearType = dst
		}
		for v := range c.g.Nodes[nearType].Count + 1 {
			a.Indptr.U32 = append(a.Indptr.U32, uint32(len(slices.Collect(func(yield func(int) bool) {
				for i, x := range edges {
					if near(x) < v && !yield(i) {
						return
					}
				}
			}))))
		}
		column := &graph.Column{Name: "time", DType: graph.Float64, Rows: e.Count, Values: graph.Bytes(times)}
		if !float {
			ints := make([]int32, 0)
			for _, x := range times {
				ints = append(ints, int32(x))
			}
			column.DType, column.Values = graph.Int32, graph.Bytes(ints)
		}
		e.Columns = []*graph.Column{column}
		if positions {
			e.Columns = append(e.Columns, &graph.Column{Name: graph.PositionColumn, DType: graph.Uint32, Rows: e.Count, Values: graph.Bytes(rows)})
		}
		c.g.Edges = append(c.g.Edges, e)
		c.Types = append(c.Types, of)
		s := Source{Edges: t, Time: column}
		if chosen {
			s.Chosen = func(id int) bool { return chosenOf[[2]int{t, id}] }
		}
		c.sources = append(c.sources, s)
	}
	events := 0
	for _, of := range c.Types {
		for _, e := range of {
			if e[5].(bool) {
				events++
			}
		}
	}
	if r.IntN(3) == 0 {
		c.Every = strconv.Itoa(1 + r.IntN(5))
	}
	switch r.IntN(3) {
	case 0:
		c.Negatives = r.IntN(4)
	case 1:
		c.lists = &Lists{Each: 2}
		c.Lists = [][]uint32{}
		uneven := r.IntN(2) == 0
		for range events {
			list := []uint32{}
			n := 2
			if uneven {
				n = r.IntN(4)
			}
			for range n {
				list = append(list, uint32(r.IntN(first[len(first)-1])))
			}
			c.Lists = append(c.Lists, list)
			c.lists.Nodes = append(c.lists.Nodes, list...)
			if uneven {
				c.lists.Each = 0
				c.lists.Ends = append(c.lists.Ends, uint32(len(c.lists.Nodes)))
			}
		}
	}
	return c
}

// batches are the batches of a case, made in an order.
func (c *testCase) batches(t *testing.T, order []int) []testBatch {
	t.Helper()
	s, err := Open(context.Background(), c.g, c.sources)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d := s.Divide(c.BatchSize, false)
	if c.Every != "" {
		width, _ := strconv.ParseFloat(c.Every, 64)
		if d, err = s.Windows(width); err != nil {
			t.Fatal(err)
		}
	}
	m := NewMaker(d, Options{Neighbours: c.Neighbors, History: c.History, Negatives: c.Negatives, Lists: c.lists, Seed: c.Seed})
	out := make([]testBatch, d.Batches())
	local := func(b *Batch, nodes []uint32) (out []uint32) {
		places := make([]int64, len(nodes))
		b.Places(places, nodes)
		out = []uint32{}
		for _, p := range places {
			out = append(out, uint32(p))
		}
		return out
	}
	list := func(x []uint32) []uint32 { return append([]uint32{}, x...) }
	for _, at := range order {
		if at >= d.Batches() {
			continue
		}
		b, o := m.Make(c.Epoch, at), &out[at]
		o.Events, o.Src, o.Dst, o.Negatives = list(b.Events), local(b, b.Src), local(b, b.Dst), local(b, b.Negatives)
		o.Nodes, o.Far, o.Root, o.By = list(b.Nodes), local(b, b.Far), list(b.Root), list(b.By)
		if c.History != BeforeEvent {
			o.Root = local(b, b.Root)
		}
		o.Edges, o.Lengths = []uint32{}, []uint32{}
		last := uint32(0)
		for i, e := range o.Events {
			o.Edges = append(o.Edges, s.ID(e))
			if end := uint32((i + 1) * len(o.Negatives) / len(o.Events)); c.lists == nil || c.lists.Ends == nil {
				o.Lengths, last = append(o.Lengths, end-last), end
			} else {
				o.Lengths, last = append(o.Lengths, b.ListEnds[i]-last), b.ListEnds[i]
			}
		}
	}
	return out
}

// TestReference compares batches of random graphs with the law.
func TestReference(t *testing.T) {
	python := reftest.Python(t)
	if python == "" {
		t.Skip("found no Python with numpy; GRAPHMILL_PYTHON names one, and make test has one")
	}
	r := rand.New(rand.NewPCG(1, 2))
	var cases []*testCase
	for range 400 {
		cases = append(cases, newCase(r))
	}
	answers := reftest.Answers[[]testBatch](t, python, "testdata/reference.py", cases)
	for i, c := range cases {
		for _, order := range [][]int{r.Perm(200), r.Perm(200)} {
			if got := c.batches(t, order); !reflect.DeepEqual(got, answers[i]) && (len(got) > 0 || len(answers[i]) > 0) {
				for b := range got {
					if b >= len(answers[i]) || !reflect.DeepEqual(got[b], answers[i][b]) {
						t.Fatalf("case %d (history %d, neighbours %d): batch %d: found\n%+v, expected\n%+v", i, c.History, c.Neighbors, b, got[b], answers[i][min(b, len(answers[i])-1)])
					}
				}
				t.Fatalf("case %d: found %d batches, expected %d", i, len(got), len(answers[i]))
			}
		}
	}
}

// TestOrder sorts times of all kinds, and rows with gaps.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, float := range []bool{false, true} {
		in := &input{}
		for range 3000 {
			x := int64(r.Uint64())
			switch r.IntN(3) {
			case 0:
				x >>= 40
			case 1:
				x = math.MinInt64
			}
			if float {
				f := math.Float64frombits(uint64(x))
				if math.IsNaN(f) || f == 0 {
					f = math.Inf(r.IntN(2)*2 - 1)
				}
				x = int64(math.Float64bits(f))
			}
			in.times = append(in.times, x)
		}
		got, err := in.order(t.Context(), float)
		if err != nil {
			t.Fatal(err)
		}
		var want []uint32
		for i := range in.times {
			want = append(want, uint32(i))
		}
		slices.SortStableFunc(want, func(a, b uint32) int {
			if float {
				return cmp.Compare(math.Float64frombits(uint64(in.times[a])), math.Float64frombits(uint64(in.times[b])))
			}
			return cmp.Compare(in.times[a], in.times[b])
		})
		if !slices.Equal(got, want) {
			t.Errorf("float %v: found another order than a comparison of the times gives", float)
		}
	}
}

// TestBadTimes refuses what is no time, with its place.
func TestBadTimes(t *testing.T) {
	one := func(c *graph.Column) *graph.Graph {
		c.Name, c.Rows = "time", 2
		return &graph.Graph{Nodes: []*graph.Nodes{{Type: "a", Count: 3}}, Edges: []*graph.Edges{{
			Type: graph.EdgeType{Src: "a", Rel: "r", Dst: "a"}, Count: 2, Columns: []*graph.Column{c},
			Adj: [2]*graph.Adjacency{{Indptr: graph.Index{U32: []uint32{0, 1, 2, 2}}, Far: graph.Index{U32: []uint32{1, 0}}}}}}}
	}
	for _, c := range []struct {
		column *graph.Column
		want   string
	}{
		{&graph.Column{DType: graph.Int64, Unit: graph.Seconds, Values: graph.Bytes([]int64{3, graph.NoTime})}, `column "time" of a:r:a: edge 1: found no time`},
		{&graph.Column{DType: graph.Float32, Values: graph.Bytes([]float32{float32(math.NaN()), 1})}, "edge 0: found no time"},
		{&graph.Column{DType: graph.Uint64, Values: graph.Bytes([]uint64{1, 1 << 63})}, "edge 1: found 9223372036854775808, expected at most 2^63 - 1"},
		{&graph.Column{DType: graph.Int64, Shape: []int{2}, Values: graph.Bytes(make([]int64, 4))}, "expected a time or a number per edge"},
	} {
		g := one(c.column)
		if _, err := Open(t.Context(), g, []Source{{Edges: 0, Time: c.column}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found %v, expected %q", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := one(&graph.Column{DType: graph.Int64, Values: graph.Bytes([]int64{3, 2})})
	if _, err := Open(ctx, g, []Source{{Edges: 0, Time: g.Edges[0].Columns[0]}}); err == nil {
		t.Error("found a stream of a cancelled context")
	}
	if _, err := (&Stream{}).Windows(0.5); err == nil {
		t.Error("found windows of half a unit of whole times")
	}
}
