package flags

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Feed are the flags that say what batches to hand to trainers: what to sample, in which
// order, with which columns.
type Feed struct {
	Plan
	features, edgeFeatures string
	shuffle, ops           bool
	order                  string
}

// Add adds the flags to a command's.
func (f *Feed) Add(fs *pflag.FlagSet) {
	f.Plan.Add(fs)
	fs.StringVar(&f.features, "features", "all", "node columns that batches bring: all, none, or COLUMN,TYPE/COLUMN,...")
	fs.StringVar(&f.edgeFeatures, "edge-features", "none", "edge columns that batches bring: all, none, or COLUMN,TYPE/COLUMN,...")
	fs.BoolVar(&f.shuffle, "shuffle", false, "take the seeds of each epoch in its shuffled order")
	fs.StringVar(&f.order, "order", "", orderHelp)
	fs.BoolVar(&f.ops, "ops", false, "bring what each op expanded and drew: what message-flow blocks are made of")
}

// Check refuses flags that contradict each other; fs is what Add was given, parsed.
func (f *Feed) Check(fs *pflag.FlagSet) error {
	if f.shuffle && f.order != "" {
		return usagef("found --shuffle and --order %s, expected one of them: an order shuffles by itself", f.order)
	}
	return f.Plan.Check(fs)
}

// Source prepares the batches of a store. Close it and the sampler, in this order, after the last batch and before
// the store.
func (f *Feed) Source(ctx context.Context, s *store.Store, threads int, memory Bytes, warn func(string)) (*feed.Source, *sample.Sampler, error) {
	p, err := f.Resolve(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	p.Job.Shuffle = f.shuffle
	nodes, errNodes := nodeFeatures(s.Graph, f.features)
	edges, errEdges := edgeFeatures(s.Graph, f.edgeFeatures)
	if err := errors.Join(errNodes, errEdges); err != nil {
		return nil, nil, err
	}
	order, err := seedOrder(f.order, s.Graph, p)
	if err != nil {
		return nil, nil, err
	}
	sampler, err := NewSampler(s.Graph, p.Plan, threads, memory, columnBytes(s.Graph, nodes, edges)+orderBytes(order), sample.Options{Ops: f.ops, Warn: warn})
	if err != nil {
		return nil, nil, err
	}
	source, err := feed.NewSource(sampler, p.Job, feed.Features{Nodes: nodes, Edges: edges, Links: linkFeatures(p.Columns)}, f.ops)
	if err == nil && order != nil {
		err = source.SetOrder(order)
	}
	if err != nil {
		sampler.Close()
		return nil, nil, err
	}
	spare := sampler.Spare()
	if memory == 0 {
		spare = Available(vfs.OS) / 2
	}
	// What was copied is not read where it lies any more.
	source.Load(spare, func() { _ = s.Release() })
	return source, sampler, nil
}

// columnBytes is the size of what batches look up: the columns by type, and the positions of edges.
func columnBytes(g *graph.Graph, nodes, edges map[string][]string) (n int64) {
	add := func(columns []*graph.Column, names ...string) {
		for _, name := range names {
			if c := graph.FindColumn(columns, name); c != nil {
				n += int64(len(c.Values))
			}
		}
	}
	for _, t := range g.Nodes {
		add(t.Columns, nodes[t.Type]...)
	}
	for _, e := range g.Edges {
		add(e.Columns, graph.PositionColumn)
		add(e.Columns, edges[e.Type.String()]...)
	}
	return n
}

// nodeFeatures are the node columns that --features names.
func nodeFeatures(g *graph.Graph, text string) (map[string][]string, error) {
	types := map[string][]*graph.Column{}
	for _, n := range g.Nodes {
		types[n.Type] = n.Columns
	}
	return namedColumns("features", text, types)
}

// edgeFeatures are the edge columns that --edge-features names.
func edgeFeatures(g *graph.Graph, text string) (map[string][]string, error) {
	types := map[string][]*graph.Column{}
	for _, e := range g.Edges {
		types[e.Type.String()] = e.Columns
	}
	return namedColumns("edge-features", text, types)
}

// namedColumns are columns by type: all numbers of a fixed shape, none, or those of a list. A
// name without a type is one of each type that has it.
func namedColumns(flag, text string, types map[string][]*graph.Column) (map[string][]string, error) {
	out := map[string][]string{}
	if text == "none" || text == "" {
		return out, nil
	}
	if text == "all" {
		for t, columns := range types {
			for _, c := range columns {
				if c.DType != graph.String && !c.Ragged() && !strings.HasPrefix(c.Name, "#") {
					out[t] = append(out[t], c.Name)
				}
			}
		}
		return out, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		found := false
		for t, columns := range types {
			for _, c := range columns {
				if item == c.Name || item == t+"/"+c.Name {
					out[t] = append(out[t], c.Name)
					found = true
				}
			}
		}
		if !found {
			return nil, usagef("--%s: found no column %q, expected COLUMN or TYPE/COLUMN of the store; graphmill info lists them", flag, item)
		}
	}
	return out, nil
}
