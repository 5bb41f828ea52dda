package views

import (
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Lenient returns columns in which an empty cell is no error of the scan, and the numbers of those that it has changed: there, the
// consumer must refuse the rows of Vector.Empty which it takes, with NoValue.
func Lenient(columns []table.Column) (asked []table.Column, changed []int) {
	for i, c := range columns {
		ragged := false
		values := 1
		for _, d := range c.Shape {
			ragged = ragged || d < 0
			values *= max(d, 1)
		}
		strict := c.DType != graph.String || c.ID || c.Given || len(c.Shape) > 0
		if c.Empty == table.EmptyError && strict && !ragged {
			c.Empty, c.Fill, c.Mark, c.Given = table.EmptyFill, "", true, c.DType == graph.String && len(c.Shape) == 0 && !c.ID
			if c.DType != graph.String {
				c.Fill = strings.TrimSpace(strings.Repeat("0 ", values))
			}
			changed = append(changed, i)
		}
		asked = append(asked, c)
	}
	return asked, changed
}

// NoValue is the error for an empty cell of a row.
func NoValue(t table.Table, row uint64, c *table.Column) error {
	if c.ID {
		return tagged.Errorf(table.ErrFormat, "%s: found no id in column %q, expected one; each row needs the id of its end", t.Where(row, c.Name), c.Name)
	}
	return tagged.Errorf(table.ErrFormat, "%s: found no value in column %q, expected one, as other rows of the type have; fill the cell, or give `Missing` a value for it", t.Where(row, c.Name), c.Name)
}
