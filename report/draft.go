package report

import (
	"fmt"
	"io"

	"github.com/graphmill/graphmill/internal/human"
)

// Draft is what a draft of a graph.yaml found.
type Draft struct {
	Source string `json:"source"`
	Tables int    `json:"tables"`
	Rows   int64  `json:"rows"`
	// Nodes and Edges are the types of the draft, in its order, with the types of reverse edges.
	Nodes []DraftType `json:"nodes"`
	Edges []DraftType `json:"edges"`
	// Faults are all faults of the tables; those that need a decision come first.
	Faults []DraftFault `json:"faults"`
	// YAML is the graph.yaml.
	YAML string `json:"graph_yaml"`
}

// DraftType is a node type or edge type, and the table of its rows. An edge type has an edge for each row with both ends.
type DraftType struct {
	Type  string `json:"type"`
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

// DraftFault is what is wrong with the cells of a column, with the rows of a table, or with a table.
type DraftFault struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"`
	Count  int64  `json:"count"` // of cells or rows; 0 for a table
	First  string `json:"first"` // the first place
	Found  string `json:"found"`
	Do     string `json:"do"`
	Line   int    `json:"line"` // of the graph.yaml, which settles it; 0: none does
	// Open says that the draft is not imported, or would lose rows, before someone decides.
	Open bool   `json:"open"`
	Text string `json:"text"` // all of it in words
}

// Open is the number of faults that need a decision before the draft is imported.
func (d *Draft) Open() (n int) {
	for _, f := range d.Faults {
		if f.Open {
			n++
		}
	}
	return n
}

// Text writes a summary, and each fault on a line.
func (d *Draft) Text(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s with %s: %s and %s\n", human.Counted(int64(d.Tables), "table"), human.Counted(d.Rows, "row"), human.Counted(int64(len(d.Nodes)), "node type"), human.Counted(int64(len(d.Edges)), "edge type"))
	for _, f := range d.Faults {
		if err == nil {
			_, err = fmt.Fprintln(w, f.Text)
		}
	}
	if err != nil || len(d.Faults) == 0 {
		return err
	}
	_, err = fmt.Fprintf(w, "%s, %s of them to decide before the import\n", human.Counted(int64(len(d.Faults)), "fault"), human.Exact(int64(d.Open())))
	return err
}
