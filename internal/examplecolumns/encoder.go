package examplecolumns

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
)

// Encoder holds the buffers of one goroutine.
type Encoder struct {
	W example.Writer
	Narrowed
	elements []uint64 // elements of the rows of a column with a variable dimension
	lengths  []uint64
	floats   []float32 // a block of Floats
}

// Write adds a feature to the Example that e writes: the values of the given rows of a column.
type Write func(e *Encoder, key example.Key, rows graph.Index)

// Part is one of the keys of an Example that a column becomes.
type Part struct {
	Key   string
	Write Write
}

// Parts says how a column is written under a key: its values, and the row lengths of each variable dimension.
func Parts(key string, c *graph.Column) ([]Part, error) {
	values, err := Values(c)
	if err != nil {
		return nil, err
	}
	parts := []Part{{key, values}}
	k := 0
	for i, d := range c.Shape {
		if d == -1 {
			parts = append(parts, Part{tfgnn.RaggedKey(key, i+1), Lengths(c, k)})
			k++
		}
	}
	return parts, nil
}

// blockFloats is about the number of floats that Floats computes at a time.
const blockFloats = 1 << 14

// Floats returns the function that writes rows of width floats each, which fill writes as float32. It makes a block of rows at
// a time.
func Floats(width int, fill func(dst []byte, rows graph.Index)) Write {
	step := max(1, blockFloats/width)
	return func(e *Encoder, k example.Key, rows graph.Index) {
		example.FloatBlocks(&e.W, k, rows.Len(), width, step, func(from, to int) []byte {
			part := graph.Index{}
			if rows.U64 != nil {
				part.U64 = rows.U64[from:to]
			} else {
				part.U32 = rows.U32[from:to]
			}
			n := (to - from) * width
			e.floats = slices.Grow(e.floats[:0], n)[:n]
			dst := graph.Bytes(e.floats)
			fill(dst, part)
			return dst
		})
	}
}

// Proto returns the declaration of a column in a schema.
func Proto(c *graph.Column) *tfgnnpb.Feature {
	f := &tfgnnpb.Feature{Dtype: dtypes[c.DType].Enum()}
	if len(c.Shape) > 0 {
		f.Shape = &tfgnnpb.TensorShapeProto{}
		for _, d := range c.Shape {
			f.Shape.Dim = append(f.Shape.Dim, &tfgnnpb.TensorShapeProto_Dim{Size: proto.Int64(int64(d))})
		}
	}
	return f
}

// DType returns the dtype of a column with the given dtype in a schema, or Invalid if no column can have it.
func DType(d tfgnnpb.DataType) graph.DType {
	for mine, theirs := range dtypes {
		if theirs == d {
			return mine
		}
	}
	return graph.Invalid
}

// Shape returns the shape of a column with the given declaration in a schema.
func Shape(f *tfgnnpb.Feature) []int {
	var shape []int
	for _, d := range f.GetShape().GetDim() {
		shape = append(shape, int(d.GetSize()))
	}
	return shape
}

var dtypes = map[graph.DType]tfgnnpb.DataType{
	graph.Bool:     tfgnnpb.DataType_DT_BOOL,
	graph.Int8:     tfgnnpb.DataType_DT_INT8,
	graph.Int16:    tfgnnpb.DataType_DT_INT16,
	graph.Int32:    tfgnnpb.DataType_DT_INT32,
	graph.Int64:    tfgnnpb.DataType_DT_INT64,
	graph.Uint8:    tfgnnpb.DataType_DT_UINT8,
	graph.Uint16:   tfgnnpb.DataType_DT_UINT16,
	graph.Uint32:   tfgnnpb.DataType_DT_UINT32,
	graph.Uint64:   tfgnnpb.DataType_DT_UINT64,
	graph.Float16:  tfgnnpb.DataType_DT_HALF,
	graph.BFloat16: tfgnnpb.DataType_DT_BFLOAT16,
	graph.Float32:  tfgnnpb.DataType_DT_FLOAT,
	graph.Float64:  tfgnnpb.DataType_DT_DOUBLE,
	graph.String:   tfgnnpb.DataType_DT_STRING,
}

// Values returns the function that writes the values of a column. Variable dimensions are flattened: rows are
// replaced by the elements of the last variable dimension. Values checks the column's offsets once; the function does
// not check them again.
func Values(c *graph.Column) (Write, error) {
	width := 1
	for _, d := range slices.Backward(c.Shape) {
		if d == -1 {
			break
		}
		width *= d
	}
	if slices.ContainsFunc(c.Shape, func(d int) bool { return d < 1 && d != -1 }) {
		return nil, fmt.Errorf("found shape %v, expected positive dimensions, or -1 for variable ones", c.Shape)
	}
	if err := c.CheckOffsets(); err != nil {
		return nil, err
	}
	switch c.DType {
	case graph.Bool, graph.Uint8:
		return intWriter[uint8](c, width), nil
	case graph.Int8:
		return intWriter[int8](c, width), nil
	case graph.Int16:
		return intWriter[int16](c, width), nil
	case graph.Int32:
		return intWriter[int32](c, width), nil
	case graph.Int64, graph.Uint64: // uint64 keeps its bits
		return intWriter[int64](c, width), nil
	case graph.Uint16:
		return intWriter[uint16](c, width), nil
	case graph.Uint32:
		return intWriter[uint32](c, width), nil
	case graph.Float16:
		return floatWriter(c, width, example.Float16), nil
	case graph.BFloat16:
		return floatWriter(c, width, example.BFloat16), nil
	case graph.Float64:
		return doubleWriter(c, width), nil
	case graph.Float32:
		if c.Ragged() {
			return func(e *Encoder, k example.Key, rows graph.Index) {
				example.Float32Rows(&e.W, k, c.Values, width, e.flatten(c, rows))
			}, nil
		}
		return func(e *Encoder, k example.Key, rows graph.Index) {
			if rows.U64 != nil {
				example.Float32Rows(&e.W, k, c.Values, width, rows.U64)
				return
			}
			example.Float32Rows(&e.W, k, c.Values, width, rows.U32)
		}, nil
	case graph.String:
		if c.StringOffsets.U64 != nil {
			return textWriter(c, width, c.StringOffsets.U64), nil
		}
		return textWriter(c, width, c.StringOffsets.U32), nil
	}
	return nil, fmt.Errorf("found dtype %s, expected one that TF-GNN knows", c.DType)
}

func intWriter[T example.Integer](c *graph.Column, width int) Write {
	values := view[T](c)
	if c.Ragged() {
		return func(e *Encoder, k example.Key, rows graph.Index) {
			example.IntRows(&e.W, k, values, width, e.flatten(c, rows))
		}
	}
	return func(e *Encoder, k example.Key, rows graph.Index) {
		if rows.U64 != nil {
			example.IntRows(&e.W, k, values, width, rows.U64)
			return
		}
		example.IntRows(&e.W, k, values, width, rows.U32)
	}
}

func floatWriter(c *graph.Column, width int, convert func(uint16) float32) Write {
	values := view[uint16](c)
	if c.Ragged() {
		return func(e *Encoder, k example.Key, rows graph.Index) {
			example.FloatRows(&e.W, k, values, width, e.flatten(c, rows), convert)
		}
	}
	return func(e *Encoder, k example.Key, rows graph.Index) {
		if rows.U64 != nil {
			example.FloatRows(&e.W, k, values, width, rows.U64, convert)
			return
		}
		example.FloatRows(&e.W, k, values, width, rows.U32, convert)
	}
}

func textWriter[O example.Offset](c *graph.Column, width int, offsets []O) Write {
	if c.Ragged() {
		return func(e *Encoder, k example.Key, rows graph.Index) {
			example.TextRows(&e.W, k, c.Values, offsets, width, e.flatten(c, rows))
		}
	}
	return func(e *Encoder, k example.Key, rows graph.Index) {
		if rows.U64 != nil {
			example.TextRows(&e.W, k, c.Values, offsets, width, rows.U64)
			return
		}
		example.TextRows(&e.W, k, c.Values, offsets, width, rows.U32)
	}
}

// flatten lists the elements of the last variable dimension in the given rows.
func (e *Encoder) flatten(c *graph.Column, rows graph.Index) []uint64 {
	e.elements = e.elements[:0]
	if len(c.Shape) > 0 && c.Shape[0] == -1 && len(c.Offsets) == 1 {
		x := c.Offsets[0]
		for k := range rows.Len() {
			r := int(rows.At(k))
			for i := x.At(r); i < x.At(r+1); i++ {
				e.elements = append(e.elements, i)
			}
		}
		return e.elements
	}
	for k := range rows.Len() {
		from, to := rank(c, len(c.Offsets), int(rows.At(k)))
		for i := from; i < to; i++ {
			e.elements = append(e.elements, uint64(i))
		}
	}
	return e.elements
}

// rank returns the range of the elements of row r that follow its first n variable dimensions and precede the next
// variable dimension or the last fixed ones.
func rank(c *graph.Column, n, r int) (from, to int) {
	from, to = r, r+1
	k := 0
	for _, d := range c.Shape {
		switch {
		case d == -1 && k == n:
			return from, to
		case d == -1:
			from, to = int(c.Offsets[k].At(from)), int(c.Offsets[k].At(to))
			k++
		case k < len(c.Offsets):
			from, to = from*d, to*d
		}
	}
	return from, to
}

// Lengths returns the function that writes the row lengths of variable dimension k of a column (from 0): the number
// of elements of each row. The offsets must be valid.
func Lengths(c *graph.Column, k int) Write {
	x := c.Offsets[k]
	return func(e *Encoder, key example.Key, rows graph.Index) {
		e.lengths = e.lengths[:0]
		for i := range rows.Len() {
			from, to := rank(c, k, int(rows.At(i)))
			for i := from; i < to; i++ {
				e.lengths = append(e.lengths, x.At(i+1)-x.At(i))
			}
		}
		example.Ints(&e.W, key, e.lengths)
	}
}

// view returns the values of a column of numbers.
func view[T graph.Numbers](c *graph.Column) []T { return graph.View[T](c.Values) }
