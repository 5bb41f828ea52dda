package sampling

import (
	"context"
	"errors"
	"maps"
	"strconv"

	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/subset"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// induced is the value of Subgraph for all edges between the nodes.
const induced = "induced"

// sets says whether batches are the subgraphs of sets of nodes.
func (o *request) sets() bool {
	switch o.Sampler {
	case option.SamplerCluster, option.SamplerSaintNode, option.SamplerSaintEdge, option.SamplerSaintWalk:
		return true
	}
	return false
}

// checkSets checks the options of batches that are the subgraphs of sets of nodes.
func (o *request) checkSets() error {
	if err := options.Check(o, options.OfHops); err != nil {
		return err
	}
	o.Subgraph = induced
	cluster := o.Sampler == option.SamplerCluster
	switch {
	case cluster && o.Assignment == "":
		return operation.Usagef("found no `Assignment`, expected the folder that has the part of each node; divide the store with graphmill partition first")
	case !cluster && o.Assignment != "":
		return operation.Usagef("found `Assignment` with `Sampler` %s, expected it with `Sampler` cluster", o.Sampler)
	case !cluster && o.Shuffle:
		return operation.Usagef("found `Shuffle` with `Sampler` %s, expected one of them: every epoch draws other nodes", o.Sampler)
	case o.Sampler != option.SamplerSaintWalk && o.WalkLength != 0:
		return operation.Usagef("found `WalkLength` with `Sampler` %s, expected it with `Sampler` saint-walk", o.Sampler)
	case o.Sampler == option.SamplerSaintWalk && o.WalkLength == 0:
		return operation.Usagef("found no `WalkLength`, expected the number of steps of a walk, such as 2")
	case o.Sampler == option.SamplerSaintWalk && o.WalkLength < 0:
		return operation.Usagef("found `WalkLength` %d, expected at least 1 step", o.WalkLength)
	}
	if o.BatchSize == 0 {
		o.BatchSize = 1024
		if cluster {
			o.BatchSize = 1
		}
	}
	switch {
	case o.BatchSize < 1:
		return operation.Usagef("found `BatchSize` %d, expected at least 1", o.BatchSize)
	case o.cluster != nil:
		return operation.Usagef("found a cluster with `Sampler` %s, expected one of them: no worker has the whole graph; run it on one machine", o.Sampler)
	case o.Executor == option.ExecutorStream:
		return operation.Usagef("found `Executor` stream with `Sampler` %s, expected memory: all edges of all nodes of a set would be read; give `Executor` memory", o.Sampler)
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

// madeSets adds the options of the sets to the options that determine an output.
func (o *request) madeSets(ctx context.Context, s *sets, made store.Made, r *report.Report) error {
	made.Options["sampler"] = string(o.Sampler)
	if o.WalkLength > 0 {
		made.Options["walk_length"] = strconv.Itoa(o.WalkLength)
	}
	if s.divided == nil {
		return nil
	}
	inputs, err := operation.AssignmentInputs(ctx, o.Assignment, "assignment/", s.divided, r)
	maps.Copy(made.Inputs, inputs)
	return err
}

// openSets prepares the sets of nodes of batches, and sets the batch size of the job to the most nodes of a set. It returns nil for
// the samplers of neighbourhoods.
func (o *request) openSets(ctx context.Context, s *store.Store, p *planned) (*sets, error) {
	if !o.sets() {
		return nil, nil
	}
	g := s.Graph
	var divided *assign.Assignment
	r := subset.Rules{How: subset.How(o.Sampler), Size: o.BatchSize, Length: o.WalkLength, Shuffle: o.Shuffle}
	if o.Assignment != "" {
		types, counts := operation.NodeCounts(g)
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
		if out.sampler, err = NewSampler(s, plan, out.need, o.Memory, sample.Options{NoEdgeIDs: true}); err != nil {
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
		return operation.Usagef("%w", err)
	}
	return err
}
