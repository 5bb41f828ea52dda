package main

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/progress"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// policy is a flag value: one of the policies that a flag takes.
type policy struct {
	value assemble.Policy
	takes string // "error|drop"
}

var policyNames = map[string]assemble.Policy{"error": assemble.Error, "drop": assemble.Drop, "keep": assemble.Keep, "zeros": assemble.Zeros}

func (p *policy) Set(s string) error {
	v, ok := policyNames[s]
	if !ok || !strings.Contains(p.takes, s) {
		return fmt.Errorf("found %q, expected one of %s", s, strings.ReplaceAll(p.takes, "|", ", "))
	}
	p.value = v
	return nil
}

func (p *policy) String() string {
	for name, v := range policyNames {
		if v == p.value {
			return name
		}
	}
	return ""
}

func (p *policy) Type() string { return p.takes }

// buildFlags are the flags of the commands that make a store.
type buildFlags struct {
	common
	outFlags
	both                                bool
	dangling, nodes, duplicates, selves policy
}

func (b *buildFlags) add(cmd *cobra.Command) {
	b.common.add(cmd)
	b.outFlags.add(cmd)
	b.dangling = policy{assemble.Error, "error|drop|zeros"}
	b.nodes = policy{assemble.Error, "error|drop"}
	b.duplicates = policy{assemble.Keep, "keep|drop|error"}
	b.selves = policy{assemble.Keep, "keep|drop|error"}
	f := cmd.Flags()
	f.BoolVar(&b.both, "both", false, "store the adjacency of the other direction too")
	f.Var(&b.duplicates, "duplicate-edges", "edges with equal ends")
	f.Var(&b.selves, "self-loops", "edges from a node to itself")
}

func (b *buildFlags) check() error { return errors.Join(b.common.check(), b.outFlags.check()) }

func (b *buildFlags) options() assemble.Options {
	return assemble.Options{
		Both: b.both, DanglingEdges: b.dangling.value, DuplicateNodes: b.nodes.value,
		DuplicateEdges: b.duplicates.value, SelfLoops: b.selves.value,
		Threads: b.threads, Memory: int64(b.memory),
	}
}

// makeStore builds, seals, reports and publishes a store.
func (t *terminal) makeStore(ctx context.Context, in assemble.Input, opt assemble.Options, flags *buildFlags, made store.Made, r *report.Report) (err error) {
	start := time.Now()
	w, err := store.Create(vfs.OS, flags.out, flags.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	lines := stageLines{t: t}
	opt.Progress = lines.update
	result, err := assemble.Build(ctx, vfs.OS, w, in, opt)
	lines.done()
	if err != nil {
		return err
	}
	result.Meta.Made = made
	sealing := time.Now()
	if err := w.Seal(ctx, result.Meta, flags.threads); err != nil {
		return err
	}
	s, err := store.Open(vfs.OS, w.Dir())
	if err != nil {
		return err
	}
	reportBuild(r, result)
	t.warnUnderflows(r, result.Underflows)
	r.Stage("checksums", time.Since(sealing), 0, "")
	err = reportStore(r, s)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	return t.publish(w, r, flags.common, start)
}

// stageLines shows the stages of a build, one progress line after the other.
type stageLines struct {
	t     *terminal
	mu    sync.Mutex
	stage string
	line  *progress.Line
	at    int64
}

func (s *stageLines) update(stage string, done, total int64, unit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stage != s.stage {
		s.line.Done()
		s.stage, s.at = stage, 0
		s.line = s.t.progress(stage, total, unit)
	}
	if done > s.at {
		s.line.Add(done - s.at)
		s.at = done
	}
}

func (s *stageLines) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line.Done()
}

// reportBuild tells what a build counted.
func reportBuild(r *report.Report, b *assemble.Result) {
	var nodeRows, edgeRows, reversed uint64
	special := false
	rows := report.Table{Title: "From rows to edges", Columns: []string{"edge type", "rows", "of other types", "no end", "dangling", "self-loops", "reverses added", "duplicates", "edges"}}
	for _, n := range b.Nodes {
		nodeRows += n.Rows
		r.Warn(int64(n.Duplicates), fmt.Sprintf("rows of %s dropped: their id came before", n.Type))
		r.Warn(int64(n.Added), fmt.Sprintf("nodes of %s added: edges name them and their table does not", n.Type))
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
		r.Warn(int64(e.Absent), fmt.Sprintf("rows of %s give no edge: an end is empty", name))
		r.Warn(int64(e.Dangling), fmt.Sprintf("dangling edges of %s dropped: an end is no node", name))
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
		r.Note(fmt.Sprintf("%d columns are left out, which not every type has with the same dtype and shape: %s", len(b.Left), strings.Join(b.Left, ", ")))
	}
	// A step comes once a type; a person wants to know where the time went.
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

// reportStore tells what a store holds.
func reportStore(r *report.Report, s *store.Store) error {
	var nodes, edges, columns int
	types := report.Table{Title: "Node types", Columns: []string{"node type", "nodes", "columns"}}
	for _, n := range s.Graph.Nodes {
		nodes += n.Count
		columns += len(n.Columns)
		types.Rows = append(types.Rows, []report.Value{report.Text(n.Type), report.Count(n.Count, ""), report.Text(joinColumns(describeColumns(n.Columns)))})
	}
	relations := report.Table{Title: "Edge types", Columns: []string{"edge type", "edges", "mean degree", "max", "columns"}}
	plots := map[graph.Direction]*report.Distribution{
		graph.In:  {Title: "In-degree", Of: "nodes", What: "in-degree", View: report.CCDF},
		graph.Out: {Title: "Out-degree", Of: "nodes", What: "out-degree", View: report.CCDF},
	}
	for _, e := range s.Graph.Edges {
		edges += e.Count
		columns += len(e.Columns)
		h := degrees(e)
		relations.Rows = append(relations.Rows, []report.Value{report.Text(e.Type.String()), report.Count(e.Count, ""),
			report.Number(h.Mean(), ""), report.Count(h.Max(), ""), report.Text(joinColumns(describeColumns(e.Columns)))})
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

// plotted is how many lines a plot can hold and still be read.
const plotted = 6

// fingerprints names the inputs of a run by content.
func fingerprints(ctx context.Context, files []string, r *report.Report, name func(string) string) (map[string]string, error) {
	inputs := map[string]string{}
	for _, f := range files {
		sum, err := store.Fingerprint(ctx, vfs.OS, f)
		if err != nil {
			return nil, err
		}
		info, err := vfs.OS.Stat(f)
		if err != nil {
			return nil, err
		}
		if _, there := inputs[name(f)]; there {
			continue
		}
		inputs[name(f)] = sum
		r.Input(name(f), info.Size(), sum)
	}
	return inputs, nil
}
