package sampling

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/messages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
	"github.com/graphmill/graphmill/option"
)

// SetMessages gives a plan the messages that the conditions of a field ask for: "COLUMN=VALUE" or, of a column of bools, "COLUMN", for all edge types that the plan looks
// at, and those of also; or the same after "TYPE:", for one edge type. Several conditions on the same column of a type are alternatives.
func SetMessages(g *graph.Graph, p *sample.Plan, field string, conditions []string, also ...string) error {
	followed := func(edges string) bool { return followedBy(p)(edges) || slices.Contains(also, edges) }
	out := map[string]sample.Messages{}
	add := func(e *graph.Edges, column, value string) error {
		name := e.Type.String()
		m, again := out[name]
		if again && m.Column != column {
			return operation.Usagef("found `%s` by the columns %s and %s of %s, expected one column per edge type", field, m.Column, column, name)
		}
		if m.Column = column; !slices.Contains(m.Values, value) {
			m.Values = append(m.Values, value)
		}
		out[name] = m
		return nil
	}
	var general []string // conditions on all edge types
	for _, text := range conditions {
		e, rest := typeOf(g, text)
		if e == nil {
			general = append(general, text)
			continue
		}
		column, value := conditionOf(rest)
		if err := add(e, column, value); err != nil {
			return err
		}
	}
	single := maps.Clone(out)
	for _, text := range general {
		column, value := conditionOf(text)
		var with, without []string
		for _, e := range g.Edges {
			name := e.Type.String()
			if _, own := single[name]; own || !followed(name) {
				continue
			}
			if graph.FindColumn(e.Columns, column) == nil {
				without = append(without, name)
				continue
			}
			with = append(with, name)
			if err := add(e, column, value); err != nil {
				return err
			}
		}
		switch {
		case len(with) == 0:
			return operation.Usagef("found `%s` %s, expected a column of the edge types that are followed, and none has %q; name one of their columns", field, text, column)
		case len(without) > 0:
			return operation.Usagef("found `%s` %s, and %s without the column, whose edges would all be taken, expected the column in each edge type that is followed; import it for these, too (the reverse of an edge is on the same side), or give `%s` for each edge type that is divided, such as %s:%s",
				field, text, firstOf(without), field, with[0], text)
		}
	}
	if len(out) > 0 {
		p.Messages = out
	}
	return nil
}

// firstOf lists the first few of some names.
func firstOf(names []string) string {
	const shown = 4
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(names[:shown], ", "), len(names)-shown)
}

// typeOf is the edge type with which a condition begins, by its full name or by its relation, and the rest; nil: it begins with a column.
func typeOf(g *graph.Graph, text string) (*graph.Edges, string) {
	for _, e := range g.Edges {
		if rest, ok := strings.CutPrefix(text, e.Type.String()+":"); ok {
			return e, rest
		}
	}
	relation, rest, ok := strings.Cut(text, ":")
	if !ok || strings.Contains(relation, "=") {
		return nil, text
	}
	if i, err := g.EdgeType(relation); err == nil {
		return g.Edges[i], rest
	}
	return nil, text
}

// conditionOf divides COLUMN=VALUE; COLUMN alone is a column of bools.
func conditionOf(text string) (column, value string) {
	column, value, ok := strings.Cut(text, "=")
	if !ok {
		value = "true"
	}
	return column, value
}

// OpenMessages is the store with the messages of a plan alone, in files of the new folder dir, or "" for a temporary one; the store itself for a plan
// without any. It keeps to the memory of the run, and warns of edge types without a message. Close it before the store.
func OpenMessages(ctx context.Context, r *option.Run, s *store.Store, p *sample.Plan, dir string) (*messages.Store, error) {
	if len(p.Messages) == 0 {
		return messages.Whole(s), nil
	}
	if need := limits.ProcessBytes + sample.NeedRestrict(s.Graph, p); r.Memory > 0 && need > r.Memory {
		return nil, tagged.Errorf(operation.ErrMemory, "found `Memory` %s, expected at least %s for `Messages`: a bit per edge; give more memory", human.Bytes(r.Memory), human.Bytes(need))
	}
	if err := s.Fetch(ctx, func(file string) bool { // the lists and columns that are read, where they are on another machine
		for name := range p.Messages {
			m := s.Meta.Edges[name]
			if slices.Contains(slices.Collect(maps.Values(m.Arrays)), file) || m.Columns[p.Messages[name].Column].File == file {
				return true
			}
		}
		return false
	}); err != nil {
		return nil, err
	}
	if dir == "" {
		scratch := scratchFolder(s.Dir)
		if scratch == "" {
			return nil, fmt.Errorf("%s: found no folder for temporary files, expected one for the edges that are messages; point TMPDIR to one that can be written", s.Dir)
		}
		dir = filepath.Join(scratch, "graphmill-messages-"+workfolder.Unique())
	}
	m, err := messages.Open(ctx, vfs.OS, dir, s, p)
	if err != nil {
		return nil, err
	}
	for _, text := range messages.None(s.Graph, m.Graph, p) {
		operation.Warn(r, "%s", text)
	}
	return m, nil
}

// messagesBeside is the folder next to an output in which a run keeps its messages. A run that was killed leaves it to the next one.
func messagesBeside(out string) string {
	parent, base := filepath.Split(filepath.Clean(out))
	return filepath.Join(parent, "."+base+".messages")
}

// segmentsBeside is the folder next to an output in which a run of the stream executor has the merged edges of a store with segments. A run that was killed leaves it to
// the next one.
func segmentsBeside(out string) string {
	parent, base := filepath.Split(filepath.Clean(out))
	return filepath.Join(parent, "."+base+".segments")
}

// followedBy says of an edge type whether a plan looks at its edges.
func followedBy(p *sample.Plan) func(edges string) bool {
	return func(edges string) bool {
		return p.Kind == sample.Induced || p.Negatives != nil && p.SeedEdges == edges || slices.ContainsFunc(p.Ops, func(op sample.Op) bool { return op.Edges == edges })
	}
}

// heldOut is a warning for seeds that are the edges with one value of a column, where all edges of their type are messages; "" where there is none to give.
func heldOut(g *graph.Graph, p *planned, seeds string) string {
	name := p.plan.SeedEdges
	if _, restricted := p.plan.Messages[name]; restricted || name == "" || p.plan.Before != nil || !followedBy(p.plan)(name) {
		return ""
	}
	condition, ok := strings.CutPrefix(seeds, name+":")
	i, err := g.EdgeType(name)
	if !ok || !strings.Contains(condition, "=") || err != nil {
		return ""
	}
	column, _, _ := strings.Cut(condition, "=")
	return fmt.Sprintf("%s edges of %s are not among the seeds (%s) and can be messages, also those that a model is tested on; `Messages` says which edges can, such as %s=train",
		human.Exact(int64(g.Edges[i].Count-p.seeds())), name, condition, column)
}

// openReverses is a warning for edge types that look like the reverses of edges of a type that is restricted, and that are not; "" for none. They are known by their
// names, or lead back between the same node types and are as many.
func openReverses(g *graph.Graph, p *sample.Plan) string {
	for i, e := range g.Edges {
		m, restricted := p.Messages[e.Type.String()]
		if !restricted {
			continue
		}
		for j, back := range g.Edges {
			name := back.Type.String()
			if _, restricted := p.Messages[name]; restricted || !followedBy(p)(name) || back.Type.Src != e.Type.Dst || back.Type.Dst != e.Type.Src {
				continue
			}
			if sample.ReverseType(g, j) == i || back.Count == e.Count {
				return fmt.Sprintf("all edges of %s are messages, and of %s only those with %s: a model may see the others through their reverses; give `Messages` for %s, too", name, e.Type, m, name)
			}
		}
	}
	return ""
}

// warnings are the warnings about seeds that are left out, and about what a model may see of the answers: through messages, or by the age of given negatives.
func (p *planned) warnings(g *graph.Graph, seeds string) (texts []string) {
	for _, text := range []string{p.withoutPositive(), heldOut(g, p, seeds), openReverses(g, p.plan), p.unbornNegatives()} {
		if text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// noteMessages notes how many edges are messages.
func (l *Loader) noteMessages(g *graph.Graph, p *sample.Plan) {
	for i, e := range g.Edges {
		if m, ok := p.Messages[e.Type.String()]; ok {
			kept, of := messages.Kept(g, l.messages.Graph, i)
			l.note("messages of %s: %s of %s edges (%s)", e.Type, human.Exact(int64(kept)), human.Exact(int64(of)), m)
		}
	}
}
