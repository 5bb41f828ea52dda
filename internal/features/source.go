package features

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
)

// blockRows is how many rows are read and written at a time, at most.
const blockRows = 4096

// wholeBelow is the magnitude up to which float64 has every whole number.
const wholeBelow = 1 << 53

// source reads the column of a part: as numbers, or as texts.
type source struct {
	part  *Part
	c     *graph.Column
	mark  []byte // bools of what is missing, of rows or of all their values; nil: none
	width int    // numbers per row, without the flag
	wide  bool   // the column has integers of 64 bits

	calendars []Calendar
	perSecond int64
	cats      *Categories // of frequency and ordinal
}

// newSource opens the column of a part.
func newSource(p *Part, t *Table) (*source, error) {
	c, err := t.columnOf(p)
	if err != nil {
		return nil, err
	}
	s := &source{part: p, c: c, width: 1}
	if m := graph.FindColumn(t.Columns, p.From+MarkSuffix); p.From != "" && m != nil && m.DType == graph.Bool && !c.Ragged() && (m.RowValues() == 1 || m.RowValues() == c.RowValues()) {
		s.mark = m.Values
	}
	switch p.Encode {
	case EncodeNone, EncodeBuckets:
		s.width, s.wide = c.RowValues(), c.DType == graph.Int64 || c.DType == graph.Uint64
	case EncodeCalendar:
		s.width = 0
		for _, part := range p.Parts {
			of, err := NewCalendar(part, p.Zone)
			if err != nil {
				return nil, specErrorf("%w", err)
			}
			s.calendars = append(s.calendars, of)
			s.width += of.Width()
		}
		s.perSecond = c.Unit.PerSecond()
	case EncodeAge:
		s.perSecond = c.Unit.PerSecond()
	}
	return s, nil
}

// cycle says whether number k is one of a cycle of a calendar.
func (s *source) cycle(k int) bool {
	for i := range s.calendars {
		if k -= s.calendars[i].Width(); k < 0 {
			return s.calendars[i].Cycle()
		}
	}
	return false
}

// MarkSuffix ends the name of the column of bools that says which rows of a column are missing.
const MarkSuffix = "_missing"

// rowBytes is about how many bytes of the column a row has, for the pages that reading it touches.
func (s *source) rowBytes() int64 {
	if s.c.Rows == 0 {
		return 0
	}
	return s.c.Bytes()/int64(s.c.Rows) + 1
}

// numbers writes number k of the rows [first, first+len(out)) to out; NaN is a missing one.
func (s *source) numbers(first, k int, out []float64) {
	switch s.part.Encode {
	case EncodeNone, EncodeBuckets:
		Float64s(s.c, first*s.width+k, s.width, out)
	case EncodeCalendar:
		s.calendar(first, k, out)
	case EncodeAge:
		s.age(first, out)
	case EncodeLength:
		for i := range out {
			out[i] = float64(utf8.RuneCount(s.text(first + i)))
		}
	case EncodeFrequency:
		for i := range out {
			code, known := s.code(first + i)
			if out[i] = math.NaN(); known {
				out[i] = s.cats.Share(code)
			}
		}
	case EncodeOrdinal:
		for i := range out {
			code, known := s.code(first + i)
			if out[i] = math.NaN(); known {
				out[i] = float64(code)
			}
		}
	}
	if s.mark == nil {
		return
	}
	each := len(s.mark) / max(1, s.c.Rows) // 1, or that many values
	for i := range out {
		if s.mark[(first+i)*each+k%each] != 0 {
			out[i] = math.NaN()
		}
	}
}

// Float64s converts every step-th value of a column of numbers from value at on: as many as out has.
func Float64s(c *graph.Column, at, step int, out []float64) {
	switch c.DType {
	case graph.Bool, graph.Uint8:
		strided[uint8](c, at, step, out)
	case graph.Int8:
		strided[int8](c, at, step, out)
	case graph.Int16:
		strided[int16](c, at, step, out)
	case graph.Uint16:
		strided[uint16](c, at, step, out)
	case graph.Int32:
		strided[int32](c, at, step, out)
	case graph.Uint32:
		strided[uint32](c, at, step, out)
	case graph.Int64:
		strided[int64](c, at, step, out)
	case graph.Uint64:
		strided[uint64](c, at, step, out)
	case graph.Float32:
		strided[float32](c, at, step, out)
	case graph.Float64:
		strided[float64](c, at, step, out)
	case graph.Float16:
		bits := graph.View[uint16](c.Values)
		for i := range out {
			out[i] = float64(example.Float16(bits[at+i*step]))
		}
	case graph.BFloat16:
		bits := graph.View[uint16](c.Values)
		for i := range out {
			out[i] = float64(example.BFloat16(bits[at+i*step]))
		}
	}
}

// strided converts every step-th value from at on.
func strided[T graph.Numbers](c *graph.Column, at, step int, out []float64) {
	if len(out) == 0 {
		return
	}
	from := graph.View[T](c.Values)[at:]
	if step == 1 {
		for i, v := range from[:len(out)] {
			out[i] = float64(v)
		}
		return
	}
	for i := range out {
		out[i] = float64(from[i*step])
	}
}

// rounds says whether float64 may have rounded a number of the column: a whole number that is so large.
func (s *source) rounds(x float64) bool { return s.wide && (x > wholeBelow || x < -wholeBelow) }

// whole says whether the numbers are those of a column of whole numbers.
func (s *source) whole() bool { return s.c.DType.IsInt() && s.part.Encode == EncodeNone }

// calendar is numbers of the parts of times.
func (s *source) calendar(first, k int, out []float64) {
	at := 0
	for i := range s.calendars {
		c := &s.calendars[i]
		if k >= at+c.Width() {
			at += c.Width()
			continue
		}
		var of [2]float64
		for i, ticks := range graph.View[int64](s.c.Values)[first:][:len(out)] {
			if ticks == graph.NoTime {
				out[i] = math.NaN()
				continue
			}
			c.Apply(c.In(floorDiv(ticks, s.perSecond)), of[:])
			out[i] = of[k-at]
		}
		return
	}
}

// age is the time from each time to a fixed one, in a unit: their difference is exact.
func (s *source) age(first int, out []float64) {
	per, at := float64(s.perSecond)*float64(Units[s.part.unit()]), s.part.At*s.perSecond
	for i, ticks := range graph.View[int64](s.c.Values)[first:][:len(out)] {
		switch {
		case ticks == graph.NoTime:
			out[i] = math.NaN()
		case ticks <= at:
			out[i] = float64(uint64(at)-uint64(ticks)) / per
		default:
			out[i] = -float64(uint64(ticks)-uint64(at)) / per
		}
	}
}

// unit is the unit of an age.
func (p *Part) unit() string {
	if p.Unit == "" {
		return "days"
	}
	return p.Unit
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// marked says whether a column of bools marks a row as missing.
func (s *source) marked(row int) bool { return s.mark != nil && s.mark[row] != 0 }

// text is the text of a row, nil where it is missing. The column is one of texts or categories.
func (s *source) text(row int) []byte {
	if s.marked(row) {
		return nil
	}
	if s.c.Categories == nil {
		return s.c.Text(row)
	}
	if code := graph.View[int32](s.c.Values)[row]; code >= 0 {
		return s.c.Categories.Text(int(code))
	}
	return nil
}

// code is the code of a row, and false where it has no value. A code of 0 is one of an unknown text.
func (s *source) code(row int) (int32, bool) {
	switch {
	case s.marked(row):
		return 0, false
	case s.c.Categories != nil:
		code := graph.View[int32](s.c.Values)[row]
		if code < 0 {
			return 0, false
		}
		return s.cats.ofCode(s.c.Categories, code), true
	case s.c.DType == graph.String:
		text := s.c.Text(row)
		return s.cats.Code(text), len(text) > 0
	}
	return s.cats.ofInt(s.integer(row)), true
}

// integer is the value of a row of a column of whole numbers or bools; those of uint64 from 2^63 on are negative.
func (s *source) integer(row int) int64 {
	switch b := s.c.Row(row); s.c.DType {
	case graph.Bool, graph.Uint8:
		return int64(b[0])
	case graph.Int8:
		return int64(int8(b[0]))
	case graph.Int16:
		return int64(graph.View[int16](b)[0])
	case graph.Uint16:
		return int64(graph.View[uint16](b)[0])
	case graph.Int32:
		return int64(graph.View[int32](b)[0])
	case graph.Uint32:
		return int64(graph.View[uint32](b)[0])
	}
	return graph.View[int64](s.c.Row(row))[0]
}

// tags calls each with the distinct tags of a row, which is a text with separators, or a list of texts or categories. It has none for a row that is missing.
func (s *source) tags(row int, seen map[string]bool, each func(tag string)) {
	if s.marked(row) {
		return
	}
	clear(seen)
	tell := func(tag string) {
		if tag != "" && !seen[tag] {
			seen[tag] = true
			each(tag)
		}
	}
	if !s.c.Ragged() {
		for tag := range strings.SplitSeq(string(s.text(row)), s.part.Separator) {
			tell(tag)
		}
		return
	}
	from, to := s.c.Span(row, row+1)
	for i := from; i < to; i++ {
		switch {
		case s.c.Categories == nil:
			tell(string(s.c.Text(i)))
		case graph.View[int32](s.c.Values)[i] >= 0:
			tell(string(s.c.Categories.Text(int(graph.View[int32](s.c.Values)[i]))))
		}
	}
}
