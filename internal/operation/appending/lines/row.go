package lines

import (
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
)

// row has the cells of a row that name nodes and edges.
type row struct {
	text  []byte
	cells map[string]cell
}

// cell is a value of a row, as a table has it: null is an empty text.
type cell struct {
	text string
	kind textfiles.ValueKind
}

// readRow reads the cells of a row in some columns. A row that is nil has none.
func (b *Batch) readRow(columns []string, text []byte) (r row, err error) {
	r = row{text: text, cells: map[string]cell{}}
	if text == nil {
		return r, nil
	}
	err = b.objects.Each(text, func(key []byte, v textfiles.Value) error {
		if !slices.Contains(columns, string(key)) {
			return nil
		}
		if _, twice := r.cells[string(key)]; twice {
			return fmt.Errorf("found the key %q twice, expected it once; remove one", key)
		}
		r.cells[string(key)] = cell{string(v.Text), v.Kind}
		return nil
	})
	return r, err
}

// key is the text of a cell that names a node, "" where it is empty.
func (r *row) key(t *ingest.LineType, column string) (string, error) {
	c, ok := r.cells[column]
	switch {
	case !ok || t.Empty(c.text):
		return "", nil
	case c.kind == textfiles.ArrayValue || c.kind == textfiles.ObjectValue || c.kind == textfiles.BoolValue:
		return "", fmt.Errorf("found %s in the column %q, expected the id of a node; write a text or a number", c.kind, column)
	}
	return c.text, nil
}

// needed is key of a column that must name a node.
func (r *row) needed(t *ingest.LineType, column, do string) (string, error) {
	key, err := r.key(t, column)
	if err == nil && key == "" {
		err = fmt.Errorf("found no %q in a row of %s, expected the id of a node; %s", column, t.Name, do)
	}
	return key, err
}

// ends are the ends of an edge of a type that a row has; none where it has no edge. do says what to do where an end is empty.
func (r *row) ends(t *ingest.LineType, do string) (src, dst string, err error) {
	if r.text == nil || t.Where != "" && r.cells[t.Where].text != t.Value {
		return "", "", nil
	}
	if t.Optional {
		src, err = r.key(t, t.Src)
		if err == nil {
			dst, err = r.key(t, t.Dst)
		}
		if src == "" || dst == "" {
			return "", "", err
		}
		return src, dst, err
	}
	if src, err = r.needed(t, t.Src, do); err != nil {
		return "", "", err
	}
	dst, err = r.needed(t, t.Dst, do)
	return src, dst, err
}

// has says whether a row has all columns of the ends of an edge type.
func (r *row) has(t *ingest.LineType) bool {
	for _, column := range []string{t.Src, t.Dst, t.Where} {
		if _, ok := r.cells[column]; column != "" && !ok {
			return false
		}
	}
	return true
}
