package command

import (
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/option"
)

// workFlags has the flags that sample and forecast share: what is sampled, by which executor, and in which format.
type workFlags struct {
	CommonFlags
	SamplingFlags
	option.Records
	format option.Format
	rank   string
}

// Add adds the flags to a command.
func (f *workFlags) Add(cmd *cobra.Command) {
	f.CommonFlags.Add(cmd)
	fs := cmd.Flags()
	f.SamplingFlags.Add(fs)
	f.AddEpoch(fs)
	o := f
	fs.StringVar((*string)(&o.Compat), "compat", "", "layout of tf.train.Examples: that of TF-GNN's tfgnn_sampler (tfgnn) or older graph_sampler (tfgnn-classic), or Graphmill's own (none)")
	fs.StringVar((*string)(&o.Aggregation), "edge-aggregation", "", "edges of an Example: those that were drawn (edge), or all between its nodes (node)")
	fs.StringVar((*string)(&o.Aggregation), "edge-aggregation-method", "", "TF-GNN: the same as --edge-aggregation")
	fs.BoolVar(&o.SeedIDs, "seed-ids", false, "write sample_id and seed_id into the context of TFRecords")
	fs.IntVar(&o.Components, "components", 0, "subgraphs per Example, one component each; more than 1 needs --scope seed")
	fs.StringVar((*string)(&o.format), "format", "", "output format: collection or tfrecord")
	fs.StringVar((*string)(&o.Executor), "executor", "", "how neighbours are read: memory (random reads from the mapped store), stream (sequential sweeps over the disk, for graphs larger than memory), or auto; auto is memory if its data fit --memory or the available memory, else stream")
	fs.IntVar(&o.Epochs, "epochs", 0, "number of epochs")
	fs.BoolVar(&o.Shuffle, "shuffle", false, "shuffle the seeds, differently in each epoch")
	fs.StringVar(&f.rank, "rank", "0/1", "R/W: sample only the batches of rank R of W ranks")
	fs.BoolVar(&o.NoEdgeIDs, "no-edge-ids", false, "leave the ids of edges out of a collection: edges take a third less space, and the stream executor draws less")
	fs.BoolVar(&o.Ops, "ops", false, "keep in a collection the nodes that each op expanded and the edges that it drew")
	cli.Defaults(fs, map[string]string{"compat": "none", "edge-aggregation": "edge", "edge-aggregation-method": "edge", "components": "1", "format": "collection", "executor": "auto", "epochs": "1"})
	cli.Choices(fs, "compat", "none", "tfgnn", "tfgnn-classic")
	cli.Choices(fs, "edge-aggregation", "edge", "node")
	cli.Choices(fs, "edge-aggregation-method", "edge", "node")
	cli.Choices(fs, "format", option.FormatCollection, option.FormatTFRecord)
	cli.Choices(fs, "executor", option.ExecutorAuto, option.ExecutorMemory, option.ExecutorStream)
	cli.Named(fs, "R/W", "rank")
	cli.Group(fs, cli.GroupSeeds, "*epochs", "*shuffle", "rank")
	cli.Group(fs, cli.GroupOutput, "*format", "edge-aggregation", "seed-ids", "components", "no-edge-ids", "ops")
	cli.Group(fs, cli.GroupRun, "*executor")
	cli.Group(fs, cli.GroupTFGNN, "compat", "edge-aggregation-method")
}

var rankForm = regexp.MustCompile(`^(\d{1,9})/(\d{1,9})$`)

// options returns the options that the flags set.
func (f *workFlags) options(cmd *cobra.Command, t *cli.Terminal) (option.Sample, error) {
	if err := f.Check(); err != nil {
		return option.Sample{}, err
	}
	if err := f.parse(); err != nil {
		return option.Sample{}, err
	}
	if err := cli.Positive(cmd.Flags(), "epochs", "components", "shards"); err != nil {
		return option.Sample{}, err
	}
	m := rankForm.FindStringSubmatch(f.rank)
	if m == nil {
		return option.Sample{}, cli.Usagef("found --rank %q, expected R/W, such as 0/4", f.rank)
	}
	// Numbers of nine digits fit an int.
	f.Rank, _ = strconv.Atoi(m[1])
	f.Ranks, _ = strconv.Atoi(m[2])
	if f.Rank >= f.Ranks {
		return option.Sample{}, cli.Usagef("found --rank %q, expected R below W", f.rank)
	}
	o := option.Sample{Run: f.Run(t), Draw: f.Draw, Batching: f.Batching, Format: f.format, Records: f.Records}
	return o, sampling.Check(o)
}
