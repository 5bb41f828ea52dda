package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// valueWorker converts the chunks of one goroutine.
type valueWorker struct {
	chunk Chunk
	outs  []scalar.Words
	parts [][]scalar.Words
	from  []Vector
	text  []byte
}

// badValue is a value that cannot be converted.
type badValue struct {
	value    int // number in the chunk
	found    string
	expected string
}

// convert makes the columns of a chunk.
func (w *valueWorker) convert(p *values, c *Chunk) (*Chunk, error) {
	if w.outs == nil {
		w.outs, w.parts = make([]scalar.Words, len(p.outs)), make([][]scalar.Words, len(p.outs))
		w.chunk.Columns = make([]Vector, len(p.outs))
		for i := range p.outs {
			w.parts[i] = make([]scalar.Words, len(p.outs[i].parts))
		}
	}
	columns := w.chunk.Columns
	w.chunk = *c
	w.chunk.Columns = columns
	for i := range p.outs {
		out := &p.outs[i]
		w.from = w.from[:0]
		for k := range out.parts {
			x := &out.parts[k]
			v, bad := w.part(x, &c.Columns[x.at], c.Rows, &w.parts[i][k])
			if bad != nil {
				row := rowOf(&c.Columns[x.at], x.Shape, c.Rows, bad.value)
				return nil, badf("%s: found %s in column %q, expected %s", p.t.Where(c.First+uint64(row), x.Name), bad.found, x.Name, bad.expected)
			}
			w.from = append(w.from, v)
		}
		if columns[i] = w.from[0]; len(w.from) == 1 {
			continue
		}
		size := out.DType.Size()
		w.outs[i].N = 0
		Interleave(w.outs[i].Add(c.Rows*len(w.from)*size), w.from, size)
		columns[i] = Vector{Data: w.outs[i].Bytes()[:w.outs[i].N:w.outs[i].N]}
	}
	return &w.chunk, nil
}

// part makes the values of a part.
func (w *valueWorker) part(x *part, v *Vector, rows int, out *scalar.Words) (Vector, *badValue) {
	out.N = 0
	var bad *badValue
	switch x.kind {
	case plainPart:
		return *v, nil
	case textTimes:
		bad = x.timesOfText(v, out)
	case numberTimes:
		bad = x.timesOfNumbers(v, out)
	case textCodes, numberCodes:
		bad = w.codes(x, v, out)
	case textMissing:
		b := out.Add(rows)
		eachText(v, func(i int, text []byte) bool {
			b[i] = 0
			if x.Missing.Unit != "" {
				text = scalar.Trim(text)
			}
			if len(text) == 0 || x.Missing.Unit != "" && scalar.IsMissing(text) {
				b[i] = 1
			}
			return true
		})
	case markMissing:
		b := out.Add(rows)
		clear(b)
		for _, row := range v.Empty {
			b[row] = 1
		}
	}
	return Vector{Data: out.Bytes()[:out.N:out.N], Lengths: v.Lengths}, bad
}

// eachText calls fn for the texts of a vector until it returns false.
func eachText(v *Vector, fn func(i int, text []byte) bool) {
	start := uint32(0)
	for i, end := range v.Ends {
		if !fn(i, v.Data[start:end]) {
			return
		}
		start = end
	}
}

func (x *part) timesOfText(v *Vector, out *scalar.Words) (bad *badValue) {
	out.Add(8 * len(v.Ends))
	eachText(v, func(i int, text []byte) bool {
		text = scalar.Trim(text)
		if len(text) == 0 || scalar.IsMissing(text) && !(x.Given && x.Empty == EmptyError) {
			out.W[i] = x.fill
			return true
		}
		t, problem := readTime(text, x.Unit, x.Zone)
		if problem != "" {
			bad = &badValue{i, scalar.Quote(text), problem}
			return false
		}
		out.W[i] = uint64(t)
		return true
	})
	return bad
}

func (x *part) timesOfNumbers(v *Vector, out *scalar.Words) *badValue {
	copy(out.Add(len(v.Data)), v.Data)
	times := graph.View[int64](out.Bytes()[:out.N])
	if x.unit != "" && x.unit != x.Unit {
		from, to := x.unit.PerSecond(), x.Unit.PerSecond()
		for i, t := range times {
			switch {
			case t == graph.NoTime:
			case to >= from:
				f := to / from
				if t > math.MaxInt64/f || t < math.MinInt64/f {
					return &badValue{i, fmt.Sprintf("%d %s", t, x.unit), fmt.Sprintf("a time that 64 bits hold in %s; give the column the dtype datetime[%s]", x.Unit, x.unit)}
				}
				times[i] = t * f
			case t%(from/to) != 0:
				return &badValue{i, fmt.Sprintf("%d %s", t, x.unit), fmt.Sprintf("a whole number of %s; give the column the dtype datetime[%s]", x.Unit, needs(t, x.unit))}
			default:
				times[i] = t / (from / to)
			}
		}
	}
	for _, row := range v.Empty {
		times[row] = int64(x.fill)
	}
	return nil
}

// needs is the coarsest unit that holds a time of a unit.
func needs(t int64, unit graph.Unit) graph.Unit {
	per := unit.PerSecond()
	for per > 1 && t%1000 == 0 {
		t, per = t/1000, per/1000
	}
	return unitOf(per)
}

func (w *valueWorker) codes(x *part, v *Vector, out *scalar.Words) (bad *badValue) {
	if x.kind == textCodes {
		codes := graph.View[int32](out.Add(4 * len(v.Ends)))
		eachText(v, func(i int, text []byte) bool {
			if len(text) == 0 {
				codes[i] = int32(uint32(x.fill))
				return true
			}
			code, ok := x.Categories.codes[string(text)]
			if !ok {
				bad = &badValue{i, scalar.Quote(text), x.Categories.expected()}
				return false
			}
			codes[i] = code
			return true
		})
		return bad
	}
	numbers := graph.View[uint64](v.Data)
	codes := graph.View[int32](out.Add(4 * len(numbers)))
	empty := v.Empty
	for i, n := range numbers {
		if len(empty) > 0 && int(empty[0]) == i {
			codes[i], empty = int32(uint32(x.fill)), empty[1:]
			continue
		}
		w.text = appendNumber(w.text[:0], n, x.signed)
		code, ok := x.Categories.codes[string(w.text)]
		if !ok {
			return &badValue{i, scalar.Quote(w.text), x.Categories.expected()}
		}
		codes[i] = code
	}
	return nil
}

func appendNumber(b []byte, n uint64, signed bool) []byte {
	if signed {
		return strconv.AppendInt(b, int64(n), 10)
	}
	return strconv.AppendUint(b, n, 10)
}

// rowOf returns the row of a value in a vector.
func rowOf(v *Vector, shape []int, rows, value int) int {
	at := make([]int, len(v.Lengths))
	for row := range rows {
		n, k := 1, 0
		for _, d := range shape {
			if d >= 0 {
				n *= d
				continue
			}
			sum := 0
			for _, length := range v.Lengths[k][at[k]:][:n] {
				sum += int(length)
			}
			at[k] += n
			n, k = sum, k+1
		}
		if value < n {
			return row
		}
		value -= n
	}
	return max(rows-1, 0)
}

// quotedSome joins texts for an error, some of them if there are many.
func quotedSome(texts []string) string {
	var b strings.Builder
	for i, s := range texts {
		if i == 8 && len(texts) > 9 {
			fmt.Fprintf(&b, " and %d others", len(texts)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strings.ToValidUTF8(s[:min(len(s), 40)], "?"))
	}
	return b.String()
}
