//go:build interop || interopdata

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/golden"
)

// parseWith parses the Examples of each folder with the FEATURES that io-spec printed, and with the features of TF-GNN's own
// get_io_spec.
const parseWith = `
import os, sys
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import tensorflow as tf, tensorflow_gnn as tfgnn

def plain(v):
  return (v.to_list() if isinstance(v, tf.RaggedTensor) else v.numpy().tolist(), v.dtype.name, v.shape.as_list())

total = 0
for folder in sys.argv[1:]:
  scope = {}
  exec(open(os.path.join(folder, "features.py")).read(), scope)
  ours = scope["FEATURES"]
  schema = tfgnn.read_schema(os.path.join(folder, "schema.pbtxt"))
  real = tfgnn.get_io_spec(tfgnn.create_graph_spec_from_schema_pb(schema))
  assert sorted(ours) == sorted(real), (folder, sorted(ours), sorted(real))
  for record in tf.data.TFRecordDataset(os.path.join(folder, "examples.tfrecord")):
    a = tf.io.parse_single_example(record, ours)
    b = tf.io.parse_single_example(record, real)
    for k in real:
      assert repr(plain(a[k])) == repr(plain(b[k])), (folder, k, a[k], b[k])
    total += 1
print(total)
`

// The Python that io-spec prints parses every golden Example as TF-GNN does.
func TestGoldenIOSpecAsTFGNN(t *testing.T) {
	schemas, err := filepath.Glob(golden.Dir(t, "tfgnn/encoding/*/schema.pbtxt"))
	if err != nil || len(schemas) < 9 {
		t.Fatalf("found %d schemas, %v", len(schemas), err)
	}
	var folders []string
	for _, schema := range schemas {
		folder, source := filepath.Join(t.TempDir(), filepath.Base(filepath.Dir(schema))), filepath.Dir(schema)
		switch filepath.Base(source) {
		case "components": // with the schema only, TF-GNN assumes one component
			continue
		case "verdicts": // broken on purpose
			continue
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"schema.pbtxt", "examples.tfrecord"} {
			if err := os.Symlink(filepath.Join(source, name), filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		var features bytes.Buffer
		if status := runCommand([]string{"graphmill", "tfgnn", "io-spec", "--python", schema}, &features, io.Discard); status != exitDone {
			t.Fatalf("%s: status %d", schema, status)
		}
		if err := os.WriteFile(filepath.Join(folder, "features.py"), features.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	out, err := exec.Command(tfgnnPython(t), append([]string{"-c", parseWith}, folders...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Fields(string(out))
	t.Logf("%d schemas, %s Examples", len(folders), lines[len(lines)-1])
}
