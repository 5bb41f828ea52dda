package seeds

import (
	"errors"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/condition"
	"github.com/graphmill/graphmill/internal/tagged"
)

// where is the nodes with a value in a column.
func where(n *graph.Nodes, text string) (*Seeds, error) {
	columns := n.Columns
	if n.IDs != nil {
		ids := *n.IDs
		ids.Name = "#id"
		columns = append(slices.Clone(columns), &ids)
	}
	rows, err := rowsWith("node type "+n.Type, columns, n.Count, text)
	if err != nil {
		return nil, err
	}
	return &Seeds{Types: []string{n.Type}, Nodes: rows}, nil
}

// rowsWith is the rows, ascending, that fulfil the condition "COLUMN=VALUE" of a text on the columns of a type; nil without a
// condition. None is an error.
func rowsWith(owner string, columns []*graph.Column, count int, text string) ([]uint32, error) {
	if text == "" {
		return nil, nil
	}
	match, err := condition.Matching(owner, columns, text)
	switch {
	case errors.Is(err, condition.ErrUnfit):
		return nil, tagged.Errorf(sample.ErrSeed, "%w; write the seeds to a file instead", err)
	case err != nil:
		return nil, tagged.Errorf(sample.ErrSeed, "%w", err)
	}
	name, value, _ := strings.Cut(text, "=")
	var rows []uint32
	for i := range count {
		if match(i) {
			rows = append(rows, uint32(i))
		}
	}
	if len(rows) == 0 {
		kind, of, _ := strings.Cut(owner, " type ")
		return nil, tagged.Errorf(sample.ErrSeed, "found no %s of type %s with %s = %q", kind, of, name, value)
	}
	return rows, nil
}
