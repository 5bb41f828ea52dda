package example

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

func parseSchema(t testing.TB, text string) *tfgnnpb.GraphSchema {
	t.Helper()
	schema, err := tfgnn.ParseSchema("schema.pbtxt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func newCodec(t testing.TB, text string) *Codec {
	t.Helper()
	c, err := NewCodec(parseSchema(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ints(v ...int64) value     { return value{kind: Int64List, ints: v} }
func floats(v ...float32) value { return value{kind: FloatList, floats: v} }
func texts(v ...string) value {
	x := value{kind: BytesList}
	for _, s := range v {
		x.texts = append(x.texts, []byte(s))
	}
	return x
}

const doubtfulSchema = `
context { features { key: "c" value { dtype: DT_INT64 } } }
node_sets { key: "l" value {} }
node_sets { key: "n" value {
  features { key: "r" value { dtype: DT_STRING shape { dim { size: -1 } } } }
  features { key: "x" value { dtype: DT_FLOAT shape { dim { size: 2 } } } } } }
edge_sets { key: "e" value { source: "n" target: "l" features { key: "w" value { dtype: DT_FLOAT } } } }`

// sound is a valid graph of doubtfulSchema.
var sound = map[string]value{
	"context/c": ints(7), "nodes/l.#size": ints(1),
	"nodes/n.#size": ints(2), "nodes/n.r": texts("a", "b", "c"), "nodes/n.r.d1": ints(1, 2), "nodes/n.x": floats(1, 2, 3, 4),
	"edges/e.#size": ints(2), "edges/e.#source": ints(0, 1), "edges/e.#target": ints(0, 0), "edges/e.w": floats(0.5, 1.5),
}

// gone marks a key that a doubtful Example omits.
var gone = value{kind: 9}

// doubtful are Examples that differ from sound in some keys. With validation, TF-GNN's parser reads those that are
// marked with tfgnn, although they are broken, and refuses the others. refused is part of the error of a strict
// Decode, and empty if it accepts the Example. repairs are the descriptions of a lenient Decode.
var doubtful = []struct {
	name    string
	change  map[string]value
	refused string
	tfgnn   bool // TF-GNN reads it
	repairs string
}{
	{"base", nil, "", true, ""},
	{"context feature missing", map[string]value{"context/c": gone}, "context/c: found 0 values (the key is missing), expected 1", false, "context/c: found 0 values; changed the number to 1"},
	{"context feature twice", map[string]value{"context/c": ints(7, 8)}, "context/c: found 2 values, expected 1", false, "context/c: found 2 values; changed the number to 1"},
	{"context feature empty list", map[string]value{"context/c": ints()}, "context/c: found 0 values, expected 1", false, "context/c: found 0 values; changed the number to 1"},
	{"context feature float instead of int64", map[string]value{"context/c": floats(7)}, "context/c: found float_list of 1 values, expected int64_list", false,
		"context/c: found float_list, expected int64_list; ignored it|context/c: found 0 values; changed the number to 1"},
	{"node #size missing, features present", map[string]value{"nodes/n.#size": gone}, "nodes/n.r.d1: found 2 row lengths, expected 0", true, "nodes/n.#size: found no size; set it to 2"},
	{"latent #size missing, edges present", map[string]value{"nodes/l.#size": gone}, "edges/e.#target: found endpoint 0 of edge 0, expected none: node set \"l\" has no nodes", true, "nodes/l.#size: found no size; set it to 1"},
	{"node #size two values, one-component spec", map[string]value{"nodes/n.#size": ints(1, 1)}, "nodes/n.#size: found 2 components, but nodes/l.#size has 1", false, "found sets with different numbers of components; made them one component"},
	{"node #size empty list", map[string]value{"nodes/n.#size": ints()}, "nodes/n.#size: found an empty list", false, "nodes/n.#size: found no size; set it to 2"},
	{"node #size negative", map[string]value{"nodes/l.#size": ints(-1)}, "nodes/l.#size: found -1 items", true, "nodes/l.#size: found -1 items; ignored all sizes of the set|nodes/l.#size: found no size; set it to 1"},
	{"node #size too large", map[string]value{"nodes/n.#size": ints(3)}, "nodes/n.r.d1: found 2 row lengths, expected 3", true, "nodes/n.#size: found 3 items; changed the number to 2"},
	{"node #size too small", map[string]value{"nodes/n.#size": ints(1)}, "nodes/n.r.d1: found 2 row lengths, expected 1", true, "nodes/n.#size: found 1 items; changed the number to 2"},
	{"node #size zero, features present", map[string]value{"nodes/n.#size": ints(0)}, "nodes/n.r.d1: found 2 row lengths, expected 0", true, "nodes/n.#size: found 0 items; changed the number to 2"},
	{"dense count not a multiple", map[string]value{"nodes/n.x": floats(1, 2, 3)}, "nodes/n.x: found 3 values, expected 4 (2 items of shape [2])", false, "nodes/n.x: found 3 values; changed the number to 4"},
	{"dense feature missing, size 2", map[string]value{"nodes/n.x": gone}, "nodes/n.x: found 0 values (the key is missing), expected 4", false, "nodes/n.x: found 0 values; changed the number to 4"},
	{"dense feature int64_list for FLOAT", map[string]value{"nodes/n.x": ints(1, 2, 3, 4)}, "nodes/n.x: found int64_list of 4 values, expected float_list", false, "nodes/n.x: found int64_list, expected float_list; converted the values"},
	{"edge feature missing, size 2", map[string]value{"edges/e.w": gone}, "edges/e.w: found 0 values (the key is missing), expected 2", true, "edges/e.w: found 0 values; changed the number to 2"},
	{"edge #source missing", map[string]value{"edges/e.#source": gone}, "edges/e.#source: found 0 endpoints, but the set has 2 edges", true,
		"edges/e.#target: found 2 endpoints, the other end has 0; dropped the rest|edges/e.#size: found 2 items; changed the number to 0|edges/e.w: found 2 values; changed the number to 0"},
	{"edge #source and #target missing", map[string]value{"edges/e.#source": gone, "edges/e.#target": gone}, "edges/e.#source: found 0 endpoints, but the set has 2 edges", true,
		"edges/e.#size: found 2 items; changed the number to 0|edges/e.w: found 2 values; changed the number to 0"},
	{"edge #source out of range", map[string]value{"edges/e.#source": ints(0, 2)}, "edges/e.#source: found endpoint 2 of edge 1, expected 0 to 1 (node set \"n\")", true, "edges/e.#size: found 1 edges with an end that is not a node of their component; dropped them"},
	{"edge #target out of range", map[string]value{"edges/e.#target": ints(0, 5)}, "edges/e.#target: found endpoint 5 of edge 1, expected 0 to 0 (node set \"l\")", true, "edges/e.#size: found 1 edges with an end that is not a node of their component; dropped them"},
	{"edge #source negative", map[string]value{"edges/e.#source": ints(0, -1)}, "edges/e.#source: found endpoint -1 of edge 1", true, "edges/e.#size: found 1 edges with an end that is not a node of their component; dropped them"},
	{"edge #source longer than #target", map[string]value{"edges/e.#source": ints(0, 1, 1)}, "edges/e.#source: found 3 endpoints, but the set has 2 edges", true, "edges/e.#source: found 3 endpoints, the other end has 2; dropped the rest"},
	{"edge #size missing", map[string]value{"edges/e.#size": gone}, "edges/e.w: found 2 values, expected 0", true, "edges/e.#size: found no size; set it to 2"},
	{"edge #size differs from #source", map[string]value{"edges/e.#size": ints(3)}, "edges/e.w: found 2 values, expected 3", true, "edges/e.#size: found 3 items; changed the number to 2"},
	{"edge #source beyond int32", map[string]value{"edges/e.#source": ints(0, 4294967296)}, "edges/e.#source: found endpoint 4294967296 of edge 1", true, "edges/e.#size: found 1 edges with an end that is not a node of their component; dropped them"},
	{"ragged: lengths sum below values", map[string]value{"nodes/n.r.d1": ints(1, 1)}, "nodes/n.r: found 3 values, expected 2 (2 items of shape [-1])", false, "nodes/n.r: found 3 values; changed the number to 2"},
	{"ragged: lengths sum above values", map[string]value{"nodes/n.r.d1": ints(1, 3)}, "nodes/n.r: found 3 values, expected 4", false, "nodes/n.r.d1: found 1 row lengths below 0 or beyond the values; changed them"},
	{"ragged: too many rows", map[string]value{"nodes/n.r.d1": ints(1, 1, 1)}, "nodes/n.r.d1: found 3 row lengths, expected 2", false, "nodes/n.r.d1: found 3 row lengths; changed the number to 2|nodes/n.r: found 3 values; changed the number to 2"},
	{"ragged: too few rows", map[string]value{"nodes/n.r.d1": ints(3)}, "nodes/n.r.d1: found 1 row lengths, expected 2", false, "nodes/n.r.d1: found 1 row lengths; changed the number to 2"},
	{"ragged: negative length", map[string]value{"nodes/n.r.d1": ints(4, -1)}, "nodes/n.r.d1: found row length -1", false, "nodes/n.r.d1: found 2 row lengths below 0 or beyond the values; changed them"},
	{"ragged: .d1 missing", map[string]value{"nodes/n.r.d1": gone}, "nodes/n.r.d1: found 0 row lengths, expected 2", false, "nodes/n.r.d1: found 0 row lengths; changed the number to 2|nodes/n.r: found 3 values; changed the number to 0"},
	{"ragged: values and .d1 missing", map[string]value{"nodes/n.r": gone, "nodes/n.r.d1": gone}, "nodes/n.r.d1: found 0 row lengths, expected 2", false, "nodes/n.r.d1: found 0 row lengths; changed the number to 2"},
	{"ragged: values missing, .d1 zeros", map[string]value{"nodes/n.r": gone, "nodes/n.r.d1": ints(0, 0)}, "", true, ""},
	{"unknown key", map[string]value{"nodes/zzz.q": ints(1)}, "", true, ""},
	{"unknown feature of a known set", map[string]value{"nodes/n.q": ints(1)}, "", true, ""},
}

// change returns the features of sound with some of them changed.
func change(by map[string]value) map[string]value {
	features := maps.Clone(sound)
	maps.Copy(features, by)
	maps.DeleteFunc(features, func(_ string, v value) bool { return v.kind == gone.kind })
	return features
}

// There is a verdict for every doubtful Example. Graphs that are accepted or repaired are consistent.
func TestVerdicts(t *testing.T) {
	codec := newCodec(t, doubtfulSchema)
	for _, c := range doubtful {
		t.Run(c.name, func(t *testing.T) {
			record, g := marshal(t, change(c.change)), codec.New()
			err := codec.Decode(record, g, false)
			if (err == nil) != (c.refused == "") || err != nil && (!errors.Is(err, ErrGraph) || !strings.Contains(err.Error(), c.refused)) {
				t.Fatalf("found %v, expected %q", err, c.refused)
			}
			if err == nil && !c.tfgnn {
				t.Error("accepts what TF-GNN refuses")
			}
			if len(g.Unknown) != strings.Count(c.name, "unknown") {
				t.Errorf("found unknown keys %q", g.Unknown)
			}
			if err := codec.Decode(record, g, true); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(g.Repairs, "|"); got != c.repairs {
				t.Errorf("found repairs %q, expected %q", got, c.repairs)
			}
			if err := codec.Check(g); err != nil {
				t.Errorf("repaired to a graph that is not sound: %v", err)
			}
		})
	}
}

// A schema with colliding keys cannot be used to decode, since neither reading is right.
func TestCollidingKeys(t *testing.T) {
	_, err := NewCodec(parseSchema(t, `
node_sets { key: "a" value { features { key: "b.x" value { dtype: DT_INT64 } } } }
node_sets { key: "a.b" value { features { key: "x" value { dtype: DT_INT64 } } } }`))
	if !errors.Is(err, tfgnn.ErrInvalid) || !strings.Contains(err.Error(), "nodes/a.b.x") {
		t.Errorf("found %v", err)
	}
}

// More Examples, of schemas other than TF-GNN's own.
func TestDecodeRefuses(t *testing.T) {
	const deep = `node_sets { key: "n" value { features { key: "f" value { dtype: DT_INT8 shape { dim { size: 2 } dim { size: -1 } dim { size: -1 } dim { size: 3 } } } } } }`
	two := deep + `node_sets { key: "m" value {} } edge_sets { key: "e" value { source: "n" target: "m" } }`
	n := func(more ...any) map[string]value {
		m := map[string]value{"nodes/n.#size": ints(1), "nodes/n.f.d2": ints(1, 0), "nodes/n.f.d3": ints(1), "nodes/n.f": ints(1, 2, 3)}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1].(value)
		}
		maps.DeleteFunc(m, func(_ string, v value) bool { return v.kind == gone.kind })
		return m
	}
	for _, c := range []struct {
		name, schema string
		features     map[string]value
		refused      string
	}{
		{"sound", deep, n(), ""},
		{"int8 too large", deep, n("nodes/n.f", ints(1, 2, 128)), "nodes/n.f: found value 128, expected -128 to 127 for DT_INT8"},
		{"outer lengths short", deep, n("nodes/n.f.d2", ints(1)), "nodes/n.f.d2: found 1 row lengths, expected 2"},
		{"inner lengths long", deep, n("nodes/n.f.d3", ints(1, 0)), "nodes/n.f.d3: found 2 row lengths, expected 1"},
		{"half an item", deep, n("nodes/n.f", ints(1, 2)), "nodes/n.f: found 2 values, expected 3"},
		{"huge lengths", deep, n("nodes/n.f.d2", ints(1<<31, 0)), "nodes/n.f.d2: found row length 2147483648"},
		{"lengths that overflow", deep, n("nodes/n.f.d2", ints(1<<30, 1<<30)), "nodes/n.f.d2: found row length 1073741824"},
		{"huge size", deep, map[string]value{"nodes/n.#size": ints(1 << 30)}, "nodes/n.f.d2: found 0 row lengths"},
		{"size beyond int32", deep, map[string]value{"nodes/n.#size": ints(1 << 31)}, "nodes/n.#size: found 2147483648 items"},
		{"omitted rows", deep, map[string]value{"nodes/n.#size": ints(9)}, ""},
		{"sizes of two components", two, n("nodes/n.#size", ints(1, 0), "nodes/m.#size", ints(0, 0), "edges/e.#size", ints(0, 0)), ""},
		{"size missing of two components", two, n("nodes/n.#size", ints(1, 0), "nodes/m.#size", ints(0, 0)), "edges/e.#size: found no sizes, expected one for each of 2 components"},
		{"edge between components", two, n("nodes/n.#size", ints(1, 0), "nodes/m.#size", ints(1, 1), "edges/e.#size", ints(1, 0), "edges/e.#source", ints(0), "edges/e.#target", ints(1)),
			"edges/e.#target: found endpoint 1 of edge 0, expected 0 to 0"},
		{"edges swap components", two, n("nodes/n.#size", ints(1, 0), "nodes/m.#size", ints(1, 1), "edges/e.#size", ints(0, 1), "edges/e.#source", ints(0), "edges/e.#target", ints(1)),
			"edges/e.#source: found endpoint 0 of edge 0, expected none: node set \"n\" has no nodes there"},
		{"bool 2", `context { features { key: "b" value { dtype: DT_BOOL } } }`, map[string]value{"context/b": ints(2)}, "context/b: found value 2, expected 0 to 1 for DT_BOOL"},
		{"uint64 keeps its bits", `context { features { key: "b" value { dtype: DT_UINT64 } } }`, map[string]value{"context/b": ints(-1)}, ""},
		{"empty context row omitted", `context { features { key: "b" value { dtype: DT_UINT64 shape { dim { size: -1 } } } } }`, map[string]value{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			codec := newCodec(t, c.schema)
			record, g := marshal(t, c.features), codec.New()
			err := codec.Decode(record, g, false)
			if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Fatalf("found %v, expected %q", err, c.refused)
			}
			if err == nil {
				if got, err := codec.Encode(new(Writer), g); err != nil || !slices.Equal(got, record) {
					t.Errorf("encoded to %x, %v, expected %x", got, err, record)
				}
			} else if err := codec.Decode(record, g, true); err == nil {
				if err := codec.Check(g); err != nil || len(g.Repairs) == 0 {
					t.Errorf("repaired to a graph with error %v, %q", err, g.Repairs)
				}
			}
		})
	}
}

// A mistake of the program, not of the record, is also an error.
func TestDecodeIntoAnother(t *testing.T) {
	a, b := newCodec(t, doubtfulSchema), newCodec(t, doubtfulSchema)
	for _, g := range []*GraphTensor{{}, b.New()} {
		if err := a.Decode(nil, g, false); !errors.Is(err, ErrGraph) || !strings.Contains(err.Error(), "from elsewhere") {
			t.Errorf("found %v", err)
		}
	}
	complex := parseSchema(t, doubtfulSchema)
	complex.Context.Features["c"].Dtype = tfgnnpb.DataType(8).Enum()
	if _, err := NewCodec(complex); err == nil || !strings.Contains(err.Error(), "dtype") {
		t.Errorf("found %v", err)
	}
}
