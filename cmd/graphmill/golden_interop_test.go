//go:build interop

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// sharedData is the folder of the unigraphs and of what TF-GNN's samplers made of
// them.
func sharedData(t *testing.T) string {
	shared := os.Getenv("GRAPHMILL_SHARED")
	if shared == "" {
		t.Fatal("found no GRAPHMILL_SHARED, expected the folder of shared data")
	}
	return filepath.Join(shared, "data")
}

// sampleAs runs TF-GNN's flags and gives the folder of the Examples.
func sampleAs(t *testing.T, schema, spec string, more ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	var stderr bytes.Buffer
	args := append([]string{"graphmill", "sample", "--graph_schema", schema, "--sampling_spec", spec,
		"--output_samples", filepath.Join(out, "s.tfrecord@3")}, more...)
	if status := run(args, io.Discard, &stderr); status != exitDone {
		t.Fatalf("status %d: %s", status, stderr.String())
	}
	return out
}

// recordsOf is the records of files.
func recordsOf(t *testing.T, pattern string) [][]byte {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("files %v of %s, %v", files, pattern, err)
	}
	var all [][]byte
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := tfrecord.NewReader(bytes.NewReader(b), file, int64(len(b)))
		for {
			record, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, bytes.Clone(record))
		}
	}
	return all
}

// TestSamplesAsTFGNN holds --compat tfgnn to what tfgnn_sampler wrote. Every sample
// size is above every degree, so the subgraphs are determined but for the order of
// nodes and edges.
func TestSamplesAsTFGNN(t *testing.T) {
	data := sharedData(t)
	golden, testdata := filepath.Join(data, "golden/tfgnn/sampler"), filepath.Join(data, "tfgnn/testdata")
	own := func(name string) string { return filepath.Join(golden, name, "schema.pbtxt") }
	for _, c := range []struct{ name, schema, spec, seeds, records string }{
		{name: "homogeneous", schema: filepath.Join(testdata, "homogeneous/citrus.pbtxt")},
		{name: "heterogeneous", schema: filepath.Join(testdata, "heterogeneous/graph.pbtxt")},
		{name: "node_vs_edge", schema: filepath.Join(testdata, "node_vs_edge/schema.pbtxt"), spec: filepath.Join(testdata, "node_vs_edge/spec.pbtxt")},
		{name: "creditcard", schema: filepath.Join(data, "tfgnn/examples/creditcard/graph_schema.pbtxt"), spec: "spec_all.pbtxt"},
		{name: "wordnet_small", schema: own("wordnet_small"), spec: "spec_all.pbtxt", seeds: "seeds.csv", records: "beam_all.tfrecord"},
		{name: "vectors_vecA", schema: own("vectors_vecA")},
		{name: "vectors_vecB", schema: own("vectors_vecB")},
		{name: "ragged", schema: own("ragged")},
		{name: "link", schema: own("link"), spec: "spec_all.pbtxt", seeds: "seeds.csv", records: "beam_all.tfrecord"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := func(name, otherwise string) string {
				if name == "" {
					name = otherwise
				}
				if filepath.IsAbs(name) {
					return name
				}
				return filepath.Join(golden, c.name, name)
			}
			args := []string{"--compat", "tfgnn"}
			if c.seeds != "" {
				args = append(args, "--input_seeds", in(c.seeds, ""))
			}
			out := sampleAs(t, c.schema, in(c.spec, "spec.pbtxt"), args...)
			schema := readSchemaOf(t, out)
			if d := cmp.Diff(canonical(t, schema, recordsOf(t, in(c.records, "beam.tfrecord"))), canonical(t, schema, recordsOf(t, filepath.Join(out, "s.tfrecord-*")))); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestSamplesAsClassic holds --compat tfgnn-classic to what TF-GNN's older sampler
// wrote, byte by byte once keys are sorted, and its schema.
func TestSamplesAsClassic(t *testing.T) {
	data := sharedData(t)
	golden, testdata := filepath.Join(data, "golden/tfgnn/sampler"), filepath.Join(data, "tfgnn/testdata")
	citrus, nodeVsEdge := filepath.Join(testdata, "homogeneous/citrus.pbtxt"), filepath.Join(testdata, "node_vs_edge/schema.pbtxt")
	nodeVsEdgeSpec := filepath.Join(testdata, "node_vs_edge/spec.pbtxt")
	for _, c := range []struct {
		name, schema, spec, golden string
		more                       []string
	}{
		{"homogeneous", citrus, filepath.Join(golden, "homogeneous/spec_topk.pbtxt"), "homogeneous/old_topk", nil},
		{"edges that were drawn", nodeVsEdge, nodeVsEdgeSpec, "node_vs_edge/old_edge", []string{"--edge_aggregation_method", "edge"}},
		{"all edges between the nodes", nodeVsEdge, nodeVsEdgeSpec, "node_vs_edge/old_node", []string{"--edge-aggregation", "node"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := sampleAs(t, c.schema, c.spec, append(c.more, "--compat", "tfgnn-classic")...)
			want, err := os.ReadFile(filepath.Join(golden, c.golden+"_schema.pbtxt"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(out, "schema.pbtxt"))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Error(d)
			}
			codec, err := example.NewCodec(readSchemaOf(t, out))
			if err != nil {
				t.Fatal(err)
			}
			var sorted []string
			for _, record := range recordsOf(t, filepath.Join(golden, c.golden+".tfrecord")) {
				g := codec.New()
				var w example.Writer
				if err := codec.Decode(record, g, false); err != nil {
					t.Fatal(err)
				}
				b, err := codec.Encode(&w, g)
				if err != nil {
					t.Fatal(err)
				}
				sorted = append(sorted, string(b))
			}
			var mine []string
			for _, record := range recordsOf(t, filepath.Join(out, "s.tfrecord-*")) {
				mine = append(mine, string(record))
			}
			slices.Sort(sorted)
			slices.Sort(mine)
			if !slices.Equal(sorted, mine) {
				t.Errorf("found other bytes: %s", cmp.Diff(sorted, mine))
			}
		})
	}
	// The Examples that TF-GNN's own tests expect, as text.
	for _, c := range []struct {
		name, schema, spec string
		count              int
	}{
		{"homogeneous", citrus, `seed_op { op_name: "s" node_set_name: "fruits" }
			sampling_ops { op_name: "a" input_op_names: "s" edge_set_name: "tastelike" sample_size: 100 strategy: TOP_K }
			sampling_ops { op_name: "b" input_op_names: "a" edge_set_name: "tastelike" sample_size: 100 strategy: TOP_K }`, 9},
		{"heterogeneous", filepath.Join(testdata, "heterogeneous/graph.pbtxt"), `seed_op { op_name: "s" node_set_name: "customer" }
			sampling_ops { op_name: "a" input_op_names: "s" edge_set_name: "owns_card" sample_size: 1 strategy: TOP_K }`, 24},
	} {
		t.Run(c.name+" as text", func(t *testing.T) {
			spec := filepath.Join(t.TempDir(), "spec.pbtxt")
			if err := os.WriteFile(spec, []byte(c.spec), 0o644); err != nil {
				t.Fatal(err)
			}
			out := sampleAs(t, c.schema, spec, "--compat", "tfgnn-classic")
			want := textExamples(t, filepath.Join(testdata, c.name, "sampler_golden.ascii"))
			got := printed(t, recordsOf(t, filepath.Join(out, "s.tfrecord-*")))
			if len(want) != c.count {
				t.Fatalf("%d Examples in the golden file, expected %d", len(want), c.count)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// textExamples reads an ExampleList in text format, printed as printed does.
func textExamples(t *testing.T, file string) []string {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, part := range strings.Split(string(b), "\nexamples {\n")[1:] {
		list = append(list, plainText(t, part))
	}
	slices.Sort(list)
	return list
}

// plainText is the keys, kinds and values of an Example in text format; floats in
// the digits that tell their 32 bits apart.
func plainText(t *testing.T, text string) string {
	var lines []string
	float := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		value, isValue := strings.CutPrefix(line, "value: ")
		switch {
		case strings.HasSuffix(line, "_list {"):
			float = line == "float_list {"
		case isValue && float:
			v, err := strconv.ParseFloat(value, 32)
			if err != nil {
				t.Fatal(err)
			}
			line = "value: " + strconv.FormatFloat(v, 'g', -1, 32)
		case !isValue && !strings.HasPrefix(line, "key:"):
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// printed is Examples as plainText, sorted.
func printed(t *testing.T, examples [][]byte) []string {
	var list []string
	for _, record := range examples {
		var d example.Decoder
		if err := d.Decode(record); err != nil {
			t.Fatal(err)
		}
		list = append(list, plainText(t, string(example.AppendText(nil, &d))))
	}
	slices.Sort(list)
	return list
}

func readSchemaOf(t *testing.T, dir string) *tfgnnpb.GraphSchema {
	schema, _, _, err := tfgnnfiles.ReadSchema(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// canonical is Examples as text, with the features of nodes in place of indices,
// everything sorted but for the first node of each set of seeds.
func canonical(t *testing.T, schema *tfgnnpb.GraphSchema, examples [][]byte) []string {
	codec, err := example.NewCodec(schema)
	if err != nil {
		t.Fatal(err)
	}
	type set struct {
		Name string
		Keys []string // that the Example has
		Root string
		Rows []string
	}
	var all []string
	for _, record := range examples {
		var d example.Decoder
		if err := d.Decode(record); err != nil {
			t.Fatal(err)
		}
		keys := func(prefix string) (keys []string) {
			for i := range d.Features() {
				if key := string(d.Features()[i].Key); strings.HasPrefix(key, prefix) {
					keys = append(keys, key)
				}
			}
			return keys
		}
		g := codec.New()
		if err := codec.Decode(record, g, false); err != nil {
			t.Fatal(err)
		}
		var sets []set
		nodes := map[string][]string{}
		for name, s := range g.NodeSets {
			nodes[name] = rowsOf(t, s.Features, int(s.Sizes[0]))
			sorted := slices.Sorted(slices.Values(nodes[name]))
			n := set{Name: "nodes/" + name, Keys: keys("nodes/" + name + "."), Rows: sorted}
			if slices.Contains(rootSets, name) && len(sorted) > 0 {
				n.Root = nodes[name][0]
			}
			sets = append(sets, n)
		}
		for name, s := range g.EdgeSets {
			features := rowsOf(t, s.Features, int(s.Sizes[0]))
			var rows []string
			for i := range features {
				rows = append(rows, nodes[s.Source][s.SourceIndex[i]]+" -> "+nodes[s.Target][s.TargetIndex[i]]+" "+features[i])
			}
			slices.Sort(rows)
			sets = append(sets, set{Name: "edges/" + name, Keys: keys("edges/" + name + "."), Rows: rows})
		}
		slices.SortFunc(sets, func(a, b set) int { return strings.Compare(a.Name, b.Name) })
		b, err := json.MarshalIndent(sets, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(b))
	}
	slices.Sort(all)
	return all
}

// rootSets are the sets of seeds in the golden files.
var rootSets = []string{"fruits", "customer", "node_set_one", "synset", "n", "author"}

// rowsOf prints the features of each item. Shapes are fixed, or variable in the
// first dimension alone.
func rowsOf(t *testing.T, features map[string]*example.Tensor, items int) []string {
	rows := make([]map[string]any, items)
	for i := range rows {
		rows[i] = map[string]any{}
	}
	for name, f := range features {
		width, at := 1, 0
		for _, d := range f.Shape {
			width *= max(d, 1)
		}
		for i := range rows {
			n := width
			if len(f.Lengths) > 0 {
				n *= int(f.Lengths[0][i])
			}
			switch {
			case f.Ints != nil:
				rows[i][name] = f.Ints[at : at+n]
			case f.Floats != nil:
				rows[i][name] = f.Floats[at : at+n]
			case f.Texts != nil:
				rows[i][name] = string(bytes.Join(f.Texts[at:at+n], []byte("|")))
			}
			at += n
		}
	}
	var text []string
	for _, row := range rows {
		b, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, string(b))
	}
	return text
}

// TestKnownSamples holds what TF-GNN's tests say of their data beside golden files.
func TestKnownSamples(t *testing.T) {
	data := sharedData(t)
	citrus := filepath.Join(data, "tfgnn/testdata/homogeneous")
	spec := filepath.Join(t.TempDir(), "spec.pbtxt")
	write := func(text string) {
		if err := os.WriteFile(spec, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`seed_op { op_name: "s" node_set_name: "fruits" }
		sampling_ops { op_name: "a" input_op_names: "s" edge_set_name: "tastelike" sample_size: 1 strategy: TOP_K }`)
	out := sampleAs(t, filepath.Join(citrus, "citrus.pbtxt"), spec, "--input_seeds", filepath.Join(citrus, "one_seed.csv"), "--compat", "tfgnn-classic")
	var d example.Decoder
	if err := d.Decode(recordsOf(t, filepath.Join(out, "s.tfrecord-*"))[0]); err != nil {
		t.Fatal(err)
	}
	if got := string(bytes.Join(d.Find("nodes/fruits.name").AppendTexts(nil), []byte(" "))); got != "Amanatsu Lumia" {
		t.Errorf("found %s, expected the seed and its heaviest neighbour", got)
	}
	// Equal weights: TOP_K takes the later edges, so that the counts are determined.
	link := filepath.Join(data, "golden/tfgnn/sampler/link")
	write(`symmetric_link_seed_op { op_name: "s" }
		sampling_ops { op_name: "a" input_op_names: "s" edge_set_name: "reviews" sample_size: 2 strategy: TOP_K }`)
	out = sampleAs(t, filepath.Join(link, "schema.pbtxt"), spec, "--input_seeds", filepath.Join(link, "seeds.csv"))
	var edges, authors []int64
	for _, record := range recordsOf(t, filepath.Join(out, "s.tfrecord-*")) {
		if err := d.Decode(record); err != nil {
			t.Fatal(err)
		}
		edges, authors = d.Find("edges/reviews.#size").AppendInts(edges), d.Find("nodes/author.#size").AppendInts(authors)
	}
	if !slices.Equal(edges, []int64{3, 2, 3}) || !slices.Equal(authors, []int64{3, 4, 4}) {
		t.Errorf("found %v edges and %v authors, expected [3 2 3] and [3 4 4]", edges, authors)
	}
}
