//go:build interop || interopdata

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// documented is the graph.yaml of docs/graph-yaml.md that names a file.
func documented(t *testing.T, file string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/graph-yaml.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(page), "```yaml\n")[1:] {
		if text, _, _ := strings.Cut(part, "```"); strings.Contains(text, file) {
			return text
		}
	}
	t.Fatalf("found no example with %s in docs/graph-yaml.md", file)
	return ""
}

// call runs a command and returns its output.
func call(t *testing.T, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := runCommand(append([]string{"graphmill"}, args...), &stdout, &stderr); status != exitDone {
		t.Fatalf("%v: status %d: %s", args, status, stderr.String())
	}
	return stdout.Bytes()
}

func lines(b []byte) []string {
	list := strings.Split(strings.TrimSpace(string(b)), "\n")
	slices.Sort(list)
	return list
}

// checkCounts checks a collection against the counts and the histogram that its data
// came with.
func checkCounts(t *testing.T, data, collection string) {
	t.Helper()
	var meta, graph struct {
		Graphs, Nodes, Edges int
	}
	text, err := os.ReadFile(filepath.Join(data, "meta.json"))
	if err == nil {
		err = json.Unmarshal(text, &meta)
	}
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Nodes, Edges map[string]struct{ Count int }
		Context      struct{ Count int }
	}
	if text, err = os.ReadFile(filepath.Join(collection, "graph.json")); err == nil {
		err = json.Unmarshal(text, &made)
	}
	if err != nil {
		t.Fatal(err)
	}
	graph.Graphs = made.Context.Count
	for _, n := range made.Nodes {
		graph.Nodes += n.Count
	}
	for _, e := range made.Edges {
		graph.Edges += e.Count
	}
	if graph != meta {
		t.Errorf("%s: found %+v, expected %+v", data, graph, meta)
	}
	f, err := os.Open(filepath.Join(data, "hist_nodes_edges.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	want, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	got := call(t, "pack", "hist", collection)
	if !slices.Equal(lines(got), lines(bytes.ReplaceAll(want, []byte("\r"), nil))) {
		t.Errorf("%s: found another histogram than counted", data)
	}
}

// roundTrip writes a collection as TFRecords, imports them, and checks that all arrays are unchanged.
func roundTrip(t *testing.T, collection, dir string) {
	t.Helper()
	records, back := filepath.Join(dir, "records"), filepath.Join(dir, "back")
	call(t, "export", collection, "--to", "tfrecord", "--out", records)
	call(t, "import", filepath.Join(records, "samples.tfrecord-?????-of-?????"), "--schema", records, "--out", back)
	same := 0
	err := filepath.WalkDir(collection, func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".npy" {
			return err
		}
		rel, err := filepath.Rel(collection, path)
		if err != nil {
			return err
		}
		a, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(back, rel))
		if err == nil && !bytes.Equal(a, b) {
			err = fmt.Errorf("%s: found other values after the way through TFRecords", rel)
		}
		same++
		return err
	})
	if err != nil || same < 6 {
		t.Errorf("%d arrays, %v", same, err)
	}
}

// numpyCheck compares every value of a collection with the arrays from which it was made, using only NumPy.
const numpyCheck = `
import json, sys
import numpy as np
data, coll, kind = sys.argv[1:]
raw = lambda name: np.load(f"{data}/{name}.npy")
meta = json.load(open(f"{coll}/graph.json"))
out = lambda name: np.load(f"{coll}/{name}")
ptr = raw("graph_node_ptr")
(node,), edges = meta["nodes"].values(), meta["edges"]
assert (out(node["arrays"]["graph_ptr"]) == ptr).all()
columns = {**{("n", k): v for k, v in node["columns"].items()}, **{("g", k): v for k, v in meta["context"]["columns"].items()}}
if kind == "small":
  (e,) = edges.values()
  assert (out(e["arrays"]["graph_ptr"]) == raw("graph_edge_ptr")).all()
  assert (out(e["arrays"]["src"]) == raw("edge_src_local")).all() and (out(e["arrays"]["dst"]) == raw("edge_dst_local")).all()
  names = {("n", "tag"): "node_tag", ("g", "label"): "graph_label"}
else:
  parent = raw("node_parent_local")
  child = parent != -1
  graph = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
  local = np.arange(len(parent)) - ptr[graph]
  (e,) = edges.values()
  assert (out(e["arrays"]["src"]) == parent[child]).all() and (out(e["arrays"]["dst"]) == local[child]).all()
  assert (out(e["arrays"]["graph_ptr"]) == np.concatenate([[0], np.cumsum(np.bincount(graph[child], minlength=len(ptr) - 1))])).all()
  names = {("n", "kind"): "node_type", ("n", "ident"): "node_ident", ("n", "depth"): "node_depth",
           **{("g", k): "graph_" + k for k in ("package", "is_test", "num_params", "num_results")}}
assert sorted(names) == sorted(columns), (sorted(names), sorted(columns))
for key, name in names.items():
  x = out(columns[key]["file"])
  assert x.dtype == raw(name).dtype and (x == raw(name)).all(), name
print("equal")
`

// python runs a script with the Python of a peer; it must print "equal" last.
func python(t *testing.T, peer, script string, args ...string) {
	t.Helper()
	cmd := exec.Command("../../bench/peers.sh", peer)
	cmd.Stderr = os.Stderr
	path, err := cmd.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh %s: %v", peer, err)
	}
	got, err := exec.Command(strings.TrimSpace(string(path)), append([]string{"-c", script}, args...)...).CombinedOutput()
	if err != nil || !strings.HasSuffix(string(got), "equal\n") {
		t.Errorf("%v: %v: %s", args, err, got)
	}
}

// dglCheck writes a TU data set of arrays, or compares the collection of one with the result of DGL's own reader.
const dglCheck = `
import os, sys
os.environ["DGLBACKEND"] = "pytorch"
import numpy as np
phase, data, folder, coll = sys.argv[1:]
raw = lambda name: np.load(f"{data}/{name}.npy")
if phase == "write":
  ptr, eptr = raw("graph_node_ptr"), raw("graph_edge_ptr")
  first = np.repeat(ptr[:-1], np.diff(eptr)) + 1
  np.savetxt(f"{folder}/D_A.txt", np.stack([raw("edge_src_local") + first, raw("edge_dst_local") + first], 1), fmt="%d", delimiter=", ")
  np.savetxt(f"{folder}/D_graph_indicator.txt", np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)) + 1, fmt="%d")
  np.savetxt(f"{folder}/D_node_labels.txt", raw("node_tag"), fmt="%d")
  np.savetxt(f"{folder}/D_node_attributes.txt", np.random.default_rng(1).normal(size=(ptr[-1], 3)), delimiter=", ")
  np.savetxt(f"{folder}/D_graph_labels.txt", raw("graph_label"), fmt="%d")
else:
  from dgl.data import TUDataset
  class Local(TUDataset):
    def download(self): pass
    def has_cache(self): return False
    def save(self): pass
    def _file_path(self, category): return f"{folder}/D_{category}.txt"
  graphs = Local("D", raw_dir=folder + "/dgl").graph_lists
  out = lambda name: np.load(f"{coll}/{name}.npy")
  edges, nodes = "edges/_N+_E+_N/", "nodes/_N/"
  cat = lambda of: np.concatenate([of(g) for g in graphs])
  assert (cat(lambda g: g.edges(order="eid")[0].numpy()) == out(edges + "src")).all()
  assert (cat(lambda g: g.edges(order="eid")[1].numpy()) == out(edges + "dst")).all()
  assert (cat(lambda g: g.ndata["node_labels"].numpy().ravel()) == out(nodes + "label")).all()
  assert (cat(lambda g: g.ndata["node_attr"].numpy()).astype("f4") == out(nodes + "attributes")).all()
  assert ([g.num_nodes() for g in graphs] == np.diff(out(nodes + "graph_ptr"))).all()
  assert ([g.num_edges() for g in graphs] == np.diff(out(edges + "graph_ptr"))).all()
print("equal")
`

// tuAsDGL compares the import of a TU data set, made from arrays, with DGL's reading of it.
func tuAsDGL(t *testing.T, data string) {
	dir := t.TempDir()
	collection := filepath.Join(dir, "collection")
	python(t, "dgl", dglCheck, "write", data, dir, collection)
	call(t, "import", dir, "--out", collection)
	python(t, "dgl", dglCheck, "check", data, dir, collection)
}

// asCollection imports the arrays of data as docs/graph-yaml.md says of the file array, and holds the collection to the arrays, to
// their counts and to what comes back from TFRecords. kind is as for numpyCheck. It returns the collection.
func asCollection(t *testing.T, data, array, kind string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(data, "*.npy"))
	if err != nil || len(files) < 6 {
		t.Fatalf("found %d arrays, %v", len(files), err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(f)), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "graph.yaml"), []byte(documented(t, array)), 0o644); err != nil {
		t.Fatal(err)
	}
	collection := filepath.Join(dir, "collection")
	call(t, append([]string{"import", dir, "--out", collection}, args...)...)
	checkCounts(t, data, collection)
	python(t, "tfgnn", numpyCheck, data, collection, kind)
	roundTrip(t, collection, dir)
	return collection
}
