package predictions

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/csvtext"
)

// csvSink writes a CSV file: a header, and a line per row. A vector has a column per value.
type csvSink struct {
	columns []column
	w       io.Writer
}

func newCSVSink(w io.Writer, columns []column) (*csvSink, error) {
	names, err := flatNames(columns)
	if err != nil {
		return nil, err
	}
	var b []byte
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = csvtext.AppendField(b, []byte(name))
	}
	_, err = w.Write(append(b, '\n'))
	return &csvSink{columns, w}, err
}

// flatNames are the names of columns of which vectors have one per value: NAME_0, NAME_1, ...
func flatNames(columns []column) (names []string, err error) {
	seen := map[string]bool{}
	for _, c := range columns {
		for k := range max(c.width, 1) {
			name := c.name
			if c.width > 0 {
				name += "_" + strconv.Itoa(k)
			}
			if seen[name] {
				return nil, usagef("found two columns %q, one of them a value of a vector, expected each name once; give another name, or write Parquet, which keeps vectors whole", name)
			}
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, nil
}

// encode makes the lines of a block.
func (s *csvSink) encode(_ *worker, b *block) error {
	out := b.bytes[:0]
	for i := range b.rows {
		for k := range s.columns {
			if k > 0 {
				out = append(out, ',')
			}
			var err error
			if out, err = appendCell(out, &s.columns[k], &b.cells[k], i); err != nil {
				return err
			}
		}
		out = append(out, '\n')
	}
	b.bytes = out
	return nil
}

// appendCell appends the fields of row i. A missing value is nothing, and an empty text is "" in quotes.
func appendCell(out []byte, c *column, x *cells, i int) ([]byte, error) {
	switch {
	case x.null != nil && x.null[i]:
		return out, nil
	case c.dtype == graph.String:
		return csvtext.AppendField(out, x.string(i)), nil
	case c.unit != "":
		return appendTime(out, c, graph.View[int64](x.data)[i])
	}
	for k := range max(c.width, 1) {
		if k > 0 {
			out = append(out, ',')
		}
		at := i*max(c.width, 1) + k
		if c.dtype == graph.Bool {
			out = strconv.AppendBool(out, x.data[at] != 0)
			continue
		}
		out = csvtext.AppendNumber(out, c.dtype, x.data, at)
	}
	return out, nil
}

// string is string i of a column.
func (c *cells) string(i int) []byte {
	if i == 0 {
		return c.data[:c.ends[0]]
	}
	return c.data[c.ends[i-1]:c.ends[i]]
}

// timeForms are ISO 8601 with the digits of a unit, without a zone.
var timeForms = map[graph.Unit]string{
	graph.Seconds: "2006-01-02T15:04:05", graph.Milliseconds: "2006-01-02T15:04:05.000", graph.Microseconds: "2006-01-02T15:04:05.000000",
	graph.Nanoseconds: "2006-01-02T15:04:05.000000000",
}

// appendTime appends a time in ISO 8601.
func appendTime(out []byte, c *column, v int64) ([]byte, error) {
	per := c.unit.PerSecond()
	seconds, part := v/per, v%per
	if part < 0 {
		seconds, part = seconds-1, part+per
	}
	t := time.Unix(seconds, part*(1e9/per)).UTC()
	if t.Year() < 0 || t.Year() > 9999 {
		return out, fmt.Errorf("column %q: found the time %d %s, whose year is %d, expected one of four digits; write Parquet", c.name, v, c.unit, t.Year())
	}
	return t.AppendFormat(out, timeForms[c.unit]), nil
}

// add takes a block.
func (s *csvSink) add(b *block) error {
	_, err := s.w.Write(b.bytes)
	return err
}

// close has nothing to write.
func (s *csvSink) close() error { return nil }
