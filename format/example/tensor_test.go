package example

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// The scores of three students, as the guide of TF-GNN encodes them.
func Example() {
	schema, err := tfgnn.ParseSchema("schema.pbtxt", []byte(
		`node_sets { key: "students" value { features { key: "scores" value { dtype: DT_INT64 shape { dim { size: -1 } } } } } }`))
	if err != nil {
		panic(err)
	}
	scores := RaggedFromRows([][]int{{10, 15, 23}, {89}, {64, 53, 25, 29}})
	students := &NodeSet{Sizes: []int64{3}, Features: map[string]*Tensor{"scores": scores}}
	codec, err := NewCodec(schema)
	if err != nil {
		panic(err)
	}
	record, err := codec.Encode(new(Writer), &GraphTensor{NodeSets: map[string]*NodeSet{"students": students}})
	if err != nil {
		panic(err)
	}
	var d Decoder
	if err := d.Decode(record); err != nil {
		panic(err)
	}
	fmt.Printf("%s", AppendJSON(nil, &d))
	// Output:
	// {"nodes/students.#size":{"int64":[3]},"nodes/students.scores":{"int64":[10,15,23,89,64,53,25,29]},"nodes/students.scores.d1":{"int64":[3,1,4]}}
}

// must turns the two results of a constructor into one, for tables of cases.
func must(x *Tensor, err error) func() (*Tensor, error) {
	return func() (*Tensor, error) { return x, err }
}

func TestConstructors(t *testing.T) {
	type lists = [][]int64
	for _, c := range []struct {
		name string
		make func() (*Tensor, error)
		want Tensor
	}{
		{"bool", must(Scalars(true, false), nil), Tensor{DType: tfgnnpb.DataType_DT_BOOL, Items: 2, Ints: []int64{1, 0}}},
		{"int", must(Scalars(1, -2), nil), Tensor{DType: tfgnnpb.DataType_DT_INT64, Items: 2, Ints: []int64{1, -2}}},
		{"int8", must(Scalars[int8](-128), nil), Tensor{DType: tfgnnpb.DataType_DT_INT8, Items: 1, Ints: []int64{-128}}},
		{"int16", must(Scalars[int16](-1), nil), Tensor{DType: tfgnnpb.DataType_DT_INT16, Items: 1, Ints: []int64{-1}}},
		{"int32", must(Scalars[int32](-1), nil), Tensor{DType: tfgnnpb.DataType_DT_INT32, Items: 1, Ints: []int64{-1}}},
		{"uint", must(Scalars[uint](1), nil), Tensor{DType: tfgnnpb.DataType_DT_UINT64, Items: 1, Ints: []int64{1}}},
		{"uint8", must(Scalars[uint8](255), nil), Tensor{DType: tfgnnpb.DataType_DT_UINT8, Items: 1, Ints: []int64{255}}},
		{"uint16", must(Scalars[uint16](65535), nil), Tensor{DType: tfgnnpb.DataType_DT_UINT16, Items: 1, Ints: []int64{65535}}},
		{"uint32", must(Scalars[uint32](math.MaxUint32), nil), Tensor{DType: tfgnnpb.DataType_DT_UINT32, Items: 1, Ints: []int64{math.MaxUint32}}},
		{"uint64 keeps its bits", must(Scalars[uint64](math.MaxUint64), nil), Tensor{DType: tfgnnpb.DataType_DT_UINT64, Items: 1, Ints: []int64{-1}}},
		{"float32", must(Scalars[float32](0.5), nil), Tensor{DType: tfgnnpb.DataType_DT_FLOAT, Items: 1, Floats: []float32{0.5}}},
		{"float64 is narrowed", must(Scalars(0.1, 1e300), nil), Tensor{DType: tfgnnpb.DataType_DT_DOUBLE, Items: 2, Floats: []float32{0.1, float32(math.Inf(1))}}},
		{"string", must(Scalars("a", ""), nil), Tensor{DType: tfgnnpb.DataType_DT_STRING, Items: 2, Texts: [][]byte{[]byte("a"), {}}}},
		{"bytes", must(Scalars([]byte{0xff}), nil), Tensor{DType: tfgnnpb.DataType_DT_STRING, Items: 1, Texts: [][]byte{{0xff}}}},
		{"nothing", must(Scalars[int8](), nil), Tensor{DType: tfgnnpb.DataType_DT_INT8}},
		{"half rounds to even", must(Scalars[float32](2049, 1e6).As(tfgnnpb.DataType_DT_HALF)), Tensor{DType: tfgnnpb.DataType_DT_HALF, Items: 2, Floats: []float32{2048, float32(math.Inf(1))}}},
		{"bfloat16 rounds to even", must(Scalars(257., 259).As(tfgnnpb.DataType_DT_BFLOAT16)), Tensor{DType: tfgnnpb.DataType_DT_BFLOAT16, Items: 2, Floats: []float32{256, 260}}},
		{"integers of another width", must(Scalars(7).As(tfgnnpb.DataType_DT_UINT8)), Tensor{DType: tfgnnpb.DataType_DT_UINT8, Items: 1, Ints: []int64{7}}},
		{"dense", must(Dense([]int{2, 1}, []int32{1, 2, 3, 4})), Tensor{DType: tfgnnpb.DataType_DT_INT32, Shape: []int{2, 1}, Items: 2, Ints: []int64{1, 2, 3, 4}}},
		{"dense scalars", must(Dense(nil, []int32{1, 2})), Tensor{DType: tfgnnpb.DataType_DT_INT32, Items: 2, Ints: []int64{1, 2}}},
		{"dense without items", must(Dense([]int{4}, []bool{})), Tensor{DType: tfgnnpb.DataType_DT_BOOL, Shape: []int{4}}},
		{"rows", must(Rows([][]string{{"a", "b"}, {"c", "d"}})), Tensor{DType: tfgnnpb.DataType_DT_STRING, Shape: []int{2}, Items: 2, Texts: [][]byte{{'a'}, {'b'}, {'c'}, {'d'}}}},
		{"ragged rows", must(RaggedFromRows([][]int{{1, 2}, nil, {3}}), nil), Tensor{DType: tfgnnpb.DataType_DT_INT64, Shape: []int{-1}, Items: 3, Ints: []int64{1, 2, 3}, Lengths: lists{{2, 0, 1}}}},
		{"row lengths", must(RaggedFromRowLengths([]int{2, -1, 2}, []int{1, 2, 3, 4}, []int64{0, 1, 1, 0})),
			Tensor{DType: tfgnnpb.DataType_DT_INT64, Shape: []int{2, -1, 2}, Items: 2, Ints: []int64{1, 2, 3, 4}, Lengths: lists{{0, 1, 1, 0}}}},
		{"nested scalars", must(Nested(nil, []int8{1})), Tensor{DType: tfgnnpb.DataType_DT_INT8, Items: 1, Ints: []int64{1}}},
		{"nested bytes", must(Nested([]int{-1}, [][][]byte{{{1}}, {}})), Tensor{DType: tfgnnpb.DataType_DT_STRING, Shape: []int{-1}, Items: 2, Texts: [][]byte{{1}}, Lengths: lists{{1, 0}}}},
		{"nested", must(Nested([]int{-1, 2, -1}, [][][][]float32{{}, {{{1}, {2, 3}}, {nil, {4}}}})),
			Tensor{DType: tfgnnpb.DataType_DT_FLOAT, Shape: []int{-1, 2, -1}, Items: 2, Floats: []float32{1, 2, 3, 4}, Lengths: lists{{0, 2}, {1, 2, 0, 1}}}},
		{"nested, of named types", must(Nested([]int{-1}, []row{{1}, {2, 3}})), Tensor{DType: tfgnnpb.DataType_DT_INT64, Shape: []int{-1}, Items: 2, Ints: []int64{1, 2, 3}, Lengths: lists{{1, 2}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.make()
			if err != nil {
				t.Fatal(err)
			}
			if got.Shape = got.Shape[:len(got.Shape):len(got.Shape)]; len(got.Shape) == 0 {
				got.Shape = nil
			}
			if d := cmp.Diff(&c.want, got); d != "" {
				t.Error(d)
			}
			if err := got.check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// row is a named type, as in user data.
type row []int64

func TestConstructorsRefuse(t *testing.T) {
	for _, c := range []struct {
		name string
		make func() (*Tensor, error)
		want string
	}{
		{"dense, half an item", must(Dense([]int{2, 2}, []int{1, 2, 3})), "found 3 values, expected a multiple of 4 for items of shape [2 2]"},
		{"dense, variable", must(Dense([]int{-1}, []int{1})), "found shape [-1], expected fixed dimensions; use RaggedFromRowLengths"},
		{"dense, zero", must(Dense([]int{0}, []int{})), "found dimension 0 in shape [0]"},
		{"dense, huge", must(Dense([]int{1 << 20, 1 << 20}, []int{})), "found dimension 1048576 in shape"},
		{"rows of two lengths", must(Rows([][]int{{1}, {1, 2}})), "found 2 values in row 1, expected 1 as in row 0; use RaggedFromRows"},
		{"no rows", must(Rows([][]int{})), "found no values, expected rows of at least one; use Dense"},
		{"row lengths of a dense shape", must(RaggedFromRowLengths([]int{2}, []int{1, 2})), "found shape [2], expected a variable dimension (-1); use Dense"},
		{"too few lists", must(RaggedFromRowLengths([]int{-1, -1}, []int{1}, []int64{1})), "found 1 lists of row lengths, expected 2 for shape [-1 -1]"},
		{"half an item in front", must(RaggedFromRowLengths([]int{2, -1}, []int{1}, []int64{1})), "found 1 row lengths, expected a multiple of 2"},
		{"bad dimension in front", must(RaggedFromRowLengths([]int{0, -1}, []int{1}, []int64{1})), "found dimension 0 in shape [0]"},
		{"bad dimension behind", must(RaggedFromRowLengths([]int{-1, -2}, []int{1}, []int64{1})), "found dimension -2 in shape [-1 -2]"},
		{"huge behind", must(RaggedFromRowLengths([]int{-1, 1 << 40, 1 << 40}, []int{}, []int64{1})), "found dimension 1099511627776 in shape"},
		{"lengths beyond the values", must(RaggedFromRowLengths([]int{-1}, []int{1}, []int64{2})), "found 1 values, expected 2 (1 items of shape [-1])"},
		{"negative length", must(RaggedFromRowLengths([]int{-1}, []int{1}, []int64{2, -1})), "found row length -1 of dimension 1"},
		{"inner lengths", must(RaggedFromRowLengths([]int{-1, -1}, []int{1}, []int64{2}, []int64{1})), "found 1 row lengths of dimension 2, expected 2"},
		{"nested, no slice", must(Nested(nil, 1)), "found int, expected a slice of the items"},
		{"nested, nil", must(Nested(nil, nil)), "found <nil>, expected a slice of the items"},
		{"nested, not deep enough", must(Nested([]int{-1, -1}, [][]int{{1}})), "found [][]int, expected slices nested 3 deep for items of shape [-1 -1]"},
		{"nested, too deep", must(Nested([]int{-1}, [][][]int{{{1}}})), "found values of type []int at the depth of shape [-1]"},
		{"nested, uneven", must(Nested([]int{-1, 2}, [][][]int{{{1, 2}}, {{1, 2}, {3}}})), "found 1 values at [1 1], expected 2 for items of shape [-1 2]"},
		{"nested, bad dimension", must(Nested([]int{0}, [][]int{})), "found dimension 0 in shape [0]"},
		{"half of integers", must(Scalars(1).As(tfgnnpb.DataType_DT_HALF)), "found values of DT_INT64, which cannot be declared as DT_HALF"},
		{"too wide", must(Scalars(256).As(tfgnnpb.DataType_DT_UINT8)), "found value 256, expected 0 to 255 for DT_UINT8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := c.make(); !errors.Is(err, ErrGraph) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("found %v, expected %q", err, c.want)
			}
		})
	}
}

// Every half and bfloat16 is rounded to itself, and the middle between two of them to the even one.
func TestRounding(t *testing.T) {
	for v := range 1 << 16 {
		for _, c := range []struct {
			to   func(float32) uint16
			from func(uint16) float32
		}{{ToFloat16, Float16}, {ToBFloat16, BFloat16}} {
			x := c.from(uint16(v))
			if got := c.to(x); got != uint16(v) && x == x {
				t.Fatalf("%04x: %v is rounded to %04x", v, x, got)
			}
			if x != x && c.from(c.to(x)) == c.from(c.to(x)) {
				t.Fatalf("%04x: NaN became a number", v)
			}
			y := c.from(uint16(v + 1))
			if mid := (float64(x) + float64(y)) / 2; v&0x7fff != 0x7fff && !math.IsInf(float64(y), 0) && !math.IsInf(float64(x), 0) && y == y && float64(float32(mid)) == mid {
				if got := c.to(float32(mid)); got != uint16(v+v&1) {
					t.Fatalf("%v between %04x and the next is rounded to %04x", mid, v, got)
				}
			}
		}
	}
}
