package example

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// For any damage to an Example, a strict reading refuses it or gives a consistent graph. A lenient reading gives a
// consistent graph and describes the repairs, or refuses because of the memory that it would take.
func TestAnyDamage(t *testing.T) {
	var w Writer
	read, repaired, refused := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c, err := NewCodec(drawSchema(t))
		if err != nil {
			t.Fatal(err)
		}
		record, err := c.Encode(&w, drawGraph(t, c))
		if err != nil {
			t.Fatal(err)
		}
		features, err := unmarshal(record)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "damages") {
			key := rapid.SampledFrom(c.Keys()).Draw(t, "key").Key
			switch v := features[key]; rapid.IntRange(0, 5).Draw(t, "damage") {
			case 0:
				delete(features, key)
			case 1:
				features[key] = rapid.SampledFrom([]value{{}, ints(), floats(), texts(), ints(1, 0), floats(1), texts("x")}).Draw(t, "other")
			case 2: // one value less
				v.ints, v.floats, v.texts = v.ints[:max(0, len(v.ints)-1)], v.floats[:max(0, len(v.floats)-1)], v.texts[:max(0, len(v.texts)-1)]
				features[key] = v
			default:
				if v.kind == Int64List {
					n := rapid.SampledFrom([]int64{0, 1, 2, 3, -1, 300, math.MaxInt32, 1 << 40, math.MinInt64}).Draw(t, "number")
					if i := rapid.IntRange(0, len(v.ints)).Draw(t, "place"); i < len(v.ints) {
						v.ints[i] = n
					} else {
						v.ints = append(v.ints, n)
					}
					features[key] = v
				}
			}
		}
		record, g := marshal(t, features), c.New()
		err = c.Decode(record, g, false)
		if err == nil {
			read++
		} else if c.Decode(record, g, true) != nil {
			refused++
			return
		} else if repaired++; len(g.Repairs) == 0 || len(g.Form) > 0 {
			t.Fatalf("repaired %v, without a word or with a form: %v", features, err)
		}
		if err := c.Check(g); err != nil {
			t.Fatalf("%v: found repairs %q and %v", features, g.Repairs, err)
		}
	})
	if read == 0 || repaired == 0 {
		t.Errorf("found %d graphs read, %d repaired, %d refused; expected some of each", read, repaired, refused)
	}
	t.Logf("%d read, %d repaired, %d refused", read, repaired, refused)
}

// A lenient reading does not allocate memory because of a number in the record: a few bytes that ask for much memory
// are refused.
func TestRepairIsBounded(t *testing.T) {
	codec := newCodec(t, `node_sets { key: "n" value { features { key: "x" value { dtype: DT_FLOAT shape { dim { size: 1000 } } } } } }`)
	for size, repaired := range map[int64]bool{1: true, 65: true, 66: false, math.MaxInt32: false} {
		g := codec.New()
		err := codec.Decode(marshal(t, map[string]value{"nodes/n.#size": ints(size)}), g, true)
		if (err == nil) != repaired {
			t.Errorf("size %d: found %v, expected repaired %v", size, err, repaired)
		}
	}
}
