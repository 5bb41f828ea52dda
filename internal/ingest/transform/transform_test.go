package transform_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// edge is a row of an edge table.
type edge struct {
	src, dst, position int
	weight             float32
	n                  int64
	tag                string
	list               []float32
}

// plain is a graph as lists. Original ids of nodes are their type and number.
type plain struct {
	nodes map[string]int
	edges map[graph.EdgeType][]edge
}

var noPosition = math.MaxUint32

// write writes the tables and builds a store of them.
func (g *plain) write(t *rapid.T, dir string, primary graph.Direction) *store.Store {
	var in assemble.Input
	csv := func(name string, text string) table.Table {
		file := filepath.Join(dir, name+".csv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := textfiles.OpenCSV(vfs.OS, []string{file}, textfiles.CSVOptions{Header: true})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, count := range g.nodes {
		var b strings.Builder
		b.WriteString("id,x,year\n")
		for i := range count {
			fmt.Fprintf(&b, "%s%d,%d 3 -1,%d\n", name, i, i%4-3, i*7%5)
		}
		in.Nodes = append(in.Nodes, assemble.Nodes{Type: name, Table: csv(name, b.String()), ID: table.Column{Name: "id", DType: graph.String, ID: true},
			Columns: []table.Column{{Name: "x", DType: graph.Float32, Shape: []int{3}}, {Name: "year", DType: graph.Int64}}})
	}
	k := 0
	for typ, list := range g.edges {
		var b strings.Builder
		b.WriteString("src,dst,weight,n,tag,list\n")
		for _, e := range list {
			fmt.Fprintf(&b, "%s%d,%s%d,%g,%d,%s,%s\n", typ.Src, e.src, typ.Dst, e.dst, e.weight, e.n, e.tag, strings.Trim(fmt.Sprint(e.list), "[]"))
		}
		k++
		in.Edges = append(in.Edges, assemble.Edges{Type: typ, Table: csv(fmt.Sprint("edges", k), b.String()),
			Src: table.Column{Name: "src", DType: graph.String, ID: true}, Dst: table.Column{Name: "dst", DType: graph.String, ID: true},
			Columns: []table.Column{{Name: "weight", DType: graph.Float32}, {Name: "n", DType: graph.Int64}, {Name: "tag", DType: graph.String}, {Name: "list", DType: graph.Float32, Shape: []int{-1}}}})
	}
	return build(t, filepath.Join(dir, "before"), in, assemble.Options{Primary: primary, Threads: 2}, nil)
}

func build(t *rapid.T, out string, in assemble.Input, o assemble.Options, finish func(m *store.Meta)) *store.Store {
	w, err := store.Create(vfs.OS, out, false)
	if err != nil {
		t.Fatal(err)
	}
	o.DuplicateEdges, o.SelfLoops = assemble.Keep, assemble.Keep
	result, err := assemble.Build(context.Background(), vfs.OS, w, in, o)
	if err == nil && finish != nil {
		finish(result.Meta)
	}
	if err == nil {
		err = w.Seal(context.Background(), result.Meta, 1)
	}
	if err == nil {
		err = w.Publish()
	}
	if err = errors.Join(err, w.Abort()); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// largest is the model of LargestComponent: whether each node is kept.
func (g *plain) largest() (kept map[string][]bool) {
	type node struct {
		typ string
		id  int
	}
	next := map[node][]node{}
	for typ, list := range g.edges {
		for _, e := range list {
			a, b := node{typ.Src, e.src}, node{typ.Dst, e.dst}
			next[a], next[b] = append(next[a], b), append(next[b], a)
		}
	}
	seen := map[node]bool{}
	var best []node
	for _, typ := range slices.Sorted(keys(g.nodes)) {
		for i := range g.nodes[typ] {
			queue := []node{{typ, i}}
			if seen[queue[0]] {
				continue
			}
			seen[queue[0]] = true
			for at := 0; at < len(queue); at++ {
				for _, n := range next[queue[at]] {
					if !seen[n] {
						seen[n] = true
						queue = append(queue, n)
					}
				}
			}
			if len(queue) > len(best) {
				best = queue
			}
		}
	}
	kept = map[string][]bool{}
	for typ, n := range g.nodes {
		kept[typ] = make([]bool, n)
	}
	for _, n := range best {
		kept[n.typ][n.id] = true
	}
	return kept
}

func keys[K comparable, V any](m map[K]V) func(yield func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// expected is the model: the edges of a type by near end, with the original numbers of nodes.
func (g *plain) expected(typ graph.EdgeType, o transform.Options, primary graph.Direction) (out []edge, counts []uint32) {
	kept := map[string][]bool{}
	for t, n := range g.nodes {
		kept[t] = slices.Repeat([]bool{true}, n)
	}
	if o.LargestComponent {
		kept = g.largest()
	}
	near := func(e edge) int { return e.dst }
	if primary == graph.Out {
		near = func(e edge) int { return e.src }
	}
	for v := range g.nodes[typ.Near(primary)] {
		if !kept[typ.Near(primary)][v] {
			continue
		}
		at, loop := map[string]int{}, false
		for i, e := range g.edges[typ] {
			e.position = i
			if near(e) != v {
				continue
			}
			loop = loop || typ.Src == typ.Dst && e.src == e.dst
			key := fmt.Sprint(e.src, e.dst)
			if o.Merge == transform.MergeEqual {
				key = fmt.Sprint(e.src, e.dst, e.weight+0, e.n, e.tag, e.list) // -0 + 0 is 0
			}
			if k, again := at[key]; again && o.Merge != transform.MergeNone {
				counts[k]++
				if o.Merge == transform.MergeSum {
					out[k].weight += e.weight
					out[k].n += e.n
				}
				continue
			}
			at[key] = len(out)
			out, counts = append(out, e), append(counts, 1)
		}
		if o.SelfLoops && typ.Src == typ.Dst && !loop {
			out, counts = append(out, edge{src: v, dst: v, weight: 1, position: noPosition}), append(counts, 1)
		}
	}
	return out, counts
}

// Graphs of random types are changed as plain lists are.
func TestModel(t *testing.T) {
	base := t.TempDir()
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		dir := filepath.Join(base, fmt.Sprint(round))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		g := &plain{nodes: map[string]int{}, edges: map[graph.EdgeType][]edge{}}
		names := []string{"b", "a.x", "Z"}[:rapid.IntRange(1, 3).Draw(t, "types")]
		for _, n := range names {
			g.nodes[n] = rapid.IntRange(1, 8).Draw(t, "nodes")
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "edge types") {
			typ := graph.EdgeType{Src: rapid.SampledFrom(names).Draw(t, "src"), Rel: fmt.Sprint("r", i), Dst: rapid.SampledFrom(names).Draw(t, "dst")}
			var list []edge
			for range rapid.IntRange(0, 20).Draw(t, "edges") {
				if len(list) > 0 && rapid.IntRange(0, 3).Draw(t, "again") == 0 {
					list = append(list, rapid.SampledFrom(list).Draw(t, "row"))
					continue
				}
				list = append(list, edge{src: rapid.IntRange(0, g.nodes[typ.Src]-1).Draw(t, "s"), dst: rapid.IntRange(0, g.nodes[typ.Dst]-1).Draw(t, "d"),
					weight: float32(rapid.IntRange(-4, 4).Draw(t, "w")) / 4, n: rapid.Int64Range(-9, 9).Draw(t, "n"), tag: rapid.StringMatching("[a-c]{0,3}").Draw(t, "tag"),
					list: rapid.SliceOfN(rapid.Float32Range(0, 1), 0, 2).Draw(t, "list")})
			}
			g.edges[typ] = list
		}
		primary := rapid.SampledFrom([]graph.Direction{graph.In, graph.Out}).Draw(t, "primary")
		o := transform.Options{SelfLoops: rapid.Bool().Draw(t, "loops"), LargestComponent: rapid.Bool().Draw(t, "largest"), Normalise: []string{names[0] + ".x"},
			Merge: rapid.SampledFrom([]transform.Merge{transform.MergeNone, transform.MergeSum, transform.MergeCount, transform.MergeEqual}).Draw(t, "merge")}
		s := g.write(t, dir, primary)
		defer s.Close()
		c, err := transform.New(context.Background(), s.Graph, o)
		if err != nil {
			t.Fatal(err)
		}
		after := build(t, filepath.Join(dir, "after"), c.Input(), assemble.Options{Primary: primary, Both: true, Threads: rapid.SampledFrom([]int{1, 4}).Draw(t, "threads")},
			func(m *store.Meta) { c.Finish(m, s.Meta) })
		defer after.Close()
		if err := after.Check(context.Background()); err != nil {
			t.Fatal(err)
		}
		for typ := range g.edges {
			want, counts := g.expected(typ, o, primary)
			checkEdges(t, after.Graph, typ, want, counts, o)
		}
		checkNodes(t, g, after.Graph, o)
	})
}

func checkNodes(t *rapid.T, g *plain, after *graph.Graph, o transform.Options) {
	for _, n := range after.Nodes {
		if old := g.nodes[n.Type]; !o.LargestComponent && n.Count != old {
			t.Fatalf("%s: found %d nodes, expected %d", n.Type, n.Count, old)
		}
		x := graph.FindColumn(n.Columns, "x")
		for i := range n.Count {
			var id int
			if _, err := fmt.Sscanf(strings.TrimPrefix(string(n.IDs.Text(i)), n.Type), "%d", &id); err != nil {
				t.Fatal(err)
			}
			want := []float32{float32(id%4 - 3), 3, -1}
			if strings.HasPrefix(o.Normalise[0], n.Type+".x") {
				sum := float64(3 - id%4 + 3 + 1)
				for k := range want {
					want[k] = float32(float64(want[k]) / sum)
				}
			}
			if diff := cmp.Diff(want, graph.View[float32](x.Row(i))); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

func checkEdges(t *rapid.T, after *graph.Graph, typ graph.EdgeType, want []edge, counts []uint32, o transform.Options) {
	number, err := after.EdgeType(typ.String())
	if err != nil {
		t.Fatal(err)
	}
	e := after.Edges[number]
	original := func(typ string, id uint64) int {
		n := after.Nodes[after.NodeType(typ)]
		var v int
		if _, err := fmt.Sscanf(strings.TrimPrefix(string(n.IDs.Text(int(id))), typ), "%d", &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	var got []edge
	a := e.Adj[e.Primary]
	for v := range a.Indptr.Len() - 1 {
		for i := a.Indptr.At(v); i < a.Indptr.At(v+1); i++ {
			near, far := original(typ.Near(e.Primary), uint64(v)), original(typ.Far(e.Primary), a.Far.At(int(i)))
			x := edge{src: far, dst: near}
			if e.Primary == graph.Out {
				x.src, x.dst = near, far
			}
			at := int(i)
			x.weight = graph.View[float32](graph.FindColumn(e.Columns, "weight").Row(at))[0]
			x.n = graph.View[int64](graph.FindColumn(e.Columns, "n").Row(at))[0]
			x.tag = string(graph.FindColumn(e.Columns, "tag").Text(at))
			x.position = int(graph.View[uint32](graph.FindColumn(e.Columns, graph.PositionColumn).Row(at))[0])
			l := graph.FindColumn(e.Columns, "list")
			from, to := l.Span(at, at+1)
			x.list = graph.View[float32](l.Values)[from:to]
			got = append(got, x)
			if o.Merge == transform.MergeCount {
				if n := graph.View[uint32](graph.FindColumn(e.Columns, transform.CountColumn).Row(at))[0]; n != counts[at] {
					t.Fatalf("%s: found count %d of edge %d, expected %d", typ, n, at, counts[at])
				}
			}
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(edge{}), cmp.Transformer("list", func(l []float32) string { return fmt.Sprint(l) })); diff != "" {
		t.Fatalf("%s: %s", typ, diff)
	}
}
