package pack

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/tagged"
)

// ReadCSV reads a histogram: a header of component names and "count", then a row per shape. Rows of equal
// shapes are added up. Errors begin with the name and the line. memory bounds the process, in bytes; 0 is no bound.
func ReadCSV(name string, r io.Reader, memory int64) (*Histogram, error) {
	c := csv.NewReader(r)
	c.ReuseRecord = true
	c.TrimLeadingSpace = true
	bad := func(line int, format string, a ...any) error {
		return tagged.Errorf(ErrHistogram, "%s:%d: %w", name, line, fmt.Errorf(format, a...))
	}
	// failed converts an error of the CSV reader, which has a line.
	failed := func(err error) error {
		var at *csv.ParseError
		switch {
		case !errors.As(err, &at):
			return tagged.Errorf(ErrHistogram, "%s: %w", name, err)
		case errors.Is(err, csv.ErrFieldCount):
			return bad(at.Line, "found another number of fields, expected %d as in the header", c.FieldsPerRecord)
		}
		return bad(at.Line, "column %d: found %w, expected numbers separated by commas", at.Column, at.Err)
	}
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, bad(1, "found nothing, expected a header such as num_nodes,num_edges,count")
	}
	if err != nil {
		return nil, failed(err)
	}
	header = slices.Clone(header)
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	k := len(header) - 1
	if k < 1 || header[k] != "count" {
		return nil, bad(1, "found columns %q, expected component names and count at the end", header)
	}
	if k > MaxComponents {
		return nil, bad(1, "found %d components, expected at most %d", k, MaxComponents)
	}
	for i, h := range header {
		if h == "" || slices.Contains(header[:i], h) {
			return nil, bad(1, "found column %q, expected names that are different and not empty", h)
		}
	}
	h := &Histogram{Components: header[:k:k]}
	shape := make([]int, k)
	for {
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, failed(err)
		}
		line, _ := c.FieldPos(0)
		for j := range shape {
			v, err := strconv.ParseInt(strings.TrimSpace(row[j]), 10, 64)
			if err != nil || v < 0 || v > maxSize {
				return nil, bad(line, "found %s %q, expected an integer from 0 to 2^31 - 1", header[j], row[j])
			}
			shape[j] = int(v)
		}
		count, err := strconv.ParseInt(strings.TrimSpace(row[k]), 10, 64)
		if err != nil || count < 0 || count > maxTotal {
			return nil, bad(line, "found count %q, expected an integer from 0 to 2^62", row[k])
		}
		if h.Add(count, shape...); len(h.Counts)%4096 == 0 {
			if err := Fits(memory, len(h.Counts), k, 0); err != nil {
				return nil, tagged.Errorf(ErrMemory, "%s: %w", name, err)
			}
		}
	}
	if err := h.Normalise(); err != nil {
		return nil, tagged.Errorf(ErrHistogram, "%s: %w", name, err)
	}
	return h, nil
}
