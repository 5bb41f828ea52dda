package tfgnn

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// Every form of the text format is read, and it is written in one form.
func TestTextForms(t *testing.T) {
	const loose = `
# a comment
node_sets < key: "a" value: { features { key: "x" value { dtype: DT_FLOAT, shape: <dim {size: 2} dim {size: -1}> } } context: ["c", "d"] } >
node_sets { value { description: 'first' } key: "b" }
node_sets { key: "b" value { description: "it's \"\\\001\ttwo\nlines é" } }
edge_sets { key: "e" value { source: "a" target: "b" metadata { filename: "e@3" extra { key: "edge_type" value: "reversed" } cardinality: 7 bigquery { sql: "q" read_method: DIRECT_READ reshuffle: true } } } }
info { graph_type: SUBGRAPH root_set: "a" }`
	const want = `node_sets {
  key: "a"
  value {
    features {
      key: "x"
      value {
        dtype: DT_FLOAT
        shape {
          dim {
            size: 2
          }
          dim {
            size: -1
          }
        }
      }
    }
    context: "c"
    context: "d"
  }
}
node_sets {
  key: "b"
  value {
    description: "it\'s \"\\\001\ttwo\nlines é"
  }
}
edge_sets {
  key: "e"
  value {
    source: "a"
    target: "b"
    metadata {
      extra {
        key: "edge_type"
        value: "reversed"
      }
      filename: "e@3"
      cardinality: 7
      bigquery {
        sql: "q"
        read_method: DIRECT_READ
        reshuffle: true
      }
    }
  }
}
info {
  graph_type: SUBGRAPH
  root_set: "a"
}
`
	m, err := ParseSchema("s", []byte(loose))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(AppendText(nil, m)); got != want {
		t.Fatalf("found\n%s\nexpected\n%s", got, want)
	}
	again, err := ParseSchema("s", []byte(want))
	if err != nil || !proto.Equal(m, again) {
		t.Fatalf("the text does not read back the same: %v", err)
	}
}

func TestSyntaxErrorsSayWhere(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"node_sets {\n  kye: 1\n}", `dir/s.pbtxt:2:3: found unknown map entry field "kye"; expected a GraphSchema in text format`},
		{"nodesets {}", `dir/s.pbtxt:1:1: found unknown field: nodesets; expected a GraphSchema`},
		{"context { features { key: 'a' value { dtype: DT_FLAOT } } }", `found invalid value for enum type: DT_FLAOT; expected one of DT_FLOAT, DT_DOUBLE`},
		{"node_sets {", `dir/s.pbtxt: found unexpected EOF; expected a GraphSchema`},
	} {
		_, err := ParseSchema("dir/s.pbtxt", []byte(c.text))
		if !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "dir/s.pbtxt:") {
			t.Errorf("%q: found error %v, expected %s", c.text, err, c.want)
		}
	}
}

// base is a valid schema that the cases below add to.
const base = `
node_sets { key: "n" value { features { key: "f" value { dtype: DT_FLOAT } } } }
edge_sets { key: "e" value { source: "n" target: "n" } }
`

func TestCheckSchema(t *testing.T) {
	node := func(features string) string { return `node_sets { key: "m" value { ` + features + ` } }` }
	feature := func(name, body string) string { return `features { key: "` + name + `" value { ` + body + ` } }` }
	for _, c := range []struct{ name, text, err, warning string }{
		{name: "nothing added"},
		{name: "ragged", text: node(feature("r", "dtype: DT_STRING shape { dim { size: 2 } dim { size: -1 } }"))},
		{name: "ids", text: node(feature("#id", "dtype: DT_STRING"))},
		{name: "no dtype", text: node(feature("x", "")), err: `node_sets["m"].features["x"].dtype: found no dtype, expected one of DT_FLOAT, `},
		{name: "unknown rank", text: node(feature("x", "dtype: DT_FLOAT shape { unknown_rank: true }")), err: "unknown rank"},
		{name: "size 0", text: node(feature("x", "dtype: DT_FLOAT shape { dim { size: 0 } }")), err: "shape.dim[0].size: found size 0"},
		{name: "size absent", text: node(feature("x", "dtype: DT_FLOAT shape { dim { } }")), err: "shape.dim[0].size: found size 0"},
		{name: "size -2", text: node(feature("x", "dtype: DT_FLOAT shape { dim { size: -2 } }")), err: "found size -2"},
		{name: "huge", text: node(feature("x", "dtype: DT_FLOAT shape { dim { size: 1000000 } dim { size: 1000000 } }")), err: "more than 2147483647 values"},
		{name: "empty feature", text: node(feature("", "dtype: DT_FLOAT")), err: `node_sets["m"].features[""]: found an empty name`},
		{name: "empty set", text: `node_sets { key: "" value { } }`, err: "found an empty name"},
		{name: "size reserved", text: node(feature("#size", "dtype: DT_INT64")), err: `features["#size"]: found the name #size, which the encoding uses`},
		{name: "size of the context", text: `context { ` + feature("#size", "dtype: DT_INT64") + ` }`, warning: "TF-GNN reserves names"},
		{name: "dtype of TensorFlow", text: node(feature("x", "dtype: DT_COMPLEX64")), err: `node_sets["m"].features["x"].dtype: found dtype DT_COMPLEX64, expected one of DT_FLOAT, DT_DOUBLE`},
		{name: "dtype of a number", text: node(feature("x", "dtype: 99")), err: `found dtype 99, expected one of`},
		{name: "rank", text: node(feature("x", "dtype: DT_FLOAT shape {"+strings.Repeat(" dim { size: 1 }", 254)+" }")), err: `found 254 dimensions, expected at most 253`},
		{name: "not UTF-8", text: node(feature(`\377`, "dtype: DT_FLOAT")), err: `found a name that is not UTF-8`},
		{name: "source of nodes", text: node(feature("#source", "dtype: DT_INT64")), warning: "TF-GNN reserves names"},
		{name: "source of edges", text: `edge_sets { key: "d" value { source: "n" target: "n" ` + feature("#source", "dtype: DT_INT64") + ` } }`, err: `features["#source"]: found the name`},
		{name: "no such node set", text: `edge_sets { key: "d" value { source: "n" target: "x" } }`, err: `edge_sets["d"].target: found "x", expected one of the node sets [n]`},
		{name: "no source", text: `edge_sets { key: "d" value { target: "n" } }`, err: `edge_sets["d"].source: found no source`},
		{name: "context feature", text: `context { ` + feature("c", "dtype: DT_INT64") + ` } node_sets { key: "m" value { context: "d" } }`, err: `node_sets["m"].context[0]: found context feature "d", expected one of the context's features [c]`},
		{name: "keys collide", text: `node_sets { key: "n.a" value { ` + feature("x", "dtype: DT_FLOAT") + ` } } node_sets { key: "n" value { ` + feature("a.x", "dtype: DT_FLOAT") + ` } }`, err: `found the same key "nodes/n.a.x" in an Example`},
		{name: "row lengths collide", text: node(feature("x", "dtype: DT_FLOAT shape { dim { size: -1 } }") + feature("x.d1", "dtype: DT_FLOAT")), err: `the same key "nodes/m.x.d1"`},
		{name: "size collides", text: `node_sets { key: "n" value { } } node_sets { key: "n.a" value { } } node_sets { key: "n" value { ` + feature("a.#size", "dtype: DT_INT64") + ` } }`, err: `the same key "nodes/n.a.#size"`},
		{name: "shape [1]", text: node(feature("x", "dtype: DT_FLOAT shape { dim { size: 1 } }")), warning: "vector of one value"},
		{name: "name of a dimension", text: node(feature("x", `dtype: DT_FLOAT shape { dim { size: 2 name: "y" } }`)), err: `shape.dim[0].name: found the name "y" of a dimension, expected none`},
		{name: "other # name", text: node(feature("#x", "dtype: DT_FLOAT")), warning: "TF-GNN reserves names"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ParseSchema("s", []byte(base+c.text))
			if err != nil {
				t.Fatal(err)
			}
			warnings, err := CheckSchema(m)
			if (err == nil) != (c.err == "") || err != nil && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("found error %v, expected %q", err, c.err)
			}
			if all := strings.Join(warnings, "\n"); (all == "") != (c.warning == "") || !strings.Contains(all, c.warning) {
				t.Errorf("found warnings %q, expected %q", all, c.warning)
			}
		})
	}
}

// A message that was read, written and read again is the same, and the writer is stable.
func FuzzSchema(f *testing.F) {
	f.Add([]byte(base))
	f.Add([]byte(`context { features { key: "\xc3\xa9" value { dtype: DT_BOOL shape: < dim [{ size: -1 }, {}] > } } }`))
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzing.Check(t, len(text), func() {
			m, err := ParseSchema("s", text)
			if err != nil || isBinary(text) {
				return
			}
			_, _ = CheckSchema(m)
			out := AppendText(nil, m)
			again, err := ParseSchema("s", out)
			if err != nil || !proto.Equal(m, again) {
				t.Fatalf("%v: written as\n%s", err, out)
			}
		})
	})
}

func FuzzSpec(f *testing.F) {
	f.Add([]byte(`seed_op < op_name: "s" node_set_name: "n" > sampling_ops { op_name: "a" input_op_names: ["s"] edge_set_name: "e" sample_size: 3 strategy: RANDOM_WEIGHTED }`))
	f.Add([]byte(`symmetric_link_seed_op { }`))
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzing.Check(t, len(text), func() {
			m, err := ParseSpec("s", text)
			if err != nil || isBinary(text) {
				return
			}
			out := AppendText(nil, m)
			again, err := ParseSpec("s", out)
			if err != nil || !proto.Equal(m, again) {
				t.Fatalf("%v: written as\n%s", err, out)
			}
		})
	})
}
