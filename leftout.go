package graphmill

import (
	"fmt"
	"strings"

	"github.com/graphmill/graphmill/graph"
)

// inBatches says whether batches can have a column: numbers of a fixed shape.
func inBatches(c *graph.Column) bool { return c.DType != graph.String && !c.Ragged() }

// notInBatches names the columns of a graph that batches cannot have, as TYPE/COLUMN.
func notInBatches(g *graph.Graph) (names []string) {
	add := func(t string, columns []*graph.Column) {
		for _, c := range columns {
			if !inBatches(c) && !strings.HasPrefix(c.Name, "#") {
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

// leftOutText says which columns batches leave out, and how to get them; "" for none.
func leftOutText(names []string) string {
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
