package sample

import (
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Fanouts is the number of edges per node that each hop takes. Hops count outwards from the seeds, as in PyG; DGL and
// GraphBolt count from the far end. Exactly one field is set.
type Fanouts struct {
	Each  []int         // the same for every edge type
	Types []TypeFanouts // edge types that are not listed take no edges; with a budget of nodes (Ladies, FastGCN, HGT) these are node types
}

// TypeFanouts is the fanouts of one edge type, given by its full name or by a relation that is unique in the graph.
// Hops after the end of the list take no edges.
//
// With a budget of nodes Edges is the name of a node type, and the fanouts hold for all edge types that lead to it.
type TypeFanouts struct {
	Edges string
	Hops  []int
}

// ParseFanouts reads "15,10" (for every edge type) or "cites=15,10;writes=5,5". -1 takes all edges.
func ParseFanouts(text string) (Fanouts, error) {
	var f Fanouts
	if !strings.Contains(text, "=") {
		var err error
		f.Each, err = parseHops(text)
		return f, err
	}
	for part := range strings.SplitSeq(text, ";") {
		i := strings.LastIndex(part, "=")
		if i < 0 {
			return Fanouts{}, tagged.Errorf(ErrPlan, "found %q in fanout, expected TYPE=N,N; write it as in cites=15,10, and separate types by semicolons", part)
		}
		name := strings.TrimSpace(part[:i])
		if name == "" {
			return Fanouts{}, tagged.Errorf(ErrPlan, "found %q in fanout, expected an edge type before =", part)
		}
		if slices.ContainsFunc(f.Types, func(t TypeFanouts) bool { return t.Edges == name }) {
			return Fanouts{}, tagged.Errorf(ErrPlan, "found edge type %q twice in fanout, expected it once; join both lists, one number per hop", name)
		}
		hops, err := parseHops(part[i+1:])
		if err != nil {
			return Fanouts{}, err
		}
		f.Types = append(f.Types, TypeFanouts{name, hops})
	}
	return f, nil
}

func parseHops(text string) ([]int, error) {
	var hops []int
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(field), 10, 32)
		if err != nil || n < All {
			return nil, tagged.Errorf(ErrPlan, "found fanout %q, expected a number from 0 to 2^31 - 1, or -1 for all", field)
		}
		hops = append(hops, int(n))
	}
	return hops, nil
}

// FanoutOptions is the rest of a plan that is made from a fanout list. The zero value samples in-edges uniformly,
// expands new nodes, and has scope epoch.
type FanoutOptions struct {
	SeedType []string // one, or two for link seeds
	Dir      graph.Direction
	Expand   Expand
	Scope    Scope
	How      How
	Column   string // Weighted, Top, Labor
	Parameters
	Before *Before
}

// FromFanouts is the plan of a fanout list on g, checked by Validate.
//
// Hop i has one op for each edge type that has something to start from, in the byte order of the names of the edge
// types. Under ExpandNew an op starts from the ops of hop i-1 that reached its near type, and from op 0 in the first
// hop. Under ExpandAll it starts from every op of an earlier hop that reached the type, op 0 included. The plan has as
// many hops as the longest list, also where a hop has nothing to start from.
func FromFanouts(g *graph.Graph, f Fanouts, o FanoutOptions) (*Plan, error) {
	resolve := f.resolve
	if o.How.Layered() {
		resolve = func(g *graph.Graph) ([][]int, int, error) { return f.budgets(g, o.Dir) }
	}
	takes, hops, err := resolve(g)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(g.Edges))
	numbers := make([]int, len(g.Edges))
	for i, e := range g.Edges {
		names[i], numbers[i] = e.Type.String(), i
	}
	slices.SortFunc(numbers, func(a, b int) int { return strings.Compare(names[a], names[b]) })

	p := &Plan{SeedType: o.SeedType, Scope: o.Scope, Expand: o.Expand, Hops: hops, Before: o.Before}
	last, ever := map[string][]int{}, map[string][]int{}
	for _, t := range o.SeedType {
		last[t], ever[t] = []int{0}, []int{0}
	}
	for hop := range hops {
		reached := map[string][]int{}
		for _, e := range numbers {
			et := g.Edges[e].Type
			from := last[et.Near(o.Dir)]
			if o.Expand == ExpandAll {
				from = ever[et.Near(o.Dir)]
			}
			if hop >= len(takes[e]) || takes[e][hop] == 0 || len(from) == 0 {
				continue
			}
			p.Ops = append(p.Ops, Op{From: slices.Clone(from), Edges: names[e], Dir: o.Dir,
				Take: takes[e][hop], How: o.How, Column: o.Column, Hop: hop + 1, Parameters: o.Parameters})
			far := et.Far(o.Dir)
			reached[far] = append(reached[far], len(p.Ops))
		}
		last = reached
		for t, ops := range reached {
			ever[t] = append(ever[t], ops...)
		}
	}
	if err := p.Validate(g); err != nil {
		return nil, err
	}
	return p, nil
}

// resolve is the fanouts by edge type of g, and the number of hops.
func (f Fanouts) resolve(g *graph.Graph) (takes [][]int, hops int, err error) {
	takes = make([][]int, len(g.Edges))
	if f.Types == nil {
		for i := range takes {
			takes[i] = f.Each
		}
		return takes, len(f.Each), nil
	}
	for _, t := range f.Types {
		e, err := g.EdgeType(t.Edges)
		if err != nil {
			return nil, 0, tagged.Errorf(ErrPlan, "fanout: %w", err)
		}
		if takes[e] != nil {
			return nil, 0, tagged.Errorf(ErrPlan, "found edge type %s twice in fanout, expected it once; one of the two is its relation alone; leave one out", g.Edges[e].Type)
		}
		takes[e] = t.Hops
		hops = max(hops, len(t.Hops))
	}
	return takes, hops, nil
}

// budgets is resolve for fanouts of node types: an edge type has the fanouts of the type that it leads to. A number stands for
// all nodes of a type that has fewer.
func (f Fanouts) budgets(g *graph.Graph, dir graph.Direction) (takes [][]int, hops int, err error) {
	of := map[string][]int{}
	if f.Types == nil {
		for _, n := range g.Nodes {
			for _, take := range f.Each {
				of[n.Type] = append(of[n.Type], min(take, n.Count))
			}
		}
		hops = len(f.Each)
	}
	for _, t := range f.Types {
		if g.NodeType(t.Edges) < 0 {
			var have []string
			for _, n := range g.Nodes {
				have = append(have, n.Type)
			}
			return nil, 0, tagged.Errorf(ErrPlan, "found %q in fanout, expected one of the node types %q, because the nodes of a hop share the budget of a node type", t.Edges, have)
		}
		n := g.Nodes[g.NodeType(t.Edges)]
		for _, take := range t.Hops {
			of[t.Edges] = append(of[t.Edges], min(take, n.Count))
		}
		hops = max(hops, len(t.Hops))
	}
	takes = make([][]int, len(g.Edges))
	for i, e := range g.Edges {
		takes[i] = of[e.Type.Far(dir)]
	}
	return takes, hops, nil
}
