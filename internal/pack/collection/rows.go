package collection

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/tagged"
)

// maxLine bounds the length of a line: a header of names, or numbers.
const maxLine = 64 << 10

// Rows reads the sizes of graphs from a stream of unknown length: a header of components, then a line of
// comma-separated numbers per graph.
type Rows struct {
	name    string
	lines   *bufio.Scanner
	columns int
	places  []int // index of each component in a line
	line    int   // of the sizes that were yielded last
	// Err is the error that ended All.
	Err error
}

// NewRows reads the header and finds the components in it. Errors begin with name.
func NewRows(name string, r io.Reader, components []string) (*Rows, error) {
	x := &Rows{name: name, lines: bufio.NewScanner(r)}
	x.lines.Buffer(make([]byte, 0, 4<<10), maxLine)
	if !x.lines.Scan() {
		if err := x.lines.Err(); err != nil {
			return nil, x.failed(1, err)
		}
		return nil, tagged.Errorf(pack.ErrHistogram, "%s:1: found nothing, expected a header such as num_nodes,num_edges", name)
	}
	header := strings.Split(strings.TrimPrefix(x.lines.Text(), "\ufeff"), ",")
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	x.columns = len(header)
	for _, c := range components {
		i := slices.Index(header, c)
		if i < 0 {
			return nil, tagged.Errorf(ErrComponent, "%s:1: found columns %s, expected %s among them%s; name the component as the header does", name, strings.Join(header, ", "), c, suggest.Hint(c, header))
		}
		x.places = append(x.places, i)
	}
	return x, nil
}

func (x *Rows) failed(line int, err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return tagged.Errorf(pack.ErrHistogram, "%s:%d: found a line of more than %d bytes, expected a size for each component; check that the file is a CSV file of sizes", x.name, line, maxLine)
	}
	return fmt.Errorf("%s:%d: %w", x.name, line, err)
}

// All yields the sizes of each graph, valid until the next ones. It ends at the first line that is invalid or
// cannot be read, and sets Err.
func (x *Rows) All() iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		sizes := make([]int, len(x.places))
		fields := make([]string, 0, x.columns)
		for x.line = 2; x.lines.Scan(); x.line++ {
			fields = fields[:0]
			for f := range strings.SplitSeq(x.lines.Text(), ",") {
				if fields = append(fields, f); len(fields) > x.columns {
					break
				}
			}
			if len(fields) != x.columns {
				x.Err = tagged.Errorf(pack.ErrHistogram, "%s:%d: found %q, expected %d numbers, one per column of the header; complete the line, or remove it", x.name, x.line, head(x.lines.Text()), x.columns)
				return
			}
			for i, p := range x.places {
				v, err := strconv.ParseUint(strings.TrimSpace(fields[p]), 10, 31)
				if err != nil {
					x.Err = tagged.Errorf(pack.ErrHistogram, "%s:%d: found size %q, expected an integer from 0 to 2^31 - 1; correct the cell, or remove the line", x.name, x.line, head(fields[p]))
					return
				}
				sizes[i] = int(v)
			}
			if !yield(sizes) {
				return
			}
		}
		if err := x.lines.Err(); err != nil {
			x.Err = x.failed(x.line, err)
		}
	}
}

// Where returns the name and the line of the sizes that All yielded last.
func (x *Rows) Where() string { return fmt.Sprintf("%s:%d", x.name, x.line) }

// head returns the beginning of a long text.
func head(s string) string { return s[:min(len(s), 60)] }
