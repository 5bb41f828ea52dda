package graphmill

import (
	"context"
	"errors"
	"maps"
	"strconv"

	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/subset"
	"github.com/graphmill/graphmill/internal/vfs"
)

// induced is the value of Subgraph for all edges between the nodes.
const induced = "induced"

// sets says whether batches are the subgraphs of sets of nodes.
func (o *SampleOptions) sets() bool {
	switch o.Sampler {
	case SamplerCluster, SamplerSaintNode, SamplerSaintEdge, SamplerSaintWalk:
		return true
	}
	return false
}

// checkSets checks the options of batches that are the subgraphs of sets of nodes.
func (o *SampleOptions) checkSets() error {
	if name := firstGiven(
		option{"Fanout", o.Fanout != nil || o.FanoutByType != nil}, option{"Plan", o.Plan != ""}, option{"SamplingSpec", o.SamplingSpec != ""}, option{"TimeColumn", o.TimeColumn != ""},
		option{"Direction", o.Direction != ""}, option{"Expand", o.Expand != ""}, option{"Replace", o.Replace}, option{"Importance", o.Importance != 0},
		option{"Alpha", o.Alpha != 0}, option{"Eps", o.Eps != 0}, option{"Walks", o.Walks != 0}, option{"Restart", o.Restart != 0}, option{"Weight", o.Weight != ""}, option{"Before", o.Before != ""},
		option{"Untimed", o.Untimed != nil}, option{"BeforeColumns", o.BeforeColumns != nil}, option{"BeforeNodes", o.BeforeNodes != nil}, option{"Window", o.Window != ""},
		option{"TemporalStrategy", o.TemporalStrategy != ""}, option{"HalfLife", o.HalfLife != ""}, option{"SeedTime", o.SeedTime != ""}, option{"Negatives", o.Negatives != 0}, option{"NegativesHow", o.NegativesHow != ""},
		option{"NegativesBy", o.NegativesBy != ""}, option{"NegativesStrict", o.NegativesStrict != ""}, option{"Exclude", o.Exclude != ""}, option{"Seeds", o.Seeds != ""},
		option{"LimitSeeds", o.LimitSeeds != 0}, option{"Order", o.Order != ""}, option{"Ops", o.Ops}, option{"Scope", o.Scope != "" && o.Scope != ScopeBatch},
		option{"Subgraph", o.Subgraph != "" && o.Subgraph != induced},
	); name != "" {
		return usagef("found `%s` with `Sampler` %s, which chooses the nodes of batches and takes all edges between them, expected one of them", name, o.Sampler)
	}
	o.Subgraph = induced
	cluster := o.Sampler == SamplerCluster
	switch {
	case cluster && o.Assignment == "":
		return usagef("found no `Assignment`, expected the folder that has the part of each node; divide the store with graphmill partition first")
	case !cluster && o.Assignment != "":
		return usagef("found `Assignment` with `Sampler` %s, expected it with `Sampler` cluster", o.Sampler)
	case !cluster && o.Shuffle:
		return usagef("found `Shuffle` with `Sampler` %s, expected one of them: every epoch draws other nodes", o.Sampler)
	case o.Sampler != SamplerSaintWalk && o.WalkLength != 0:
		return usagef("found `WalkLength` with `Sampler` %s, expected it with `Sampler` saint-walk", o.Sampler)
	case o.Sampler == SamplerSaintWalk && o.WalkLength == 0:
		return usagef("found no `WalkLength`, expected the number of steps of a walk, such as 2")
	case o.Sampler == SamplerSaintWalk && o.WalkLength < 0:
		return usagef("found `WalkLength` %d, expected at least 1 step", o.WalkLength)
	}
	if o.BatchSize == 0 {
		o.BatchSize = 1024
		if cluster {
			o.BatchSize = 1
		}
	}
	switch {
	case o.BatchSize < 1:
		return usagef("found `BatchSize` %d, expected at least 1", o.BatchSize)
	case o.Cluster != nil:
		return usagef("found a cluster with `Sampler` %s, expected one of them: no worker has the whole graph; run it on one machine", o.Sampler)
	case o.Executor == ExecutorStream:
		return usagef("found `Executor` stream with `Sampler` %s, expected memory: all edges of all nodes of a set would be read; give `Executor` memory", o.Sampler)
	}
	return nil
}

// sets are the nodes of batches, with what they are drawn from.
type sets struct {
	order   *subset.Order
	sampler *sample.Sampler // reads the edges that the draws need; nil for none
	need    int64           // bytes of memory
	divided *assign.Assignment
}

// into makes the batches of a job the sets.
func (s *sets) into(job *sample.Job) {
	job.Positions = s.order.Len()
	job.Order = func(epoch uint64) sample.Items { return s.order.Epoch(job.Seed, epoch) }
}

// madeSets adds the options of an output's sets to the options that determine it.
func (o *SampleOptions) madeSets(ctx context.Context, s *sets, made store.Made, r *Report) error {
	made.Options["sampler"] = string(o.Sampler)
	if o.WalkLength > 0 {
		made.Options["walk_length"] = strconv.Itoa(o.WalkLength)
	}
	if s.divided == nil {
		return nil
	}
	inputs, err := assignmentInputs(ctx, o.Assignment, "assignment/", s.divided, r)
	maps.Copy(made.Inputs, inputs)
	return err
}

// openSets prepares the sets of nodes of batches, and sets the batch size of the job to the most nodes of a set. It returns nil for
// the samplers of neighbourhoods.
func (o *SampleOptions) openSets(ctx context.Context, s *store.Store, p *planned) (*sets, error) {
	if !o.sets() {
		return nil, nil
	}
	g := s.Graph
	var divided *assign.Assignment
	r := subset.Rules{How: subset.How(o.Sampler), Size: o.BatchSize, Length: o.WalkLength, Shuffle: o.Shuffle}
	if o.Assignment != "" {
		types, counts := nodeCounts(g)
		a, err := assign.Read(ctx, vfs.OS, o.Assignment, types, counts)
		if err != nil {
			return nil, err
		}
		r.Part, divided = a.Part, a
	}
	plan, err := subset.Plan(g, &r)
	if err != nil {
		return nil, setsUsage(err)
	}
	out := &sets{need: subset.Need(g, &r), divided: divided}
	if plan != nil {
		out.need += sample.NeedArrays(g, plan, o.Threads)
		if out.sampler, err = newSampler(s, plan, out.need, o.Memory, sample.Options{NoEdgeIDs: true}); err != nil {
			return nil, err
		}
	}
	if out.order, err = subset.New(ctx, g, out.sampler, r); err != nil {
		out.close()
		return nil, setsUsage(err)
	}
	p.job.BatchSize, p.job.Shuffle = out.order.BatchSize(), false
	return out, nil
}

func (s *sets) close() {
	if s != nil && s.sampler != nil {
		s.sampler.Close()
	}
}

// setsUsage turns an error about rules into a usage error.
func setsUsage(err error) error {
	if errors.Is(err, subset.ErrRules) {
		return usagef("%w", err)
	}
	return err
}
