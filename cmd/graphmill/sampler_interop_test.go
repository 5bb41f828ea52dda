//go:build interop

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
	"strings"
	"testing"
)

// judge is a run of the real TF-GNN over many folders of Examples.
type judge struct {
	checks []string // arguments of tfgnn_check.py, tab-separated
}

// add asks for a folder to be judged.
func (j *judge) add(out string, more ...string) {
	j.checks = append(j.checks, strings.Join(append([]string{filepath.Join(out, "schema.pbtxt"), filepath.Join(out, "s.tfrecord-*")}, more...), "\t"))
}

// judgeScript calls tfgnn_check.py once a line in one process: TensorFlow takes long
// to start.
const judgeScript = `
import contextlib, importlib.util, io, json, sys
spec = importlib.util.spec_from_file_location("tfgnn_check", sys.argv[1])
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)
for line in sys.stdin.read().splitlines():
  sys.argv = ["tfgnn_check.py", *line.split("\t")]
  out = io.StringIO()
  with contextlib.redirect_stdout(out):
    check.main()
  print(json.dumps(json.loads(out.getvalue())))
`

// tfgnnPython is the python of the real TF-GNN, installed if need be.
func tfgnnPython(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("../../bench/peers.sh", "tfgnn")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh tfgnn: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// run fails the test unless all is accepted and every key is declared.
func (j *judge) run(t *testing.T) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(tfgnnPython(t), "-c", judgeScript, filepath.Join(os.Getenv("GRAPHMILL_SHARED"), "peers/tfgnn_check.py"))
	cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Join(j.checks, "\n")), &stderr
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != len(j.checks) {
		t.Fatalf("found %d verdicts, %v, expected %d: %s", len(lines), err, len(j.checks), stderr.Bytes())
	}
	for i, line := range lines {
		var verdict struct {
			OK          bool             `json:"ok"`
			UnknownKeys map[string]int   `json:"unknown_keys"`
			Train       *json.RawMessage `json:"train"`
		}
		trained := !strings.Contains(j.checks[i], "--train")
		if err := json.Unmarshal([]byte(line), &verdict); err != nil || !verdict.OK || len(verdict.UnknownKeys) > 0 || !trained && verdict.Train == nil {
			t.Errorf("%s: %s", strings.ReplaceAll(j.checks[i], "\t", " "), line)
		}
	}
}

// TestTFGNNAcceptsSamples has the real TF-GNN read what every golden spec and three
// real graphs give, in each way of writing, and train on those of links.
func TestTFGNNAcceptsSamples(t *testing.T) {
	data := sharedData(t)
	golden, testdata := filepath.Join(data, "golden/tfgnn/sampler"), filepath.Join(data, "tfgnn/testdata")
	var j judge
	expect := func(schema, spec string, examples int, more ...string) {
		t.Helper()
		train := "--batch=16"
		if examples == 3 {
			train = "--train"
		}
		for _, compat := range []string{"none", "tfgnn", "tfgnn-classic"} {
			text, err := os.ReadFile(spec)
			if err != nil {
				t.Fatal(err)
			}
			if compat == "tfgnn-classic" && bytes.Contains(text, []byte("symmetric_link_seed_op")) {
				continue // which that sampler has not
			}
			j.add(sampleAs(t, schema, spec, append(more, "--compat", compat)...), "--spec", spec, "--expect", fmt.Sprint(examples), train)
		}
	}
	own := func(name, file string) string { return filepath.Join(golden, name, file) }
	const limit = 25 // seeds: the judge takes a tenth of a second an Example
	expect(filepath.Join(testdata, "homogeneous/citrus.pbtxt"), own("homogeneous", "spec.pbtxt"), 9)
	expect(filepath.Join(testdata, "heterogeneous/graph.pbtxt"), own("heterogeneous", "spec.pbtxt"), 24)
	expect(filepath.Join(testdata, "node_vs_edge/schema.pbtxt"), filepath.Join(testdata, "node_vs_edge/spec.pbtxt"), 1)
	expect(own("wordnet_small", "schema.pbtxt"), own("wordnet_small", "spec_all.pbtxt"), limit, "--limit-seeds", fmt.Sprint(limit), "--input_seeds", own("wordnet_small", "seeds.csv"))
	expect(own("wordnet_small", "schema.pbtxt"), own("wordnet_small", "spec_small.pbtxt"), limit, "--limit-seeds", fmt.Sprint(limit), "--input_seeds", own("wordnet_small", "seeds.csv"))
	expect(own("vectors_vecA", "schema.pbtxt"), own("vectors_vecA", "spec.pbtxt"), 12)
	expect(own("vectors_vecB", "schema.pbtxt"), own("vectors_vecB", "spec.pbtxt"), 12)
	expect(own("ragged", "schema.pbtxt"), own("ragged", "spec.pbtxt"), 12)
	expect(own("link", "schema.pbtxt"), own("link", "spec_all.pbtxt"), 3, "--input_seeds", own("link", "seeds.csv"))
	// Real graphs: cards and their owners, packages, words.
	creditcard := filepath.Join(data, "tfgnn/examples/creditcard")
	expect(filepath.Join(creditcard, "graph_schema.pbtxt"), filepath.Join(creditcard, "sampling_spec.pbtxt"), 24)
	debian := filepath.Join(t.TempDir(), "debian")
	if out, err := exec.Command("python3", "../../bench/debian_unigraph.py", filepath.Join(data, "debian_packages.tar.gz"), debian).CombinedOutput(); err != nil {
		t.Fatalf("debian_unigraph.py: %v: %s", err, out)
	}
	expect(filepath.Join(debian, "schema.pbtxt"), filepath.Join(debian, "spec.pbtxt"), limit, "--limit-seeds", fmt.Sprint(limit), "--input_seeds", filepath.Join(debian, "seeds.csv"))
	words := wordnet(t, filepath.Join(data, "wordnet.tar.gz"))
	expect(filepath.Join(words, "schema.pbtxt"), filepath.Join(words, "spec.pbtxt"), limit, "--limit-seeds", fmt.Sprint(limit), "--input_seeds", filepath.Join(words, "seeds.csv"))
	expect(filepath.Join(words, "links.pbtxt"), filepath.Join(words, "linkspec.pbtxt"), limit, "--limit-seeds", fmt.Sprint(limit), "--input_seeds", filepath.Join(words, "links.csv"))
	j.run(t)
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

// TestTFGNNReadsComponents has the real TF-GNN read several subgraphs in an Example
// by the schema with relaxed components, and split nothing differently than Examples
// of one.
func TestTFGNNReadsComponents(t *testing.T) {
	golden := filepath.Join(sharedData(t), "golden/tfgnn/sampler/link")
	sampled := func(n int) string {
		return sampleAs(t, filepath.Join(golden, "schema.pbtxt"), filepath.Join(golden, "spec_all.pbtxt"),
			"--input_seeds", filepath.Join(golden, "seeds.csv"), "--components", fmt.Sprint(n))
	}
	one, three := sampled(1), sampled(3)
	cmd := exec.Command(tfgnnPython(t), "-c", `
import glob, json, sys, tensorflow as tf, tensorflow_gnn as tfgnn
def read(folder):
  spec = tfgnn.create_graph_spec_from_schema_pb(tfgnn.read_schema(folder + "/schema.pbtxt")).relax(num_components=True)
  ds = tf.data.TFRecordDataset(sorted(glob.glob(folder + "/s.tfrecord-*")))
  g = next(iter(ds.batch(10).map(lambda x: tfgnn.parse_example(spec, x)).map(lambda g: g.merge_batch_to_components())))
  tfgnn.validate_graph_tensor_for_readout(g)
  out = {}
  for name, s in {**g.node_sets, **g.edge_sets}.items():
    out[name] = [s.sizes.numpy().tolist(), {k: str(v.numpy().tolist()) for k, v in s.features.items()}]
  for name, s in g.edge_sets.items():
    out[name] += [s.adjacency.source.numpy().tolist(), s.adjacency.target.numpy().tolist()]
  return out
a, b = read(sys.argv[1]), read(sys.argv[2])
print("same" if a == b else json.dumps([a, b]))
`, one, three)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || strings.TrimSpace(string(out)) != "same" {
		t.Fatalf("found %s, %v: %s", out, err, stderr.Bytes())
	}
}
