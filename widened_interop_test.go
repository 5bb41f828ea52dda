//go:build interop

package graphmill_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

// sameAsPeer compares the rows of features that a program of a peer prints, by type and name and by the column "row".
func sameAsPeer(t *testing.T, want map[string][][]float64, peer, program string, args ...string) {
	t.Helper()
	install := exec.Command("bench/peers.sh", peer)
	install.Stderr = os.Stderr
	python, err := install.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh %s: %v", peer, err)
	}
	var stderr bytes.Buffer
	run := exec.Command(strings.TrimSpace(string(python)), append([]string{"-c", program}, args...)...)
	run.Stderr = &stderr
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	var got map[string]map[string][]float64
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v in %.300s", err, out)
	}
	for name, rows := range want {
		if len(got[name]) == 0 {
			t.Errorf("%s: found no rows", name)
		}
		for row, numbers := range got[name] {
			if r, err := strconv.Atoi(row); err != nil || !slices.Equal(numbers, rows[r]) {
				t.Errorf("%s, row %s: found %v, expected %v, %v", name, row, numbers, rows[r], err)
				break
			}
		}
	}
}

// The real TF-GNN reads the numbers of features that the store holds in pieces.
func TestPeerTFGNNReadsWidened(t *testing.T) {
	p := newPiecedStore(t)
	o := option.Sample{Run: p.run, Batching: option.Batching{SeedType: []string{"user"}}, Draw: option.Draw{Fanout: []int{3}, Direction: option.DirectionOut, Scope: option.ScopeSeed}, Format: option.FormatTFRecord}
	if _, err := graphmill.Sample(t.Context(), p.Store, p.in("records"), o); err != nil {
		t.Fatal(err)
	}
	sameAsPeer(t, p.want, "tfgnn", `
import json, os, sys
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import tensorflow as tf, tensorflow_gnn as tfgnn

spec = tfgnn.create_graph_spec_from_schema_pb(tfgnn.read_schema(os.path.join(sys.argv[1], "schema.pbtxt")))
out = {}
for record in tf.data.TFRecordDataset(os.path.join(sys.argv[1], "samples.tfrecord-00000-of-00001")):
  g = tfgnn.parse_single_example(spec, record)
  for name, rows, features in [("user", g.node_sets["user"], ["x", "hot", "aside"]), ("buys", g.edge_sets["buys"], ["e"])]:
    assert not any(f.startswith("#x") for f in rows.features), list(rows.features)
    for f in features:
      values = tf.cast(rows[f], tf.float64).numpy().tolist()
      out.setdefault(name + "/" + f, {}).update(zip(rows["row"].numpy().tolist(), values))
json.dump(out, sys.stdout)
`, p.in("records"))
}

// The real DGL reads them in the tensors of parts.
func TestPeerDGLReadsWidened(t *testing.T) {
	p := newPiecedStore(t)
	o := option.PartitionGraph{Partition: option.Partition{Run: p.run, Parts: 2}, DGLParts: option.DGLParts{GraphName: "g"}}
	if _, err := graphmill.PartitionGraph(t.Context(), p.Dir(), p.in("parts"), o); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(p.in("parts/part*/*_feat.dgl"))
	if err != nil || len(files) != 4 {
		t.Fatalf("found %v, %v", files, err)
	}
	sameAsPeer(t, p.want, "dgl", `
import json, sys
from dgl.data.utils import load_tensors

out = {}
for path in sys.argv[1:]:
  tensors = load_tensors(path)
  for name, values in tensors.items():
    typ, feature = name.split("/")
    assert not feature.startswith("#"), name
    if feature in ("x", "hot", "aside", "e"):
      out.setdefault(typ.split(":")[1 if ":" in typ else 0] + "/" + feature, {}).update(zip(tensors[typ + "/row"].tolist(), values.double().tolist()))
json.dump(out, sys.stdout)
`, files...)
}
