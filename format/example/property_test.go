package example

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// drawSchema draws a schema: any dtypes and shapes, names that look like keys.
func drawSchema(t *rapid.T) *tfgnnpb.GraphSchema {
	name := rapid.SampledFrom([]string{"a", "a.b", "b", "x.d1", "a/b", "é", "#h", "_aux", "c-d", "s p", "a.b.c"})
	var dtypes []tfgnnpb.DataType
	for d := range tfgnnpb.DataType_name {
		if listOf(tfgnnpb.DataType(d)) != None {
			dtypes = append(dtypes, tfgnnpb.DataType(d))
		}
	}
	slices.Sort(dtypes)
	features := func() map[string]*tfgnnpb.Feature {
		all := map[string]*tfgnnpb.Feature{}
		for range rapid.IntRange(0, 4).Draw(t, "features") {
			f := &tfgnnpb.Feature{Dtype: rapid.SampledFrom(dtypes).Draw(t, "dtype").Enum(), Shape: &tfgnnpb.TensorShapeProto{}}
			for _, d := range rapid.SliceOfN(rapid.SampledFrom([]int64{-1, -1, 1, 2, 3}), 0, 4).Draw(t, "shape") {
				f.Shape.Dim = append(f.Shape.Dim, &tfgnnpb.TensorShapeProto_Dim{Size: proto.Int64(d)})
			}
			all[name.Draw(t, "feature")] = f
		}
		return all
	}
	s := &tfgnnpb.GraphSchema{Context: &tfgnnpb.Context{Features: features()}, NodeSets: map[string]*tfgnnpb.NodeSet{}, EdgeSets: map[string]*tfgnnpb.EdgeSet{}}
	for range rapid.IntRange(1, 3).Draw(t, "node sets") {
		s.NodeSets[name.Draw(t, "node set")] = &tfgnnpb.NodeSet{Features: features()}
	}
	ends := rapid.SampledFrom(sortedNames(s.NodeSets))
	for range rapid.IntRange(0, 3).Draw(t, "edge sets") {
		s.EdgeSets[name.Draw(t, "edge set")] = &tfgnnpb.EdgeSet{Features: features(), Source: proto.String(ends.Draw(t, "source")), Target: proto.String(ends.Draw(t, "target"))}
	}
	if _, err := tfgnn.CheckSchema(s); err != nil {
		t.Skip(err)
	}
	return s
}

func sortedNames[V any](m map[string]V) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// drawGraph draws a GraphTensor of one to three components. Some sets and rows are empty.
func drawGraph(t *rapid.T, c *Codec) *GraphTensor {
	g := c.New()
	b := g.bound
	b.totals[0] = rapid.IntRange(1, 3).Draw(t, "components")
	for i := range c.sets {
		s := &c.sets[i]
		if sizes := b.sizes(i); sizes != nil {
			b.totals[i] = 0
			for k := range b.totals[0] {
				n := rapid.IntRange(0, 4).Draw(t, "size")
				if s.piece == Edges && (b.nodes[s.from-1].Sizes[k] == 0 || b.nodes[s.to-1].Sizes[k] == 0) {
					n = 0
				}
				*sizes = append(*sizes, int64(n))
				b.totals[i] += n
			}
		}
		if s.piece == Edges {
			e := b.edges[i-c.nodes]
			e.SourceIndex = drawEnds(t, e.Sizes, b.nodes[s.from-1].Sizes)
			e.TargetIndex = drawEnds(t, e.Sizes, b.nodes[s.to-1].Sizes)
		}
		for j := s.first; j < s.last; j++ {
			drawValues(t, &c.feats[j], b.tensors[j], b.totals[i])
		}
	}
	return g
}

func drawEnds(t *rapid.T, edges, nodes []int64) []int64 {
	ends, at := []int64{}, int64(0)
	for k, n := range edges {
		for range n {
			ends = append(ends, at+rapid.Int64Range(0, nodes[k]-1).Draw(t, "end"))
		}
		at += nodes[k]
	}
	return ends
}

func drawValues(t *rapid.T, f *feature, x *Tensor, items int) {
	x.Items = items
	rows, level := items, 0
	for _, d := range f.shape {
		if d != -1 {
			rows *= d
			continue
		}
		x.Lengths[level] = rapid.SliceOfN(rapid.Int64Range(0, 3), rows, rows).Draw(t, "lengths")
		rows = 0
		for _, n := range x.Lengths[level] {
			rows += int(n)
		}
		level++
	}
	switch f.list {
	case Int64List:
		x.Ints = rapid.SliceOfN(rapid.Int64Range(f.lo, f.hi), rows, rows).Draw(t, "ints")
	case BytesList:
		x.Texts = rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 5), rows, rows).Draw(t, "texts")
	case FloatList:
		x.Floats = rapid.SliceOfN(rapid.Float32(), rows, rows).Draw(t, "floats")
		for i, v := range x.Floats {
			if v != v {
				x.Floats[i] = float32(math.NaN())
			}
		}
		if _, err := x.As(f.dtype); err != nil { // rounds to what the dtype holds
			t.Fatal(err)
		}
	}
}

// equalGraphs compares the contents of graphs, not their representation.
func equalGraphs(a, b *GraphTensor) string {
	parts := func(g *GraphTensor) []any { return []any{g.Context, g.NodeSets, g.EdgeSets} }
	bits := cmp.Comparer(func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
	return cmp.Diff(parts(a), parts(b), cmpopts.EquateEmpty(), bits)
}

// For any schema, decoding gives the graph that was encoded, and encoding it again gives the same bytes, whichever
// keys without values were omitted.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := drawSchema(t)
		c, err := NewCodec(schema)
		if err != nil {
			t.Fatal(err)
		}
		g, h := drawGraph(t, c), c.New()
		var w Writer
		record, err := c.Encode(&w, g)
		if err != nil {
			t.Fatal(err)
		}
		record = bytes.Clone(record)
		if err := c.Decode(record, h, false); err != nil {
			t.Fatal(err)
		}
		if d := equalGraphs(g, h); d != "" {
			t.Fatal(d)
		}
		features, err := unmarshal(record)
		if err != nil {
			t.Fatal(err)
		}
		if want := marshal(t, features); !bytes.Equal(record, want) {
			t.Fatalf("found %x, protobuf writes %x", record, want)
		}
		// Other forms of the same graph.
		for i, info := range c.Keys() {
			v := features[info.Key]
			n := len(v.ints) + len(v.floats) + len(v.texts)
			switch code := rapid.IntRange(0, 2).Draw(t, "form"); {
			case info.Role == Size && len(v.ints) == 1 && v.ints[0] == 0, n == 0 && info.Role != Size:
				if code == 0 {
					delete(features, info.Key)
				} else if code == 2 {
					features[info.Key] = value{}
				}
			case info.Role == Lengths && zero(v.ints) && c.slots[i].level == 0 && rapid.Bool().Draw(t, "omit all"):
				omitRows(c, features, c.slots[i].set)
			}
		}
		form := marshal(t, features)
		if len(features) == 0 && rapid.Bool().Draw(t, "empty") {
			form = nil
		}
		if err := c.Decode(form, h, false); err != nil {
			t.Fatalf("%v: %v", features, err)
		}
		if d := equalGraphs(g, h); d != "" {
			t.Fatal(d)
		}
		if again, err := c.Encode(&w, h); err != nil || !bytes.Equal(again, form) {
			t.Fatalf("found %x, %v, expected %x", again, err, form)
		}
	})
}

// omitRows omits the row lengths of a set whose features have no values.
func omitRows(c *Codec, features map[string]value, set int) {
	s := &c.sets[set]
	for _, f := range c.feats[s.first:s.last] {
		if len(f.lengths) == 0 || !zero(features[c.keys[f.lengths[0]].Key].ints) {
			return
		}
	}
	for _, f := range c.feats[s.first:s.last] {
		delete(features, c.keys[f.lengths[0]].Key)
	}
}

// A graph that is broken in one place is refused by Check, and so by Encode.
func TestCheckRefuses(t *testing.T) {
	codec := newCodec(t, doubtfulSchema)
	for _, c := range []struct {
		name string
		bend func(g *GraphTensor)
		want string
	}{
		{"sound", func(g *GraphTensor) {}, ""},
		{"unknown node set", func(g *GraphTensor) { g.NodeSets["N"] = &NodeSet{Sizes: []int64{0}} }, `found node set "N", expected those of the schema (l, n)`},
		{"unknown edge set", func(g *GraphTensor) { g.EdgeSets["N"] = nil }, `found edge set "N", expected those of the schema (e)`},
		{"unknown feature", func(g *GraphTensor) { g.NodeSets["n"].Features["xx"] = Scalars(1) }, `node set "n": found feature "xx", expected those of the schema (r, x)`},
		{"unknown context feature", func(g *GraphTensor) { g.Context["d"] = Scalars(1) }, `context: found feature "d", expected those of the schema (c)`},
		{"no sizes", func(g *GraphTensor) { g.NodeSets["l"].Sizes = nil }, `node set "l": found no sizes`},
		{"components", func(g *GraphTensor) { g.NodeSets["n"].Sizes = []int64{1, 1} }, `node set "n": found sizes of 2 components, but node set "l" has 1`},
		{"negative size", func(g *GraphTensor) { g.NodeSets["l"].Sizes[0] = -1 }, `node set "l": found size -1`},
		{"too many nodes", func(g *GraphTensor) { g.NodeSets["l"].Sizes[0] = 1 << 31 }, `node set "l": found size 2147483648`},
		{"feature missing", func(g *GraphTensor) { delete(g.NodeSets["n"].Features, "x") }, `node set "n": feature "x": found no values, expected 2 items`},
		{"context missing", func(g *GraphTensor) { g.Context = nil }, `context: feature "c": found no values, expected 1 items`},
		{"dtype", func(g *GraphTensor) { g.Context["c"] = Scalars(1.5) }, `context: feature "c": found dtype DT_DOUBLE, expected DT_INT64 by the schema`},
		{"shape", func(g *GraphTensor) { g.NodeSets["n"].Features["x"] = Scalars[float32](1, 2) }, `node set "n": feature "x": found items of shape [], expected [2] by the schema`},
		{"items", func(g *GraphTensor) { g.Context["c"] = Scalars(1, 2) }, `context: feature "c": found 2 items, but the sizes say 1`},
		{"values", func(g *GraphTensor) { g.NodeSets["n"].Features["x"].Floats = []float32{1} }, `node set "n": feature "x": found 1 values, expected 4 (2 items of shape [2])`},
		{"two lists", func(g *GraphTensor) { g.NodeSets["n"].Features["x"].Ints = []int64{1} }, `node set "n": feature "x": found 1 values of a int64_list, expected values of a float_list for DT_FLOAT`},
		{"lengths", func(g *GraphTensor) { g.NodeSets["n"].Features["r"].Lengths = nil }, `node set "n": feature "r": found 0 lists of row lengths, expected one for each -1 in the shape [-1]`},
		{"lengths of a dense feature", func(g *GraphTensor) { g.Context["c"].Lengths = [][]int64{{1}} }, `context: feature "c": found 1 lists of row lengths`},
		{"row lengths", func(g *GraphTensor) { g.NodeSets["n"].Features["r"].Lengths[0] = []int64{3} }, `node set "n": feature "r": found 1 row lengths of dimension 1, expected 2`},
		{"negative length", func(g *GraphTensor) { g.NodeSets["n"].Features["r"].Lengths[0] = []int64{4, -1} }, `node set "n": feature "r": found row length -1 of dimension 1`},
		{"endpoints", func(g *GraphTensor) { g.EdgeSets["e"].SourceIndex = []int64{0} }, `edge set "e": found 1 sources, but the sizes say 2 edges`},
		{"source out of range", func(g *GraphTensor) { g.EdgeSets["e"].SourceIndex[1] = 2 }, `edge set "e": found source 2 of edge 1, expected 0 to 1 (node set "n")`},
		{"target negative", func(g *GraphTensor) { g.EdgeSets["e"].TargetIndex[0] = -1 }, `edge set "e": found target -1 of edge 0, expected 0 to 0 (node set "l")`},
		{"other source set", func(g *GraphTensor) { g.EdgeSets["e"].Source = "l" }, `edge set "e": found source "l", expected node set "n" by the schema`},
		{"form", func(g *GraphTensor) { g.Form = []byte{1} }, "found a Form of 1 bytes, expected 3 for the 10 keys"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := codec.New()
			if err := codec.Decode(marshal(t, sound), g, false); err != nil {
				t.Fatal(err)
			}
			c.bend(g)
			_, err := codec.Encode(new(Writer), g)
			if got := fmt.Sprint(err); (err == nil) != (c.want == "") || err != nil && !bytes.HasPrefix([]byte(got), []byte(c.want)) {
				t.Errorf("found %v, expected %q", err, c.want)
			}
		})
	}
}

// A missing set is empty and needs no features.
func TestMissingSetsAreEmpty(t *testing.T) {
	codec := newCodec(t, doubtfulSchema)
	record, err := codec.Encode(new(Writer), &GraphTensor{Context: map[string]*Tensor{"c": Scalars(7)}, NodeSets: map[string]*NodeSet{"l": {Sizes: []int64{1, 0}}}})
	if err == nil {
		t.Errorf("wrote one context item of two components: %x", record)
	}
	record, err = codec.Encode(new(Writer), &GraphTensor{Context: map[string]*Tensor{"c": Scalars(7, 8)}, NodeSets: map[string]*NodeSet{"l": {Sizes: []int64{1, 0}}}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]value{"context/c": ints(7, 8), "nodes/l.#size": ints(1, 0), "nodes/n.#size": ints(0, 0), "nodes/n.r": texts(), "nodes/n.r.d1": ints(), "nodes/n.x": floats(),
		"edges/e.#size": ints(0, 0), "edges/e.#source": ints(), "edges/e.#target": ints(), "edges/e.w": floats()}
	if !bytes.Equal(record, marshal(t, want)) {
		t.Errorf("found %x", record)
	}
}

// Row lengths that were omitted are written after another feature of the set gets rows: a form is per key, but row
// lengths can be omitted only for all features of a set together.
func TestFormOfChangedGraph(t *testing.T) {
	codec := newCodec(t, `node_sets { key: "n" value {
  features { key: "r" value { dtype: DT_INT64 shape { dim { size: -1 } } } }
  features { key: "s" value { dtype: DT_INT64 shape { dim { size: -1 } } } } } }`)
	g := codec.New()
	record := marshal(t, map[string]value{"nodes/n.#size": ints(2)})
	if err := codec.Decode(record, g, false); err != nil {
		t.Fatal(err)
	}
	if got, err := codec.Encode(new(Writer), g); err != nil || !bytes.Equal(got, record) {
		t.Fatalf("found %x, %v, expected %x", got, err, record)
	}
	g.NodeSets["n"].Features["s"] = RaggedFromRows([][]int64{{5}, nil})
	got, err := codec.Encode(new(Writer), g)
	want := marshal(t, map[string]value{"nodes/n.#size": ints(2), "nodes/n.r.d1": ints(0, 0), "nodes/n.s": ints(5), "nodes/n.s.d1": ints(1, 0)})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("found %x, %v, expected %x", got, err, want)
	}
}
