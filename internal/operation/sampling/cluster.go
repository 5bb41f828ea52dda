package sampling

import (
	"encoding/json"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/cluster"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Cluster samples on the workers of an engine. The binary graphmill-beam makes it; the engine is internal, so other
// programs cannot.
type Cluster struct {
	Engine stages.Engine
	// Method is how workers read the graph; "" is ClusterAuto.
	Method ClusterMethod
	// WaveSeeds is the number of seeds whose requests a worker may hold at the same time for one range of nodes, by
	// ClusterShuffle; 0 chooses.
	WaveSeeds int
	// ArrayShards is the most files that an array of a collection has, and the most tasks that write files of records; 0 chooses by a forecast of the
	// size of the output, 1 has the submitter write all of it.
	ArrayShards int
	// ShipGraph copies the store next to the output first, for workers that cannot reach it. The copy is removed at the
	// end.
	ShipGraph bool
}

// ClusterMethod is how the workers of a Cluster read the graph.
type ClusterMethod string

// The methods: each worker maps the whole store; workers read ranges of it, and exchange what they find; or the former
// if Memory, or without it the memory that this machine has available, holds the data.
const (
	ClusterAuto    ClusterMethod = "auto"
	ClusterLocal   ClusterMethod = "local"
	ClusterShuffle ClusterMethod = "shuffle"
)

// check refuses wrong values, and fills in defaults.
func (c *Cluster) check(o *request) error {
	operation.SetDefault(&c.Method, ClusterAuto)
	switch {
	case c.Method != ClusterAuto && c.Method != ClusterLocal && c.Method != ClusterShuffle:
		return operation.Usagef("found `Method` %q, expected auto, local or shuffle", c.Method)
	case c.WaveSeeds < 0:
		return operation.Usagef("found `WaveSeeds` %d, expected at least 1", c.WaveSeeds)
	case c.ArrayShards < 0 || c.ArrayShards > cluster.MostShards:
		return operation.Usagef("found `ArrayShards` %d, expected 1 to %d, or 0 to choose", c.ArrayShards, cluster.MostShards)
	case o.Executor != option.ExecutorAuto:
		return operation.Usagef("found `Executor` %s, expected auto: on a cluster, `Method` says how workers read the graph; leave `Executor` out", o.Executor)
	case c.Method == ClusterShuffle && (o.Aggregation == option.AggregationNode || o.Subgraph == "induced"):
		return operation.Usagef("found `Method` shuffle with all edges between the nodes of a subgraph, expected local: all edges of all of its nodes would be read; give `Method` local, or `Subgraph` directional")
	}
	return nil
}

// onCluster compiles a plan for the submitter of a cluster, which draws nothing itself.
func (c choice) onCluster(s *store.Store, plan *sample.Plan) (executor, error) {
	c.options.Given = true
	m, err := sample.New(s.Graph, plan, c.options)
	return executor{sampler: m, cluster: true}, err
}

// method chooses how workers read the graph.
func (s *sampling) method(c choice) (cluster.Method, string) {
	switch s.o.cluster.Method {
	case ClusterLocal:
		return cluster.Local, ""
	case ClusterShuffle:
		return cluster.Shuffle, ""
	}
	need, bound := c.need(s.store.Graph, s.plan)
	if bound == 0 || need <= bound || s.plan.CanGive(s.store.Graph) != nil {
		return cluster.Local, ""
	}
	for i := range s.plan.Ops {
		op := &s.plan.Ops[i]
		if e, err := s.store.Graph.EdgeType(op.Edges); err == nil && s.store.Graph.Edges[e].Adj[op.Dir] == nil {
			return cluster.Local, "workers read the whole store, because it lacks a direction that the plan walks: " + tooLarge(need, bound)
		}
	}
	return cluster.Shuffle, "workers read ranges of the store, and exchange what they find: " + tooLarge(need, bound)
}

// elsewhere prepares a run on the cluster. records is nil for a collection.
func (s *sampling) elsewhere(records *output.RecordsOptions) (output.Elsewhere, error) {
	o := s.o
	text, err := json.Marshal(s.plan)
	if err != nil {
		return nil, err
	}
	dir, err := vfs.Abs(s.store.Dir)
	if err != nil {
		return nil, err
	}
	work, err := operation.SharedWork(s.out)
	if err != nil {
		return nil, err
	}
	if err := operation.NoteCredentials(&o.Run, s.report, dir, work); err != nil {
		return nil, err
	}
	method, note := s.method(s.chosen)
	if note != "" {
		operation.Note(&o.Run, "%s", note)
		s.report.Note(note)
	}
	r := &cluster.Run{FS: vfs.OS, Dir: work, Engine: o.cluster.Engine, Sampler: s.executor.sampler, Overwrite: o.Overwrite, Records: records,
		Options: cluster.Options{Method: method, WaveSeeds: o.cluster.WaveSeeds, Memory: o.Memory, Warn: o.Warn, Shards: o.cluster.ArrayShards},
		Work: cluster.Work{Store: dir, StoreSum: s.made.Inputs["store"], Plan: text,
			Ops: o.Ops, NoEdgeIDs: o.NoEdgeIDs}}
	if records != nil {
		x := &cluster.Records{Name: records.Name, Shards: records.Shards, Gzip: records.Gzip, Examples: records.Examples, IDs: records.IDs,
			Components: records.Components, SeedIDs: records.SeedIDs, Compat: records.Compat, Joined: records.Joined, SeedEdges: records.SeedEdges}
		if records.Schema != nil {
			if x.Schema, err = (proto.MarshalOptions{Deterministic: true}).Marshal(records.Schema); err != nil {
				return nil, err
			}
		}
		r.Work.Records = x
	}
	if o.cluster.ArrayShards > 0 {
		r.Options.ShardBytes = limits.ShardAlign
	} else if err := r.ChooseShards(&s.job); err != nil {
		return nil, err
	}
	stages := operation.NewStages(&o.Run)
	if o.cluster.ShipGraph {
		size, err := store.Size(vfs.OS, s.store.Dir)
		if err != nil {
			return nil, err
		}
		copied := int64(0)
		r.Options.Ship = true
		r.Options.Shipped = func(bytes int) {
			copied += int64(bytes)
			stages.Update("copy the store", copied, size, "bytes")
		}
	}
	r.Options.Tell = func(c cluster.Counts) {
		s.counts = c
		switch groups := int64(r.Work.Groups()); {
		case c.Written > 0:
			stages.Update("write", int64(c.Written), int64(r.Work.Shards), "shares")
		case r.Work.Shards > 1 && c.Pieces > 0:
			stages.Update("sample", int64(c.Pieces), groups, "groups")
		case c.Pieces > 0: // the meter of the output goes on from here
			stages.End()
		case c.Answers > 0:
			stages.Update("draw", int64(c.Answers), int64(c.Requests), "nodes")
		case c.Started > 0:
			stages.Update("start", int64(c.Started), groups, "groups")
		}
	}
	return r, nil
}

// unfinished says whether the folder of the workers has pieces from which a run continues.
func unfinished(out string) (bool, error) {
	n, err := cluster.Pieces(vfs.OS, operation.Worked(out))
	return n > 0, err
}

// tellCluster reports what the workers did.
func (s *sampling) tellCluster() {
	if s.o.cluster == nil || s.counts.Requests == 0 {
		return
	}
	s.report.Out("requests to ranges", report.Count(s.counts.Requests, "nodes"))
}
