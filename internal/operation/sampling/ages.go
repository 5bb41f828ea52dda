package sampling

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
)

// checkAges checks the options about ages that need no store.
func (o *request) checkAges() error {
	if err := options.Check(o, options.OfAge); err != nil {
		return err
	}
	if _, known := features.Units[o.AgeUnit]; o.AgeUnit != "" && !known {
		return operation.Usagef("found `AgeUnit` %q, expected seconds, minutes, hours, days, weeks or years", o.AgeUnit)
	}
	return nil
}

// ages returns the columns of the ages in batches. It reads those in which a row may lack a time, and refuses them then.
func (o *request) ages(ctx context.Context, s *store.Store, p *planned, f *feed.Features) ([]feed.Age, error) {
	if len(o.Age) == 0 {
		return nil, nil
	}
	if p.plan.Before == nil {
		return nil, operation.Usagef("found `Age` with a plan that does not use times, expected `Before`, and with it a time per seed, at which ages are; give the column of the edges' times as `Before`, or leave `Age` out")
	}
	if err := seedsWithTimes(p.job.Times); err != nil {
		return nil, err
	}
	var out []feed.Age
	for _, name := range slices.Sorted(maps.Keys(o.Age)) {
		of, err := ofAge(s.Graph, name, o.Age[name])
		if err != nil {
			return nil, err
		}
		switch unit := p.plan.TimeUnit(s.Graph); {
		case slices.ContainsFunc(out, func(a feed.Age) bool { return a.Type == of.typ }):
			return nil, operation.Usagef("found `Age` of %s twice, expected each type once", of.typ)
		case of.column.Unit == "" && unit != "":
			return nil, operation.Usagef("found plain numbers in column %q of %s with `Age`, expected times, as those of the seeds are; import the column with the dtype datetime", of.column.Name, of.typ)
		case of.column.Unit != "" && unit == "":
			return nil, operation.Usagef("found times in column %q of %s with `Age`, expected plain numbers, as the times of the seeds are; import the columns of `Before` with the dtype datetime", of.column.Name, of.typ)
		case unit == "" && o.AgeUnit != "":
			return nil, operation.Usagef("found `AgeUnit` %s with plain numbers in column %q of %s, expected none: the ages have the unit of these numbers; leave `AgeUnit` out, or import the times with the dtype datetime", o.AgeUnit, of.column.Name, of.typ)
		case slices.Contains(f.Nodes[of.typ], feed.AgeColumn) || slices.Contains(f.Edges[of.typ], feed.AgeColumn) ||
			slices.ContainsFunc(f.Joined, func(j feed.Joined) bool { return j.Type == of.typ && j.Name == feed.AgeColumn }):
			return nil, operation.Usagef("found a column %q of %s in batches with `Age` of %s, whose column has that name, expected one of them; leave the column out of `%s`, or put it beside others in `Joined`", feed.AgeColumn, of.typ, of.typ, of.field)
		}
		if err := of.complete(ctx, s, p.plan); err != nil {
			return nil, err
		}
		out = append(out, feed.Age{Type: of.typ, Column: of.column.Name})
	}
	return out, nil
}

// seedsWithTimes refuses seeds that have no time.
func seedsWithTimes(times []sample.Time) error {
	n, first := int64(0), 0
	for i, t := range times {
		whole, real, float := t.Number()
		if float && isTime(real) || !float && whole != graph.NoTime {
			continue
		}
		if n == 0 {
			first = i
		}
		n++
	}
	if n == 0 {
		return nil
	}
	return operation.Usagef("found %s of %s seeds without a time, the first is seed %d, expected a time for each with `Age`: nodes and edges have an age at it; leave these seeds out, or leave `Age` out", human.Exact(n), human.Exact(int64(len(times))), first)
}

// isTime says whether a float is a time whose ages are finite.
func isTime(x float64) bool { return math.Abs(x) <= math.MaxFloat32/2 }

// aged is a type whose batches have ages.
type aged struct {
	typ     string
	field   string // of the columns of the type
	nodes   bool
	column  *graph.Column
	columns []*graph.Column
}

// ofAge finds the type and the column of an assignment of Age.
func ofAge(g *graph.Graph, name, column string) (*aged, error) {
	of := &aged{typ: name, field: "Features", nodes: true}
	if t := g.NodeType(name); t >= 0 {
		of.columns = g.Nodes[t].Columns
	} else if t, err := g.EdgeType(name); err == nil {
		of.typ, of.columns, of.field, of.nodes = g.Edges[t].Type.String(), g.Edges[t].Columns, "EdgeFeatures", false
	} else {
		var have []string
		for _, n := range g.Nodes {
			have = append(have, n.Type)
		}
		for _, e := range g.Edges {
			have = append(have, e.Type.String())
		}
		return nil, operation.Usagef("found `Age` of %q, expected a node type or an edge type: one of %s", name, strings.Join(have, ", "))
	}
	of.column = graph.FindColumn(of.columns, column)
	if of.column != nil && feed.HasTimes(of.column) {
		return of, nil
	}
	expected := "another type, since this one has no column of times"
	var have []string
	for _, c := range of.columns {
		if feed.HasTimes(c) && !strings.HasPrefix(c.Name, "#") {
			have = append(have, c.Name)
		}
	}
	if have != nil {
		expected = "a column of times or numbers: one of " + strings.Join(have, ", ")
	}
	if of.column == nil {
		return nil, operation.Usagef("found no column %q of %s for `Age`, expected %s; name another one, or import the column", column, of.typ, expected)
	}
	what := fmt.Sprintf("%s rows of shape %v", of.column.DType, of.column.Shape)
	if of.column.Categories != nil {
		what = "categories"
	}
	return nil, operation.Usagef("found %s in column %q of %s for `Age`, expected %s; name another one, or import this one with the dtype datetime", what, column, of.typ, expected)
}

// complete refuses a column in which a row that batches can have lacks a time.
func (of *aged) complete(ctx context.Context, s *store.Store, p *sample.Plan) error {
	if !of.nodes && p.Kind == sample.Directional && !slices.ContainsFunc(p.Ops, func(op sample.Op) bool { return op.Edges == of.typ }) {
		return nil // no batch has an edge of the type
	}
	marks := graph.FindColumn(of.columns, of.column.Name+features.MarkSuffix)
	if marks != nil && (marks.DType != graph.Bool || marks.RowValues() != 1) {
		marks = nil
	}
	reached := marks == nil && of.reachedByTime(p)
	if reached && !of.column.DType.IsFloat() {
		return nil
	}
	const part = 1 << 20
	n, first := int64(0), 0
	for at := 0; at < of.column.Rows; at += part {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(at+part, of.column.Rows)
		for row := at; row < end; row++ {
			if of.has(row, reached) && (marks == nil || marks.Values[row] == 0) {
				continue
			}
			if n == 0 {
				first = row
			}
			n++
		}
		if err := s.Touched(int64(end-at) * int64(of.column.RowBytes())); err != nil {
			return err
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("column %q of %s: found %s of %s rows without a time, the first is row %d, expected one in each for `Age`: an age is a number; give these rows a time at the import, with missing: VALUE of the column, or leave the type out of `Age`",
		of.column.Name, of.typ, human.Exact(n), human.Exact(int64(of.column.Rows)), first)
}

// reachedByTime says whether batches have rows of the type only where their times are before a seed's, so that they have one; of floats, it may be too early for an age.
func (of *aged) reachedByTime(p *sample.Plan) bool {
	if of.nodes {
		return p.Before.NodeColumns[of.typ] == of.column.Name && !slices.Contains(p.SeedType, of.typ)
	}
	return p.Kind == sample.Directional && timeColumn(p.Before, of.typ) == of.column.Name
}

// has says whether a row has a time, or is not reached by time.
func (of *aged) has(row int, reached bool) bool {
	c := of.column
	x := 0.0
	switch {
	case c.Unit != "":
		return graph.View[int64](c.Values)[row] != graph.NoTime
	case c.DType == graph.Float32:
		x = float64(graph.View[float32](c.Values)[row])
	case c.DType == graph.Float64:
		x = graph.View[float64](c.Values)[row]
	}
	return isTime(x) || reached && !(x < 0) // no seed is that late
}
