//go:build !interopdata

package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir is a path within the folder of golden files: testdata/golden of this repository.
func Dir(t testing.TB, elem ...string) string {
	t.Helper()
	return filepath.Join(append([]string{root(t), "testdata", "golden"}, elem...)...)
}

// Samples are the unigraphs below tfgnn/sampler: each has a schema.pbtxt, a spec.pbtxt, perhaps a seeds.csv, and a beam.tfrecord.
func Samples(t testing.TB) []Sample {
	t.Helper()
	found, err := filepath.Glob(Dir(t, "tfgnn", "sampler", "*", "beam.tfrecord"))
	if err != nil || len(found) < 7 {
		t.Fatalf("found %d samples, %v, expected at least 7", len(found), err)
	}
	var all []Sample
	for _, records := range found {
		dir := filepath.Dir(records)
		s := Sample{Name: filepath.Base(dir), Schema: filepath.Join(dir, "schema.pbtxt"), Spec: filepath.Join(dir, "spec.pbtxt"), Records: records}
		if _, err := os.Stat(filepath.Join(dir, "seeds.csv")); err == nil {
			s.Seeds = filepath.Join(dir, "seeds.csv")
		}
		all = append(all, s)
	}
	return all
}

// Classics are what the older sampler made.
func Classics(t testing.TB) []Classic {
	in := func(file string) string { return Dir(t, "tfgnn", "sampler", file) }
	return []Classic{
		{"homogeneous", in("homogeneous/schema.pbtxt"), in("homogeneous/spec_topk.pbtxt"), in("homogeneous/old_topk.tfrecord"), ""},
		{"edges that were drawn", in("diamond/schema.pbtxt"), in("diamond/spec.pbtxt"), in("diamond/old_edge.tfrecord"), "edge"},
		{"all edges between the nodes", in("diamond/schema.pbtxt"), in("diamond/spec.pbtxt"), in("diamond/old_node.tfrecord"), "node"},
	}
}

// Partitions are the folders of parts below dgl.
func Partitions(t testing.TB) []Partition {
	in := func(file string) string { return Dir(t, "dgl", file) }
	return []Partition{
		{"homo", "homo.json", in("homo/graph.bin"), "homo", 4, 1, true, "", false, 200, 700},
		{"homo_tiny_csr", "tiny.json", in("homo_tiny_csr/graph.bin"), "tiny", 2, 1, true, "coo,csr,csc", false, 40, 83},
		{"hetero_hop1", "typed.json", in("hetero_hop1/graph.bin"), "typed", 3, 1, true, "", false, 195, 520},
		{"hetero_hop2", "typed.json", in("hetero_hop1/graph.bin"), "typed", 3, 2, true, "", true, 195, 520},
		{"chunked_out", "metadata.json", in("chunked_in/graph.bin"), "deb", 3, 1, false, "", false, 772, 977},
	}
}
