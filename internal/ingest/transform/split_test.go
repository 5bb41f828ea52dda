package transform

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
)

// column is a column of values of T.
func column[T int32 | int64 | uint64 | float32 | float64](name string, d graph.DType, values []T) *graph.Column {
	return &graph.Column{Name: name, DType: d, Rows: len(values), Values: graph.Bytes(values)}
}

// users is a graph of one node type with columns.
func users(columns ...*graph.Column) *graph.Graph {
	return &graph.Graph{Nodes: []*graph.Nodes{{Type: "user", Count: columns[0].Rows, Columns: columns}}}
}

// splitOf is the part of each node.
func splitOf(t *testing.T, g *graph.Graph, o Options) []int8 {
	t.Helper()
	x, err := New(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	return x.nodes[0].splits[0].parts
}

func TestSplitBy(t *testing.T) {
	times := column("at", graph.Int64, []int64{1577836800, 1609459200, graph.NoTime, 1609459199, 1640995200})
	times.Unit = graph.Seconds
	fold := &graph.Column{Name: "fold", DType: graph.String, Rows: 5, Values: []byte("abcab"), StringOffsets: graph.Index{U64: []uint64{0, 1, 2, 3, 4, 5}}}
	g := users(column("year", graph.Int32, []int32{2019, 2017, 2021, 2018, 2018}), times, fold,
		column("score", graph.Float32, []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), -2, 7}),
		column("big", graph.Uint64, []uint64{1 << 63, 3, 2, 1, 0}))
	for _, c := range []struct {
		split Split
		want  []int8
	}{
		{Split{Of: "year", At: []string{"2018", "2020"}}, []int8{1, 0, 2, 1, 1}},
		{Split{Of: "user.year", Ratios: []float64{.6, .2, .2}}, []int8{1, 0, 2, 0, 0}},
		{Split{Of: "year", Ratios: []float64{.2, .2, .2}}, []int8{-1, 0, -1, 1, 1}}, // 2018 has two rows and stays together
		{Split{Of: "at", At: []string{"2021-01-01", "2022-01-01T00:00:00Z"}}, []int8{0, 1, -1, 0, 2}},
		{Split{Of: "at", Ratios: []float64{.5, .25, .25}}, []int8{0, 1, -1, 0, 2}},
		{Split{Of: "score", At: []string{"0", "1"}}, []int8{1, 1, -1, 0, 2}},
		{Split{Of: "big", At: []string{"2", "9223372036854775808"}}, []int8{2, 1, 1, 0, 0}},
		{Split{Type: "user", By: "fold", Values: [][]string{{"a"}, {"c"}, nil}}, []int8{0, -1, 1, 0, -1}},
		{Split{Type: "user", By: "year", Values: [][]string{{"2018", "2017"}, {"2019"}, {"2021"}}}, []int8{1, 0, 2, 0, 0}},
	} {
		if diff := gocmp.Diff(c.want, splitOf(t, g, Options{Splits: []Split{c.split}})); diff != "" {
			t.Errorf("%v: %s", c.split, diff)
		}
	}
}

// A random split gives each part its share exactly, depends on the seed and the type only, and differs between seeds.
func TestSplitRandom(t *testing.T) {
	g := users(column("x", graph.Int32, make([]int32, 1000)))
	one := splitOf(t, g, Options{Seed: 1, Splits: []Split{{Ratios: []float64{.8, .1, .05}}}})
	count := map[int8]int{}
	for _, p := range one {
		count[p]++
	}
	if diff := gocmp.Diff(map[int8]int{0: 800, 1: 100, 2: 50, -1: 50}, count); diff != "" {
		t.Error(diff)
	}
	if again := splitOf(t, g, Options{Seed: 1, Splits: []Split{{Of: "user", Ratios: []float64{.8, .1, .05}}}}); !slices.Equal(one, again) {
		t.Error("the same seed and type give another split")
	}
	if other := splitOf(t, g, Options{Seed: 2, Splits: []Split{{Ratios: []float64{.8, .1, .05}}}}); slices.Equal(one, other) {
		t.Error("another seed gives the same split")
	}
	if first := one[:100]; !slices.Contains(first, 1) || !slices.Contains(first, 2) || !slices.Contains(first, -1) {
		t.Errorf("the first 100 nodes are in the parts %v, expected all", first)
	}
}

// A split by ratios of a column is the one that sorting gives.
func TestSplitQuantiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64()), 1, 40).Draw(rt, "values")
		a := rapid.Float64Range(0, 1).Draw(rt, "train")
		b := rapid.Float64Range(0, 1-a).Draw(rt, "valid")
		if a+b == 0 {
			a = 1
		}
		s := Split{Of: "v", Ratios: []float64{a, b, 0}}
		got := splitOf(t, users(column("v", graph.Int64, values)), Options{Splits: []Split{s}})
		order := make([]int, len(values))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int {
			return cmp.Compare(min(values[i], math.MaxInt64-1), min(values[j], math.MaxInt64-1))
		})
		ends := s.ends(len(values))
		want, before := make([]int8, len(values)), int8(-1)
		for at, i := range order {
			want[i] = part(ends, at)
			if at > 0 && values[order[at-1]] == values[i] {
				want[i] = before
			}
			before = want[i]
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			rt.Fatalf("%v of %v: %s", s.Ratios, values, diff)
		}
	})
}

func TestOptionErrors(t *testing.T) {
	two := users(column("x", graph.Int64, []int64{1, 2}))
	two.Nodes = append(two.Nodes, &graph.Nodes{Type: "item", Count: 1, Columns: []*graph.Column{column("x", graph.Float32, []float32{1})}})
	one := users(column("x", graph.Int64, []int64{1, 2}), column("split", graph.Int64, []int64{1, 2}))
	for _, c := range []struct {
		g    *graph.Graph
		o    Options
		want string
	}{
		{two, Options{Splits: []Split{{Ratios: []float64{1, 0, 0}}}}, "split: found no type, expected one of user, item"},
		{two, Options{Splits: []Split{{Type: "usr", Ratios: []float64{1, 0, 0}}}}, "split of usr: found no such type, expected one of user, item"},
		{two, Options{Splits: []Split{{Of: "user.y", Ratios: []float64{1, 0, 0}}}}, "split of user: found no column y, expected one of x"},
		{two, Options{Splits: []Split{{Of: "user", Ratios: []float64{.8, .3, 0}}}}, "expected three from 0 to 1"},
		{two, Options{Splits: []Split{{Of: "user", Ratios: []float64{math.NaN(), .3, 0}}}}, "expected three from 0 to 1"},
		{two, Options{Splits: []Split{{Of: "user", Ratios: []float64{1, 0, 0}}, {Of: "user.x", At: []string{"1", "2"}}}}, "found two splits of this type"},
		{two, Options{Splits: []Split{{Of: "user.x", At: []string{"3", "2"}}}}, "found 3 after 2"},
		{two, Options{Splits: []Split{{Of: "user.x", At: []string{"a", "2"}}}}, `found "a", expected an integer`},
		{two, Options{Splits: []Split{{Of: "user", At: []string{"1", "2"}}}}, "found no column, expected the one that decides"},
		{two, Options{Splits: []Split{{Type: "user", By: "x", Values: [][]string{{"1"}, {"1"}, nil}}}}, "in two parts"},
		{two, Options{Splits: []Split{{Type: "user", By: "x", Values: [][]string{{"7"}, nil, nil}}}}, "found no row whose column x is 7"},
		{one, Options{Splits: []Split{{Ratios: []float64{1, 0, 0}}}}, "found a column split already"},
		{two, Options{Normalise: []string{"x"}}, "found the column in the node types user, item"},
		{two, Options{Normalise: []string{"user.x"}}, "found int64 of shape [], expected float32 or float64"},
		{two, Options{Normalise: []string{"user.z"}}, "normalise user.z: found no such column, expected one of x"},
	} {
		_, err := New(context.Background(), c.g, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: found %v, expected %q", c.o, err, c.want)
		}
	}
}

// In a random split, the edges of one row of the input are in one part, in all edge types between the same node types, and
// each part has its share of the rows exactly. Edges that were added are in no part.
func TestSplitRandomEdges(t *testing.T) {
	const rows = 500
	edges := func(src, dst string, positions ...uint32) *graph.Edges {
		return &graph.Edges{Type: graph.EdgeType{Src: src, Rel: "r", Dst: dst}, Count: len(positions), Columns: []*graph.Column{
			{Name: graph.PositionColumn, DType: graph.Uint32, Rows: len(positions), Values: graph.Bytes(positions)}}}
	}
	var twice, once []uint32
	for i := range uint32(rows) {
		once = append(once, (i*7+1)%rows*3) // two of three rows belong to other types
		twice = append(twice, i/2*3)
	}
	for i := range uint32(rows) {
		twice = append(twice, (rows-1-i/2)*3)
	}
	g := users(column("x", graph.Int32, []int32{1}))
	g.Nodes = append(g.Nodes, &graph.Nodes{Type: "item", Count: 1})
	g.Edges = []*graph.Edges{edges("user", "item", once...), edges("item", "user", append(twice, math.MaxUint32)...)}
	g.Sort()
	ratios := []float64{.8, .1, .1}
	x, err := New(context.Background(), g, Options{Seed: 3, Splits: []Split{{Of: "user:r:item", Ratios: ratios}, {Of: "item:r:user", Ratios: ratios}}})
	if err != nil {
		t.Fatal(err)
	}
	parts, count := map[uint32]int8{}, map[int8]int{}
	back, there := x.edges[0], x.edges[1]
	for i, p := range there.splits[0].parts {
		parts[once[i]] = p
		count[p]++
	}
	if diff := gocmp.Diff(map[int8]int{0: rows * 8 / 10, 1: rows / 10, 2: rows / 10}, count); diff != "" {
		t.Error(diff)
	}
	for i, p := range back.splits[0].parts[:2*rows] {
		if p != parts[twice[i]] {
			t.Fatalf("edge %d of row %d: found part %d, expected %d, as of the other direction", i, twice[i], p, parts[twice[i]])
		}
	}
	if p := back.splits[0].parts[2*rows]; p != -1 {
		t.Errorf("found part %d of an edge that was added, expected -1", p)
	}
}
