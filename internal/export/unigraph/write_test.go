package unigraph_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/unigraph"
	"github.com/graphmill/graphmill/internal/generate"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

var formats = []unigraph.Format{unigraph.CSV, unigraph.TFRecord, unigraph.Parquet}

// edges is a table of numbers with several chunks.
func edges(t testing.TB) (table.Table, []unigraph.Column) {
	law, err := generate.NewRMAT(1, 15, 8)
	if err != nil {
		t.Fatal(err)
	}
	from := func(name string) table.Column { return table.Column{Name: name, DType: graph.Uint64} }
	return law, []unigraph.Column{{Name: "#source", From: from("src")}, {Name: "#target", From: from("dst")}}
}

// The number of threads changes no byte, although chunks are finished in any order.
func TestThreadsChangeNothing(t *testing.T) {
	law, columns := edges(t)
	for _, f := range formats {
		for _, shards := range []int{0, 3} {
			var want map[string]string
			for _, threads := range []int{1, 2, 8} {
				out := filepath.Join(t.TempDir(), "out")
				var stats unigraph.Stats
				err := publish(out, func(w *store.Writer) (err error) {
					stats, err = unigraph.Write(ctx, disk, w, "edges", law, columns, unigraph.Options{Format: f, Shards: shards, Threads: threads, Gzip: f == unigraph.TFRecord})
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				got := files(t, out)
				size := 0
				for _, b := range got {
					size += len(b)
				}
				if stats.Rows != law.(*generate.RMAT).Edges() || int64(size) != stats.Bytes || len(got) != max(shards, 1) {
					t.Errorf("%s: found %d rows and %d bytes, counted %+v, in %d files", f, law.(*generate.RMAT).Edges(), size, stats, len(got))
				}
				if want == nil {
					want = got
				}
				for name := range want {
					if got[name] != want[name] {
						t.Errorf("%s with %d shards: %s differs with %d threads", f, shards, name, threads)
					}
				}
			}
		}
	}
}

// late is a table whose first chunk is finished last.
type late struct{ chunks int }

const lateRows = 1 << 5

func (l late) Fields() []table.Field        { return nil }
func (l late) Files() []string              { return []string{"late"} }
func (l late) Bytes() int64                 { return 0 }
func (l late) Where(uint64, string) string  { return "late" }
func (l late) data(chunk int) (data []byte) { return make([]byte, 2048*lateRows) }
func (l late) Scan(_ context.Context, columns []table.Column, _ int, fn func(int, *table.Chunk) error) (uint64, error) {
	for i := l.chunks - 1; i >= 0; i-- {
		c := table.Chunk{First: uint64(i) * lateRows, Rows: lateRows}
		if len(columns) > 0 {
			c.Columns = []table.Vector{{Data: l.data(i)}}
			for at := 0; at < len(c.Columns[0].Data); at += 8 {
				binary.LittleEndian.PutUint64(c.Columns[0].Data[at:], uint64(i*lateRows+at))
			}
		}
		if err := fn(0, &c); err != nil {
			return 0, err
		}
	}
	return uint64(l.chunks) * lateRows, nil
}

// Chunks that are early and do not fit into memory wait on disk.
func TestEarlyChunksWait(t *testing.T) {
	defer unigraph.SetMaxWaiting(40 << 10)()
	columns := []unigraph.Column{{Name: "x", From: table.Column{Name: "x", DType: graph.Uint64, Shape: []int{256}}}}
	var rows []string
	for i, l := range []table.Table{late{9}, inOrder{late{9}}} {
		out := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := publish(out, func(w *store.Writer) error {
			_, err := unigraph.Write(ctx, disk, w, "t", l, columns, unigraph.Options{Format: unigraph.TFRecord})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, files(t, out)["t.tfrecord"])
	}
	if rows[0] != rows[1] {
		t.Error("found other bytes where the first chunk comes last, expected those of the input order")
	}
}

// inOrder delivers the chunks of late in order.
type inOrder struct{ late }

func (l inOrder) Scan(ctx context.Context, columns []table.Column, threads int, fn func(int, *table.Chunk) error) (uint64, error) {
	for i := range l.chunks {
		one := func(w int, c *table.Chunk) error {
			if c.First != uint64(i)*lateRows {
				return nil
			}
			return fn(w, c)
		}
		if _, err := l.late.Scan(ctx, columns, threads, one); err != nil {
			return 0, err
		}
	}
	return uint64(l.chunks) * lateRows, nil
}

func nodes(columns ...*graph.Column) *graph.Graph {
	return &graph.Graph{Nodes: []*graph.Nodes{{Type: "n", Count: columns[0].Rows, Columns: columns}}}
}

func texts(shape []int, of ...string) *graph.Column {
	c := &graph.Column{Name: "x", DType: graph.String, Shape: shape, Rows: len(of)}
	var ends []uint32
	for _, s := range of {
		c.Values = append(c.Values, s...)
		ends = append(ends, uint32(len(c.Values)))
	}
	c.StringOffsets = index(ends)
	return c
}

func doubles(of ...float64) *graph.Column {
	c := &graph.Column{Name: "x", DType: graph.Float64, Rows: len(of)}
	for _, v := range of {
		c.Values = binary.LittleEndian.AppendUint64(c.Values, math.Float64bits(v))
	}
	return c
}

// A value that a format cannot hold is refused; the error names the row, the column and a remedy. The other formats
// accept it.
func TestInexpressible(t *testing.T) {
	ragged := doubles(0.5, 1, 0.1)
	ragged.Shape, ragged.Rows, ragged.Offsets = []int{-1}, 2, []graph.Index{index([]uint32{1, 3})}
	for _, test := range []struct {
		name   string
		column *graph.Column
		format unigraph.Format
		want   string
	}{
		{"double", doubles(0.5, math.NaN(), 0.1), unigraph.TFRecord, `n: row 2: found 0.1 in column "x", expected a number that a float32 holds`},
		{"double in a list", ragged, unigraph.TFRecord, `n: row 1: found 0.1 in column "x"`},
		{"bytes", texts(nil, "a", "\xff"), unigraph.CSV, `n: row 1: found "\xff" in column "x", expected UTF-8`},
		{"quotes", texts([]int{1}, "it's", `it's "x"`), unigraph.CSV, `n: row 1: found a string with both kinds of quotes in a vector in column "x"`},
	} {
		for _, f := range formats {
			err := fromGraph(nodes(test.column), filepath.Join(t.TempDir(), "out"), unigraph.Options{Format: f})
			if f == test.format {
				if !errors.Is(err, unigraph.ErrInexpressible) || !strings.HasPrefix(err.Error(), test.want) {
					t.Errorf("%s in %s: found %v, expected %s...", test.name, f, err, test.want)
				}
			} else if err != nil {
				t.Errorf("%s in %s: %v", test.name, f, err)
			}
		}
	}
	rounds := unigraph.Options{Format: unigraph.TFRecord, RoundDoubles: true}
	if err := fromGraph(nodes(doubles(0.1, math.Inf(-1))), filepath.Join(t.TempDir(), "out"), rounds); err != nil {
		t.Errorf("rounded: %v", err)
	}
	for _, o := range []unigraph.Options{rounds, {Format: unigraph.TFRecord}} {
		err := fromGraph(nodes(doubles(0.5, -1.797e308)), filepath.Join(t.TempDir(), "out"), o)
		if !errors.Is(err, unigraph.ErrInexpressible) || !strings.HasPrefix(err.Error(), `n: row 1: found -1.797e+308 in column "x", expected a number in the range of float32`) {
			t.Errorf("beyond float32: found %v", err)
		}
	}
}

// Doubles that round to 0, or to a float32 with fewer digits, are counted by column, for any number of threads and
// shards.
func TestUnderflows(t *testing.T) {
	var values []float64
	for i := range 50_000 {
		values = append(values, []float64{1e-310, 0.1, 0, 1e-40, math.SmallestNonzeroFloat32}[i%5])
	}
	for threads := 1; threads <= 3; threads++ {
		w, err := store.Create(disk, filepath.Join(t.TempDir(), "out"), false)
		if err != nil {
			t.Fatal(err)
		}
		r, err := unigraph.FromGraph(t.Context(), disk, w, nodes(doubles(values...)), nil, unigraph.Options{Format: unigraph.TFRecord, RoundDoubles: true, Threads: threads, Shards: 3 * (threads - 1)})
		if err := errors.Join(err, w.Abort()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]uint64{"nodes-n: column x": 20_000}, r.Tables[0].Underflows); diff != "" {
			t.Errorf("%d threads: -want +found:\n%s", threads, diff)
		}
	}
}

// Sets are named after types, and files after sets. Two sets with the same name are refused.
func TestNames(t *testing.T) {
	none := func() *graph.Adjacency { return &graph.Adjacency{Indptr: index(nil)} }
	edge := func(src, rel, dst string) *graph.Edges {
		return &graph.Edges{Type: graph.EdgeType{Src: src, Rel: rel, Dst: dst}, Adj: [2]*graph.Adjacency{none(), nil}}
	}
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "_N"}, {Type: "a/b"}}, Edges: []*graph.Edges{edge("_N", "_E", "_N"), edge("a/b", "r", "_N"), edge("a/b", "r", "a/b")}}
	out := filepath.Join(t.TempDir(), "out")
	if err := fromGraph(g, out, unigraph.Options{Format: unigraph.CSV, Shards: 1}); err != nil {
		t.Fatal(err)
	}
	var names []string
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{"edges-a%2Fb_r_a%2Fb.csv-00000-of-00001", "edges-a%2Fb_r_node.csv-00000-of-00001", "edges-edge.csv-00000-of-00001", "manifest.json", "manifest.json.xxh3",
		"nodes-a%2Fb.csv-00000-of-00001", "nodes-node.csv-00000-of-00001", "schema.pbtxt"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	schema, _, _, err := tfgnnfiles.ReadSchema(disk, out)
	if err != nil || schema.GetEdgeSets()["a/b_r_node"].GetTarget() != "node" {
		t.Errorf("found %v, %v", schema, err)
	}
	// _E is "edge" in a unigraph, as the other relation is.
	same := &graph.Graph{Nodes: []*graph.Nodes{{Type: "_N"}}, Edges: []*graph.Edges{edge("_N", "_E", "_N"), edge("_N", "edge", "_N")}}
	var r *unigraph.Result
	if err := publish(filepath.Join(t.TempDir(), "out"), func(w *store.Writer) (err error) {
		r, err = unigraph.FromGraph(ctx, disk, w, same, nil, unigraph.Options{Format: unigraph.CSV, Shards: 1})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"edge type _N:_E:_N is the edge set node__E_node, as several types would be the edge set edge",
		"edge type _N:edge:_N is the edge set node_edge_node, as several types would be the edge set edge",
	}, r.Warnings); diff != "" {
		t.Error(diff)
	}
	g.Nodes = append(g.Nodes, &graph.Nodes{Type: "node"})
	if err := fromGraph(g, filepath.Join(t.TempDir(), "out"), unigraph.Options{}); err == nil || !strings.Contains(err.Error(), `found the node set name "node" for two types`) {
		t.Errorf("found %v", err)
	}
}

// Each call of the file system that fails gives an error, and no output has the final name.
func TestFaults(t *testing.T) {
	broken := errors.New("broken")
	g := nodes(texts(nil, "a", "b", "c"), doubles(1, 2, 3))
	g.Nodes[0].Columns[1].Name = "y"
	for _, f := range formats {
		// Fail only the calls of this package; the store's own tests cover the others.
		var first, last int64
		run := func(fsys *vfs.Fault, out string) error {
			w, err := store.Create(fsys, out, false)
			if err != nil {
				return err
			}
			first = fsys.Calls() + 1
			_, err = unigraph.FromGraph(ctx, fsys, w, g, nil, unigraph.Options{Format: f, Shards: 2})
			last = fsys.Calls()
			if err == nil {
				err = errors.Join(w.Seal(ctx, nil, 1), w.Publish())
			}
			return errors.Join(err, w.Abort())
		}
		if err := run(&vfs.Fault{FS: disk}, filepath.Join(t.TempDir(), "out")); err != nil {
			t.Fatal(err)
		}
		for i, end := first, last; i <= end; i++ {
			out := filepath.Join(t.TempDir(), "out")
			err := run(&vfs.Fault{FS: disk, FailAt: i, Err: broken, Short: i%2 == 0}, out)
			if !errors.Is(err, broken) {
				t.Errorf("%s: call %d of %d to %d failed: found %v", f, i, first, end, err)
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("%s: call %d of %d to %d failed: found an output", f, i, first, end)
			}
		}
	}
}

// A run that is cancelled ends.
func TestCancel(t *testing.T) {
	law, columns := edges(t)
	for _, f := range formats {
		ctx, cancel := context.WithCancel(ctx)
		err := publish(filepath.Join(t.TempDir(), "out"), func(w *store.Writer) error {
			_, err := unigraph.Write(ctx, disk, w, "edges", law, columns, unigraph.Options{Format: f, Threads: 2, Progress: func(int) { cancel() }})
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: found %v", f, err)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, test := range []struct {
		opt  unigraph.Options
		want string
	}{
		{unigraph.Options{Shards: -1}, "found -1 shards"},
		{unigraph.Options{Shards: 100000}, "found 100000 shards"},
		{unigraph.Options{Format: unigraph.Parquet, Gzip: true}, "found gzip for Parquet tables"},
		{unigraph.Options{Format: unigraph.CSV, RoundDoubles: true}, "found rounding of doubles for csv tables"},
	} {
		if err := test.opt.Check(); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("found %v, expected %s...", err, test.want)
		}
	}
	if _, err := unigraph.ParseFormat("xml"); err == nil {
		t.Error("found no error for xml")
	}
}
