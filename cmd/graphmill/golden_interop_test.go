//go:build interop

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/fsx"
)

// subgraph is an Example with ids in place of indices, sorted: the form in which
// the golden files hold what TF-GNN's own sampler wrote.
type subgraph struct {
	Root  string                      `json:"root"`
	Nodes map[string][]map[string]any `json:"nodes"`
	Edges map[string][][3]any         `json:"edges"`
}

// TestSamplesAsTFGNN runs TF-GNN's flags on its own unigraphs. Every sample size
// is above every degree, so the subgraphs are determined: they must be those that
// tfgnn_sampler wrote.
func TestSamplesAsTFGNN(t *testing.T) {
	shared := os.Getenv("GRAPHMILL_SHARED")
	if shared == "" {
		t.Fatal("found no GRAPHMILL_SHARED, expected the folder of shared data")
	}
	golden := filepath.Join(shared, "data/golden/tfgnn/sampler/wordnet_small")
	out := filepath.Join(t.TempDir(), "out")
	var stderr bytes.Buffer
	status := run([]string{"graphmill", "sample", "--graph_schema", filepath.Join(golden, "schema.pbtxt"),
		"--sampling_spec", filepath.Join(golden, "spec_all.pbtxt"), "--input_seeds", filepath.Join(golden, "seeds.csv"),
		"--output_samples", filepath.Join(out, "s.tfrecord@3")}, io.Discard, &stderr)
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr.String())
	}
	schema, _, _, err := tfgnn.ReadSchema(fsx.OS, filepath.Join(golden, "schema.pbtxt"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]subgraph{}
	files, err := filepath.Glob(filepath.Join(out, "s.tfrecord-*"))
	if err != nil || len(files) != 3 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		readSubgraphs(t, file, schema, got)
	}
	b, err := os.ReadFile(filepath.Join(golden, "beam_all.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want []subgraph
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d subgraphs, want %d", len(got), len(want))
	}
	for _, w := range want {
		if d := cmp.Diff(w, got[w.Root]); d != "" {
			t.Fatalf("root %s: %s", w.Root, d)
		}
	}
}

func readSubgraphs(t *testing.T, file string, schema *tfgnnpb.GraphSchema, into map[string]subgraph) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r := tfrecord.NewReader(f, file, info.Size())
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var d example.Decoder
		if err := d.Decode(record); err != nil {
			t.Fatal(err)
		}
		s := canonical(&d, schema)
		if _, twice := into[s.Root]; twice {
			t.Fatalf("root %s twice", s.Root)
		}
		into[s.Root] = s
	}
}

// values is a feature, a value a row.
func values(d *example.Decoder, key string) []any {
	f := d.Find(key)
	if f == nil {
		return nil
	}
	var all []any
	for _, v := range f.AppendTexts(nil) {
		all = append(all, string(v))
	}
	for _, v := range f.AppendInts(nil) {
		all = append(all, float64(v)) // as JSON has numbers
	}
	return all
}

func canonical(d *example.Decoder, schema *tfgnnpb.GraphSchema) subgraph {
	s := subgraph{Nodes: map[string][]map[string]any{}, Edges: map[string][][3]any{}}
	ids := map[string][]any{}
	for set, n := range schema.NodeSets {
		ids[set] = values(d, "nodes/"+set+".#id")
		rows := make([]map[string]any, len(ids[set]))
		for i := range rows {
			rows[i] = map[string]any{}
		}
		for name := range n.Features {
			for i, v := range values(d, "nodes/"+set+"."+name) {
				rows[i][name] = v
			}
		}
		s.Nodes[set] = rows
	}
	s.Root = ids["synset"][0].(string)
	for set, e := range schema.EdgeSets {
		rows := [][3]any{}
		src, dst := values(d, "edges/"+set+".#source"), values(d, "edges/"+set+".#target")
		for i := range src {
			features := map[string]any{}
			for name := range e.Features {
				features[name] = values(d, "edges/"+set+"."+name)[i]
			}
			rows = append(rows, [3]any{ids[e.GetSource()][int(src[i].(float64))], ids[e.GetTarget()][int(dst[i].(float64))], features})
		}
		s.Edges[set] = rows
	}
	for _, rows := range s.Nodes {
		sortAs(rows)
	}
	for _, rows := range s.Edges {
		sortAs(rows)
	}
	return s
}

// sortAs sorts rows by their JSON, as the golden files are sorted.
func sortAs[T any](rows []T) {
	text := func(v any) string {
		b, _ := json.Marshal(v)
		return strings.TrimSpace(string(b))
	}
	sort.Slice(rows, func(i, j int) bool { return text(rows[i]) < text(rows[j]) })
}
