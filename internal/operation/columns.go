package operation

import (
	"fmt"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/report"
)

// DescribeColumns describes columns, in their order.
func DescribeColumns(cols []*graph.Column) []report.ColumnDescription {
	infos := []report.ColumnDescription{}
	for _, c := range cols {
		shape := c.Shape
		if shape == nil {
			shape = []int{}
		}
		d := report.ColumnDescription{Name: c.Name, DType: c.DType.String(), Shape: shape, Unit: string(c.Unit)}
		if k := c.Categories; k != nil {
			d.Categories = &report.CategoriesDescription{Count: k.Rows, First: []string{}}
			for i := range min(k.Rows, 10) {
				d.Categories.First = append(d.Categories.First, string(k.Text(i)))
			}
		}
		infos = append(infos, d)
	}
	return infos
}

// Degrees returns the histogram of the degrees of an edge type in its primary direction. It tells touched, if that is not nil, how many
// bytes it has read since the last call.
func Degrees(e *graph.Edges, touched func(bytes int64) error) (*report.Histogram, error) {
	const most = 1 << 20 // offsets between two calls of touched
	p, h := e.Adj[e.Primary].Indptr, new(report.Histogram)
	for from := 0; from < p.Len()-1; from += most {
		to := min(from+most+1, p.Len())
		if p.U64 != nil {
			h.Merge(report.Degrees(p.U64[from:to]))
		} else {
			h.Merge(report.Degrees(p.U32[from:to]))
		}
		if touched != nil {
			if err := touched(p.Bytes() / int64(p.Len()) * int64(to-from)); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

// InBatches says whether batches can have a column: numbers of a fixed shape.
func InBatches(c *graph.Column) bool { return c.DType != graph.String && !c.Ragged() }

// NotInBatches names the columns of a graph that batches cannot have, and that no feature is made of, as TYPE/COLUMN.
func NotInBatches(g *graph.Graph, made *features.File) (names []string) {
	add := func(t string, columns []*graph.Column) {
		for _, c := range columns {
			if !InBatches(c) && !strings.HasPrefix(c.Name, "#") && !made.Uses(t, c.Name) {
				names = append(names, t+"/"+c.Name)
			}
		}
	}
	for _, n := range g.Nodes {
		add(n.Type, n.Columns)
	}
	for _, e := range g.Edges {
		add(e.Type.String(), e.Columns)
	}
	return names
}

// LeftOutText says which columns batches leave out, and how to get them; "" for none.
func LeftOutText(names []string) string {
	if len(names) == 0 {
		return ""
	}
	const shown = 8
	list := strings.Join(names[:min(len(names), shown)], ", ")
	if len(names) > shown {
		list += fmt.Sprintf(" and %d others", len(names)-shown)
	}
	return "batches leave out columns of strings and lists: " + list + "; import texts with the dtype category and lists of one length with a shape such as float32[3], or read the rows from the store by node or edge id"
}
