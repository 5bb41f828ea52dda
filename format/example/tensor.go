package example

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// Value lists the Go types that a Tensor can be made from. Each gives the dtype of the same name; int gives int64,
// uint gives uint64, string and []byte give DT_STRING. float64 gives DT_DOUBLE, whose values an Example stores as
// float32. Tensor.As declares other dtypes.
type Value interface {
	bool | int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | float32 | float64 | string | []byte
}

// Scalars makes a feature of one value per item.
func Scalars[T Value](values ...T) *Tensor {
	t := newTensor[T](nil, len(values))
	appendValues(t, values)
	return t
}

// Dense makes a feature of fixed dimensions. The values are flat and row-major, one item after the other.
func Dense[T Value](shape []int, values []T) (*Tensor, error) {
	width, err := width(shape)
	if err != nil {
		return nil, err
	}
	if len(values)%width != 0 {
		return nil, fmt.Errorf("found %d values, expected a multiple of %d for items of shape %v: %w", len(values), width, shape, ErrGraph)
	}
	t := newTensor[T](shape, len(values)/width)
	appendValues(t, values)
	return t, nil
}

// Rows makes a feature of one vector per item, all of one length. It needs at least one row; use Dense for none.
func Rows[T Value](rows [][]T) (*Tensor, error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil, fmt.Errorf("found no values, expected rows of at least one; use Dense with a shape: %w", ErrGraph)
	}
	t := newTensor[T]([]int{len(rows[0])}, len(rows))
	for i, r := range rows {
		if len(r) != len(rows[0]) {
			return nil, fmt.Errorf("found %d values in row %d, expected %d as in row 0; use RaggedFromRows for rows of any length: %w", len(r), i, len(rows[0]), ErrGraph)
		}
		appendValues(t, r)
	}
	return t, nil
}

// RaggedFromRows makes a feature of one list per item, of any length.
func RaggedFromRows[T Value](rows [][]T) *Tensor {
	t := newTensor[T]([]int{-1}, len(rows))
	lengths := make([]int64, len(rows))
	for i, r := range rows {
		lengths[i] = int64(len(r))
		appendValues(t, r)
	}
	t.Lengths[0] = lengths
	return t
}

// RaggedFromRowLengths makes a feature of any shape from flat values and the row lengths of each variable dimension,
// outermost first. A fixed dimension before a variable one multiplies its rows: shape [2, -1] has two row lengths per
// item. The number of items follows from the first variable dimension.
func RaggedFromRowLengths[T Value](shape []int, values []T, lengths ...[]int64) (*Tensor, error) {
	first := slices.Index(shape, -1)
	if first < 0 {
		return nil, fmt.Errorf("found shape %v, expected a variable dimension (-1); use Dense: %w", shape, ErrGraph)
	}
	front, err := width(shape[:first])
	if err != nil {
		return nil, err
	}
	if _, err := product(shape); err != nil {
		return nil, err
	}
	t := newTensor[T](shape, 0)
	if len(lengths) != len(t.Lengths) {
		return nil, fmt.Errorf("found %d lists of row lengths, expected %d for shape %v: %w", len(lengths), len(t.Lengths), shape, ErrGraph)
	}
	if len(lengths[0])%front != 0 {
		return nil, fmt.Errorf("found %d row lengths, expected a multiple of %d for items of shape %v: %w", len(lengths[0]), front, shape, ErrGraph)
	}
	t.Items = len(lengths[0]) / front
	for i, l := range lengths {
		t.Lengths[i] = slices.Clone(l)
	}
	appendValues(t, values)
	if err := t.check(); err != nil {
		return nil, err
	}
	return t, nil
}

// Nested makes a feature of any depth from nested slices. The outermost slice holds the items, and each dimension of
// the shape is one level below it. Nested([]int{-1, 2}, [][][]int64{{{1, 2}, {3, 4}}, {}}) has two items, the second
// without rows.
func Nested(shape []int, values any) (*Tensor, error) {
	if _, err := product(shape); err != nil {
		return nil, err
	}
	v := reflect.ValueOf(values)
	if !v.IsValid() || v.Kind() != reflect.Slice {
		return nil, fmt.Errorf("found %T, expected a slice of the items: %w", values, ErrGraph)
	}
	inner := v.Type().Elem()
	for range shape {
		if inner.Kind() != reflect.Slice {
			return nil, fmt.Errorf("found %T, expected slices nested %d deep for items of shape %v: %w", values, len(shape)+1, shape, ErrGraph)
		}
		inner = inner.Elem()
	}
	leaf, ok := leaves[inner]
	if !ok {
		return nil, fmt.Errorf("found values of type %s at the depth of shape %v, expected bool, a number, string or []byte: %w", inner, shape, ErrGraph)
	}
	t := leaf.new(shape, v.Len())
	n := nester{t: t, leaf: leaf}
	if err := n.walk(v, 0, 0, nil); err != nil {
		return nil, err
	}
	return t, nil
}

// leaf makes and fills tensors of a type that is known only at run time.
type leaf struct {
	new func(shape []int, items int) *Tensor
	add func(t *Tensor, slice reflect.Value)
}

var leaves = map[reflect.Type]leaf{}

func init() {
	register[bool]()
	register[int]()
	register[int8]()
	register[int16]()
	register[int32]()
	register[int64]()
	register[uint]()
	register[uint8]()
	register[uint16]()
	register[uint32]()
	register[uint64]()
	register[float32]()
	register[float64]()
	register[string]()
	register[[]byte]()
}

func register[T Value]() {
	leaves[reflect.TypeFor[T]()] = leaf{new: newTensor[T], add: func(t *Tensor, slice reflect.Value) {
		appendValues(t, slice.Convert(reflect.TypeFor[[]T]()).Interface().([]T))
	}}
}

// nester walks nested slices.
type nester struct {
	t *Tensor
	leaf
}

// walk visits a slice. depth is its level (0: the items), level the number of variable dimensions above it, and place
// its position for errors.
func (n *nester) walk(v reflect.Value, depth, level int, place []int) error {
	shape := n.t.Shape
	if depth > 0 {
		if d := shape[depth-1]; d == -1 {
			n.t.Lengths[level] = append(n.t.Lengths[level], int64(v.Len()))
			level++
		} else if v.Len() != d {
			return fmt.Errorf("found %d values at %v, expected %d for items of shape %v: %w", v.Len(), place, d, shape, ErrGraph)
		}
	}
	if depth == len(shape) {
		n.add(n.t, v)
		return nil
	}
	for i := range v.Len() {
		if err := n.walk(v.Index(i), depth+1, level, append(place[:len(place):len(place)], i)); err != nil {
			return err
		}
	}
	return nil
}

// As declares another dtype of the same kind: floats as half or bfloat16, which rounds them as TensorFlow does, or as
// double; integers as another integer dtype that can hold their values. t is changed and returned.
func (t *Tensor) As(d tfgnnpb.DataType) (*Tensor, error) {
	if listOf(d) != listOf(t.DType) {
		return nil, fmt.Errorf("found values of %s, which cannot be declared as %s, expected a dtype of the same kind: %w", t.DType, d, ErrGraph)
	}
	if lo, hi, ok := intRange(d); ok {
		if at := outside(t.Ints, lo, hi); at >= 0 {
			return nil, fmt.Errorf("found value %d, expected %d to %d for %s: %w", t.Ints[at], lo, hi, d, ErrGraph)
		}
	}
	switch d {
	case tfgnnpb.DataType_DT_HALF:
		for i, v := range t.Floats {
			t.Floats[i] = Float16(ToFloat16(v))
		}
	case tfgnnpb.DataType_DT_BFLOAT16:
		for i, v := range t.Floats {
			t.Floats[i] = BFloat16(ToBFloat16(v))
		}
	}
	t.DType = d
	return t, nil
}

// ToBFloat16 rounds to the nearest bfloat16, ties to even.
func ToBFloat16(v float32) uint16 {
	b := math.Float32bits(v)
	if v != v {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// ToFloat16 rounds to the nearest half, ties to even. Values that are too large become infinite.
func ToFloat16(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return sign | 0x7e00
	case b >= 0x477ff000: // 65520, half a step above the largest half
		return sign | 0x7c00
	case b < 0x38800000: // below 2^-14, a multiple of 2^-24
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(b))*(1<<24)))
	}
	return sign | uint16((b-112<<23+0xfff+b>>13&1)>>13)
}

// width returns the number of values of a fixed shape.
func width(shape []int) (int, error) {
	if slices.Contains(shape, -1) {
		return 0, fmt.Errorf("found shape %v, expected fixed dimensions; use RaggedFromRowLengths: %w", shape, ErrGraph)
	}
	return product(shape)
}

// product returns the product of the fixed dimensions of a shape, and an error if the shape is not valid.
func product(shape []int) (int, error) {
	n := 1
	for _, d := range shape {
		switch {
		case d == -1:
		case d < 1 || n > maxItems/d:
			return 0, fmt.Errorf("found dimension %d in shape %v, expected at least 1, and at most %d values per item: %w", d, shape, maxItems, ErrGraph)
		default:
			n *= d
		}
	}
	return n, nil
}

// newTensor makes a tensor without values.
func newTensor[T Value](shape []int, items int) *Tensor {
	t := &Tensor{DType: dtypeOf[T](), Shape: append([]int{}, shape...), Items: items}
	for _, d := range shape {
		if d == -1 {
			t.Lengths = append(t.Lengths, []int64{})
		}
	}
	return t
}

func dtypeOf[T Value]() tfgnnpb.DataType {
	var v T
	switch any(v).(type) {
	case bool:
		return tfgnnpb.DataType_DT_BOOL
	case int8:
		return tfgnnpb.DataType_DT_INT8
	case int16:
		return tfgnnpb.DataType_DT_INT16
	case int32:
		return tfgnnpb.DataType_DT_INT32
	case int, int64:
		return tfgnnpb.DataType_DT_INT64
	case uint8:
		return tfgnnpb.DataType_DT_UINT8
	case uint16:
		return tfgnnpb.DataType_DT_UINT16
	case uint32:
		return tfgnnpb.DataType_DT_UINT32
	case uint, uint64:
		return tfgnnpb.DataType_DT_UINT64
	case float32:
		return tfgnnpb.DataType_DT_FLOAT
	case float64:
		return tfgnnpb.DataType_DT_DOUBLE
	}
	return tfgnnpb.DataType_DT_STRING
}

// appendValues appends values to a tensor of their type.
func appendValues[T Value](t *Tensor, values []T) {
	switch v := any(values).(type) {
	case []bool:
		for _, x := range v {
			t.Ints = append(t.Ints, 0)
			if x {
				t.Ints[len(t.Ints)-1] = 1
			}
		}
	case []int:
		addInts(t, v)
	case []int8:
		addInts(t, v)
	case []int16:
		addInts(t, v)
	case []int32:
		addInts(t, v)
	case []int64:
		t.Ints = append(t.Ints, v...)
	case []uint:
		addInts(t, v)
	case []uint8:
		addInts(t, v)
	case []uint16:
		addInts(t, v)
	case []uint32:
		addInts(t, v)
	case []uint64:
		addInts(t, v)
	case []float32:
		t.Floats = append(t.Floats, v...)
	case []float64:
		for _, x := range v {
			t.Floats = append(t.Floats, float32(x))
		}
	case []string:
		for _, x := range v {
			t.Texts = append(t.Texts, []byte(x))
		}
	case [][]byte:
		t.Texts = append(t.Texts, v...)
	}
}

func addInts[T int | int8 | int16 | int32 | uint | uint8 | uint16 | uint32 | uint64](t *Tensor, values []T) {
	for _, x := range values {
		t.Ints = append(t.Ints, int64(x))
	}
}
