package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// sampleAs runs TF-GNN's flags and gives the folder of the Examples.
func sampleAs(t *testing.T, schema, spec string, more ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	var stderr bytes.Buffer
	args := append([]string{"graphmill", "sample", "--graph_schema", schema, "--sampling_spec", spec,
		"--output_samples", filepath.Join(out, "s.tfrecord@3")}, more...)
	if status := runCommand(args, io.Discard, &stderr); status != exitDone {
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

// TestGoldenSamplesAsTFGNN holds --compat tfgnn to what tfgnn_sampler wrote. Every sample
// size is above every degree, so the subgraphs are determined but for the order of
// nodes and edges.
func TestGoldenSamplesAsTFGNN(t *testing.T) {
	for _, c := range golden.Samples(t) {
		t.Run(c.Name, func(t *testing.T) {
			args := []string{"--compat", "tfgnn"}
			if c.Seeds != "" {
				args = append(args, "--input_seeds", c.Seeds)
			}
			out := sampleAs(t, c.Schema, c.Spec, args...)
			schema := readSchemaOf(t, out)
			if d := cmp.Diff(canonical(t, schema, recordsOf(t, c.Records)), canonical(t, schema, recordsOf(t, filepath.Join(out, "s.tfrecord-*")))); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestGoldenSamplesAsClassic holds --compat tfgnn-classic to what TF-GNN's older sampler
// wrote, byte by byte once keys are sorted, and its schema.
func TestGoldenSamplesAsClassic(t *testing.T) {
	for i, c := range golden.Classics(t) {
		t.Run(c.Name, func(t *testing.T) {
			more := []string{"--compat", "tfgnn-classic"}
			if c.Aggregation != "" { // by either of the flag's names
				more = append(more, []string{"--edge_aggregation_method", "--edge-aggregation"}[i%2], c.Aggregation)
			}
			out := sampleAs(t, c.Schema, c.Spec, more...)
			want, err := os.ReadFile(strings.TrimSuffix(c.Records, ".tfrecord") + "_schema.pbtxt")
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
			for _, record := range recordsOf(t, c.Records) {
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
var rootSets = []string{"fruits", "customer", "node_set_one", "synset", "n", "author", "town", "corner", "red"}

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

// TestGoldenLinks counts what TOP_K draws among equal weights: it takes the later edges, so that the counts are determined.
func TestGoldenLinks(t *testing.T) {
	link := golden.Dir(t, "tfgnn/sampler/link")
	spec := filepath.Join(t.TempDir(), "spec.pbtxt")
	if err := os.WriteFile(spec, []byte(`symmetric_link_seed_op { op_name: "s" }
		sampling_ops { op_name: "a" input_op_names: "s" edge_set_name: "reviews" sample_size: 2 strategy: TOP_K }`), 0o644); err != nil {
		t.Fatal(err)
	}
	out := sampleAs(t, filepath.Join(link, "schema.pbtxt"), spec, "--input_seeds", filepath.Join(link, "seeds.csv"))
	var d example.Decoder
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
