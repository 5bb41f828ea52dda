package transform

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// rows are the columns of a node or edge type and what is changed about them.
type rows struct {
	columns []*graph.Column
	count   int
	normal  []string // columns to normalise
	splits  []added  // columns with the parts of rows
	// categories are the categories of the columns, by name.
	categories map[string]*table.Categories
}

func rowsOf(columns []*graph.Column, count int) rows {
	r := rows{columns: columns, count: count, categories: map[string]*table.Categories{}}
	for _, c := range columns {
		if c.Categories == nil {
			continue
		}
		var texts []string
		for i := range c.Categories.Rows {
			texts = append(texts, string(c.Categories.Text(i)))
		}
		r.categories[c.Name] = &table.Categories{}
		r.categories[c.Name].Set(texts)
	}
	return r
}

// ask returns the columns that a build asks for.
func (r *rows) ask() []table.Column {
	var out []table.Column
	for _, c := range r.columns {
		x := table.Column{Name: c.Name, DType: c.DType, Shape: c.Shape, Unit: c.Unit}
		if c.Categories != nil {
			x.Categories = r.categories[c.Name]
		}
		out = append(out, x)
	}
	for i := range r.splits {
		c := table.Column{Name: r.splits[i].name, DType: graph.Int32, Categories: categoriesOfParts}
		if r.splits[i].role {
			c.Categories = categoriesOfRoles
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(x, y table.Column) int { return strings.Compare(x.Name, y.Name) })
	return out
}

// addedAs is the added column of a name, or nil.
func (r *rows) addedAs(name string) *added {
	for i := range r.splits {
		if r.splits[i].name == name {
			return &r.splits[i]
		}
	}
	return nil
}

// fields are the declared columns.
func (r *rows) fields() []table.Field {
	var out []table.Field
	for _, c := range r.ask() {
		out = append(out, table.Field{Name: c.Name, DType: c.DType, Shape: c.Shape})
	}
	return out
}

// vector gathers rows of a column.
type vector struct {
	c      *graph.Column
	split  *added // instead of c
	normal bool
	out    table.Vector
}

// vectors returns a vector for each column asked for. Those that are not columns of r have neither c nor split.
func (r *rows) vectors(asked []table.Column) []vector {
	vs := make([]vector, len(asked))
	for i, a := range asked {
		if vs[i].split = r.addedAs(a.Name); vs[i].split != nil {
			continue
		}
		vs[i].c = graph.FindColumn(r.columns, a.Name)
		vs[i].normal = slices.Contains(r.normal, a.Name)
		if vs[i].c != nil {
			vs[i].out.Lengths = make([][]uint32, len(vs[i].c.Offsets))
		}
	}
	return vs
}

func (v *vector) reset() {
	v.out.Data, v.out.Ends = v.out.Data[:0], v.out.Ends[:0]
	for k := range v.out.Lengths {
		v.out.Lengths[k] = v.out.Lengths[k][:0]
	}
}

// vector returns the gathered rows.
func (v *vector) vector() table.Vector {
	out := v.out
	if v.c == nil || v.c.DType != graph.String {
		out.Ends = nil
	}
	if len(out.Lengths) == 0 {
		out.Lengths = nil
	}
	return out
}

// add appends a row.
func (v *vector) add(row int) {
	if v.split != nil {
		v.out.Data = binary.LittleEndian.AppendUint32(v.out.Data, uint32(int32(v.split.at(row))))
		return
	}
	c := v.c
	if len(c.Offsets) == 0 && c.DType != graph.String {
		v.out.Data = append(v.out.Data, c.Row(row)...)
		if v.normal {
			normalise(c.DType, v.out.Data[len(v.out.Data)-c.RowBytes():])
		}
		return
	}
	from, to, k := row, row+1, 0
	for _, d := range c.Shape {
		if d != -1 {
			from, to = from*d, to*d
			continue
		}
		for i := from; i < to; i++ {
			v.out.Lengths[k] = append(v.out.Lengths[k], uint32(c.Offsets[k].At(i+1)-c.Offsets[k].At(i)))
		}
		from, to = int(c.Offsets[k].At(from)), int(c.Offsets[k].At(to))
		k++
	}
	if c.DType != graph.String {
		size := c.DType.Size()
		v.out.Data = append(v.out.Data, c.Values[from*size:to*size]...)
		return
	}
	for i := from; i < to; i++ {
		v.out.Data = append(v.out.Data, c.Text(i)...)
		v.out.Ends = append(v.out.Ends, uint32(len(v.out.Data)))
	}
}

// blank appends the row of an edge that is added.
func (v *vector) blank() {
	if v.split != nil {
		v.out.Data = binary.LittleEndian.AppendUint32(v.out.Data, math.MaxUint32)
		return
	}
	c, n, k := v.c, 1, 0
	for _, d := range c.Shape {
		if d != -1 {
			n *= d
			continue
		}
		for range n {
			v.out.Lengths[k] = append(v.out.Lengths[k], 0)
		}
		n, k = 0, k+1
	}
	one := oneOf(c)
	for range n {
		if c.DType == graph.String {
			v.out.Ends = append(v.out.Ends, uint32(len(v.out.Data)))
			continue
		}
		v.out.Data = append(v.out.Data, one...)
	}
}

// oneOf is the value of an edge that is added.
func oneOf(c *graph.Column) []byte {
	value := make([]byte, c.DType.Size())
	le := binary.LittleEndian
	switch {
	case c.Name == graph.PositionColumn, c.Categories != nil:
		for i := range value {
			value[i] = 0xff
		}
	case c.Unit != "":
		no := graph.NoTime
		le.PutUint64(value, uint64(no))
	case (c.Name == "weight" || c.Name == "edge_weight") && len(c.Shape) == 0:
		switch c.DType {
		case graph.Float32:
			le.PutUint32(value, math.Float32bits(1))
		case graph.Float64:
			le.PutUint64(value, math.Float64bits(1))
		case graph.Float16:
			le.PutUint16(value, 0x3c00)
		case graph.BFloat16:
			le.PutUint16(value, 0x3f80)
		case graph.String:
		default:
			value[0] = 1
		}
	}
	return value
}

// normalise divides the values of a row by the sum of their absolute values.
func normalise(d graph.DType, row []byte) {
	le := binary.LittleEndian
	if d == graph.Float32 {
		sum := 0.0
		for i := 0; i < len(row); i += 4 {
			sum += math.Abs(float64(math.Float32frombits(le.Uint32(row[i:]))))
		}
		for i := 0; i < len(row) && sum != 0; i += 4 {
			le.PutUint32(row[i:], math.Float32bits(float32(float64(math.Float32frombits(le.Uint32(row[i:])))/sum)))
		}
		return
	}
	sum := 0.0
	for i := 0; i < len(row); i += 8 {
		sum += math.Abs(math.Float64frombits(le.Uint64(row[i:])))
	}
	for i := 0; i < len(row) && sum != 0; i += 8 {
		le.PutUint64(row[i:], math.Float64bits(math.Float64frombits(le.Uint64(row[i:]))/sum))
	}
}

// addU64 appends a number to the data of a vector.
func (v *vector) addU64(x uint64) { v.out.Data = binary.LittleEndian.AppendUint64(v.out.Data, x) }

// aligned returns the same bytes at an address that is a multiple of 8.
func aligned(b []byte) []byte {
	if len(b) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%8 == 0 {
		return b
	}
	out := graph.Bytes(make([]uint64, (len(b)+7)/8))[:len(b)]
	copy(out, b)
	return out
}
