package importing

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/describing"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// ReportBuild reports the counts of a build.
func ReportBuild(r *report.Report, b *assemble.Result) {
	var nodeRows, edgeRows, reversed uint64
	special := false
	rows := report.Table{Title: "From rows to edges", Columns: []string{"edge type", "rows", "of other types", "no end", "dangling", "self-loops", "reverses added", "duplicates", "edges"}}
	for _, n := range b.Nodes {
		nodeRows += n.Rows
		r.Warn(int64(n.Duplicates), fmt.Sprintf("rows of %s dropped: an earlier row has the same id", n.Type))
		r.Warn(int64(n.Added), fmt.Sprintf("nodes of %s added: edges name them, but their table does not have them", n.Type))
	}
	for _, e := range b.Edges {
		name := e.Type.String()
		edgeRows += e.Rows
		reversed += e.Reversed
		row := []report.Value{report.Text(name)}
		for _, n := range []uint64{e.Rows, e.Filtered, e.Absent, e.Dangling, e.SelfLoops, e.Reversed, e.Duplicates, e.Count} {
			row = append(row, report.Count(n, ""))
		}
		rows.Rows = append(rows.Rows, row)
		special = special || e.Rows != e.Count
		r.Warn(int64(e.Absent), fmt.Sprintf("rows of %s skipped: the source or destination is empty", name))
		r.Warn(int64(e.Dangling), fmt.Sprintf("dangling edges of %s dropped: the source or destination is not a node", name))
		r.Warn(int64(e.SelfLoops), fmt.Sprintf("self-loops of %s dropped", name))
		r.Warn(int64(e.Duplicates), fmt.Sprintf("duplicate edges of %s dropped", name))
	}
	if nodeRows > 0 {
		r.In("rows of nodes", report.Count(nodeRows, "rows"))
	}
	r.In("rows of edges", report.Count(edgeRows, "rows"))
	if c := b.Meta.Context; c != nil {
		r.In("rows of the context", report.Count(c.Count, "rows"))
	}
	if reversed > 0 {
		r.In("reverses added", report.Count(reversed, "edges"))
	}
	if special {
		r.Table(rows)
	}
	if len(b.Left) > 0 {
		r.Note(fmt.Sprintf("%d columns are left out, because not every type has them with the same dtype and shape: %s", len(b.Left), strings.Join(b.Left, ", ")))
	}
	// Each step occurs once per type. The report sums the types, to show where the time went.
	var names []string
	sum := map[string]assemble.Stage{}
	for _, s := range b.Stages {
		t, seen := sum[s.Name]
		if !seen {
			names = append(names, s.Name)
		}
		t.Seconds += s.Seconds
		t.Rows += s.Rows
		sum[s.Name] = t
	}
	for _, name := range names {
		r.Stage(name, time.Duration(sum[name].Seconds*float64(time.Second)), int64(sum[name].Rows), "rows")
	}
}

// reportStore reports the contents of a store.
func reportStore(r *report.Report, s *store.Store) error {
	var nodes, edges, columns int
	types := report.Table{Title: "Node types", Columns: []string{"node type", "nodes", "columns"}}
	for _, n := range s.Graph.Nodes {
		nodes += n.Count
		columns += len(n.Columns)
		types.Rows = append(types.Rows, []report.Value{report.Text(n.Type), report.Count(n.Count, ""), report.Text(listColumns(n.Columns))})
	}
	relations := report.Table{Title: "Edge types", Columns: []string{"edge type", "edges", "mean degree", "max", "columns"}}
	plots := map[graph.Direction]*report.Distribution{
		graph.In:  {Title: "In-degree", Of: "nodes", What: "in-degree", View: report.CCDF},
		graph.Out: {Title: "Out-degree", Of: "nodes", What: "out-degree", View: report.CCDF},
	}
	for _, e := range s.Graph.Edges {
		edges += e.Count
		columns += len(e.Columns)
		h, err := operation.Degrees(e, s.Touched)
		if err != nil {
			return err
		}
		relations.Rows = append(relations.Rows, []report.Value{report.Text(e.Type.String()), report.Count(e.Count, ""),
			report.Number(h.Mean(), ""), report.Count(h.Max(), ""), report.Text(listColumns(e.Columns))})
		plots[e.Primary].Series = append(plots[e.Primary].Series, report.Series{Name: e.Type.String(), Histogram: h})
	}
	r.Head("nodes", report.Count(nodes, "nodes"))
	r.Head("edges", report.Count(edges, "edges"))
	r.Out("node types", report.Count(len(s.Graph.Nodes), ""))
	r.Out("edge types", report.Count(len(s.Graph.Edges), ""))
	r.Out("columns", report.Count(columns, ""))
	size, err := store.Size(vfs.OS, s.Dir)
	if err != nil {
		return err
	}
	r.Head("on disk", report.Bytes(size))
	r.Table(types)
	r.Table(relations)
	made, err := features.ReadFile(vfs.OS, s.Dir)
	if err != nil {
		return err
	}
	if text := operation.LeftOutText(operation.NotInBatches(s.Graph, made)); text != "" {
		r.Note(text)
	}
	for _, d := range []graph.Direction{graph.In, graph.Out} {
		p := plots[d]
		if len(p.Series) == 0 {
			continue
		}
		sort.SliceStable(p.Series, func(i, j int) bool { return p.Series[i].Histogram.Sum() > p.Series[j].Histogram.Sum() })
		if len(p.Series) > plotted {
			r.Note(fmt.Sprintf("the plot of %ss shows the %d largest of %d edge types", p.What, plotted, len(p.Series)))
			p.Series = p.Series[:plotted]
		}
		r.Plot(*p)
	}
	return nil
}

// fewValues is how many values a store has at most for its report to summarise them: half a second of processor time, as measured with 7 million floats.
const fewValues = 1 << 23

// reportColumns summarises the columns of a store that has few values.
func reportColumns(ctx context.Context, o *option.Run, r *report.Report, s *store.Store) error {
	values := 0
	count := func(columns []*graph.Column) {
		for _, c := range columns {
			from, to := c.Span(0, c.Rows)
			values += to - from
		}
	}
	for _, n := range s.Graph.Nodes {
		count(n.Columns)
	}
	for _, e := range s.Graph.Edges {
		count(e.Columns)
	}
	if values == 0 || values > fewValues {
		return nil
	}
	start := time.Now()
	profiles, err := describing.Profile(ctx, s, option.Profile{Run: *o})
	r.Profiles = profiles
	r.Stage("summarise columns", time.Since(start), int64(values), "values")
	return err
}

// plotted is the most lines of a plot that stays readable.
const plotted = 6

// reportCollection reports the contents of a collection.
func reportCollection(r *report.Report, s *store.Store) error {
	c := s.Collection
	var nodes, edges int
	columns := func(cols []*graph.Column) report.Value {
		return report.Text(listColumns(cols))
	}
	types := report.Table{Title: "Node types", Columns: []string{"node type", "nodes", "columns"}}
	for _, n := range c.Nodes {
		nodes += n.Count
		types.Rows = append(types.Rows, []report.Value{report.Text(n.Type), report.Count(n.Count, ""), columns(n.Columns)})
	}
	relations := report.Table{Title: "Edge types", Columns: []string{"edge type", "edges", "columns"}}
	for _, e := range c.Edges {
		edges += e.Count
		relations.Rows = append(relations.Rows, []report.Value{report.Text(e.Type.String()), report.Count(e.Count, ""), columns(e.Columns)})
	}
	size, err := store.Size(vfs.OS, s.Dir)
	if err != nil {
		return err
	}
	r.Head("graphs", report.Count(c.Graphs, "graphs"))
	r.Head("on disk", report.Bytes(size))
	r.Out("graphs", report.Count(c.Graphs, "graphs"))
	if c.ComponentPtr.Len() > 0 {
		r.Out("components", report.Count(c.Components(), "components"))
	}
	r.Out("nodes", report.Count(nodes, "nodes"))
	r.Out("edges", report.Count(edges, "edges"))
	for _, table := range []report.Table{types, relations} {
		if len(table.Rows) > 0 {
			r.Table(table)
		}
	}
	return nil
}

// listColumns lists columns with their dtypes and shapes.
func listColumns(columns []*graph.Column) string {
	var list []string
	for _, c := range operation.DescribeColumns(columns) {
		list = append(list, c.String())
	}
	return strings.Join(list, ", ")
}
