package graphmill

import (
	"time"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// Choices of SampleOptions. The empty value of each type is the default.
type (
	// Direction says which edges a hop follows.
	Direction string
	// Expand says which nodes a hop expands.
	Expand string
	// Scope says what a node's draws are its own in.
	Scope string
	// Executor says how neighbours are read.
	Executor string
	// Format is a form of output.
	Format string
	// Compat says whose tf.train.Examples TFRecords hold.
	Compat string
	// Aggregation says which edges an Example has.
	Aggregation string
	// Missing says what becomes of nodes that edges name and no node table has.
	Missing string
)

// The values of the choices.
const (
	DirectionIn  Direction = "in"  // in-edges: from a node to its sources. The default
	DirectionOut Direction = "out" // out-edges: from a node to its destinations

	ExpandNew Expand = "new" // nodes that the hop before found new, as PyG does. The default
	ExpandAll Expand = "all" // all nodes that the hop before reached, as DGL does

	ScopeBatch Scope = "batch" // one subgraph per batch. The default
	ScopeSeed  Scope = "seed"  // one subgraph per seed
	ScopeEpoch Scope = "epoch" // one subgraph per batch; a node draws the same in all batches of an epoch

	ExecutorAuto   Executor = "auto"   // memory where what it reads fits the memory, else stream. The default
	ExecutorMemory Executor = "memory" // neighbours are read at random, from the mapped store
	ExecutorStream Executor = "stream" // neighbours are read from the disk in sweeps, for graphs larger than memory

	FormatCollection Format = "collection" // NumPy arrays; features by reference. The default
	FormatTFRecord   Format = "tfrecord"   // tf.train.Examples that TF-GNN reads; features joined

	CompatNone    Compat = "none"          // Graphmill's own form. The default
	CompatTFGNN   Compat = "tfgnn"         // as tfgnn_sampler writes
	CompatClassic Compat = "tfgnn-classic" // as TF-GNN's older graph_sampler writes

	AggregationEdge Aggregation = "edge" // the edges that were drawn. The default
	AggregationNode Aggregation = "node" // all edges between the nodes of the subgraph

	MissingError Missing = "error" // an error
	MissingDrop  Missing = "drop"  // their edges are dropped and counted
	MissingZeros Missing = "zeros" // they are added, with features of zeros
)

// SampleOptions say what to sample, in which order, and how it is written. Exactly one of Fanout, FanoutByType, Plan
// and SamplingSpec is given; all else has a default.
type SampleOptions struct {
	Run

	// Fanout is the number of edges to draw per node at each hop, the same for every edge type; -1 draws all.
	Fanout []int
	// FanoutByType is the same for each edge type, by its name "src:rel:dst" or by a relation that is unique in the
	// graph. Types that are not listed are not followed.
	FanoutByType map[string][]int
	// Plan is a file with a plan (JSON, docs/plan.md).
	Plan string
	// SamplingSpec is a file with a TF-GNN SamplingSpec (text format).
	SamplingSpec string
	// TimeColumn is the edge column that LATEST_K of a SamplingSpec goes by.
	TimeColumn string

	// With fanouts: which edges are drawn, and how.
	Direction Direction
	Expand    Expand
	Scope     Scope
	Replace   bool     // draw with replacement
	Weight    string   // draw in proportion to this edge column
	Before    string   // draw only edges whose COLUMN is below the seed's time; "COLUMN<=" takes equal times too
	Untimed   []string // edge types without the column of Before: drawn at any time

	// Seeds is TYPE, TYPE:COLUMN=VALUE, or a file of ids or links; "" is all nodes of the seed type.
	Seeds string
	// SeedType is the node type of the ids of a file of seeds; the types of source and target for links.
	SeedType []string
	// SeedTime is the node column with the seeds' times; "" is the column of Before.
	SeedTime string
	// LimitSeeds takes only the first so many seeds; 0 is all.
	LimitSeeds int

	BatchSize int    // seeds per batch; 0 is 1024
	Seed      uint64 // random seed of all draws
	Epoch     uint64 // number of the first epoch
	Epochs    int    // 0 is 1
	Shuffle   bool   // take the seeds of each epoch in its shuffled order
	Rank      int    // of Ranks processes, take the batches of this one
	Ranks     int    // 0 is 1
	// Order of the seeds, of Batches alone: "weighted:COLUMN", "stratified:COLUMN" or "windowed:BLOCK,BLOCKS".
	Order string

	// Features are the node columns of Batches, as COLUMN or TYPE/COLUMN. nil is all columns of numbers with a fixed
	// shape, an empty list none.
	Features []string
	// EdgeFeatures are the edge columns of Batches. nil is none; "all" as the only element is all.
	EdgeFeatures []string
	// Ops keeps what each op expanded and drew: message-flow blocks are made of it.
	Ops bool
	// NoEdgeIDs leaves the ids of edges out of a collection.
	NoEdgeIDs bool

	Executor Executor

	// The rest is of Sample alone.

	Format Format
	// Of TFRecords.
	Shards      int      // files to divide them over; 0 is 1
	Name        string   // name that the files begin with; "" is "samples.tfrecord"
	Gzip        bool     // compress them
	IDs         []string // node types whose original ids they have as #id: types, "all" or "none"; nil: as the schema declares
	Compat      Compat
	Aggregation Aggregation
	SeedIDs     bool   // write sample_id and seed_id into the context
	Components  int    // subgraphs of seeds per Example, as its components; 0 is 1
	GraphSchema string // file with the GraphSchema of the store's graph, or its folder: descriptions, and features of links

	// Resume continues what an interrupted run of the same call left, if there is any.
	Resume bool
	// CheckpointEvery is the time between two checkpoints, from which Resume continues. 0 is 30 seconds; a negative
	// time makes none.
	CheckpointEvery time.Duration

	schema  *tfgnnpb.GraphSchema // of GraphSchema, once it is read
	tables  bool                 // of a unigraph, which SampleUnigraph imports
	missing Missing              // of SampleUnigraph, as it was given
	joined  bool                 // leave nodes without a row out of Examples
}

// Check refuses options that contradict each other. Sample, Batches and Forecast call it.
func (o SampleOptions) Check() error { return o.check() }

// check refuses options that contradict each other, and fills in defaults.
func (o *SampleOptions) check() error {
	if err := o.Run.check(); err != nil {
		return err
	}
	if err := o.checkPlan(); err != nil {
		return err
	}
	return o.checkWork()
}

// checkPlan is the check of what says which edges are drawn.
func (o *SampleOptions) checkPlan() error {
	fanout := o.Fanout != nil || o.FanoutByType != nil
	if !fanout {
		// A plan or spec says all of this itself: nothing is ignored in silence.
		for _, f := range []struct {
			name  string
			given bool
		}{
			{"Direction", o.Direction != ""}, {"Expand", o.Expand != ""}, {"Scope", o.Scope != ""}, {"Replace", o.Replace},
			{"Weight", o.Weight != ""}, {"Before", o.Before != ""}, {"Untimed", o.Untimed != nil},
		} {
			if f.given {
				return usagef("found `%s` without `Fanout`, expected it to stand in the plan", f.name)
			}
		}
	}
	given := 0
	for _, is := range []bool{o.Fanout != nil, o.FanoutByType != nil, o.Plan != "", o.SamplingSpec != ""} {
		if is {
			given++
		}
	}
	if o.BatchSize == 0 {
		o.BatchSize = 1024
	}
	switch {
	case o.SamplingSpec == "" && o.TimeColumn != "":
		return usagef("found `TimeColumn` without `SamplingSpec`, expected them together")
	case o.Before == "" && o.Untimed != nil:
		return usagef("found `Untimed` without `Before`, expected them together")
	case o.LimitSeeds < 0:
		return usagef("found `LimitSeeds` %d, expected at least 1", o.LimitSeeds)
	case given != 1:
		return usagef("found %d of `Fanout`, `Plan` and `SamplingSpec`, expected one; try `Fanout` 15,10", given)
	case o.BatchSize < 1:
		return usagef("found `BatchSize` %d, expected at least 1", o.BatchSize)
	case o.Replace && o.Weight != "":
		return usagef("found `Replace` and `Weight`, expected one of them")
	case len(o.SeedType) > 2:
		return usagef("found `SeedType` %s, expected a node type, or those of the source and target of links", joined(o.SeedType))
	case o.Shuffle && o.Order != "":
		return usagef("found `Shuffle` and `Order` %s, expected one of them: an order shuffles by itself", o.Order)
	}
	return nil
}

// checkWork is the check of what says how much is sampled, by which executor, and into what.
func (o *SampleOptions) checkWork() error {
	setDefault(&o.Epochs, 1)
	setDefault(&o.Ranks, 1)
	setDefault(&o.Format, FormatCollection)
	setDefault(&o.Executor, ExecutorAuto)
	setDefault(&o.Aggregation, AggregationEdge)
	setDefault(&o.Compat, CompatNone)
	switch {
	case o.Format != FormatCollection && o.Format != FormatTFRecord:
		return usagef("found `Format` %q, expected collection or tfrecord", o.Format)
	case o.Executor != ExecutorAuto && o.Executor != ExecutorMemory && o.Executor != ExecutorStream:
		return usagef("found `Executor` %q, expected auto, memory, stream", o.Executor)
	case o.Epochs < 1:
		return usagef("found `Epochs` %d, expected at least 1", o.Epochs)
	case o.Ranks < 1 || o.Rank < 0 || o.Rank >= o.Ranks:
		return usagef("found `Rank` %d of %d, expected 0 to %d", o.Rank, o.Ranks, o.Ranks-1)
	}
	if o.Format == FormatTFRecord {
		return o.checkRecords()
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"Shards", o.Shards != 0}, {"Name", o.Name != ""}, {"Gzip", o.Gzip}, {"IDs", o.IDs != nil}, {"Compat", o.Compat != CompatNone},
		{"Aggregation", o.Aggregation != AggregationEdge}, {"SeedIDs", o.SeedIDs}, {"Components", o.Components != 0},
	} {
		if f.given {
			return usagef("found `%s` with `Format` collection, expected `Format` tfrecord", f.name)
		}
	}
	return nil
}

// checkRecords is the check of what only TFRecords have.
func (o *SampleOptions) checkRecords() error {
	setDefault(&o.Shards, 1)
	setDefault(&o.Components, 1)
	switch {
	case o.Compat != CompatNone && o.Compat != CompatTFGNN && o.Compat != CompatClassic:
		return usagef("found `Compat` %q, expected none, tfgnn or tfgnn-classic", o.Compat)
	case o.NoEdgeIDs:
		return usagef("found `NoEdgeIDs` with `Format` tfrecord, expected `Format` collection")
	case o.Ops:
		return usagef("found `Ops` with `Format` tfrecord, expected `Format` collection")
	case o.Aggregation != AggregationEdge && o.Aggregation != AggregationNode:
		return usagef("found `Aggregation` %q, expected edge or node", o.Aggregation)
	case o.Components < 1:
		return usagef("found `Components` %d, expected at least 1", o.Components)
	}
	return nil
}

// setDefault sets what is not given.
func setDefault[T comparable](p *T, value T) {
	if *p == *new(T) {
		*p = value
	}
}
