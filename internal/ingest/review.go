package ingest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
)

// Declared holds the counts that a source states in words that nothing else depends on.
type Declared struct {
	Place        string // file:line; empty: the source states none
	Nodes, Edges uint64
}

// countsLine is a first line that may be the numbers of nodes and edges.
type countsLine struct {
	table table.Table // nil: the first line is no such line
	line  string
	edges uint64
}

// newCountsLine returns the line of a table of one file without a header.
func newCountsLine(t *textfiles.CSV) (c countsLine) {
	cells := t.First()
	if len(cells) != 2 {
		return c
	}
	nodes, nerr := strconv.ParseUint(cells[0], 10, 64)
	edges, eerr := strconv.ParseUint(cells[1], 10, 64)
	if nerr == nil && eerr == nil && nodes > 1 && edges > 1 {
		c = countsLine{table: t, line: strings.Join(cells, " "), edges: edges}
	}
	return c
}

// Review compares a build with what its source says, and describes what is suspicious: counts that differ, ids of
// which most are not used, and what is left out. Where Rules.Partial holds, the nodes that edges name beside the table are no longer told from those of the table.
func (s *Source) Review(r *assemble.Result) []string {
	var warnings []string
	if s.Rules.Partial {
		for i := range r.Nodes {
			r.Nodes[i].Added, r.Nodes[i].Duplicates = 0, 0
		}
		for _, n := range r.Meta.Nodes {
			n.Added = 0
		}
	}
	if s.skipped != nil {
		if n, why := s.skipped(); n > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %d %s", s.Files[0], n, why))
		}
	}
	if c := s.counts; c.table != nil && len(r.Edges) == 1 && r.Edges[0].Rows == c.edges+1 {
		warnings = append(warnings, fmt.Sprintf("%s: found the first line %q, which is read as an edge, above %d others: it looks like the numbers of nodes and edges; remove the line", c.table.Where(0, ""), c.line, c.edges))
	}
	d := s.Declared
	if d.Place != "" && len(r.Edges) == 1 && r.Edges[0].Rows != d.Edges {
		warnings = append(warnings, fmt.Sprintf("%s: found %d edges, expected %d, as the comment says; is the file complete?", d.Place, r.Edges[0].Rows, d.Edges))
	}
	for _, n := range s.Input.Nodes {
		if n.Table != nil || n.Count > 0 || n.ID.DType != graph.Uint64 {
			continue
		}
		used := uint64(0) // at most
		file := ""
		for _, e := range s.Input.Edges {
			rows := uint64(0)
			for _, x := range r.Edges {
				if x.Type == e.Type {
					rows = x.Rows
				}
			}
			if e.Type.Src == n.Type {
				used += rows
			}
			if e.Type.Dst == n.Type {
				used += rows
			}
			file = e.Table.Files()[0]
		}
		if d.Place != "" && d.Nodes > 0 {
			used = min(used, d.Nodes)
		}
		for _, x := range r.Nodes {
			if x.Type == n.Type && x.Count/2 > used {
				warnings = append(warnings, fmt.Sprintf("%s: found ids up to %d, and at most %d of them in use, so most nodes have no edges; give `IDs` string to number the ids by first appearance and keep them as a column", file, x.Count-1, used))
			}
		}
	}
	return warnings
}
