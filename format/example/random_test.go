package example

import (
	"bytes"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

const readoutSchema = `
context { features { key: "c" value { dtype: DT_DOUBLE shape { dim { size: -1 } dim { size: 2 } dim { size: -1 } } } } }
node_sets { key: "n" value { features { key: "h" value { dtype: DT_HALF } } features { key: "b" value { dtype: DT_BOOL shape { dim { size: 3 } } } } } }
node_sets { key: "m" value { features { key: "s" value { dtype: DT_STRING shape { dim { size: -1 } } } } } }
node_sets { key: "_readout" value { features { key: "label" value { dtype: DT_INT64 } } } }
node_sets { key: "_shadow/e" value {} }
node_sets { key: "_readout:t" value {} }
edge_sets { key: "e" value { source: "n" target: "m" features { key: "w" value { dtype: DT_BFLOAT16 } } } }
edge_sets { key: "f" value { source: "m" target: "m" } }
edge_sets { key: "_readout/x/1" value { source: "n" target: "_readout" } }
edge_sets { key: "_readout/x/2" value { source: "m" target: "_readout" } }
edge_sets { key: "_readout/y" value { source: "_shadow/e" target: "_readout" } }
edge_sets { key: "_readout:t/z" value { source: "n" target: "_readout:t" } }`

// Random graphs are valid, reproducible, and in the documented ranges.
func TestRandom(t *testing.T) {
	codec := newCodec(t, readoutSchema)
	var w Writer
	seen := map[string]bool{}
	for number := range uint64(50) {
		g := codec.Random(7, number)
		record, err := codec.Encode(&w, g)
		if err != nil {
			t.Fatal(err)
		}
		if seen[string(record)] {
			t.Error("found a graph twice")
		}
		seen[string(record)] = true
		again, err := codec.Encode(new(Writer), codec.Random(7, number))
		if err != nil || !bytes.Equal(record, again) {
			t.Fatal("found another graph of the same seed and number")
		}
		if g.NodeSets["_shadow/e"].Sizes[0] != g.EdgeSets["e"].Sizes[0] {
			t.Error("a shadow has another size than its edge set")
		}
		for _, sets := range [][]string{{"_readout/x/1", "_readout/x/2"}, {"_readout/y"}, {"_readout:t/z"}} {
			var targets []int64
			for _, name := range sets {
				e := g.EdgeSets[name]
				if !slices.IsSorted(e.TargetIndex) {
					t.Errorf("%s: found targets %v, expected ascending ones", name, e.TargetIndex)
				}
				targets = append(targets, e.TargetIndex...)
			}
			slices.Sort(targets)
			for i, v := range targets {
				if v != int64(i) || len(targets) != int(g.NodeSets[g.EdgeSets[sets[0]].Target].Sizes[0]) {
					t.Errorf("%s: found targets %v, expected each node once", sets[0], targets)
					break
				}
			}
		}
		for _, l := range g.NodeSets["m"].Features["s"].Lengths[0] {
			if l < 2 || l > 7 {
				t.Errorf("found row length %d", l)
			}
		}
		for _, v := range g.NodeSets["_readout"].Features["label"].Ints {
			if v < 100 || v > 998 {
				t.Errorf("found int64 %d", v)
			}
		}
		for _, v := range g.NodeSets["n"].Features["h"].Floats {
			if v < 0 || v >= 1 || Float16(ToFloat16(v)) != v {
				t.Errorf("found half %v", v)
			}
		}
	}
	if w, err := codec.Encode(new(Writer), codec.Random(8, 0)); err != nil || seen[string(w)] {
		t.Error("found the same graph of another seed")
	}
}

// Adding a feature does not change the values of the others.
func TestRandomDependsOnNames(t *testing.T) {
	schema := parseSchema(t, readoutSchema)
	a, err := NewCodec(schema)
	if err != nil {
		t.Fatal(err)
	}
	schema.NodeSets["n"].Features["aaa"] = &tfgnnpb.Feature{Dtype: tfgnnpb.DataType_DT_INT8.Enum()}
	b, err := NewCodec(schema)
	if err != nil {
		t.Fatal(err)
	}
	g, h := a.Random(1, 2), b.Random(1, 2)
	if !slices.Equal(g.NodeSets["n"].Features["h"].Floats, h.NodeSets["n"].Features["h"].Floats) || !slices.Equal(g.EdgeSets["e"].SourceIndex, h.EdgeSets["e"].SourceIndex) {
		t.Error("found other values")
	}
}

// Sets whose sizes would follow from themselves are empty.
func TestRandomOfCircularSets(t *testing.T) {
	codec := newCodec(t, `
node_sets { key: "_shadow/e" value {} }
node_sets { key: "n" value {} }
edge_sets { key: "e" value { source: "_shadow/e" target: "n" } }`)
	g := codec.Random(1, 1)
	if err := codec.Check(g); err != nil || g.NodeSets["_shadow/e"].Sizes[0] != 0 || g.NodeSets["n"].Sizes[0] == 0 {
		t.Errorf("found %v, %v", g.NodeSets, err)
	}
}

// The golden values of the law keep it from changing, since users keep random seeds in scripts.
func TestRandomLaw(t *testing.T) {
	codec := newCodec(t, `context { features { key: "a" value { dtype: DT_INT64 shape { dim { size: 5 } } } } }`)
	if got, want := codec.Random(0, 0).Context["a"].Ints, []int64{687, 127, 101, 700, 490}; !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
}
