package sampling

import (
	"cmp"
	"slices"
	"time"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/option"
)

// answering has the settings of a loader that answers questions. Other loaders have its zero value.
type answering struct {
	asked   bool            // the seeds of batches are asked for
	inPlace bool            // arrays are read where they are, by a server that has several versions of a store open
	after   *sample.Sampler // of the version before; nil: of none
	shared  *sample.Shared  // what samplers of the other plans of the version have; nil: there are none
}

// request is what is asked of the room: the groups of options that its operations share, and what became of them.
type request struct {
	option.Run
	option.Draw
	option.Batching

	// Of batches.

	option.Columns
	option.Ages
	Texts     []string
	Order     string
	slots     int
	kept      string
	narrowIDs bool
	option.Hosting
	answering

	// Of files.

	option.Records
	ofFiles         bool
	Format          option.Format
	resume          bool
	checkpointEvery time.Duration
	cluster         *Cluster // nil: this process samples

	schema  *tfgnnpb.GraphSchema // the content of GraphSchema, once it is read
	tables  bool                 // SampleUnigraph imported the graph
	missing option.Missing       // MissingNodes of SampleUnigraph, as it was given
	joined  bool                 // leave nodes without a row out of Examples
	listed  int                  // the most negatives that NegativesFrom has of a link, once it is read
}

// ofSample is a request for files. c is nil where this process samples.
func ofSample(o *option.Sample, c *Cluster) request {
	return request{Run: o.Run, Draw: o.Draw, Batching: o.Batching, ofFiles: true, Records: o.Records, Format: o.Format, resume: o.Resume || c != nil, checkpointEvery: o.CheckpointEvery, cluster: c}
}

// ofBatches is a request for batches.
func ofBatches(o *option.Batches) request {
	return request{Run: o.Run, Draw: o.Draw, Batching: o.Batching, Columns: o.Columns, Ages: o.Ages, Texts: o.Texts, Order: o.Order, slots: o.Slots, kept: o.Kept, narrowIDs: o.NarrowIDs, Hosting: o.Hosting}
}

// Check refuses options of Sample and Forecast that contradict each other, as these do before they read anything.
func Check(o option.Sample) error {
	r := ofSample(&o, nil)
	return r.check()
}

// CheckBatches refuses options of batches that contradict each other, as NewLoader does before it reads anything.
func CheckBatches(o option.Batches) error {
	r := ofBatches(&o)
	return r.check()
}

// check refuses options that contradict each other, and fills in defaults.
func (o *request) check() error {
	if err := operation.CheckRun(&o.Run); err != nil {
		return err
	}
	if err := o.checkPlan(); err != nil {
		return err
	}
	if err := o.checkAges(); err != nil {
		return err
	}
	if err := options.Check(o, options.OfHosts); err != nil {
		return err
	}
	return o.checkWork()
}

// reaches says whether the seed's nodes are reached without hops.
func (o *request) reaches() bool {
	return o.Sampler == option.SamplerPPR || o.Sampler == option.SamplerWalk
}

// layered says whether the nodes of a hop choose the nodes that they reach together, so that Fanout counts nodes.
func (o *request) layered() bool {
	switch o.Sampler {
	case option.SamplerLadies, option.SamplerFastGCN, option.SamplerHGT:
		return true
	}
	return false
}

// checkPlan checks the options that say which edges are drawn.
func (o *request) checkPlan() error {
	switch {
	case o.sets():
		return o.checkSets()
	case !slices.Contains([]option.Sampler{"", option.SamplerNeighbor, option.SamplerLabor, option.SamplerLadies, option.SamplerFastGCN, option.SamplerHGT, option.SamplerShadow, option.SamplerPPR, option.SamplerWalk}, o.Sampler):
		return operation.Usagef("found `Sampler` %q, expected neighbor, labor, ladies, fastgcn, hgt, shadow, ppr, walk, cluster, saint-node, saint-edge or saint-walk", o.Sampler)
	}
	var err error
	refused := func(needs ...*options.Need) bool {
		err = options.Check(o, needs...)
		return err != nil
	}
	if refused(options.ByFanout, options.NotInPlan) {
		return err
	}
	plans := 0
	for _, is := range []bool{o.Fanout != nil, o.FanoutByType != nil, o.Plan != "", o.SamplingSpec != ""} {
		if is {
			plans++
		}
	}
	if o.BatchSize == 0 {
		o.BatchSize = 1024
	}
	switch {
	case refused(options.OfSpec):
		return err
	case o.LimitSeeds < 0:
		return operation.Usagef("found `LimitSeeds` %d, expected at least 1", o.LimitSeeds)
	case plans != 1:
		return operation.Usagef("found %d of `Fanout`, `Plan` and `SamplingSpec`, expected one; try `Fanout` 15,10", plans)
	case o.BatchSize < 1:
		return operation.Usagef("found `BatchSize` %d, expected at least 1", o.BatchSize)
	case o.Replace && o.Weight != "":
		return operation.Usagef("found `Replace` and `Weight`, expected one of them")
	case refused(options.OfWalks):
		return err
	case o.Sampler == option.SamplerWalk && o.WalkLength == 0:
		return operation.Usagef("found no `WalkLength`, expected the number of steps of a walk, such as 8")
	case refused(options.OfWalk, options.OfCluster):
		return err
	case (o.Sampler == option.SamplerShadow || o.reaches()) && (o.Scope != "" && o.Scope != option.ScopeSeed || o.Subgraph != "" && o.Subgraph != induced):
		return operation.Usagef("found `Sampler` %s with `Scope` %s and `Subgraph` %s, expected neither: it means seed and induced; leave both out", o.Sampler, cmp.Or(o.Scope, "none"), cmp.Or(o.Subgraph, "none"))
	case o.reaches() && len(o.Fanout) > 1:
		return operation.Usagef("found `Fanout` of %d hops with `Sampler` %s, expected one number: the nodes to take of the seed", len(o.Fanout), o.Sampler)
	case o.Importance != 0 && (o.Sampler != option.SamplerLabor || o.Weight != ""):
		return operation.Usagef("found `Importance` %d with `Sampler` %s and `Weight` %s, expected it with labor alone; leave `Weight` out, or `Importance`", o.Importance, cmp.Or(o.Sampler, option.SamplerNeighbor), cmp.Or(o.Weight, "none"))
	case refused(options.OfPPR):
		return err
	case (o.layered() || o.reaches()) && (o.Replace || o.Weight != ""):
		return operation.Usagef("found `Sampler` %s and `%s`, expected one of them: it chooses nodes by the edges between them", o.Sampler, options.First(o, "Replace", "Weight"))
	case o.Sampler == option.SamplerHGT && (o.Expand != "" && o.Expand != option.ExpandAll || o.Subgraph != "" && o.Subgraph != induced):
		return operation.Usagef("found `Sampler` hgt with `Expand` %s and `Subgraph` %s, expected neither: it means all and induced; leave both out", cmp.Or(o.Expand, "none"), cmp.Or(o.Subgraph, "none"))
	case o.Sampler == option.SamplerLabor && o.Replace:
		return operation.Usagef("found `Sampler` labor and `Replace`, expected one of them: LABOR draws without replacement")
	case len(o.SeedType) > 2:
		return operation.Usagef("found `SeedType` %s, expected a node type or, for links, those of the source and target, or the edge type SRC:REL:DST", joined(o.SeedType))
	case o.Shuffle && o.Order != "":
		return operation.Usagef("found `Shuffle` and `Order` %s, expected one of them: an order shuffles by itself", o.Order)
	}
	switch o.Sampler {
	case option.SamplerShadow, option.SamplerPPR, option.SamplerWalk:
		o.Scope, o.Subgraph = option.ScopeSeed, induced
	case option.SamplerHGT:
		o.Expand, o.Subgraph = option.ExpandAll, induced
	}
	if err := o.checkTimes(); err != nil {
		return err
	}
	return o.checkLinks()
}

// checkWork checks the options that say how much is sampled, by which executor, and in which format.
func (o *request) checkWork() error {
	operation.SetDefault(&o.Epochs, 1)
	operation.SetDefault(&o.Ranks, 1)
	operation.SetDefault(&o.Format, option.FormatCollection)
	operation.SetDefault(&o.Executor, option.ExecutorAuto)
	operation.SetDefault(&o.Aggregation, option.AggregationEdge)
	operation.SetDefault(&o.Compat, option.CompatNone)
	switch {
	case o.Format != option.FormatCollection && o.Format != option.FormatTFRecord:
		return operation.Usagef("found `Format` %q, expected collection or tfrecord", o.Format)
	case o.Executor != option.ExecutorAuto && o.Executor != option.ExecutorMemory && o.Executor != option.ExecutorStream:
		return operation.Usagef("found `Executor` %q, expected auto, memory, stream", o.Executor)
	case o.Epochs < 1:
		return operation.Usagef("found `Epochs` %d, expected at least 1", o.Epochs)
	case o.Ranks < 1 || o.Rank < 0 || o.Rank >= o.Ranks:
		return operation.Usagef("found `Rank` %d of %d, expected 0 to %d", o.Rank, o.Ranks, o.Ranks-1)
	}
	if o.cluster != nil {
		if err := o.cluster.check(o); err != nil {
			return err
		}
	}
	if o.Format == option.FormatTFRecord {
		return o.checkRecords()
	}
	return options.Check(o, options.OfRecords)
}

// checkRecords checks the options of FormatTFRecord.
func (o *request) checkRecords() error {
	operation.SetDefault(&o.Shards, 1)
	operation.SetDefault(&o.Components, 1)
	switch {
	case o.Compat != option.CompatNone && o.Compat != option.CompatTFGNN && o.Compat != option.CompatClassic:
		return operation.Usagef("found `Compat` %q, expected none, tfgnn or tfgnn-classic", o.Compat)
	case o.NoEdgeIDs:
		return operation.Usagef("found `NoEdgeIDs` with `Format` tfrecord, expected `Format` collection; leave it out: TFRecords have no edge ids")
	case o.Ops:
		return operation.Usagef("found `Ops` with `Format` tfrecord, expected `Format` collection")
	case o.Aggregation != option.AggregationEdge && o.Aggregation != option.AggregationNode:
		return operation.Usagef("found `Aggregation` %q, expected edge or node", o.Aggregation)
	case o.Components < 1:
		return operation.Usagef("found `Components` %d, expected at least 1", o.Components)
	}
	return nil
}
