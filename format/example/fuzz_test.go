package example

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// fuzzSchema has every kind of key.
const fuzzSchema = doubtfulSchema + `
node_sets { key: "d" value {
  features { key: "f" value { dtype: DT_INT8 shape { dim { size: 2 } dim { size: -1 } dim { size: 3 } dim { size: -1 } } } }
  features { key: "g" value { dtype: DT_BOOL shape { dim { size: -1 } } } } } }
edge_sets { key: "m" value { source: "d" target: "n" features { key: "h" value { dtype: DT_STRING shape { dim { size: -1 } dim { size: -1 } } } } } }`

// FuzzCodec reads any record by a schema. An accepted record gives a consistent graph that is written as it was read.
// A lenient reading of any other record also gives a consistent graph, whose number of values is bounded by the
// record and the limit of added values.
func FuzzCodec(f *testing.F) {
	codec := newCodec(f, fuzzSchema)
	var w Writer
	for _, c := range doubtful {
		f.Add(marshal(f, change(c.change)))
	}
	for number := range uint64(3) {
		record, err := codec.Encode(&w, codec.Random(1, number))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(record))
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		fuzzing.Check(t, len(record), func() {
			g := codec.New()
			if err := codec.Decode(record, g, false); err == nil {
				again, err := codec.Encode(&w, g)
				if err != nil {
					t.Fatalf("accepted what cannot be written: %v", err)
				}
				h := codec.New()
				if err := codec.Decode(again, h, false); err != nil {
					t.Fatalf("wrote what cannot be read: %v", err)
				}
				if d := equalGraphs(g, h); d != "" {
					t.Fatal(d)
				}
				bound(t, g, len(record))
				return
			} else if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrGraph) {
				t.Fatal(err)
			}
			if err := codec.Decode(record, g, true); err != nil {
				return
			}
			if err := codec.Check(g); err != nil {
				t.Fatalf("repaired to what is not sound: %v; %q", err, g.Repairs)
			}
			if len(g.Repairs) == 0 {
				t.Fatal("repaired without a word")
			}
			bound(t, g, len(record))
		})
	})
}

// bound fails if a graph has more values than a record of n bytes can demand.
func bound(t *testing.T, g *GraphTensor, n int) {
	t.Helper()
	for _, x := range g.bound.tensors {
		lists := append([][]int64{x.Ints}, x.Lengths...)
		for _, l := range lists {
			if len(l) > n+maxOmitted {
				t.Fatalf("found %d values of a record of %d bytes", len(l), n)
			}
		}
		if len(x.Floats)+len(x.Texts) > n+maxOmitted {
			t.Fatalf("found %d values of a record of %d bytes", len(x.Floats)+len(x.Texts), n)
		}
	}
}

// FuzzPrint prints any Example. Both forms can be read again.
func FuzzPrint(f *testing.F) {
	for _, record := range forms {
		f.Add(record)
	}
	f.Add(marshal(f, sound))
	f.Add(marshal(f, map[string]value{"\xff\x00\"": texts("\xff\x00\"'\\?"), "f": floats(1e-45, 3.4e38)}))
	var d Decoder
	f.Fuzz(func(t *testing.T, record []byte) {
		fuzzing.Check(t, len(record), func() {
			if d.Decode(record) != nil {
				return
			}
			if object := AppendJSON(nil, &d); !json.Valid(object) || bytes.ContainsRune(object, '\n') {
				t.Fatalf("found %s, expected one line of JSON", object)
			}
			for i := range d.Features() {
				if f := &d.Features()[i]; !bytes.Equal(f.Key, bytes.ToValidUTF8(f.Key, nil)) {
					return // protobuf's text format wants keys to be UTF-8
				}
			}
			text := AppendText(nil, &d)
			ex := dynamicpb.NewMessage(exampleType)
			if err := prototext.Unmarshal(text, ex); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
		})
	})
}

// FuzzConstructors makes Tensors of any shape, values and lengths. Every Tensor that is made is consistent.
func FuzzConstructors(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(-3, 4), 0, 4).Draw(t, "shape")
		values := rapid.SliceOfN(rapid.Int16(), 0, 30).Draw(t, "values")
		var lengths [][]int64
		for range rapid.IntRange(0, 3).Draw(t, "lists") {
			lengths = append(lengths, rapid.SliceOfN(rapid.Int64Range(-1, 5), 0, 8).Draw(t, "lengths"))
		}
		check := func(x *Tensor, err error) {
			switch {
			case err != nil && !errors.Is(err, ErrGraph):
				t.Fatal(err)
			case err == nil && x.check() != nil:
				t.Fatalf("made %+v: %v", x, x.check())
			}
		}
		check(Dense(shape, values))
		check(RaggedFromRowLengths(shape, values, lengths...))
		check(Rows(lengths))
		check(RaggedFromRows(lengths), nil)
		check(Nested(shape, lengths))
		check(Nested(shape, [][][]int64{lengths, lengths}))
	}))
}
