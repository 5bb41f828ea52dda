package walk

import (
	"errors"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrRules is the error of rules that have no meaning, or none on the graph.
var ErrRules = errors.New("invalid walk")

// Rules say where walks lead.
type Rules struct {
	// Path has the edge types of the steps, by name: SRC:REL:DST, or REL where only one type has it. After its end the path
	// begins again. Empty: the only edge type of the graph.
	Path []string
	// Dir is the direction in which edges are followed: Out leads from sources to destinations.
	Dir graph.Direction
	// Length is the number of steps; 0: as many as the path has.
	Length int
	// P and Q are the parameters of node2vec: a step back has the bias 1/P, a step to a node that the node before has no edge
	// to 1/Q, all others 1. 0 is 1.
	P, Q float64
	// Stop and Restart are the chances that a walk, instead of a step, ends, or goes on at its start.
	Stop, Restart float64
	// End is the chance that a walk ends where its path begins again, in addition to Stop.
	End float64
	// Column has the weights of the edges; "": all edges alike.
	Column string
}

// Bounds of P and Q: within them no bias is infinite, and none is 0.
const (
	leastBias = 1e-6
	mostBias  = 1e6
)

// MaxLength bounds the steps of a walk.
const MaxLength = 1 << 20

// biased says whether the step before matters.
func (r *Rules) biased() bool { return r.P != 1 || r.Q != 1 }

// resolve checks the rules on a graph, and fills in what is left out. It returns the edge types of the path.
func (r *Rules) resolve(g *graph.Graph) (path []*graph.Edges, err error) {
	if len(r.Path) == 0 {
		if len(g.Edges) != 1 {
			return nil, tagged.Errorf(ErrRules, "found %d edge types and no `Metapath`, expected a metapath; give the edge types of the steps, some of %s", len(g.Edges), names(g))
		}
		r.Path = []string{g.Edges[0].Type.String()}
	}
	for _, name := range r.Path {
		i, err := g.EdgeType(name)
		if err != nil {
			return nil, tagged.Errorf(ErrRules, "`Metapath`: %w", err)
		}
		path = append(path, g.Edges[i])
	}
	if r.Length == 0 {
		r.Length = len(path)
	}
	if r.Length < 1 || r.Length > MaxLength {
		return nil, tagged.Errorf(ErrRules, "found `Length` %d, expected 1 to %d steps", r.Length, MaxLength)
	}
	if err := r.meet(path); err != nil {
		return nil, err
	}
	for _, e := range path {
		if r.Column != "" && graph.FindColumn(e.Columns, r.Column) == nil {
			return nil, tagged.Errorf(ErrRules, "found `Weight` %s, which is no column of %s, expected one of each edge type of the walk; import the column for every edge type of the path", r.Column, e.Type)
		}
	}
	return path, r.checkChances(path)
}

// meet refuses a path whose ends do not meet.
func (r *Rules) meet(path []*graph.Edges) error {
	for i, e := range path {
		next := path[(i+1)%len(path)]
		if i == len(path)-1 && r.Length <= len(path) {
			break // the path does not begin again
		}
		if to, from := e.Type.Far(r.Dir), next.Type.Near(r.Dir); to != from {
			return tagged.Errorf(ErrRules, "`Metapath`: found %s, which leads to %s, before %s, which starts from %s; expected ends that meet", e.Type, to, next.Type, from)
		}
	}
	return nil
}

// checkChances checks P, Q, Stop and Restart, and fills in P and Q.
func (r *Rules) checkChances(path []*graph.Edges) error {
	for _, x := range []struct {
		name  string
		value *float64
	}{{"P", &r.P}, {"Q", &r.Q}} {
		if *x.value == 0 {
			*x.value = 1
		}
		if !(*x.value >= leastBias && *x.value <= mostBias) {
			return tagged.Errorf(ErrRules, "found `%s` %g, expected %g to %g", x.name, *x.value, leastBias, mostBias)
		}
	}
	for _, x := range []struct {
		name  string
		value float64
	}{{"`Stop`", r.Stop}, {"`End`", r.End}, {"`Restart`", r.Restart}, {"`Stop`, `End` and `Restart`", r.Stop + r.End + r.Restart}} {
		if !(x.value >= 0 && x.value <= 1) {
			return tagged.Errorf(ErrRules, "found %s %g, expected chances from 0 to 1, together at most 1", x.name, x.value)
		}
	}
	within := len(path) == 1 && path[0].Type.Src == path[0].Type.Dst
	if !within && (r.biased() || r.Restart > 0) {
		return tagged.Errorf(ErrRules, "found `P`, `Q` or `Restart` with a `Metapath` of %s, expected one edge type within one node type; leave them out, or import the graph as one type", strings.Join(r.Path, ", "))
	}
	return nil
}

// plan is the plan whose ops read what the steps of a path do.
func (r *Rules) plan(path []*graph.Edges) *sample.Plan {
	p := &sample.Plan{SeedType: []string{path[0].Type.Near(r.Dir)}, Scope: sample.ScopeSeed}
	for i, e := range path {
		op := sample.Op{From: []int{i}, Edges: e.Type.String(), Dir: r.Dir, Take: 1, How: sample.Replace}
		if r.Column != "" {
			op.How, op.Column = sample.Weighted, r.Column
		}
		p.Ops = append(p.Ops, op)
	}
	return p
}

// names lists the edge types of a graph.
func names(g *graph.Graph) string {
	var all []string
	for _, e := range g.Edges {
		all = append(all, e.Type.String())
	}
	slices.Sort(all)
	if len(all) > 8 {
		all = append(all[:8], "...")
	}
	return strings.Join(all, ", ")
}
