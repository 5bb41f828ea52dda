//go:build interopdata

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/internal/golden"
)

// TestDataSamplesAsText compares the output of --compat tfgnn-classic with the Examples that TF-GNN's own tests expect, as
// text.
func TestDataSamplesAsText(t *testing.T) {
	testdata := golden.Data(t, "tfgnn/testdata")
	for _, c := range []struct {
		name, schema, spec string
		count              int
	}{
		{"homogeneous", filepath.Join(testdata, "homogeneous/citrus.pbtxt"), `seed_op { op_name: "s" node_set_name: "fruits" }
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

// plainText returns the keys, kinds and values of an Example in text format. Floats have enough digits to distinguish
// their 32 bits.
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

// printed returns Examples as plainText, sorted.
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

// TestDataKnownSamples checks the facts about their data that TF-GNN's tests state in addition to golden files.
func TestDataKnownSamples(t *testing.T) {
	citrus := golden.Data(t, "tfgnn/testdata/homogeneous")
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
}

// TestDataAccepted has the real TF-GNN read subgraphs of three real graphs: cards and their owners, packages, words.
func TestDataAccepted(t *testing.T) {
	var j judge
	limit := seedLimit(t)
	limited := func(dir, schema, spec, seeds string) {
		t.Helper()
		j.expect(t, filepath.Join(dir, schema), filepath.Join(dir, spec), limit, "--limit-seeds", fmt.Sprint(limit), "--input_seeds", filepath.Join(dir, seeds))
	}
	creditcard := golden.Data(t, "tfgnn/examples/creditcard")
	j.expect(t, filepath.Join(creditcard, "graph_schema.pbtxt"), filepath.Join(creditcard, "sampling_spec.pbtxt"), 24)
	limited(debian(t), "schema.pbtxt", "spec.pbtxt", "seeds.csv")
	words := wordnet(t, golden.Data(t, "wordnet.tar.gz"))
	limited(words, "schema.pbtxt", "spec.pbtxt", "seeds.csv")
	limited(words, "links.pbtxt", "linkspec.pbtxt", "links.csv")
	small := golden.Dir(t, "tfgnn/sampler/wordnet_small")
	limited(small, "schema.pbtxt", "spec_small.pbtxt", "seeds.csv")
	j.run(t)
}

// debian makes a unigraph of Debian's packages.
func debian(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "debian")
	if out, err := exec.Command("python3", "../../bench/debian_unigraph.py", golden.Data(t, "debian_packages.tar.gz"), dir).CombinedOutput(); err != nil {
		t.Fatalf("debian_unigraph.py: %v: %s", err, out)
	}
	return dir
}

// wordnet makes a unigraph of the whole of WordNet, with seeds and links.
func wordnet(t *testing.T, archive string) string {
	dir := t.TempDir()
	b, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string][][]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(h.Name, ".csv.gz") {
			continue
		}
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(z).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		tables[strings.TrimSuffix(filepath.Base(h.Name), ".csv.gz")] = rows
	}
	write := func(name string, rows [][]string) {
		var text bytes.Buffer
		if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rename := func(table string, names ...string) [][]string {
		rows := tables[table]
		copy(rows[0], names)
		return rows
	}
	write("word.csv", rename("nodes_word", "id"))
	synsets := rename("nodes_synset", "id")
	write("synset.csv", synsets)
	relations := rename("synset_synset", "source", "target")
	write("relation.csv", relations)
	write("word_synset.csv", rename("word_synset", "source", "target"))
	seeds, links := [][]string{{"id"}}, [][]string{{"source", "target", "label"}}
	for i := range 400 {
		seeds = append(seeds, synsets[1+i*97][:1])
	}
	for i := range 200 {
		links = append(links, []string{relations[1+i*31][0], relations[1+i*31][1], fmt.Sprint(i % 2)})
	}
	write("seeds.csv", seeds)
	write("links.csv", links)
	const schema = `
node_sets { key: "word" value { features { key: "#id" value { dtype: DT_STRING } } metadata { filename: "word.csv" } } }
node_sets { key: "synset" value { features { key: "#id" value { dtype: DT_STRING } } metadata { filename: "synset.csv" } } }
edge_sets { key: "relation" value { source: "synset" target: "synset" metadata { filename: "relation.csv" } } }
edge_sets { key: "means" value { source: "word" target: "synset" metadata { filename: "word_synset.csv" } } }
edge_sets { key: "in_words" value { source: "synset" target: "word" metadata { filename: "word_synset.csv" extra { key: "edge_type" value: "reversed" } } } }
`
	const ops = `
sampling_ops { op_name: "a" input_op_names: "seed" edge_set_name: "relation" sample_size: 5 strategy: RANDOM_UNIFORM }
sampling_ops { op_name: "b" input_op_names: ["seed", "a"] edge_set_name: "in_words" sample_size: 3 strategy: RANDOM_UNIFORM }
sampling_ops { op_name: "c" input_op_names: "b" edge_set_name: "means" sample_size: 2 strategy: TOP_K }
`
	for name, text := range map[string]string{
		"schema.pbtxt": schema, "spec.pbtxt": `seed_op { op_name: "seed" node_set_name: "synset" }` + ops,
		"links.pbtxt": schema + `
node_sets { key: "_readout" value { features { key: "label" value { dtype: DT_INT64 } } } }
edge_sets { key: "_readout/source" value { source: "synset" target: "_readout" } }
edge_sets { key: "_readout/target" value { source: "synset" target: "_readout" } }
`,
		"linkspec.pbtxt": `symmetric_link_seed_op { op_name: "seed" }` + ops,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestDataCut compares the cut that partition reports for two published graphs with the definition.
func TestDataCut(t *testing.T) {
	for _, name := range []string{"rgg_n_2_15_s0", "delaunay_n15"} {
		f, err := os.Open(golden.Data(t, "partition", name+".graph.gz"))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), name+".graph")
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		testCut(t, file)
	}
}

// TestDataParts has the real DGL load and check parts of three real graphs.
func TestDataParts(t *testing.T) {
	work := t.TempDir()
	var cases []partsCase
	real := func(name string, parts int, args ...string) {
		s := filepath.Join(work, name+".store")
		must(t, append([]string{"import", "--out", s}, args...)...)
		cases = append(cases, partsCase{name, s, inputOf(t, s), parts, false, true})
	}
	real("debian", 4, filepath.Join(debian(t), "schema.pbtxt"), "--dangling-edges", "drop")
	real("wordnet", 5, filepath.Join(wordnet(t, golden.Data(t, "wordnet.tar.gz")), "schema.pbtxt"), "--dangling-edges", "drop")
	web := filepath.Join(work, "web")
	if err := os.Mkdir(web, 0o755); err != nil {
		t.Fatal(err)
	}
	unpack(t, golden.Data(t, "web_cnr2000.tar.gz"), web)
	real("web", 4, "--indptr", filepath.Join(web, "csr_indptr.npy"), "--indices", filepath.Join(web, "csr_dst.npy"))
	checkParts(t, cases)
}

// unpack puts the files of an archive into a folder.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A TU data set is read as DGL reads it.
func TestDataTU(t *testing.T) { tuAsDGL(t, golden.Data(t, "small/enzymes")) }

// The imported molecules and proteins equal their arrays.
func TestDataSmallGraphs(t *testing.T) {
	for _, name := range []string{"mutag", "enzymes", "proteins"} {
		t.Run(name, func(t *testing.T) { asCollection(t, golden.Data(t, "small", name), "edge_src_local.npy", "small") })
	}
}

// The imported syntax trees equal their arrays, and their packing is known.
func TestDataSyntaxTrees(t *testing.T) {
	dir := t.TempDir()
	unpack(t, golden.Data(t, "go_ast.tar.gz"), dir)
	collection := asCollection(t, dir, "node_parent_local.npy", "trees", "--memory", "96MiB", "--threads", "2")
	for _, want := range []struct{ limit, packs, oversize int }{{4096, 1894, 61}, {65536, 129, 0}} {
		var got struct {
			Packs      int `json:"packs"`
			LowerBound int `json:"lower_bound"`
			Oversize   int `json:"oversize"`
		}
		out := call(t, "pack", collection, "--limit", fmt.Sprintf("num_nodes=%d", want.limit), "--limit", fmt.Sprintf("num_edges=%d", want.limit), "--oversize", "skip", "--json")
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if got.Packs != want.packs || got.LowerBound != want.packs || got.Oversize != want.oversize {
			t.Errorf("limit %d: found %+v, expected %d packs, optimal, %d left out", want.limit, got, want.packs, want.oversize)
		}
	}
}
