package unigraph_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/unigraph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) {
	proof.FewerChecks(6) // a check writes folders
	goleak.VerifyTestMain(m)
}

var ctx = context.Background()

// disk is the file system without waiting for the disk.
var disk vfs.FS = vfs.Unsynced{FS: vfs.OS}

// index is a list of offsets that starts at 0.
func index(ends []uint32) graph.Index { return graph.Index{U32: append([]uint32{0}, ends...)} }

// drawColumn draws a column of rows rows.
func drawColumn(t *rapid.T, name string, rows int) *graph.Column {
	dtype := rapid.SampledFrom([]graph.DType{graph.Bool, graph.Int8, graph.Int16, graph.Int32, graph.Int64, graph.Uint8, graph.Uint16,
		graph.Uint32, graph.Uint64, graph.Float16, graph.BFloat16, graph.Float32, graph.Float64, graph.String}).Draw(t, "dtype")
	shape := rapid.SliceOfN(rapid.SampledFrom([]int{-1, -1, 1, 2, 3}), 0, 3).Draw(t, "shape")
	c := &graph.Column{Name: name, DType: dtype, Shape: shape, Rows: rows}
	n := rows
	for _, d := range shape {
		if d != -1 {
			n *= d
			continue
		}
		var ends []uint32
		sum := uint32(0)
		for range n {
			sum += rapid.Uint32Range(0, 3).Draw(t, "length")
			ends = append(ends, sum)
		}
		c.Offsets = append(c.Offsets, index(ends))
		n = int(sum)
	}
	var ends []uint32
	for range n {
		switch {
		case dtype == graph.String:
			// Strings in vectors of CSV files have at most one kind of quotes.
			text := rapid.SampledFrom([]string{"", "a", "b c", "x,y", "it's", `"q"`, "1", "[x]", "]", "tab\t;|", "ünï", " lead", "new\nline", "\r"})
			c.Values = append(c.Values, text.Draw(t, "text")...)
			ends = append(ends, uint32(len(c.Values)))
		case dtype == graph.Bool:
			c.Values = append(c.Values, byte(rapid.IntRange(0, 1).Draw(t, "bool")))
		case dtype == graph.Float64: // that Examples can hold
			v := float64(rapid.Float32().Draw(t, "double"))
			c.Values = binary.LittleEndian.AppendUint64(c.Values, math.Float64bits(v))
		case dtype == graph.Float16, dtype == graph.BFloat16:
			v := rapid.Uint16().Draw(t, "half")
			if v&0x7c00 == 0x7c00 {
				v = 0x7c00 &^ 0x400 // not NaN, which has many representations
			}
			c.Values = binary.LittleEndian.AppendUint16(c.Values, v)
		case dtype == graph.Float32:
			v := rapid.OneOf(rapid.Float32(), rapid.SampledFrom([]float32{float32(math.Inf(1)), float32(math.Inf(-1)), 0.1, -0})).Draw(t, "float")
			c.Values = binary.LittleEndian.AppendUint32(c.Values, math.Float32bits(v))
		default:
			v := rapid.Uint64().Draw(t, "integer")
			c.Values = append(c.Values, binary.LittleEndian.AppendUint64(nil, v)[:dtype.Size()]...)
		}
	}
	if dtype == graph.String {
		c.StringOffsets = index(ends)
	}
	return c
}

func drawColumns(t *rapid.T, rows int) []*graph.Column {
	var cols []*graph.Column
	for i := range rapid.IntRange(0, 3).Draw(t, "columns") {
		name := []string{"a", "feat", "w,x"}[i]
		cols = append(cols, drawColumn(t, name, rows))
	}
	return cols
}

// drawGraph draws two node types, one with ids, and one edge type per source. One of them has the relation of
// another.
func drawGraph(t *rapid.T) *graph.Graph {
	g := &graph.Graph{}
	for _, name := range []string{"paper", "au thor"} {
		n := &graph.Nodes{Type: name, Count: rapid.IntRange(0, 12).Draw(t, "nodes")}
		n.Columns = drawColumns(t, n.Count)
		if name == "paper" {
			n.IDs = &graph.Column{Name: "#id", DType: graph.String, Rows: n.Count}
			var ends []uint32
			for i := range n.Count {
				n.IDs.Values = fmt.Appendf(n.IDs.Values, `p"%d,`, i*7)
				ends = append(ends, uint32(len(n.IDs.Values)))
			}
			n.IDs.StringOffsets = index(ends)
		}
		g.Nodes = append(g.Nodes, n)
	}
	if rapid.Bool().Draw(t, "context") {
		g.Context = []*graph.Column{drawColumn(t, "of all", 1)}
	}
	for _, e := range []graph.EdgeType{{Src: "paper", Rel: "cites", Dst: "paper"}, {Src: "au thor", Rel: "writes", Dst: "paper"}} {
		src, dst := g.Nodes[0], g.Nodes[0]
		if e.Src != "paper" {
			src = g.Nodes[1]
		}
		x := &graph.Edges{Type: e, Primary: graph.Out}
		var ends, far []uint32
		for range src.Count {
			for range rapid.IntRange(0, 4).Draw(t, "degree") {
				if dst.Count > 0 {
					far = append(far, rapid.Uint32Range(0, uint32(dst.Count-1)).Draw(t, "target"))
				}
			}
			ends = append(ends, uint32(len(far)))
		}
		x.Count = len(far)
		x.Adj[graph.Out] = &graph.Adjacency{Indptr: index(ends), Far: graph.Index{U32: far}}
		x.Columns = drawColumns(t, x.Count)
		g.Edges = append(g.Edges, x)
	}
	g.Sort()
	return g
}

func drawOptions(t *rapid.T, f unigraph.Format) unigraph.Options {
	return unigraph.Options{Format: f, Shards: rapid.IntRange(0, 3).Draw(t, "shards"), Threads: rapid.IntRange(1, 3).Draw(t, "threads"),
		Gzip: f != unigraph.Parquet && rapid.Bool().Draw(t, "gzip")}
}

// publish writes a folder.
func publish(out string, write func(w *store.Writer) error) error {
	w, err := store.Create(disk, out, false)
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := write(w); err != nil {
		return err
	}
	if err := w.Seal(ctx, nil, 1); err != nil {
		return err
	}
	return w.Publish()
}

func fromGraph(g *graph.Graph, out string, opt unigraph.Options) error {
	return publish(out, func(w *store.Writer) error {
		_, err := unigraph.FromGraph(ctx, disk, w, g, nil, opt)
		return err
	})
}

func convert(in, out string, opt unigraph.Options) error {
	src, err := ingest.Open(ctx, disk, in, ingest.Options{Format: "unigraph"})
	if err != nil {
		return err
	}
	return publish(out, func(w *store.Writer) error {
		_, err := unigraph.Convert(ctx, disk, w, src, opt)
		return err
	})
}

// files returns the contents of a folder, without the manifest.
func files(t testing.TB, dir string) map[string]string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "manifest") {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			out[e.Name()] = string(b)
		}
	}
	return out
}

// A graph that is written in one format and then converted to all others, with any shards and compression, has in the
// end the same CSV files as when they are written directly.
func TestConversionsKeepValues(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		g := drawGraph(r)
		way := rapid.Permutation([]unigraph.Format{unigraph.CSV, unigraph.TFRecord, unigraph.Parquet}).Draw(r, "way")
		at := filepath.Join(dir, "0")
		if err := fromGraph(g, at, drawOptions(r, way[0])); err != nil {
			r.Fatal(err)
		}
		for i, f := range append(way[1:], unigraph.CSV) {
			next := filepath.Join(dir, fmt.Sprint(i+1))
			if err := convert(at, next, drawOptions(r, f)); err != nil {
				r.Fatalf("%s to %s: %v", at, f, err)
			}
			at = next
		}
		// Finally convert to one plain CSV file per table.
		opt := unigraph.Options{Format: unigraph.CSV, Threads: 1}
		if err := convert(at, filepath.Join(dir, "end"), opt); err != nil {
			r.Fatal(err)
		}
		if err := fromGraph(g, filepath.Join(dir, "start"), opt); err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(files(t, filepath.Join(dir, "start")), files(t, filepath.Join(dir, "end"))); diff != "" {
			r.Fatal(diff)
		}
	})
}

// A store that is written as a unigraph and imported again is the same graph: the same nodes and edges by id, with
// the same columns.
func TestFromStoreAndBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		g := drawGraph(r)
		format := rapid.SampledFrom([]unigraph.Format{unigraph.CSV, unigraph.TFRecord, unigraph.Parquet}).Draw(r, "format")
		if err := fromGraph(g, filepath.Join(dir, "u"), drawOptions(r, format)); err != nil {
			r.Fatal(err)
		}
		src, err := ingest.Open(ctx, disk, filepath.Join(dir, "u"), ingest.Options{})
		if err != nil {
			r.Fatal(err)
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
		if diff := cmp.Diff(describe(g), describe(s.Graph)); diff != "" {
			r.Fatal(diff)
		}
	})
}

// describe returns a graph as text.
func describe(g *graph.Graph) []string {
	var out []string
	list := func(x graph.Index) (l []uint64) {
		for i := range x.Len() {
			l = append(l, x.At(i))
		}
		return l
	}
	columns := func(of string, cols []*graph.Column) {
		for _, c := range cols {
			if c.Name == graph.PositionColumn {
				continue
			}
			line := fmt.Sprintf("%s %s %s %v %x", of, c.Name, c.DType, c.Shape, c.Values)
			for _, x := range c.Offsets {
				line += fmt.Sprint(" ", list(x))
			}
			out = append(out, line+fmt.Sprint(" ", list(c.StringOffsets)))
		}
	}
	columns("context", g.Context)
	for _, n := range g.Nodes {
		for i := range n.Count {
			if n.IDs == nil {
				out = append(out, fmt.Sprintf("%s %d %d", n.Type, i, i))
			} else {
				out = append(out, fmt.Sprintf("%s %d %s", n.Type, i, n.IDs.Text(i)))
			}
		}
		columns(n.Type, n.Columns)
	}
	for _, e := range g.Edges {
		out = append(out, fmt.Sprint(e.Type, e.Primary, list(e.Adj[e.Primary].Indptr), list(e.Adj[e.Primary].Far)))
		columns(e.Type.String(), e.Columns)
	}
	return out
}
