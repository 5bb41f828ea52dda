package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/sample"
)

// Sampling has the flags that say what to sample.
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
	f.StringVar(&p.fanout, "fanout", "", "edges to draw per node at each hop, for all edge types (15,10) or by type (cites=15,10;writes=5,5; types that are not listed are not followed); -1 draws all")
	f.StringVar(&o.Plan, "plan", "", "file with a plan (JSON)")
	f.StringVar(&o.SamplingSpec, "sampling-spec", "", "file with a TF-GNN SamplingSpec (pbtxt)")
	f.StringVar((*string)(&o.Direction), "direction", "", "edges that a hop follows: in-edges, to their sources (in), or out-edges, to their destinations (out)")
	f.StringVar((*string)(&o.Expand), "expand", "", "nodes that a hop expands: those that the previous hop reached first (new, as PyG), or all that were reached before, seeds included (all, as DGL)")
	f.StringVar((*string)(&o.Scope), "scope", "", "batch: one subgraph per batch; seed: one subgraph per seed; epoch: one subgraph per batch, and a node draws the same edges in all batches of an epoch")
	f.BoolVar(&o.Replace, "replace", false, "draw with replacement")
	f.StringVar(&o.Weight, "weight", "", "edge column: draw with probability proportional to it (default: uniformly)")
	f.StringVar(&o.Before, "before", "", "edge column with times: draw only edges with a time below the seed's; COLUMN<= takes equal times too")
	f.StringVar(&p.untimed, "untimed", "", "edge types without the column of --before, separated by commas; their edges are drawn at any time")
	f.StringVar(&o.TimeColumn, "time-column", "", "edge column by which LATEST_K of a sampling spec orders edges")
	f.StringVar(&o.Seeds, "seeds", "", "seeds: TYPE, TYPE:COLUMN=VALUE, or a file of ids or links (default: all nodes of the seed type)")
	f.StringVar(&p.seedType, "seed-type", "", "node type of the ids in a file of seeds, or for links SOURCE,TARGET")
	f.StringVar(&o.SeedTime, "seed-time", "", "node column with the times of the seeds (default: the column of --before)")
	f.IntVar(&o.LimitSeeds, "limit-seeds", 0, "take only the first N seeds of the list (default: all)")
	f.IntVar(&o.BatchSize, "batch-size", 0, "seeds per batch")
	f.Uint64Var(&o.Seed, "seed", 0, "random seed of all draws")
	Defaults(f, map[string]string{"direction": "in", "expand": "new", "scope": "batch", "batch-size": "1024"})
}

// AddEpoch adds the flag --epoch.
func (p *Sampling) AddEpoch(f *pflag.FlagSet) {
	f.Uint64Var(&p.Epoch, "epoch", 0, "number of the first epoch")
}

// AddFeed adds the flags that say in which order batches are made, and with which columns.
func (p *Sampling) AddFeed(f *pflag.FlagSet) {
	f.StringVar(&p.features, "features", "all", "node columns in batches: all, none, or a list of COLUMN or TYPE/COLUMN")
	f.StringVar(&p.edgeFeatures, "edge-features", "none", "edge columns in batches: all, none, or a list of COLUMN or TYPE/COLUMN")
	f.BoolVar(&p.Shuffle, "shuffle", false, "shuffle the seeds, differently in each epoch")
	f.StringVar(&p.Order, "order", "", "order of the seeds: weighted:COLUMN, stratified:COLUMN, or windowed:BLOCK,BLOCKS (default: as given, or shuffled with --shuffle)")
	f.BoolVar(&p.Ops, "ops", false, "add the nodes that each op expanded and the edges that it drew, to make message-flow blocks from")
}

// Options returns the options that the flags set.
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
				return o, Usagef("found `Fanout` of %s twice, expected each edge type once", t.Edges)
			}
			o.FanoutByType[t.Edges] = t.Hops
		}
	}
	o.SeedType, o.Untimed = List(p.seedType), List(p.untimed)
	o.Features, o.EdgeFeatures = columns(p.features), columns(p.edgeFeatures)
	return o, nil
}

// columns parses "all", "none" or a list.
func columns(text string) []string {
	switch text {
	case "":
		return nil
	case "none":
		return []string{}
	}
	return List(text)
}

// List splits a text at commas. It returns nil for "".
func List(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
