package sampling

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/option"
)

// timed reports whether draws look at times.
func (o *request) timed() bool {
	return len(o.timeColumns()) > 0
}

// checkTimes checks the options about times.
func (o *request) checkTimes() error {
	if !o.timed() {
		if err := options.Check(o, options.OfTimes); err != nil {
			return err
		}
	}
	if err := options.Check(o, options.OfBefore); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]string{"", "uniform", "last", "recent"}, o.TemporalStrategy):
		return operation.Usagef("found `TemporalStrategy` %q, expected uniform, recent (late edges more often) or last (the latest edges)", o.TemporalStrategy)
	case (o.TemporalStrategy == "recent") != (o.HalfLife != ""):
		return operation.Usagef("found `TemporalStrategy` %s with `HalfLife` %s, expected recent together with an age, such as 30d; leave `HalfLife` out, or give both", cmp.Or(o.TemporalStrategy, "uniform"), cmp.Or(o.HalfLife, "none"))
	case o.byTime() && (o.Replace || o.Weight != "" || o.Sampler == option.SamplerLabor || o.reaches() || o.layered()):
		return operation.Usagef("found `TemporalStrategy` %s with `%s`, expected one of them: both say how edges are drawn", o.TemporalStrategy,
			options.First(o, "Replace", "Weight", "Sampler"))
	}
	with, without := "", ""
	for _, c := range o.timeColumns() {
		if strings.HasSuffix(c, "<=") {
			with = c
		} else {
			without = c
		}
	}
	if with != "" && without != "" {
		return operation.Usagef("found the times %s and %s in `Before`, `BeforeColumns` and `BeforeNodes`, expected <= after all columns or after none, as one rule holds for all of them; write <= after each, or after none", without, with)
	}
	return nil
}

// byTime reports whether the times of edges say how they are drawn.
func (o *request) byTime() bool {
	return o.TemporalStrategy == "last" || o.TemporalStrategy == "recent"
}

// timeColumns is all columns of times, with <= where times that are equal to the seed's pass.
func (o *request) timeColumns() []string {
	columns := slices.Concat(slices.Sorted(maps.Values(o.BeforeColumns)), slices.Sorted(maps.Values(o.BeforeNodes)))
	if o.Before != "" {
		columns = append(columns, o.Before)
	}
	return columns
}

// before is the part of the plan about times, nil without any. Its window is added later, as it has the unit of the
// columns that the plan uses.
func (o *request) before(g *graph.Graph) (*sample.Before, error) {
	if !o.timed() {
		return nil, nil
	}
	b := &sample.Before{Column: strings.TrimSuffix(o.Before, "<="), OrEqual: strings.HasSuffix(o.timeColumns()[0], "<=")}
	for _, name := range o.Untimed {
		e, err := g.EdgeType(name)
		if err != nil {
			return nil, operation.Usagef("`Untimed`: %w", err)
		}
		b.Untimed = append(b.Untimed, g.Edges[e].Type.String())
	}
	for _, name := range slices.Sorted(maps.Keys(o.BeforeColumns)) {
		e, err := g.EdgeType(name)
		if err != nil {
			return nil, operation.Usagef("`BeforeColumns`: %w", err)
		}
		full := g.Edges[e].Type.String()
		if _, twice := b.Columns[full]; twice {
			return nil, operation.Usagef("found `BeforeColumns` with %s twice, expected each edge type once", full)
		}
		if b.Columns == nil {
			b.Columns = map[string]string{}
		}
		b.Columns[full] = strings.TrimSuffix(o.BeforeColumns[name], "<=")
	}
	for _, name := range slices.Sorted(maps.Keys(o.BeforeNodes)) {
		if g.NodeType(name) < 0 {
			var have []string
			for _, n := range g.Nodes {
				have = append(have, n.Type)
			}
			return nil, operation.Usagef("found `BeforeNodes` of node type %q, expected one of %s", name, strings.Join(have, ", "))
		}
		if b.NodeColumns == nil {
			b.NodeColumns = map[string]string{}
		}
		b.NodeColumns[name] = strings.TrimSuffix(o.BeforeNodes[name], "<=")
	}
	return b, nil
}

// timeColumn is the column with the times of an edge type, empty if its edges are drawn at any time.
func timeColumn(b *sample.Before, edges string) string {
	if slices.Contains(b.Untimed, edges) {
		return ""
	}
	return cmp.Or(b.Columns[edges], b.Column)
}

// temporal completes a plan with times: its window, and the draw of late edges.
func (o *request) temporal(g *graph.Graph, p *sample.Plan) error {
	if p.Before == nil {
		return nil
	}
	if o.byTime() {
		halfLife, how := 0.0, sample.Top
		if o.TemporalStrategy == "recent" {
			var err error
			if halfLife, err = ageOf("HalfLife", o.HalfLife, p.TimeUnit(g)); err != nil {
				return err
			}
			how = sample.Recent
		}
		timed := false
		for i := range p.Ops {
			if c := timeColumn(p.Before, p.Ops[i].Edges); c != "" {
				p.Ops[i].How, p.Ops[i].Column, p.Ops[i].HalfLife = how, c, halfLife
				timed = true
			}
		}
		if !timed && len(p.Ops) > 0 {
			return operation.Usagef("found `TemporalStrategy` %s without an edge type that has times, expected one in `Before` or `BeforeColumns`: edges are late by their own times, not by the times of nodes; give `TemporalStrategy` uniform, or a column of the edges' times", o.TemporalStrategy)
		}
	}
	if o.Window == "" {
		return nil
	}
	var err error
	p.Before.Window, err = ageOf("Window", o.Window, p.TimeUnit(g))
	return err
}

// spans has the units of an age.
var spans = []struct {
	suffix string
	length time.Duration
}{
	{"ns", time.Nanosecond}, {"us", time.Microsecond}, {"ms", time.Millisecond},
	{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour}, {"w", 7 * 24 * time.Hour},
}

// ageOf is the age that a field of option.Sample gives, in units of the columns of times: a number of these units, or a number with a
// unit of its own where the columns have one.
func ageOf(field, text string, unit graph.Unit) (float64, error) {
	factor, number := 1.0, text
	for _, s := range spans {
		if n, ok := strings.CutSuffix(text, s.suffix); ok {
			if unit == "" {
				return 0, operation.Usagef("found `%s` %s with times that are plain numbers, expected a number in their unit; give a plain number, or import the column with the dtype datetime", field, text)
			}
			number, factor = n, s.length.Seconds()*float64(unit.PerSecond())
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if n *= factor; err != nil || !(n > 0) || math.IsInf(n, 0) {
		return 0, operation.Usagef("found `%s` %q, expected a number above 0 in the unit of the times, or such as 30d, 12h or 90s", field, text)
	}
	return n, nil
}
