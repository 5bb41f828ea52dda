package unigraph_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/dgf"
	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/unigraph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
)

// drawDGFGraph draws a graph that DGF can hold.
func drawDGFGraph(t *rapid.T) *graph.Graph {
	g := drawGraph(t)
	g.Context = nil
	each(g, func(c *graph.Column) {
		if c.DType == graph.Uint64 { // below 2^63
			for i := 7; i < len(c.Values); i += 8 {
				c.Values[i] &= 0x7f
			}
		}
	})
	return g
}

// each calls a function for all columns of features.
func each(g *graph.Graph, fn func(c *graph.Column)) {
	for _, n := range g.Nodes {
		for _, c := range n.Columns {
			fn(c)
		}
	}
	for _, e := range g.Edges {
		for _, c := range e.Columns {
			fn(c)
		}
	}
}

// widenDGF gives the columns of a graph the dtypes that DGF has, and nodes without ids their numbers as ids.
func widenDGF(g *graph.Graph) {
	le := binary.LittleEndian
	each(g, func(c *graph.Column) {
		var out []byte
		switch c.DType {
		case graph.Int8:
			for _, v := range graph.View[int8](c.Values) {
				out = le.AppendUint32(out, uint32(int32(v)))
			}
		case graph.Int16:
			for _, v := range graph.View[int16](c.Values) {
				out = le.AppendUint32(out, uint32(int32(v)))
			}
		case graph.Uint8:
			for _, v := range c.Values {
				out = le.AppendUint32(out, uint32(v))
			}
		case graph.Uint16:
			for _, v := range graph.View[uint16](c.Values) {
				out = le.AppendUint32(out, uint32(v))
			}
		case graph.Uint32:
			for _, v := range graph.View[uint32](c.Values) {
				out = le.AppendUint64(out, uint64(v))
			}
		case graph.Float16:
			for _, v := range graph.View[uint16](c.Values) {
				out = le.AppendUint32(out, math.Float32bits(example.Float16(v)))
			}
		case graph.BFloat16:
			for _, v := range graph.View[uint16](c.Values) {
				out = le.AppendUint32(out, math.Float32bits(example.BFloat16(v)))
			}
		default:
			out = c.Values
		}
		c.Values = out
		if as, ok := map[graph.DType]graph.DType{graph.Int8: graph.Int32, graph.Int16: graph.Int32, graph.Uint8: graph.Int32, graph.Uint16: graph.Int32, graph.Uint32: graph.Int64,
			graph.Uint64: graph.Int64, graph.Float16: graph.Float32, graph.BFloat16: graph.Float32}[c.DType]; ok {
			c.DType = as
		}
	})
}

func writeDGF(g *graph.Graph, out string, opt unigraph.Options) error {
	return publish(out, func(w *store.Writer) error {
		_, err := unigraph.DGFFromGraph(ctx, disk, w, g, nil, opt)
		return err
	})
}

// A graph that is written for DGF and imported again is the same graph, in the dtypes of DGF.
func TestDGFAndBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		g := drawDGFGraph(r)
		opt := unigraph.Options{Shards: rapid.IntRange(0, 3).Draw(r, "shards"), Threads: rapid.IntRange(1, 3).Draw(r, "threads")}
		if err := writeDGF(g, filepath.Join(dir, "d"), opt); err != nil {
			r.Fatal(err)
		}
		src, err := ingest.Open(ctx, disk, filepath.Join(dir, "d"), ingest.Options{})
		if err != nil {
			r.Fatal(err)
		}
		if src.Format != "dgf" || len(src.Warnings) > 0 {
			r.Fatalf("found the format %s, with %q", src.Format, src.Warnings)
		}
		w, err := store.Create(disk, filepath.Join(dir, "s"), false)
		if err != nil {
			r.Fatal(err)
		}
		defer w.Abort()
		result, err := assemble.Build(ctx, disk, w, src.Input, assemble.Options{Primary: src.Primary, Threads: 2, SelfLoops: assemble.Keep, DuplicateEdges: assemble.Keep})
		if err != nil {
			r.Fatal(err)
		}
		if err := w.Seal(ctx, result.Meta, 1); err != nil {
			r.Fatal(err)
		}
		s, err := store.Open(disk, w.Dir())
		if err != nil {
			r.Fatal(err)
		}
		defer s.Close()
		widenDGF(g)
		if diff := cmp.Diff(describe(g), describe(s.Graph)); diff != "" {
			r.Fatal(diff)
		}
	})
}

// What DGF cannot hold or would read wrongly is an error that says so.
func TestDGFRefuses(t *testing.T) {
	paths := func(rel string) *graph.Graph {
		g := nodes(&graph.Column{Name: "x", DType: graph.Bool, Rows: 1, Values: []byte{1}})
		for _, name := range []string{"e", rel} {
			e := &graph.Edges{Type: graph.EdgeType{Src: "n", Rel: name, Dst: "n"}, Primary: graph.Out}
			e.Adj[graph.Out] = &graph.Adjacency{Indptr: index(make([]uint32, g.Nodes[0].Count))}
			g.Edges = append(g.Edges, e)
		}
		return g
	}
	big := &graph.Column{Name: "v", DType: graph.Uint64, Rows: 1, Values: binary.LittleEndian.AppendUint64(nil, 1<<63)}
	for _, c := range []struct {
		name, want string
		g          *graph.Graph
	}{
		{"an integer of 2^63", "nodesets/n: found 9223372036854775808 in column \"v\"", nodes(big)},
		{"a name of a path", `found the set name "../x"`, paths("../x")},
		{"a name of a pattern", `found the set name "a*"`, paths("a*")},
		{"the beginning of another name", `found the set names "e" and "e-2"`, paths("e-2")},
		{"a column of ids", "in addition to the original ids", nodes(&graph.Column{Name: "#id", DType: graph.Bool, Rows: 1, Values: []byte{1}})},
		{"a context", "found a context", &graph.Graph{Context: []*graph.Column{big}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := writeDGF(c.g, filepath.Join(t.TempDir(), "out"), unigraph.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected %q", err, c.want)
			}
		})
	}
}

// The schema has what the columns of a store mean, as far as DGF has it.
func TestDGFSchema(t *testing.T) {
	g := nodes(
		&graph.Column{Name: "at", DType: graph.Int64, Unit: graph.Seconds, Rows: 1, Values: make([]byte, 8)},
		&graph.Column{Name: "kind", DType: graph.Int32, Rows: 1, Values: make([]byte, 4), Categories: texts(nil, "x", "y")},
		&graph.Column{Name: "m", DType: graph.Float32, Shape: []int{1, 2}, Rows: 1, Values: make([]byte, 8)},
	)
	dir := t.TempDir()
	var result *unigraph.DGFResult
	if err := publish(filepath.Join(dir, "out"), func(w *store.Writer) (err error) {
		result, err = unigraph.DGFFromGraph(ctx, disk, w, g, nil, unigraph.Options{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "out", dgf.SchemaFile))
	if err != nil {
		t.Fatal(err)
	}
	s, err := dgf.ParseSchema(dgf.SchemaFile, text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, name := range []string{"#id", "at", "kind", "m"} {
		f := s.NodeSets["n"].Features[name]
		line := fmt.Sprint(name, " ", f.Format, " ", f.Semantic, " ", []int(f.Shape))
		if f.Categories != nil {
			line += fmt.Sprint(" ", *f.Categories)
		}
		got = append(got, line)
	}
	want := []string{"#id BYTES PRIMARY_ID []", "at INTEGER_64 TIMESTAMP []", "kind INTEGER_32 CATEGORICAL [] 2", "m FLOAT_32 UNKNOWN [1 2]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(result.Warnings) != 2 {
		t.Errorf("found the warnings %q, expected that the unit and the texts are lost", result.Warnings)
	}
}
