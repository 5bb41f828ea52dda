//go:build interop || interopdata

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/proof"
)

// judge is a run of the real TF-GNN over many folders of Examples.
type judge struct {
	checks []string // arguments of tfgnn_check.py, tab-separated
}

// add adds a folder to be judged.
func (j *judge) add(out string, more ...string) {
	j.checks = append(j.checks, strings.Join(append([]string{filepath.Join(out, "schema.pbtxt"), filepath.Join(out, "s.tfrecord-*")}, more...), "\t"))
}

// judgeScript calls tfgnn_check.py once per line in one process, because TensorFlow takes long to start.
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

// tfgnnPython returns the Python of the real TF-GNN, which it installs if needed.
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
	cmd := exec.Command(tfgnnPython(t), "-c", judgeScript, golden.Peers(t, "tfgnn_check.py"))
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

// expect adds what a spec gives to the checks, in each way of writing; of links, training on them too.
func (j *judge) expect(t *testing.T, schema, spec string, examples int, more ...string) {
	t.Helper()
	text, err := os.ReadFile(spec)
	if err != nil {
		t.Fatal(err)
	}
	links := bytes.Contains(text, []byte("symmetric_link_seed_op"))
	train := "--batch=16"
	if links {
		train = "--train"
	}
	for _, compat := range []string{"none", "tfgnn", "tfgnn-classic"} {
		if compat == "tfgnn-classic" && links {
			continue // that sampler has no links
		}
		j.add(sampleAs(t, schema, spec, append(more, "--compat", compat)...), "--spec", spec, "--expect", fmt.Sprint(examples), train)
	}
}

// seedLimit is the most seeds per graph, because the judge takes 0.1 s per Example.
func seedLimit(t *testing.T) int { return proof.Count(t, 8, 25) }

// TestGoldensAccepted has the real TF-GNN read the subgraphs of every golden unigraph, in each way of writing, and train on
// the subgraphs of links.
func TestGoldensAccepted(t *testing.T) {
	var j judge
	limit := seedLimit(t)
	for _, c := range golden.Samples(t) {
		examples, more := len(recordsOf(t, c.Records)), []string(nil)
		if c.Seeds != "" {
			more = append(more, "--input_seeds", c.Seeds)
		}
		if examples > limit {
			examples, more = limit, append(more, "--limit-seeds", fmt.Sprint(limit))
		}
		specs := []string{c.Spec}
		if small := filepath.Join(filepath.Dir(c.Spec), "spec_small.pbtxt"); c.Name != "link" {
			if _, err := os.Stat(small); err == nil { // with sample sizes below degrees
				specs = append(specs, small)
			}
		}
		for _, spec := range specs {
			j.expect(t, c.Schema, spec, examples, more...)
		}
	}
	j.run(t)
}

// linkSpec is the spec of the golden links.
func linkSpec(t *testing.T) string {
	for _, c := range golden.Samples(t) {
		if c.Name == "link" {
			return c.Spec
		}
	}
	t.Fatal("found no golden links")
	return ""
}

// TestGoldenComponents has the real TF-GNN read several subgraphs in an Example
// by the schema with relaxed components, and split nothing differently than Examples
// of one.
func TestGoldenComponents(t *testing.T) {
	link := golden.Dir(t, "tfgnn/sampler/link")
	sampled := func(n int) string {
		return sampleAs(t, filepath.Join(link, "schema.pbtxt"), linkSpec(t),
			"--input_seeds", filepath.Join(link, "seeds.csv"), "--components", fmt.Sprint(n))
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
