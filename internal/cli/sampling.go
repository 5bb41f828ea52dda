package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/sample"
)

// Sampling are the flags that say what to sample.
type Sampling struct {
	graphmill.SampleOptions
	fanout, untimed, seedType string
	features, edgeFeatures    string
	fs                        *pflag.FlagSet
}

// Add adds the flags of the plan and its seeds.
func (p *Sampling) Add(f *pflag.FlagSet) {
	p.fs = f
	o := &p.SampleOptions
	f.StringVar(&p.fanout, "fanout", "", "edges per node at each hop: 15,10, or cites=15,10;writes=5,5; -1 is all")
	f.StringVar(&o.Plan, "plan", "", "file with a plan (JSON)")
	f.StringVar(&o.SamplingSpec, "sampling-spec", "", "file with a TF-GNN SamplingSpec (pbtxt)")
	f.StringVar((*string)(&o.Direction), "direction", "", "follow in-edges (in) or out-edges (out)")
	f.StringVar((*string)(&o.Expand), "expand", "", "expand nodes found new (new, as PyG) or all (all, as DGL)")
	f.StringVar((*string)(&o.Scope), "scope", "", "a node's draws are its own in each epoch, batch or seed; seed gives one subgraph per seed")
	f.BoolVar(&o.Replace, "replace", false, "draw with replacement")
	f.StringVar(&o.Weight, "weight", "", "draw in proportion to this edge column")
	f.StringVar(&o.Before, "before", "", "draw only edges whose COLUMN is below the seed's time; COLUMN<= takes equal times too")
	f.StringVar(&p.untimed, "untimed", "", "edge types without the time column, comma-separated: drawn at any time")
	f.StringVar(&o.TimeColumn, "time-column", "", "edge column that LATEST_K of a sampling spec goes by")
	f.StringVar(&o.Seeds, "seeds", "", "TYPE, TYPE:COLUMN=VALUE, or a file of ids or links (default: all nodes of the seed type)")
	f.StringVar(&p.seedType, "seed-type", "", "node type of the ids of a seeds file; SOURCE,TARGET of links")
	f.StringVar(&o.SeedTime, "seed-time", "", "node column with the seeds' times (default: the column of --before)")
	f.IntVar(&o.LimitSeeds, "limit-seeds", 0, "take only the first N seeds (default: all)")
	f.IntVar(&o.BatchSize, "batch-size", 0, "seeds per batch")
	f.Uint64Var(&o.Seed, "seed", 0, "random seed of all draws")
	Defaults(f, map[string]string{"direction": "in", "expand": "new", "scope": "batch", "batch-size": "1024"})
}

// AddEpoch adds the flag of commands that begin at an epoch.
func (p *Sampling) AddEpoch(f *pflag.FlagSet) {
	f.Uint64Var(&p.Epoch, "epoch", 0, "number of the first epoch")
}

// AddFeed adds the flags that say in which order batches come, and with which columns.
func (p *Sampling) AddFeed(f *pflag.FlagSet) {
	f.StringVar(&p.features, "features", "all", "node columns that batches bring: all, none, or COLUMN,TYPE/COLUMN,...")
	f.StringVar(&p.edgeFeatures, "edge-features", "none", "edge columns that batches bring: all, none, or COLUMN,TYPE/COLUMN,...")
	f.BoolVar(&p.Shuffle, "shuffle", false, "take the seeds of each epoch in its shuffled order")
	f.StringVar(&p.Order, "order", "", "order of the seeds: weighted:COLUMN, stratified:COLUMN, or windowed:BLOCK,BLOCKS (default: as given, or --shuffle)")
	f.BoolVar(&p.Ops, "ops", false, "bring what each op expanded and drew: what message-flow blocks are made of")
}

// Options are the options that the flags give.
func (p *Sampling) Options(run graphmill.Run) (graphmill.SampleOptions, error) {
	o := p.SampleOptions
	o.Run = run
	if err := Positive(p.fs, "limit-seeds", "batch-size"); err != nil {
		return o, err
	}
	if p.fanout != "" {
		f, err := sample.ParseFanouts(p.fanout)
		if err != nil {
			return o, Usagef("%w", err)
		}
		o.Fanout = f.Each
		for _, t := range f.Types {
			if o.FanoutByType == nil {
				o.FanoutByType = map[string][]int{}
			}
			if _, twice := o.FanoutByType[t.Edges]; twice {
				return o, Usagef("found --fanout of %s twice, expected each edge type once", t.Edges)
			}
			o.FanoutByType[t.Edges] = t.Hops
		}
	}
	o.SeedType, o.Untimed = List(p.seedType), List(p.untimed)
	o.Features, o.EdgeFeatures = columns(p.features), columns(p.edgeFeatures)
	return o, nil
}

// columns reads "all", "none" or a list.
func columns(text string) []string {
	switch text {
	case "":
		return nil
	case "none":
		return []string{}
	}
	return List(text)
}

// List reads a list with commas, nil for an empty one.
func List(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
