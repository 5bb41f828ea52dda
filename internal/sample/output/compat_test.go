package output

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// strs is a column of the given texts.
func strs(name string, values ...string) *graph.Column {
	c := &graph.Column{Name: name, DType: graph.String, Rows: len(values), StringOffsets: graph.Index{U64: []uint64{0}}}
	for _, v := range values {
		c.Values = append(c.Values, v...)
		c.StringOffsets.U64 = append(c.StringOffsets.U64, uint64(len(c.Values)))
	}
	return c
}

// friends is five people and whom they know. "ghost" occurs only in an edge. d knows c twice.
//
//	d -> c, b, c, ghost    b -> a, d    ghost -> a    a, c know nobody
func friends() *graph.Graph {
	ages := []int64{40, 30, 20, 10, 0}
	return &graph.Graph{
		Nodes: []*graph.Nodes{{Type: "person", Count: 5, Added: 1, IDs: strs("id", "d", "c", "b", "a", "ghost"),
			Columns: []*graph.Column{{Name: "age", DType: graph.Int64, Rows: 5, Values: graph.Bytes(ages)}}}},
		Edges: []*graph.Edges{{Type: graph.EdgeType{Src: "person", Rel: "knows", Dst: "person"}, Count: 7, Primary: graph.Out,
			Adj: [2]*graph.Adjacency{graph.Out: {
				Indptr: graph.Index{U32: []uint32{0, 4, 4, 6, 6, 7}},
				Far:    graph.Index{U32: []uint32{1, 2, 1, 4, 3, 0, 3}},
			}},
			Columns: []*graph.Column{{Name: "since", DType: graph.Int32, Rows: 7, Values: graph.Bytes([]int32{0, 1, 2, 3, 4, 5, 6})}}}},
	}
}

// everything takes all edges for two hops.
func everything(seedType ...string) *sample.Plan {
	return &sample.Plan{SeedType: seedType, Scope: sample.ScopeSeed, Expand: sample.ExpandAll, Ops: []sample.Op{
		{From: []int{0}, Edges: "person:knows:person", Dir: graph.Out, Take: sample.All},
		{From: []int{1}, Edges: "person:knows:person", Dir: graph.Out, Take: sample.All},
	}}
}

// written is the contents of the Examples of seeds, each as sorted lines.
func written(t *testing.T, g *graph.Graph, plan *sample.Plan, opt RecordsOptions, ids ...uint32) []string {
	t.Helper()
	s, err := sample.New(g, plan, sample.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "out")
	if err := writeRecords(context.Background(), vfs.OS, dir, s, opt, sample.Job{Seeds: ids, BatchSize: 100, Threads: 2}); err != nil {
		t.Fatal(err)
	}
	schema, _, _, err := tfgnnfiles.ReadSchema(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	codec, err := example.NewCodec(schema)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, record := range slices.Concat(readShards(t, dir)...) {
		tensor := codec.New()
		if err := codec.Decode(record, tensor, false); err != nil || len(tensor.Unknown) > 0 {
			t.Fatalf("found an Example that its schema does not describe: %v, unknown %q", err, tensor.Unknown)
		}
		var lines []string
		for key, values := range contents(t, record) {
			lines = append(lines, key+" "+values)
		}
		slices.Sort(lines)
		all = append(all, strings.Join(lines, "\n"))
	}
	return all
}

func lines(text string) string {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return strings.Join(list, "\n")
}

// TestCompat compares the same subgraph with the output of each sampler.
func TestCompat(t *testing.T) {
	ids := []string{"person"}
	for _, c := range []struct {
		name   string
		opt    RecordsOptions
		induce bool
		seeds  []uint32
		want   []string
	}{
		{"own", RecordsOptions{IDs: ids}, false, []uint32{0, 3}, []string{`
			edges/knows.#size [7] [] []
			edges/knows.#source [0 0 0 0 2 2 3] [] []
			edges/knows.#target [1 2 1 3 4 0 4] [] []
			edges/knows.since [0 1 2 3 4 5 6] [] []
			nodes/person.#id [] [] ["d" "c" "b" "ghost" "a"]
			nodes/person.#size [5] [] []
			nodes/person.age [40 30 20 0 10] [] []`, `
			nodes/person.#id [] [] ["a"]
			nodes/person.#size [1] [] []
			nodes/person.age [10] [] []`}},
		{"tfgnn", RecordsOptions{IDs: ids, Compat: TFGNN}, false, []uint32{0, 3}, []string{`
			edges/knows.#size [6] [] []
			edges/knows.#source [0 0 0 2 2 3] [] []
			edges/knows.#target [1 2 3 4 0 4] [] []
			edges/knows.since [0 1 3 4 5 6] [] []
			nodes/person.#id [] [] ["d" "c" "b" "" "a"]
			nodes/person.#size [5] [] []
			nodes/person.age [40 30 20 0 10] [] []`, `
			edges/knows.#size [0] [] []
			edges/knows.#source [] [] []
			edges/knows.#target [] [] []
			edges/knows.since [] [] []
			nodes/person.#id [] [] ["a"]
			nodes/person.#size [1] [] []
			nodes/person.age [10] [] []`}},
		{"classic", RecordsOptions{IDs: ids, Compat: Classic, Joined: true, SeedIDs: true, Seeds: []uint32{2, 3, 2}}, false, []uint32{2, 3, 2}, []string{`
			context/sample_id [] [] ["b"]
			context/seed_id [] [] ["b"]
			edges/knows.#size [5] [] []
			edges/knows.#source [0 0 3 3 3] [] []
			edges/knows.#target [1 3 0 2 2] [] []
			edges/knows.since [4 5 1 0 2] [] []
			nodes/person.#id [] [] ["b" "a" "c" "d"]
			nodes/person.#size [4] [] []
			nodes/person.age [20 10 30 40] [] []`, `
			context/sample_id [] [] ["a"]
			context/seed_id [] [] ["a"]
			nodes/person.#id [] [] ["a"]
			nodes/person.#size [1] [] []
			nodes/person.age [10] [] []`, `
			context/sample_id [] [] ["b:1"]
			context/seed_id [] [] ["b"]
			edges/knows.#size [5] [] []
			edges/knows.#source [0 0 3 3 3] [] []
			edges/knows.#target [1 3 0 2 2] [] []
			edges/knows.since [4 5 1 0 2] [] []
			nodes/person.#id [] [] ["b" "a" "c" "d"]
			nodes/person.#size [4] [] []
			nodes/person.age [20 10 30 40] [] []`}},
		{"all edges between the nodes", RecordsOptions{IDs: ids}, true, []uint32{2}, []string{`
			edges/knows.#size [7] [] []
			edges/knows.#source [0 0 2 2 2 2 4] [] []
			edges/knows.#target [1 2 3 0 3 4 1] [] []
			edges/knows.since [4 5 0 1 2 3 6] [] []
			nodes/person.#id [] [] ["b" "a" "d" "c" "ghost"]
			nodes/person.#size [5] [] []
			nodes/person.age [20 10 40 30 0] [] []`}},
		{"components", RecordsOptions{Components: 2}, false, []uint32{2, 3, 1}, []string{`
			edges/knows.#size [6 0] [] []
			edges/knows.#source [0 0 2 2 2 2] [] []
			edges/knows.#target [1 2 3 0 3 4] [] []
			edges/knows.since [4 5 0 1 2 3] [] []
			nodes/person.#size [5 1] [] []
			nodes/person.age [20 10 40 30 0 10] [] []`, `
			edges/knows.#size [0] [] []
			nodes/person.#size [1] [] []
			nodes/person.age [30] [] []`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := everything("person")
			if c.induce {
				plan.Kind = sample.Induced
			}
			got := written(t, friends(), plan, c.opt, c.seeds...)
			var want []string
			for _, w := range c.want {
				want = append(want, lines(w))
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestClassicLatent checks that a set without features has the nodes that occur in edges, including those without a
// row, and no seed without edges.
func TestClassicLatent(t *testing.T) {
	schema, err := tfgnn.ParseSchema("schema.pbtxt", []byte(`node_sets { key: "person" value { metadata { filename: "p.csv" } } }
		edge_sets { key: "knows" value { source: "person" target: "person" } }`))
	if err != nil {
		t.Fatal(err)
	}
	opt := RecordsOptions{Compat: Classic, Joined: true, SeedIDs: true, Seeds: []uint32{0, 3}, Schema: schema}
	want := []string{lines(`context/sample_id [] [] ["d"]
		context/seed_id [] [] ["d"]
		edges/knows.#size [7] [] []
		edges/knows.#source [0 0 0 0 2 2 4] [] []
		edges/knows.#target [2 3 3 4 0 1 1] [] []
		nodes/person.#size [5] [] []`), lines(`context/sample_id [] [] ["a"]
		context/seed_id [] [] ["a"]`)}
	if d := cmp.Diff(want, written(t, friends(), everything("person"), opt, 0, 3)); d != "" {
		t.Error(d)
	}
}

// TestTFGNNLatent checks that a set without features keeps its ids, also ids of
// nodes without a row, and that columns which the schema lacks are not written.
func TestTFGNNLatent(t *testing.T) {
	schema, err := tfgnn.ParseSchema("schema.pbtxt", []byte(`context { features { key: "left" value { dtype: DT_INT64 } } }
		node_sets { key: "person" value { metadata { filename: "p.csv" cardinality: 4 } } }
		node_sets { key: "pet" value { description: "never sampled" features { key: "name" value { dtype: DT_STRING } } } }
		edge_sets { key: "knows" value { source: "person" target: "person" } }`))
	if err != nil {
		t.Fatal(err)
	}
	got := written(t, friends(), everything("person"), RecordsOptions{Compat: TFGNN, Schema: schema}, 0)
	want := lines(`edges/knows.#size [6] [] []
		edges/knows.#source [0 0 0 2 2 3] [] []
		edges/knows.#target [1 2 3 4 0 4] [] []
		nodes/person.#id [] [] ["d" "c" "b" "ghost" "a"]
		nodes/person.#size [5] [] []`)
	if d := cmp.Diff([]string{want}, got); d != "" {
		t.Error(d)
	}
	n, err := newEncoding(friends(), everything("person"), &RecordsOptions{Compat: TFGNN, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(tfgnn.AppendText(nil, n.schema)); strings.Contains(text, "left") || strings.Contains(text, "p.csv") ||
		strings.Contains(text, "cardinality") || !strings.Contains(text, "never sampled") || !strings.Contains(text, `key: "#id"`) {
		t.Errorf("found schema %s", text)
	}
}

// TestReadout compares links with the layout of TF-GNN: one Example per link, a batch of links, and links as
// components.
func TestReadout(t *testing.T) {
	columns := []*graph.Column{strs("tag", "x", "y", "z"), {Name: "label", DType: graph.Int64, Rows: 3, Values: graph.Bytes([]int64{7, 8, 9})}}
	one := everything("person", "person")
	one.Ops = one.Ops[:1]
	batch := *one
	batch.Scope = sample.ScopeBatch
	links := []uint32{2, 3, 1, 1, 2, 0} // b-a, c-c, b-d
	for _, c := range []struct {
		name string
		plan *sample.Plan
		opt  RecordsOptions
		want []string
	}{
		{"one", one, RecordsOptions{Compat: TFGNN, SeedColumns: columns[:1]}, []string{`
			edges/_readout/source.#size [1] [] []
			edges/_readout/source.#source [0] [] []
			edges/_readout/source.#target [0] [] []
			edges/_readout/target.#size [1] [] []
			edges/_readout/target.#source [1] [] []
			edges/_readout/target.#target [0] [] []
			edges/knows.#size [2] [] []
			edges/knows.#source [0 0] [] []
			edges/knows.#target [1 2] [] []
			edges/knows.since [4 5] [] []
			nodes/_readout.#size [1] [] []
			nodes/_readout.#source [] [] ["b"]
			nodes/_readout.#target [] [] ["a"]
			nodes/_readout.tag [] [] ["x"]
			nodes/person.#size [3] [] []
			nodes/person.age [20 10 40] [] []`}},
		{"batch", &batch, RecordsOptions{SeedColumns: columns}, []string{`
			edges/_readout/source.#size [3] [] []
			edges/_readout/source.#source [0 1 0] [] []
			edges/_readout/source.#target [0 1 2] [] []
			edges/_readout/target.#size [3] [] []
			edges/_readout/target.#source [2 1 3] [] []
			edges/_readout/target.#target [0 1 2] [] []
			edges/knows.#size [6] [] []
			edges/knows.#source [0 0 3 3 3 3] [] []
			edges/knows.#target [2 3 1 0 1 4] [] []
			edges/knows.since [4 5 0 1 2 3] [] []
			nodes/_readout.#size [3] [] []
			nodes/_readout.label [7 8 9] [] []
			nodes/_readout.tag [] [] ["x" "y" "z"]
			nodes/person.#size [5] [] []
			nodes/person.age [20 30 10 40 0] [] []`}},
		{"components", one, RecordsOptions{SeedColumns: columns[1:], Components: 3}, []string{`
			edges/_readout/source.#size [1 1 1] [] []
			edges/_readout/source.#source [0 3 4] [] []
			edges/_readout/source.#target [0 1 2] [] []
			edges/_readout/target.#size [1 1 1] [] []
			edges/_readout/target.#source [1 3 5] [] []
			edges/_readout/target.#target [0 1 2] [] []
			edges/knows.#size [2 0 6] [] []
			edges/knows.#source [0 0 4 4 5 5 5 5] [] []
			edges/knows.#target [1 2 6 5 7 4 7 8] [] []
			edges/knows.since [4 5 4 5 0 1 2 3] [] []
			nodes/_readout.#size [1 1 1] [] []
			nodes/_readout.label [7 8 9] [] []
			nodes/person.#size [3 1 5] [] []
			nodes/person.age [20 10 40 30 20 40 10 30 0] [] []`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			for _, w := range c.want {
				want = append(want, lines(w))
			}
			got := written(t, friends(), c.plan, c.opt, links...)
			if d := cmp.Diff(want, got[:len(want)]); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestContextOfTheStore checks that a context of one row goes into every component, and that ids of seeds are text
// where ids of nodes are integers or missing.
func TestContextOfTheStore(t *testing.T) {
	g := friends()
	g.Nodes[0].IDs = nil
	g.Context = []*graph.Column{strs("name", "village"), strs("rows", "a", "b")}
	got := written(t, g, everything("person"), RecordsOptions{Components: 3, SeedIDs: true, Seeds: []uint32{3, 1, 3}}, 3, 1, 3)
	want := lines(`context/name [] [] ["village" "village" "village"]
		context/sample_id [] [] ["3" "1" "3:1"]
		context/seed_id [] [] ["3" "1" "3"]
		edges/knows.#size [0 0 0] [] []
		nodes/person.#size [1 1 1] [] []
		nodes/person.age [10 30 10] [] []`)
	if d := cmp.Diff([]string{want}, got); d != "" {
		t.Error(d)
	}
}

// TestComponentsOverChunks checks that the components of Examples are the Examples of single seeds, for any number of
// components, threads and ranks.
func TestComponentsOverChunks(t *testing.T) {
	g := typed(600)
	plan := sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed}
	s := sampler(t, g, "3,2", plan, false)
	sizes := func(components, ranks int) []string {
		var all []string
		for rank := range max(ranks, 1) {
			dir := filepath.Join(t.TempDir(), "out")
			job := sample.Job{Seeds: seeds(600), BatchSize: 30, Seed: 5, Threads: 3, Ranks: ranks, Rank: rank}
			if err := writeRecords(context.Background(), vfs.OS, dir, s, RecordsOptions{Components: components, Shards: 2}, job); err != nil {
				t.Fatal(err)
			}
			for _, record := range slices.Concat(readShards(t, dir)...) {
				var d example.Decoder
				if err := d.Decode(record); err != nil {
					t.Fatal(err)
				}
				for i, n := range d.Find("nodes/paper.#size").AppendInts(nil) {
					var edges int64
					if f := d.Find("edges/cites.#size"); f != nil {
						edges = f.AppendInts(nil)[i]
					}
					all = append(all, fmt.Sprint(n, " ", edges))
				}
			}
		}
		return all
	}
	want := sizes(1, 0)
	for _, n := range []int{2, 7, 300} {
		if got := sizes(n, 0); !slices.Equal(got, want) {
			t.Errorf("%d components: found other subgraphs", n)
		}
	}
	want, got := sizes(1, 2), sizes(3, 2)
	if !slices.Equal(got, want) {
		t.Errorf("ranks: found other subgraphs in components")
	}
	r, err := NewRecords(create(t, vfs.OS, filepath.Join(t.TempDir(), "out")), s, RecordsOptions{Components: 4, Examples: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(context.Background(), sample.Job{Seeds: seeds(600), BatchSize: 30, Ranks: 2}); err == nil || !strings.Contains(err.Error(), "expected a multiple of the components") {
		t.Errorf("found error %v of components over batches", err)
	}
}

// TestNamesOfCompat checks that ParseCompat reads the result of String.
func TestNamesOfCompat(t *testing.T) {
	for _, c := range []Compat{Own, TFGNN, Classic} {
		if got, err := ParseCompat(c.String()); got != c || err != nil {
			t.Errorf("found %v, %v of %q", got, err, c)
		}
	}
	if _, err := ParseCompat("beam"); err == nil {
		t.Error(`took "beam" for a sampler`)
	}
}
