//go:build interopdata

package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir is a path within the folder of golden files: golden in $GRAPHMILL_DATA.
func Dir(t testing.TB, elem ...string) string {
	t.Helper()
	return Data(t, append([]string{"golden"}, elem...)...)
}

// Data is a path within $GRAPHMILL_DATA, the folder of other people's data; the test fails where it is not set.
func Data(t testing.TB, elem ...string) string {
	t.Helper()
	dir := os.Getenv("GRAPHMILL_DATA")
	if dir == "" {
		t.Fatal("found no GRAPHMILL_DATA, expected the folder of other people's data; set it")
	}
	return filepath.Join(append([]string{dir}, elem...)...)
}

// Samples are the unigraphs of the folder, TF-GNN's own among them.
func Samples(t testing.TB) []Sample {
	t.Helper()
	of := func(name, schema, spec, seeds, records string) Sample {
		in := func(file string) string { return Dir(t, "tfgnn", "sampler", name, file) }
		s := Sample{Name: name, Schema: in(schema), Spec: in(spec), Records: in(records)}
		if seeds != "" {
			s.Seeds = in(seeds)
		}
		return s
	}
	own := func(name, schema string, spec ...string) Sample {
		s := of(name, "", append(spec, "spec.pbtxt")[0], "", "beam.tfrecord")
		s.Schema = Data(t, "tfgnn", schema)
		return s
	}
	edge := own("node_vs_edge", "testdata/node_vs_edge/schema.pbtxt")
	edge.Spec = Data(t, "tfgnn", "testdata", "node_vs_edge", "spec.pbtxt")
	return []Sample{
		own("homogeneous", "testdata/homogeneous/citrus.pbtxt"), own("heterogeneous", "testdata/heterogeneous/graph.pbtxt"), edge,
		own("creditcard", "examples/creditcard/graph_schema.pbtxt", "spec_all.pbtxt"),
		of("wordnet_small", "schema.pbtxt", "spec_all.pbtxt", "seeds.csv", "beam_all.tfrecord"),
		of("vectors_vecA", "schema.pbtxt", "spec.pbtxt", "", "beam.tfrecord"),
		of("vectors_vecB", "schema.pbtxt", "spec.pbtxt", "", "beam.tfrecord"),
		of("ragged", "schema.pbtxt", "spec.pbtxt", "", "beam.tfrecord"),
		of("link", "schema.pbtxt", "spec_all.pbtxt", "seeds.csv", "beam_all.tfrecord"),
	}
}

// Classics are what the older sampler made of TF-GNN's own unigraphs.
func Classics(t testing.TB) []Classic {
	in := func(file string) string { return Dir(t, "tfgnn", "sampler", file) }
	tests := func(file string) string { return Data(t, "tfgnn", "testdata", file) }
	schema, spec := tests("node_vs_edge/schema.pbtxt"), tests("node_vs_edge/spec.pbtxt")
	return []Classic{
		{"homogeneous", tests("homogeneous/citrus.pbtxt"), in("homogeneous/spec_topk.pbtxt"), in("homogeneous/old_topk.tfrecord"), ""},
		{"edges that were drawn", schema, spec, in("node_vs_edge/old_edge.tfrecord"), "edge"},
		{"all edges between the nodes", schema, spec, in("node_vs_edge/old_node.tfrecord"), "node"},
	}
}

// Partitions are the folders of parts below golden/dgl.
func Partitions(t testing.TB) []Partition {
	in := func(file string) string { return Dir(t, "dgl", file) }
	return []Partition{
		{"homo_cora", "cora.json", in("homo_cora/graph.bin"), "cora", 4, 1, true, "", false, 2708, 5429},
		{"homo_tiny_csr", "tiny.json", in("homo_tiny_csr/graph.bin"), "tiny", 2, 1, true, "coo,csr,csc", false, 40, 83},
		{"hetero_hop1", "deb.json", in("hetero_hop1/graph.bin"), "deb", 3, 1, true, "", false, 4026, 7219},
		{"hetero_hop2", "deb.json", in("hetero_hop1/graph.bin"), "deb", 3, 2, true, "", true, 4026, 7219},
		{"chunked_out", "metadata.json", in("chunked_in/graph.bin"), "deb", 3, 1, false, "", false, 772, 977},
	}
}
