//go:build interop

package survey

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/vfs"
)

const sampledStats = `
import os, sys
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import tensorflow_gnn as tfgnn
from tensorflow_gnn.tools import sampled_stats
schema, pattern, quantiles, out = sys.argv[1:]
sampled_stats.run_pipeline(pattern, "tfrecord", tfgnn.read_schema(schema), int(quantiles), out)
`

// TF-GNN's own tool fills in the same figures.
func TestPeerAsSampledStats(t *testing.T) {
	cmd := exec.Command("../../bench/peers.sh", "tfgnn")
	cmd.Stderr = os.Stderr
	python, err := cmd.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh tfgnn: %v", err)
	}
	text := schemaText + `node_sets { key: "more" value {
		features { key: "b" value { dtype: DT_BOOL } } features { key: "h" value { dtype: DT_HALF } } features { key: "d" value { dtype: DT_DOUBLE } }
		features { key: "i" value { dtype: DT_INT64 } } features { key: "r" value { dtype: DT_FLOAT shape { dim { size: -1 } dim { size: 2 } dim { size: -1 } } } } } }`
	sch := schema(t, text)
	c, err := example.NewCodec(sch)
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	for i := range uint64(60) {
		record, err := c.Encode(new(example.Writer), c.Random(3, i))
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, append([]byte(nil), record...))
	}
	name := file(t, "x.tfrecord", records...)
	s, err := Take(context.Background(), vfs.OS, []string{name}, Options{Schema: sch})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	schemaFile, out := filepath.Join(dir, "schema.pbtxt"), filepath.Join(dir, "stats.pbtxt")
	if err := os.WriteFile(schemaFile, tfgnn.AppendText(nil, sch), 0o644); err != nil {
		t.Fatal(err)
	}
	if log, err := exec.Command(strings.TrimSpace(string(python)), "-c", sampledStats, schemaFile, name, "10", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var real tfgnnpb.GraphTensorStats
	if err := prototext.Unmarshal(written, &real); err != nil {
		t.Fatal(err)
	}
	ours := map[string]*tfgnnpb.Stats{}
	for _, f := range s.Stats().FeatureStats {
		ours[f.GetSetType()+"/"+f.GetSetName()+"/"+f.GetFeatureName()] = f.Stats
	}
	if len(real.FeatureStats) != len(ours) || len(ours) < 12 {
		t.Errorf("found %d features, expected %d", len(ours), len(real.FeatureStats))
	}
	for _, f := range real.FeatureStats {
		name := f.GetSetType() + "/" + f.GetSetName() + "/" + f.GetFeatureName()
		got, want := ours[name], f.Stats
		if got == nil {
			t.Errorf("%s: found none", name)
			continue
		}
		// The tool's text of a float is not always the one nearest to its float32.
		near := func(a, b float32) bool { return math.Abs(float64(a-b)) <= 1e-6*math.Abs(float64(b)) }
		if !near(got.GetMin(), want.GetMin()) || !near(got.GetMax(), want.GetMax()) || !near(got.GetMedian(), want.GetMedian()) ||
			!slices.EqualFunc(got.Quantiles, want.Quantiles, near) {
			t.Errorf("%s: found %v, expected %v", name, got, want)
		}
	}
}
