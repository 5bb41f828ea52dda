//go:build interop

package tfgnn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// tfgnnPython is the python of the real TF-GNN. It installs it first where it is missing.
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

// judge is a program that prints, for each schema, why TF-GNN refuses it: an empty
// string where it does not.
const judge = `
import json, os, sys
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import tensorflow_gnn as tfgnn
from absl import logging
logging.set_verbosity(logging.FATAL)
verdicts = []
for text in json.load(sys.stdin):
  why, warnings = "", []
  try:
    schema = tfgnn.parse_schema(text)
    warnings = [str(w) for w in tfgnn.validate_schema(schema)]
    tfgnn.create_graph_spec_from_schema_pb(schema)
  except Exception as e:
    why = repr(e)
  verdicts.append({"why": why, "warnings": warnings})
json.dump(verdicts, sys.stdout)
`

// verdict is what TF-GNN says: why it refuses, and what it warns of.
type verdict struct {
	Why      string
	Warnings []string
}

// ask runs a program of the real TF-GNN, which gives n verdicts.
func ask(t *testing.T, program string, input any, n int) []verdict {
	t.Helper()
	in, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tfgnnPython(t), "-c", program)
	cmd.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var verdicts []verdict
	if err := json.Unmarshal(out, &verdicts); err != nil || len(verdicts) != n {
		t.Fatalf("found %d verdicts, expected %d: %v", len(verdicts), n, err)
	}
	return verdicts
}

// What TF-GNN's own validation refuses is refused, and what it lets pass is
// refused only for the reasons that are listed here.
func TestPeerAsStrictAsTFGNN(t *testing.T) {
	node := func(features string) string { return `node_sets { key: "m" value { ` + features + ` } }` }
	feature := func(name, body string) string { return `features { key: "` + name + `" value { ` + body + ` } }` }
	dims := func(sizes ...string) string {
		return node(feature("x", "dtype: DT_FLOAT shape { dim { size: "+strings.Join(sizes, " } dim { size: ")+" } }"))
	}
	edge := func(name, body string) string {
		return base + `edge_sets { key: "` + name + `" value { ` + body + ` } }`
	}
	readout := func(name, source, target string) string {
		return base + `node_sets { key: "_readout" } ` + edge("_readout/"+name, `source: "`+source+`" target: "`+target+`"`)[len(base):]
	}
	type testCase struct{ text, hole string } // hole: why only we refuse
	cases := []testCase{
		{base, ""}, {strings.NewReplacer("- 1", "-1", `\u00e9`, "é").Replace(odd), ""}, {linkSchema, ""},
		{"", ""}, {"nodes {", ""}, {"context { } context { }", ""},
		{node(feature("x", "")), ""},
		{node(feature("x", "shape { unknown_rank: true } dtype: DT_FLOAT")), ""},
		{node(feature("x", "dtype: DT_INVALID")), ""}, {node(feature("x", "dtype: 99")), ""}, {node(feature("x", "dtype: DT_FLAOT")), ""},
		{dims("2"), ""}, {dims("1"), ""}, {dims("-1"), ""}, {dims("-1", "-1"), ""}, {dims("2", "-1", "3"), ""}, {dims("-1", "4", "-1"), ""},
		{dims("-2"), ""},
		{dims("2", "-3"), ""},
		{dims("0"), "found size 0"}, {dims("3", "0"), "found size 0"},
		{dims("1000000", "1000000"), "values"},
		{node(feature("x", `dtype: DT_FLOAT shape { dim { size: 2 name: "d" } }`)), ""},
		{node(feature("x", `description: "y" dtype: DT_FLOAT shape { dim { size: 2 name: "d" } }`)), ""},
		{node(feature("", "dtype: DT_FLOAT")), "found an empty name"},
		{`node_sets { key: "" }`, "found an empty name"},
		{node(feature("#size", "dtype: DT_INT64")), ""},
		{node(feature("#source", "dtype: DT_INT64")), ""},
		{`context { ` + feature("#size", "dtype: DT_INT64") + ` }`, ""},
		{node(feature("\\377", "dtype: DT_FLOAT")), ""},
		{node(`context: "c"`), ""},
		{`context { ` + feature("c", "dtype: DT_FLOAT") + ` }` + node(`context: "c"`), ""},
		{edge("d", `source: "n" target: "n" `+feature("#size", "dtype: DT_INT64")), ""},
		{edge("d", `source: "n" target: "n" `+feature("#source", "dtype: DT_INT64")), ""},
		{edge("d", `source: "n" target: "n" `+feature("#target", "dtype: DT_INT64")), ""},
		{edge("d", `source: "n" target: "n" context: "c"`), ""},
		{edge("d", `source: "n"`), ""}, {edge("d", `target: "n"`), ""}, {edge("d", `source: "n" target: "z"`), ""},
		{edge("", `source: "n" target: "n"`), ""},
		{base + `node_sets { key: "_readout" }`, ""},
		{base + `node_sets { key: "_readout:x" }`, ""}, {base + `node_sets { key: "_readout!" }`, ""},
		{readout("source", "n", "_readout"), ""}, {readout("source/1", "n", "_readout"), ""}, {readout("source/1/2", "n", "_readout"), ""},
		{readout("é", "n", "_readout"), ""},
		{readout("", "n", "_readout"), ""}, {readout("a-b", "n", "_readout"), ""}, {readout("a/", "n", "_readout"), ""}, {readout("a", "n", "n"), ""},
		{readout("a", "_shadow/e", "_readout") + `node_sets { key: "_shadow/e" }`, ""},
		{readout("a", "_shadow/z", "_readout") + `node_sets { key: "_shadow/z" }`, ""},
		{readout("a", "n", "_readout") + `edge_sets { key: "_readout/a/b" value { source: "n" target: "_readout" } }`, ""},
		{readout("a", "n", "_readout") + `edge_sets { key: "_readout/b" value { source: "n" target: "_readout" } }`, ""},
		{`node_sets { key: "n.a" value { ` + feature("x", "dtype: DT_FLOAT") + ` } } node_sets { key: "n" value { ` + feature("a.x", "dtype: DT_FLOAT") + ` } }`, "found the same key"},
		{node(feature("x", "dtype: DT_FLOAT shape { dim { size: -1 } }") + feature("x.d1", "dtype: DT_INT64")), "found the same key"},
		{`node_sets { key: "n" value { ` + feature("a.#size", "dtype: DT_INT64") + ` } } node_sets { key: "n.a" }`, "found the same key"},
	}
	for d := range tfgnnpb.DataType_name {
		hole := ""
		switch tfgnnpb.DataType(d) {
		case tfgnnpb.DataType_DT_INT4, tfgnnpb.DataType_DT_UINT4, tfgnnpb.DataType_DT_FLOAT8_E5M2, tfgnnpb.DataType_DT_FLOAT8_E4M3FN:
			hole = "found dtype" // no TF-GNN file has one: tf.io cannot cast to it
		}
		cases = append(cases, testCase{node(feature("x", fmt.Sprintf("dtype: %d", d))), hole})
	}
	var texts []string
	for _, c := range cases {
		texts = append(texts, c.text)
	}
	verdicts := ask(t, judge, texts, len(cases))
	for i, v := range verdicts {
		var warnings []string
		m, err := ParseSchema("s", []byte(cases[i].text))
		if err == nil {
			warnings, err = CheckSchema(m)
		}
		switch hole := cases[i].hole; {
		case v.Why != "" && err == nil:
			t.Errorf("%s\nTF-GNN refuses: %s", cases[i].text, v.Why)
		case v.Why != "" && hole != "":
			t.Errorf("%s\nTF-GNN refuses it too: %s", cases[i].text, v.Why)
		case v.Why == "" && hole == "" && err != nil:
			t.Errorf("%s\nTF-GNN takes it, found %v", cases[i].text, err)
		case v.Why == "" && hole != "" && (err == nil || !strings.Contains(err.Error(), hole)):
			t.Errorf("%s\nfound %v, expected %q", cases[i].text, err, hole)
		}
		if len(v.Warnings) > len(warnings) {
			t.Errorf("%s\nTF-GNN warns: %v, found %v", cases[i].text, v.Warnings, warnings)
		}
	}
}

// judgeSpec is judge for pairs of a schema and a sampling spec: what the older
// sampler's validation refuses, or for links the checks of the newer one.
const judgeSpec = `
import json, os, sys
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import tensorflow_gnn as tfgnn
from google.protobuf import text_format
from tensorflow_gnn.sampler import sampling_spec_pb2
from tensorflow_gnn.sampler.unsupported import graph_sampler
from tensorflow_gnn.experimental.sampler import subgraph_pipeline
verdicts = []
for schema, text in json.load(sys.stdin):
  why = ""
  try:
    schema = tfgnn.parse_schema(schema)
    spec = text_format.Parse(text, sampling_spec_pb2.SamplingSpec())
    subgraph_pipeline.assert_sorted_sampling_spec(spec)
    if spec.HasField("symmetric_link_seed_op"):
      subgraph_pipeline._validate_link_sampling_graph_schema(schema)
    else:
      graph_sampler._validate_sampling_spec(spec, schema)
  except Exception as e:
    why = repr(e)
  verdicts.append({"why": why, "warnings": []})
json.dump(verdicts, sys.stdout)
`

func TestPeerSpecsAsStrictAsTFGNN(t *testing.T) {
	const graph = `node_sets { key: "a" } node_sets { key: "b" }
		edge_sets { key: "ab" value { source: "a" target: "b" } } edge_sets { key: "ba" value { source: "b" target: "a" } }`
	const seed, link = `seed_op { op_name: "s" node_set_name: "a" } `, `symmetric_link_seed_op { op_name: "s" } `
	op := func(name, in, set, size, strategy string) string {
		return `sampling_ops { op_name: "` + name + `" input_op_names: [` + in + `] edge_set_name: "` + set + `" sample_size: ` + size + ` strategy: ` + strategy + ` } `
	}
	ops := op("1", `"s"`, "ab", "3", "RANDOM_UNIFORM") + op("2", `"1"`, "ba", "3", "TOP_K")
	cases := []struct{ schema, spec, hole string }{
		{graph, seed + ops, ""}, {graph, seed, ""},
		{graph, ops, ""}, {graph, "", ""},
		{graph, `seed_op { node_set_name: "a" }`, ""}, {graph, `seed_op { op_name: "s" node_set_name: "z" }`, ""},
		{graph, seed + op("2", `"1"`, "ba", "3", "TOP_K") + op("1", `"s"`, "ab", "3", "TOP_K"), ""},
		{graph, seed + op("1", `"s"`, "z", "3", "TOP_K"), ""},
		{graph, seed + op("1", `"s"`, "ab", "0", "TOP_K"), ""}, {graph, seed + op("1", `"s"`, "ab", "-1", "TOP_K"), ""},
		{graph, seed + op("1", `"s"`, "ab", "3", "9"), ""}, {graph, seed + op("1", `"s"`, "ab", "3", "BEST"), ""},
		{graph, seed + op("1", `"s"`, "ba", "3", "TOP_K"), "the source of edge set \"ba\""},
		{graph, seed + op("1", "", "ab", "3", "TOP_K"), "found no input"},
		{graph, seed + op("s", `"s"`, "ab", "3", "TOP_K"), "for the second time"},
		{linkSchema, link, ""}, {linkSchema, link + op("1", `"s"`, "e", "3", "RANDOM_UNIFORM"), ""},
		{graph, link, ""}, {linkSchema + `node_sets { key: "_x" }`, link, ""},
		{linkSchema + `edge_sets { key: "_x" value { source: "a" target: "a" } }`, link, ""},
		{linkSchema + `node_sets { key: "b" } edge_sets { key: "_readout/target" value { source: "b" target: "_readout" } }`, link, ""},
	}
	var pairs [][2]string
	for _, c := range cases {
		pairs = append(pairs, [2]string{c.schema, c.spec})
	}
	for i, v := range ask(t, judgeSpec, pairs, len(cases)) {
		schema, err := ParseSchema("schema", []byte(cases[i].schema))
		if err != nil {
			t.Fatal(err)
		}
		spec, err := ParseSpec("spec", []byte(cases[i].spec))
		if err == nil {
			_, err = CheckSpec(spec, schema)
		}
		switch hole := cases[i].hole; {
		case v.Why != "" && err == nil:
			t.Errorf("%s\nTF-GNN refuses: %s", cases[i].spec, v.Why)
		case v.Why == "" && hole == "" && err != nil:
			t.Errorf("%s\nTF-GNN takes it, found %v", cases[i].spec, err)
		case hole != "" && (err == nil || !strings.Contains(err.Error(), hole)):
			t.Errorf("%s\nfound %v, expected %q", cases[i].spec, err, hole)
		}
	}
}
