package tfgnn

import (
	"errors"
	"strings"
	"testing"
)

const linkSchema = `
node_sets { key: "a" } node_sets { key: "_readout" value { features { key: "label" value { dtype: DT_INT64 } } } }
edge_sets { key: "e" value { source: "a" target: "a" } }
edge_sets { key: "_readout/source" value { source: "a" target: "_readout" } }
edge_sets { key: "_readout/target" value { source: "a" target: "_readout" } }
`

func TestCheckSpec(t *testing.T) {
	const graph = `node_sets { key: "a" } node_sets { key: "b" }
		edge_sets { key: "ab" value { source: "a" target: "b" } }
		edge_sets { key: "ba" value { source: "b" target: "a" features { key: "#weight" value { dtype: DT_FLOAT } } } }`
	const seed = `seed_op { op_name: "s" node_set_name: "a" } `
	op := func(name, in, set, more string) string {
		return `sampling_ops { op_name: "` + name + `" input_op_names: [` + in + `] edge_set_name: "` + set + `" sample_size: 3 ` + more + ` } `
	}
	for _, c := range []struct{ name, schema, text, err, warning string }{
		{"two hops", graph, seed + op("1", `"s"`, "ab", "strategy: RANDOM_UNIFORM") + op("2", `"1"`, "ba", "strategy: TOP_K"), "", ""},
		{"no ops", graph, seed, "", ""},
		{"weights of one", graph, seed + op("1", `"s"`, "ab", "strategy: RANDOM_WEIGHTED"), "", `sampling_ops[0].strategy: found RANDOM_WEIGHTED, but edge set "ab" has no feature #weight`},
		{"no seed", graph, op("1", `"s"`, "ab", "strategy: RANDOM_UNIFORM"), `found neither seed_op nor symmetric_link_seed_op`, ""},
		{"seed without a name", graph, `seed_op { node_set_name: "a" }`, "seed_op.op_name: found no op_name", ""},
		{"seeds of nothing", graph, `seed_op { op_name: "s" node_set_name: "c" }`, `seed_op.node_set_name: found "c", expected one of the node sets [a, b]`, ""},
		{"order", graph, seed + op("2", `"1"`, "ba", "strategy: TOP_K") + op("1", `"s"`, "ab", "strategy: RANDOM_UNIFORM"), `sampling_ops[0].input_op_names[0]: found "1", expected one of the ops that stand before this one [s]`, ""},
		{"name twice", graph, seed + op("s", `"s"`, "ab", "strategy: RANDOM_UNIFORM"), `sampling_ops[0].op_name: found "s" for the second time`, ""},
		{"edge set", graph, seed + op("1", `"s"`, "abc", "strategy: RANDOM_UNIFORM"), `sampling_ops[0].edge_set_name: found "abc", expected one of the edge sets [ab, ba]; did you mean "ab"?`, ""},
		{"wrong end", graph, seed + op("1", `"s"`, "ba", "strategy: RANDOM_UNIFORM"), `sampling_ops[0].input_op_names[0]: found "s", which gives nodes of "a", expected nodes of "b", the source of edge set "ba"`, ""},
		{"no inputs", graph, seed + op("1", "", "ab", "strategy: RANDOM_UNIFORM"), "sampling_ops[0].input_op_names: found no input", ""},
		{"no sample size", graph, seed + strings.Replace(op("1", `"s"`, "ab", "strategy: RANDOM_UNIFORM"), "sample_size: 3", "", 1), "sampling_ops[0].sample_size: found 0, expected at least 1", ""},
		{"negative sample size", graph, seed + strings.Replace(op("1", `"s"`, "ab", "strategy: RANDOM_UNIFORM"), ": 3", ": -3", 1), "found -3, expected at least 1", ""},
		{"unknown strategy", graph, seed + op("1", `"s"`, "ab", "strategy: 17"), "sampling_ops[0].strategy: found strategy 17, expected one of TOP_K, RANDOM_UNIFORM, RANDOM_WEIGHTED, LATEST_K", ""},
		{"links", linkSchema, `symmetric_link_seed_op { op_name: "s" } ` + op("1", `"s"`, "e", "strategy: RANDOM_UNIFORM"), "", ""},
		{"links without a layout", graph, `symmetric_link_seed_op { op_name: "s" }`, "symmetric_link_seed_op: found a schema without readout of links, expected the node set _readout", ""},
		{"links and another auxiliary set", linkSchema + `node_sets { key: "_x" }`, `symmetric_link_seed_op { op_name: "s" }`, `found the auxiliary node set "_x"`, ""},
		{"links of two node sets", linkSchema + `node_sets { key: "b" } edge_sets { key: "_readout/target" value { source: "b" target: "_readout" } }`, `symmetric_link_seed_op { op_name: "s" }`,
			`found _readout/source from "a" to "_readout" and _readout/target from "b" to "_readout"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			schema, err := ParseSchema("schema", []byte(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			spec, err := ParseSpec("spec", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			warnings, err := CheckSpec(spec, schema)
			if (err == nil) != (c.err == "") || err != nil && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("found error %v, expected %q", err, c.err)
			}
			if all := strings.Join(warnings, "\n"); (all == "") != (c.warning == "") || !strings.Contains(all, c.warning) {
				t.Errorf("found warnings %q, expected %q", all, c.warning)
			}
		})
	}
}

// All faults of a spec are reported at once, with their lines.
func TestInspectSpec(t *testing.T) {
	const text = "seed_op {\n  op_name: 's'\n  node_set_name: 'm'\n}\nsampling_ops {\n  op_name: 'x'\n  edge_set_name: 'e'\n}\n"
	schema, err := ParseSchema("s", []byte(base))
	if err != nil {
		t.Fatal(err)
	}
	const file = "dir/spec.pbtxt"
	f, err := InspectSpec(file, []byte(text), schema)
	if err != nil || len(f.Faults) != 3 {
		t.Fatalf("found %+v, %v; expected three faults", f, err)
	}
	for i, want := range []string{
		file + `:3:3: seed_op.node_set_name: found "m", expected`,
		file + `:5:1: sampling_ops[0].input_op_names: found no input`,
		file + `:5:1: sampling_ops[0].sample_size: found 0`,
	} {
		if !strings.HasPrefix(f.Faults[i].Error(), want) {
			t.Errorf("found %q, expected %q", f.Faults[i], want)
		}
	}
	if _, err := InspectSpec("bad.pbtxt", []byte("seed_op {"), schema); !errors.Is(err, ErrSyntax) {
		t.Errorf("found %v, expected a syntax error", err)
	}
}

func TestReadouts(t *testing.T) {
	edge := func(name, source, target string) string {
		return `edge_sets { key: "` + name + `" value { source: "` + source + `" target: "` + target + `" } }`
	}
	for _, c := range []struct{ name, text, err, warning string }{
		{"links", linkSchema, "", ""},
		{"two sources of a key", linkSchema + `node_sets { key: "b" }` + edge("_readout/source/b", "b", "_readout"), "", ""},
		{"a key twice", linkSchema + edge("_readout/source/b", "a", "_readout"), `edge_sets["_readout/source/b"]: found key "source" from "a" as in edge set "_readout/source"`, ""},
		{"no key", linkSchema + edge("_readout/", "a", "_readout"), `edge_sets["_readout/"]: found the name "_readout/", expected _readout/KEY`, ""},
		{"a key with a dash", linkSchema + edge("_readout/a-b", "a", "_readout"), `found the name "_readout/a-b"`, ""},
		{"elsewhere", linkSchema + edge("_readout/x", "a", "a"), `edge_sets["_readout/x"].target: found "a", expected "_readout"`, ""},
		{"no edges", base + `node_sets { key: "_readout" }`, `node_sets["_readout"]: found no edge sets _readout/KEY`, ""},
		{"shadow", base + `node_sets { key: "_readout" } node_sets { key: "_shadow/e" }` + edge("_readout/x", "_shadow/e", "_readout"), "", ""},
		{"shadow of nothing", base + `node_sets { key: "_readout" } node_sets { key: "_shadow/z" }` + edge("_readout/x", "_shadow/z", "_readout"), `edge_sets["_readout/x"].source: found "_shadow/z", the shadow of edge set "z"`, ""},
		{"a tag is checked on request alone", base + `node_sets { key: "_readout:train" }`, "", `node_sets["_readout:train"]: found no edge sets`},
	} {
		t.Run(c.name, func(t *testing.T) {
			schema, err := ParseSchema("schema", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			warnings, err := CheckSchema(schema)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("found error %v, expected %q", err, c.err)
			}
			if all := strings.Join(warnings, "\n"); (all == "") != (c.warning == "") || !strings.Contains(all, c.warning) {
				t.Errorf("found warnings %q, expected %q", all, c.warning)
			}
		})
	}
}
