package transform

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ends are the edges of a type.
type ends struct{ src, dst []uint64 }

// edgesFrom makes an edge type of edges, whose positions are given, or count from 0. The edges are in the order of their near ends.
func edgesFrom(typ graph.EdgeType, primary graph.Direction, nodes int, e ends, positions []uint32) (*graph.Edges, ends) {
	near, far := e.dst, e.src
	if primary == graph.Out {
		near, far = far, near
	}
	order := make([]int, len(near))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(near[i]) - int(near[j]) })
	indptr := make([]uint64, nodes+1)
	var ids []uint64
	var out ends
	var at []uint32
	for _, i := range order {
		indptr[near[i]+1]++
		ids = append(ids, far[i])
		out.src, out.dst = append(out.src, e.src[i]), append(out.dst, e.dst[i])
		if positions != nil {
			at = append(at, positions[i])
		} else {
			at = append(at, uint32(i))
		}
	}
	for v := range nodes {
		indptr[v+1] += indptr[v]
	}
	x := &graph.Edges{Type: typ, Count: len(ids), Primary: primary}
	x.Adj[primary] = &graph.Adjacency{Indptr: graph.Index{U64: indptr}, Far: graph.Index{U64: ids}}
	x.Columns = []*graph.Column{{Name: graph.PositionColumn, DType: graph.Uint32, Rows: len(at), Values: graph.Bytes(at)}}
	return x, out
}

// drawEnds draws edges between two node types.
func drawEnds(rt *rapid.T, sources, destinations int) (e ends) {
	for range rapid.IntRange(0, 40).Draw(rt, "edges") {
		e.src = append(e.src, rapid.Uint64Range(0, uint64(sources-1)).Draw(rt, "src"))
		e.dst = append(e.dst, rapid.Uint64Range(0, uint64(destinations-1)).Draw(rt, "dst"))
	}
	return e
}

// TestLike compares edges that follow their nodes with the law: the later part of both ends, or none. The edges of train are those between nodes of train.
func TestLike(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const n, m = 12, 7
		primary := rapid.SampledFrom([]graph.Direction{graph.In, graph.Out}).Draw(rt, "primary")
		like := rapid.SampledFrom([]string{"nodes", "user", "item"}).Draw(rt, "like")
		nodes := n
		if primary == graph.In {
			nodes = m
		}
		edges, e := edgesFrom(graph.EdgeType{Src: "user", Rel: "r", Dst: "item"}, primary, nodes, drawEnds(rt, n, m), nil)
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"train", "valid", "test", ""}), m, m).Draw(rt, "parts of items")
		g := users(column("x", graph.Int32, make([]int32, n)))
		g.Nodes = append(g.Nodes, &graph.Nodes{Type: "item", Count: m, Columns: []*graph.Column{stringColumn("split", parts)}})
		g.Edges = []*graph.Edges{edges}
		g.Sort()
		x, err := New(context.Background(), g, Options{Splits: []Split{{Type: "user:r:item", Like: like}, {Type: "user", Ratios: []float64{.4, .3, .2}}}})
		if err != nil {
			rt.Fatal(err)
		}
		var users []int8
		for _, n := range x.nodes {
			if n.n.Type == "user" {
				users = n.splits[0].parts
			}
		}
		of := map[string]int8{"train": 0, "valid": 1, "test": 2, "": -1}
		for i, got := range x.edges[0].splits[0].parts {
			a, b := users[e.src[i]], of[parts[e.dst[i]]]
			want := max(a, b)
			switch {
			case like == "user":
				want = a
			case like == "item":
				want = b
			case a < 0 || b < 0:
				want = -1
			}
			if got != want {
				rt.Fatalf("like %s: edge %d of the parts %d and %d has part %d, expected %d", like, i, a, b, got, want)
			}
		}
	})
}

// Edges that follow nodes with folds have the same folds, and what cannot be followed is named.
func TestLikeFolds(t *testing.T) {
	edges, e := edgesFrom(graph.EdgeType{Src: "user", Rel: "r", Dst: "user"}, graph.In, 6, ends{[]uint64{0, 1, 2, 3, 4, 5}, []uint64{1, 2, 3, 4, 5, 5}}, nil)
	g := users(column("x", graph.Int32, make([]int32, 6)))
	g.Edges = []*graph.Edges{edges}
	x, err := New(context.Background(), g, Options{Splits: []Split{{Type: "user:r:user", Like: "nodes"}, {Type: "user", Folds: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	for k, a := range x.edges[0].splits {
		of := &x.nodes[0].splits[k]
		for i := range e.src {
			if want := max(of.at(int(e.src[i])), of.at(int(e.dst[i]))); a.name != of.name || a.at(i) != want {
				t.Errorf("%s: edge %d has part %d, expected %d", a.name, i, a.at(i), want)
			}
		}
	}
	for _, c := range []struct {
		splits []Split
		want   string
	}{
		{[]Split{{Type: "user:r:user", Like: "nodes"}}, "found no split of user, expected one that its edges follow"},
		{[]Split{{Type: "user:r:user", Like: "item"}}, "found like item, expected nodes for both ends, or one of the node types"},
	} {
		if _, err := New(context.Background(), g, Options{Splits: c.splits}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found %v, expected %q", err, c.want)
		}
	}
}

// TestGroupEnds groups edges by a node. The reverse edges, which are grouped by their other end, are in the same parts.
func TestGroupEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const n, m = 9, 5
		e := drawEnds(rt, n, m)
		there, forward := edgesFrom(graph.EdgeType{Src: "user", Rel: "r", Dst: "item"}, graph.In, m, e, nil)
		back, _ := edgesFrom(graph.EdgeType{Src: "item", Rel: "rev", Dst: "user"}, graph.In, n, ends{e.dst, e.src}, nil)
		g := users(column("x", graph.Int32, make([]int32, n)))
		g.Nodes = append(g.Nodes, &graph.Nodes{Type: "item", Count: m})
		g.Edges = []*graph.Edges{there, back}
		g.Sort()
		by, other, near := GroupSource, GroupDestination, forward.src
		if rapid.Bool().Draw(rt, "by destination") {
			by, other, near = other, by, forward.dst
		}
		ratios := []float64{.5, 0, .5}
		x, err := New(context.Background(), g, Options{Splits: []Split{{Type: "user:r:item", Ratios: ratios, Group: by}, {Type: "item:rev:user", Ratios: ratios, Group: other}}})
		if err != nil {
			if groups := slices.Compact(slices.Sorted(slices.Values(near))); len(groups) > 1 || !strings.Contains(err.Error(), "found no group") {
				rt.Fatalf("found %v for %d groups", err, len(groups))
			}
			return
		}
		ofGroup, ofRow := map[uint64]int8{}, map[uint32]int8{}
		for i, p := range x.edges[1].splits[0].parts {
			if before, seen := ofGroup[near[i]]; p < 0 || seen && before != p {
				rt.Fatalf("the edges of node %d are in the parts %d and %d", near[i], before, p)
			}
			ofGroup[near[i]] = p
			ofRow[graph.View[uint32](there.Columns[0].Values)[i]] = p
		}
		for i, p := range x.edges[0].splits[0].parts {
			if want := ofRow[graph.View[uint32](back.Columns[0].Values)[i]]; p != want {
				rt.Fatalf("a reverse edge is in part %d, expected %d", p, want)
			}
		}
	})
}

// Edges and their reverses in one type have no source.
func TestGroupSymmetric(t *testing.T) {
	edges, _ := edgesFrom(graph.EdgeType{Src: "user", Rel: "r", Dst: "user"}, graph.In, 3, ends{[]uint64{0, 1}, []uint64{1, 0}}, []uint32{0, 0})
	g := users(column("x", graph.Int32, make([]int32, 3)))
	g.Edges = []*graph.Edges{edges}
	_, err := New(context.Background(), g, Options{Splits: []Split{{Type: "user:r:user", Ratios: []float64{.5, 0, .5}, Group: GroupSource}}})
	if err == nil || !strings.Contains(err.Error(), "found edges and their reverses in one edge type") {
		t.Errorf("found %v, expected an error", err)
	}
}

// listOf is a file of ids.
func listOf(t *testing.T, name, text string, columns ...string) *Listed {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := textfiles.OpenCSV(vfs.OS, []string{path}, textfiles.CSVOptions{Names: columns, Delimiter: ','})
	if err != nil {
		t.Fatal(err)
	}
	return &Listed{Table: f, Columns: columns}
}

// TestListed divides nodes by files of their ids, and edges by files of pairs.
func TestListed(t *testing.T) {
	integers := column("id", graph.Uint64, []uint64{7, 3, math.MaxUint64, 0})
	texts := stringColumn("id", []string{"ann", "bob", "07", "é"})
	file := func(text string) *Listed { return listOf(t, "a.txt", text, "id") }
	for _, c := range []struct {
		ids         *graph.Column
		train, test string
		want        []int8
		err         string
	}{
		{texts, "é\nann\n", "07\n", []int8{0, -1, 2, 0}, ""},
		{texts, "é\nann\nann\n", "7\n", nil, `a.txt:1:1: found the id "7", expected the id of a node of type user`},
		{texts, "é\nann\n", "bob\nann\n", nil, `a.txt:2:1: found the id "ann" in the part test, expected it in one part, and train has it`},
		{integers, "18446744073709551615\n007\n", "0\n", []int8{0, -1, 0, 2}, ""},
		{integers, "7\n", "1\n", nil, `a.txt:1:1: found the id "1"`},
		{nil, "3\n0\n", "1\n", []int8{0, 2, -1, 0}, ""},
		{nil, "3\n", "0\n4\n", nil, `a.txt:2:1: found the id "4"`},
		{nil, "3\n", "-1\n", nil, `a.txt:1:1: found the id "-1"`},
	} {
		g := users(column("x", graph.Int32, make([]int32, 4)))
		g.Nodes[0].IDs = c.ids
		x, err := New(context.Background(), g, Options{Splits: []Split{{Type: "user", Files: []*Listed{file(c.train), nil, file(c.test)}}}})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %q: found %v, expected %q", c.train, c.test, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(c.want, x.nodes[0].splits[0].parts); diff != "" {
			t.Errorf("%q, %q: %s", c.train, c.test, diff)
		}
	}
}

// TestListedEdges compares edges that files list with a search of each edge in the lists.
func TestListedEdges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const n = 4
		e := drawEnds(rt, n, n)
		edges, ordered := edgesFrom(graph.EdgeType{Src: "user", Rel: "r", Dst: "user"}, graph.In, n, e, nil)
		g := users(column("x", graph.Int32, make([]int32, n)))
		g.Nodes[0].IDs = stringColumn("id", []string{"a", "b", "c", "d"})
		g.Edges = []*graph.Edges{edges}
		of, text := map[[2]uint64]int8{}, [3]string{}
		for i := range e.src {
			p := rapid.Int8Range(-1, 2).Draw(rt, "part")
			k := [2]uint64{e.src[i], e.dst[i]}
			if _, seen := of[k]; seen || p < 0 {
				continue
			}
			of[k] = p
			text[p] += fmt.Sprintf("%c,%c\n", 'a'+e.src[i], 'a'+e.dst[i])
		}
		s := Split{Type: "user:r:user", Files: make([]*Listed, 3)}
		some := 0
		for p, x := range text {
			if x != "" {
				some++
				s.Files[p] = listOf(t, "edges.csv", x, "src", "dst")
			}
		}
		x, err := New(context.Background(), g, Options{Splits: []Split{s}})
		if text[0] == "" || some < 2 {
			if err == nil {
				rt.Fatal("found no error, expected one of missing files")
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		for i, p := range x.edges[0].splits[0].parts {
			want, listed := of[[2]uint64{ordered.src[i], ordered.dst[i]}]
			if !listed {
				want = -1
			}
			if p != want {
				rt.Fatalf("edge %d is in part %d, expected %d", i, p, want)
			}
		}
	})
}

// Pairs that no edge has, and pairs in two parts, are errors with their lines.
func TestListedEdgeErrors(t *testing.T) {
	edges, _ := edgesFrom(graph.EdgeType{Src: "user", Rel: "r", Dst: "user"}, graph.In, 4, ends{[]uint64{0, 1, 1}, []uint64{1, 0, 2}}, []uint32{0, 0, 1})
	for _, c := range []struct{ train, test, want string }{
		{"0,1\n", "1,2\n0,3\n", "e.csv:2:1: found ends that no edge of user:r:user has"},
		{"0,1\n", "1,2\n0,1\n", "e.csv:2:1: found an edge in the part test, expected it in one part, and train has it"},
		{"0,1\n", "1,2\n1,9\n", `e.csv:2:3: found the id "9", expected the id of a node of type user`},
		{"0,1\n", "1,2\n1,0\n", "e.csv:1:1: found an edge in the part train, expected it in the part of its reverse, and test has that"},
		{"0,1\n", "1,2\n", ""},
	} {
		g := users(column("x", graph.Int32, make([]int32, 4)))
		g.Edges = []*graph.Edges{edges}
		x, err := New(context.Background(), g, Options{Splits: []Split{{Type: "user:r:user", Files: []*Listed{listOf(t, "e.csv", c.train, "src", "dst"), nil, listOf(t, "e.csv", c.test, "src", "dst")}}}})
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, %q: found %v, expected %q", c.train, c.test, err, c.want)
			}
		case err != nil:
			t.Error(err)
		default: // the reverse of an edge is on its side
			if diff := gocmp.Diff([]int8{0, 0, 2}, x.edges[0].splits[0].parts); diff != "" {
				t.Error(diff)
			}
		}
	}
}
