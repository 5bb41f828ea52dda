package assemble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// skewed is an edge table in which every third edge leads to the same node.
func skewed(rows, nodes int, dtype graph.DType, shuffle uint64) *memTable {
	r := rand.New(rand.NewPCG(3, 5))
	t := &memTable{name: "edges.csv", chunk: 500, shuffle: shuffle}
	for _, name := range []string{"src", "dst"} {
		cells := make([]cell, rows)
		for i := range cells {
			v := r.IntN(nodes)
			if name == "dst" && i%3 == 0 {
				v = 7
			}
			if cells[i] = id64(v); dtype == graph.String {
				cells[i] = cell{texts: []string{fmt.Sprint("node/", v)}}
			}
		}
		t.add(table.Column{Name: name, DType: dtype}, cells)
	}
	text := make([]cell, rows)
	for i := range text {
		text[i].texts = []string{strings.Repeat("x", i%5)}
		if i%1000 == 0 {
			text[i].texts[0] = strings.Repeat("long ", 2000) // larger than a buffer
		}
	}
	t.add(table.Column{Name: "text", DType: graph.String}, text)
	return t
}

// TestBudgets builds larger graphs with budgets from large to tiny, so that buckets, and the edges of single nodes,
// have to be cut.
func TestBudgets(t *testing.T) {
	const rows, nodes = 12000, 4000
	edge := func(dtype graph.DType, tab *memTable) Edges {
		return Edges{Type: graph.HomogeneousEdge, Table: tab, Src: table.Column{Name: "src", DType: dtype}, Dst: table.Column{Name: "dst", DType: dtype}}
	}
	ints, texts := edge(graph.Uint64, skewed(rows, nodes, graph.Uint64, 0)), edge(graph.String, skewed(rows, nodes, graph.String, 0))
	shuffled := edge(graph.Uint64, skewed(rows, nodes, graph.Uint64, 9))
	columns := ints
	columns.Columns = []table.Column{{Name: "text", DType: graph.String}, {Name: "src", DType: graph.Uint64}}
	keys := &memTable{name: "nodes.csv", chunk: 300, shuffle: 4}
	ids := make([]cell, nodes+nodes/2)
	for i := range ids {
		ids[i] = cell{texts: []string{fmt.Sprint("node/", (i*7)%nodes)}}
	}
	keys.add(table.Column{Name: "id", DType: graph.String}, ids)
	for _, c := range []struct {
		name string
		in   Input
		opt  Options
	}{
		{"integers", Input{Nodes: []Nodes{{Type: "_N"}}, Edges: []Edges{ints}}, Options{DuplicateEdges: Keep, SelfLoops: Keep, Both: true}},
		{"shuffled", Input{Nodes: []Nodes{{Type: "_N"}}, Edges: []Edges{shuffled}}, Options{DuplicateEdges: Keep, SelfLoops: Keep, Both: true, Primary: graph.Out}},
		{"duplicates", Input{Nodes: []Nodes{{Type: "_N"}}, Edges: []Edges{ints}}, Options{DuplicateEdges: Drop, SelfLoops: Drop}},
		{"columns", Input{Nodes: []Nodes{{Type: "_N"}}, Edges: []Edges{columns}}, Options{DuplicateEdges: Keep, SelfLoops: Keep}},
		{"appearance", Input{Nodes: []Nodes{{Type: "_N", ID: table.Column{DType: graph.String}}}, Edges: []Edges{texts}}, Options{DuplicateEdges: Keep, SelfLoops: Keep}},
		{"keys", Input{Nodes: []Nodes{{Type: "_N", Table: keys, ID: table.Column{Name: "id", DType: graph.String}}}, Edges: []Edges{texts}}, Options{DuplicateNodes: Drop, DuplicateEdges: Keep, SelfLoops: Keep}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &oracle{in: c.in, opt: c.opt}
			if bad := o.build(); bad != "" {
				t.Fatal(bad)
			}
			for _, work := range []int64{0, 16 << 10, 300 << 10, 3 << 20} {
				for _, threads := range []int{1, 2, 8} {
					opt := c.opt
					opt.work, opt.Threads, opt.wide = work, threads, threads == 2
					got, res, err := build(t, vfs.OS, t.TempDir(), c.in, opt)
					if err != nil {
						t.Fatal(err)
					}
					if d := diff(o.files, got); d != "" {
						t.Fatalf("work %d, threads %d: %s", work, threads, d)
					}
					if e := res.Edges[0]; e.Rows != rows || e.Count != e.Rows-e.SelfLoops-e.Duplicates || int(e.Count) != res.Meta.Edges["_N:_E:_N"].Count {
						t.Fatalf("counts %+v", e)
					}
				}
			}
		})
	}
}

func TestMemoryTooSmall(t *testing.T) {
	in := Input{Nodes: []Nodes{{Type: "_N"}}}
	_, _, err := build(t, vfs.OS, t.TempDir(), in, Options{Memory: 8 << 20})
	if !errors.Is(err, errMemory) || !strings.Contains(err.Error(), "expected at least 34 MiB") {
		t.Fatalf("error %v, want ErrMemory with the least", err)
	}
	if _, _, err := build(t, vfs.OS, t.TempDir(), in, Options{Memory: 34 << 20, Threads: 64}); err != nil {
		t.Fatal(err)
	}
}

// faultInput needs every stage.
func faultInput() (Input, Options) {
	keys := &memTable{name: "nodes.csv", chunk: 7}
	var ids, names []cell
	for i := range 50 {
		ids = append(ids, cell{texts: []string{fmt.Sprint("node/", i)}})
		names = append(names, cell{texts: []string{fmt.Sprint("name ", i)}})
	}
	keys.add(table.Column{Name: "id", DType: graph.String}, ids)
	keys.add(table.Column{Name: "name", DType: graph.String}, names)
	str, num := skewed(300, 50, graph.String, 0), skewed(300, 50, graph.Uint64, 5)
	col := func(name string, d graph.DType) table.Column { return table.Column{Name: name, DType: d} }
	return Input{
		Nodes: []Nodes{
			{Type: "a", Table: keys, ID: col("id", graph.String), Columns: []table.Column{col("name", graph.String)}},
			{Type: "b", ID: col("", graph.String)},
			{Type: "c"},
		},
		Edges: []Edges{
			{Type: graph.EdgeType{Src: "a", Rel: "r", Dst: "b"}, Table: str, Src: col("src", graph.String), Dst: col("dst", graph.String), Columns: []table.Column{col("text", graph.String), col("text", graph.String)}[:1]},
			{Type: graph.EdgeType{Src: "c", Rel: "r", Dst: "c"}, Table: num, Src: col("src", graph.Uint64), Dst: col("dst", graph.Uint64), Columns: []table.Column{col("src", graph.Uint64)}},
		},
	}, Options{Both: true, DuplicateEdges: Keep, SelfLoops: Keep, Threads: 2, work: 24 << 10}
}

// TestFaults fails each call to the file system once.
func TestFaults(t *testing.T) {
	in, opt := faultInput()
	errDisk := errors.New("disk failed")
	var created int64 // number of calls before Build
	run := func(failAt int64) (int64, error) {
		f := &vfs.Fault{FS: vfs.OS, FailAt: failAt, Err: errDisk, Short: failAt%2 == 0}
		w, err := store.Create(f, t.TempDir()+"/store", true)
		if err != nil {
			return f.Calls(), err
		}
		created = f.Calls()
		_, err = Build(context.Background(), f, w, in, opt)
		calls := f.Calls()
		if aerr := w.Abort(); err == nil && calls < failAt {
			err = aerr
		}
		return calls, err
	}
	calls, err := run(0)
	if err != nil {
		t.Fatal(err)
	}
	step := max(1, calls/60)
	for at := created + 1; at <= calls; at += step {
		// The timing of threads changes the number of calls a little, so the last ones may not happen.
		if n, err := run(at); n >= at && !errors.Is(err, errDisk) {
			t.Fatalf("call %d of %d failed, but Build returned %v", at, calls, err)
		}
	}
}

// TestCancel cancels at each chunk, and makes each chunk of a table fail.
func TestCancel(t *testing.T) {
	for at := int64(1); at < 60; at += 3 {
		in, opt := faultInput()
		ctx, cancel := context.WithCancel(context.Background())
		var left = at * 10
		opt.Threads = 1
		opt.Progress = func(string, int64, int64, string) {
			if left--; left == 0 {
				cancel()
			}
		}
		w, err := store.Create(vfs.OS, t.TempDir()+"/store", true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Build(ctx, vfs.OS, w, in, opt); left <= 0 && !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at %d: error %v", at*10, err)
		}
		cancel()
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
		in, opt = faultInput()
		in.Edges[at%2].Table.(*memTable).failAt = 1
		if _, _, err := build(t, vfs.OS, t.TempDir(), in, opt); err == nil || !strings.Contains(err.Error(), "edges.csv: failed") {
			t.Fatalf("error %v, want that of the table", err)
		}
	}
}
