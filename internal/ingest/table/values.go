package table

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/isotime"
)

// ScanFunc is the scan of a table that reads numbers, bools and strings.
type ScanFunc func(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (uint64, error)

// derived says whether the values of a column are made from what a table reads.
func (c *Column) derived() bool {
	return c.Unit != "" || c.Categories != nil || c.Missing != nil || c.From != nil
}

// ScanValues is the scan of a table for any columns, made from its scan for plain ones. Values are converted chunk by
// chunk, in the goroutine that calls fn.
func ScanValues(ctx context.Context, t Table, columns []Column, threads int, fn func(worker int, c *Chunk) error, scan ScanFunc) (uint64, error) {
	if !slices.ContainsFunc(columns, func(c Column) bool { return c.derived() }) {
		return scan(ctx, columns, threads, fn)
	}
	p, err := newValues(t, columns)
	if err != nil {
		return 0, err
	}
	workers := make([]valueWorker, max(threads, 1))
	return scan(ctx, p.inner, threads, func(worker int, c *Chunk) error {
		out, err := workers[worker].convert(p, c)
		if err != nil {
			return err
		}
		return fn(worker, out)
	})
}

// values plans how the columns of a scan are made from plain ones.
type values struct {
	t      Table
	fields map[string]Field // of the table, by name
	inner  []Column         // plain
	named  map[string][]int // the numbers of the plain columns, by name
	outs   []output
	// collecting: the texts of categories are wanted.
	collecting bool
}

// output is a column that was asked for. It has one part, or one for each field of From.
type output struct {
	Column
	parts []part
}

// partKind says what is made from a plain column.
type partKind uint8

const (
	plainPart   partKind = iota
	textTimes            // times in text
	numberTimes          // times in integers of a unit
	textCodes            // codes of texts
	numberCodes          // codes of integers, by their decimal texts
	textMissing          // whether a text is empty
	markMissing          // whether a cell is marked as empty
)

// part is made from one plain column.
type part struct {
	Column
	kind partKind
	at   int        // number of the plain column
	unit graph.Unit // of the integers; empty: the unit of the column
	fill uint64     // the value of an empty cell
	// signed says that integers are Int64, else Uint64.
	signed bool
}

// emptyValues plans no columns.
func emptyValues(t Table) *values {
	p := &values{t: t, fields: map[string]Field{}, named: map[string][]int{}}
	for _, f := range slices.Backward(t.Fields()) { // the first of equal names counts
		p.fields[f.Name] = f
	}
	return p
}

func newValues(t Table, columns []Column) (*values, error) {
	p := emptyValues(t)
	for _, c := range columns {
		out := output{Column: c}
		for _, name := range c.From {
			one := c
			one.Name, one.Shape, one.From = name, nil, nil
			if c.Missing != nil {
				of := *c.Missing
				of.Name, of.Shape, of.From = name, nil, nil
				one.Missing = &of
			}
			if err := p.add(&out, one); err != nil {
				return nil, err
			}
		}
		if c.From == nil {
			if err := p.add(&out, c); err != nil {
				return nil, err
			}
		} else if err := checkFrom(&c); err != nil {
			return nil, badf("%s: %w", p.place(), err)
		}
		p.outs = append(p.outs, out)
	}
	return p, nil
}

// place names the table.
func (p *values) place() string {
	if files := p.t.Files(); len(files) > 0 {
		return files[0]
	}
	return "table"
}

// checkFrom refuses a vector of another number of values than there are fields.
func checkFrom(c *Column) error {
	n := 1
	for _, d := range c.Shape {
		n *= max(d, 0)
	}
	if n != len(c.From) || c.DType == graph.String || c.DType == graph.Invalid {
		return fmt.Errorf("column %q: found %d fields for %s of shape %v, expected numbers, one per field", c.Name, len(c.From), c.DType, c.Shape)
	}
	return nil
}

// ask returns the number of the plain column c, which is asked for once.
func (p *values) ask(c Column) int {
	for _, i := range p.named[c.Name] {
		x := &p.inner[i]
		if x.DType == c.DType && x.ID == c.ID && x.Empty == c.Empty && x.Fill == c.Fill && x.Given == c.Given && x.Inferred == c.Inferred && x.Whole == c.Whole && x.Unit == c.Unit && x.Separator == c.Separator && x.Escapes == c.Escapes && slices.Equal(x.Shape, c.Shape) {
			x.Mark = x.Mark || c.Mark
			return i
		}
	}
	p.named[c.Name] = append(p.named[c.Name], len(p.inner))
	p.inner = append(p.inner, c)
	return len(p.inner) - 1
}

// add adds the part of an output that is made from one field.
func (p *values) add(out *output, c Column) (err error) {
	x := part{Column: c}
	f := p.fields[c.Name]
	if c.Missing != nil {
		f = p.fields[c.Missing.Name]
	}
	plain := Column{Name: c.Name, DType: graph.String, Shape: c.Shape, Empty: EmptyFill}
	declared := f.DType.IsInt() || f.DType == graph.Bool
	switch {
	case c.Missing != nil:
		m := *c.Missing
		if (m.Unit != "" || m.Categories != nil) && declared {
			m = Column{Name: m.Name, DType: f.DType, Shape: m.Shape, Empty: EmptyFill, Fill: zeros(m.Shape)}
		} else if m.Unit != "" || m.Categories != nil {
			m = Column{Name: m.Name, DType: graph.String, Shape: m.Shape, Empty: EmptyFill}
		}
		plain, x.kind = m, markMissing
		if m.DType == graph.String && len(m.Shape) == 0 {
			x.kind = textMissing
			break
		}
		plain.Mark = true
	case c.Unit != "":
		if x.fill, err = timeFill(&c); err != nil {
			return badf("%s: column %q: %w", p.place(), c.Name, err)
		}
		x.kind = textTimes
		if declared {
			x.kind, x.unit = numberTimes, f.Unit
			plain.DType, plain.Unit, plain.Mark, plain.Fill = graph.Int64, f.Unit, len(c.Shape) == 0, zeros(c.Shape)
		}
		if c.Given && c.Empty == EmptyError {
			plain.Empty, plain.Given = EmptyError, true
		}
	case c.Categories != nil:
		if !c.Categories.Known() && !p.collecting {
			return fmt.Errorf("column %q: found categories that are not known, expected Collect before a scan", c.Name)
		}
		if x.fill, err = c.Categories.fill(&c); err != nil {
			return badf("%s: column %q: %w", p.place(), c.Name, err)
		}
		x.kind = textCodes
		if declared {
			x.kind, x.signed = numberCodes, f.DType != graph.Uint64
			plain.DType, plain.Mark, plain.Fill = graph.Int64, len(c.Shape) == 0, zeros(c.Shape)
			if f.DType == graph.Uint64 {
				plain.DType = graph.Uint64
			}
		}
		if c.Given && c.Empty == EmptyError {
			plain.Empty, plain.Given = EmptyError, true
		}
	default:
		plain, x.kind = c, plainPart
	}
	x.at = p.ask(plain)
	out.parts = append(out.parts, x)
	return nil
}

// zeros is the text of zeros of a shape.
func zeros(shape []int) string {
	n := 1
	for _, d := range shape {
		n *= max(d, 0)
	}
	return strings.TrimSpace(strings.Repeat("0 ", n))
}

// timeFill returns the value of an empty time.
func timeFill(c *Column) (uint64, error) {
	least := int64(math.MinInt64)
	if !c.Given || c.Empty != EmptyFill {
		return uint64(least), nil
	}
	v, problem := readTime([]byte(c.Fill), c.Unit, nil)
	if problem != "" {
		return 0, fmt.Errorf("found the fill value %q, expected %s; correct the value", c.Fill, problem)
	}
	return uint64(v), nil
}

// readTime reads ISO 8601, in a zone if the text has none and zone is not nil, or an integer of the unit. Otherwise it returns what was expected.
func readTime(text []byte, unit graph.Unit, zone *time.Location) (v int64, problem string) {
	t, ok := isotime.Parse(text)
	if !ok {
		n, ok := scalar.ParseInt(text, graph.Int64)
		if !ok {
			return 0, fmt.Sprintf("a time in ISO 8601, such as 2024-02-29T13:45:07Z, or an integer, counted in %s since 1970", unit)
		}
		return int64(n), ""
	}
	if zone != nil && !hasZone(text) {
		t.Seconds -= offsetIn(zone, t.Seconds)
	}
	v, exact, fits := t.In(unit.PerSecond())
	switch {
	case !exact:
		return 0, fmt.Sprintf("a whole number of %s; give the column the dtype datetime[%s]", unit, unitOf(t.Needs()))
	case !fits || v == graph.NoTime:
		return 0, fmt.Sprintf("a time that 64 bits hold in %s; give the column the dtype datetime[us], or a coarser one", unit)
	}
	return v, ""
}

// hasZone says whether a time in ISO 8601 has a zone after its date of ten bytes.
func hasZone(text []byte) bool { return bytes.ContainsAny(text[10:], "+-Zz") }

// offsetIn returns the seconds by which a zone is ahead of UTC at a local time, in seconds since 1970. A time that a clock shows twice, or skips, has the
// offset before the change, as in java.time.
func offsetIn(zone *time.Location, local int64) int64 {
	at := func(utc int64) int64 {
		_, offset := time.Unix(utc, 0).In(zone).Zone()
		return int64(offset)
	}
	const day = 86400
	before, after := at(local-day), at(local+day)
	if at(local-before) != before && at(local-after) == after {
		return after
	}
	return before
}

// unitOf returns the unit of which a second has perSecond.
func unitOf(perSecond int64) graph.Unit {
	for _, u := range []graph.Unit{graph.Seconds, graph.Milliseconds, graph.Microseconds} {
		if u.PerSecond() == perSecond {
			return u
		}
	}
	return graph.Nanoseconds
}
