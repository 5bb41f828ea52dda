package command

import (
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// sampleFlags has the flags of sample.
type sampleFlags struct {
	workFlags
	outFlags
	theirs struct{ OutputSamples, InputSeeds string } // flags of TF-GNN's tfgnn_sampler
	runner string

	where *Where[sampling.Cluster]
}

// NewSample makes the command sample. where is nil for the one that samples in its own process.
func NewSample(t *cli.Terminal, where *Where[sampling.Cluster]) *cobra.Command {
	f := sampleFlags{where: where}
	cmd := &cobra.Command{
		Use:   "sample STORE",
		Short: "Sample subgraphs into a collection or TFRecords",
		Long: `Samples subgraphs around seed nodes, and writes them as a collection (NumPy arrays,
features by reference) or as TFRecords that TF-GNN reads (features joined). The same
store, plan and random seed give the same bytes for any number of threads, any memory
budget and any number of ranks.

With TF-GNN, give the flags of tfgnn_sampler instead of a STORE, and --compat tfgnn or
tfgnn-classic for Examples in the layout of its samplers. Edges whose source or
destination is not a node are then dropped, counted and reported (see --missing-nodes);
import stops with an error at such edges.

Seeds can be links: --seeds then names a table with the columns source and target.
TFRecords have links as TF-GNN's readout sets, with the other columns of the table as
features.`,
		Example: `  graphmill sample g.store --fanout 15,10 --batch-size 1024 --out batches
  graphmill sample g.store --fanout 'cites=15,10;writes=5,5' --seeds paper --scope seed --format tfrecord --shards 8 --out samples
  graphmill sample g.store --sampling-spec spec.pbtxt --format tfrecord --out samples
  graphmill sample g.store --fanout 10,10 --seeds paper:split=train --shuffle --epochs 3 --out train
  graphmill sample g.store --fanout 10,5 --before 'time<=' --scope seed --seeds user --out past
  graphmill sample g.store --fanout 10,5 --seeds links.csv --seed-type user,item --scope seed --format tfrecord --out links
  graphmill sample g.store --fanout 15,10 --epochs 100 --out train --resume
  graphmill sample --graph_schema schema.pbtxt --sampling_spec spec.pbtxt --output_samples out/samples.tfrecord@8`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.sample.GraphSchema != "" && (len(args) == 0 || f.theirs.OutputSamples != "") {
				return cli.NoArgs(cmd, args)
			}
			return cli.OneArg("one STORE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || f.theirs.OutputSamples != "" || f.theirs.InputSeeds != "" || f.sample.DataPath != "" {
				return sampleUnigraph(cmd, t, &f)
			}
			if cmd.Flags().Changed("missing-nodes") {
				return cli.Usagef("found --missing-nodes with a STORE, expected it with TF-GNN's flags: a store was imported with import --dangling-edges; import again with --dangling-edges")
			}
			return sampleStore(cmd, t, args[0], &f)
		},
	}
	f.workFlags.Add(cmd)
	f.outFlags.Add(cmd)
	fs := cmd.Flags()
	f.Bind(cmd, options.Unigraph, &f.theirs, &f.sample)
	if where != nil {
		cmd.Long, cmd.Example = where.Long, where.Example
		where.Add(fs)
	} else {
		fs.StringVar(&f.runner, "runner", "", "TF-GNN: accepted and ignored, as sampling does not use Beam")
		cli.Group(fs, options.GroupTFGNN, "runner")
	}
	f.sample.CheckpointEvery = 30 * time.Second
	f.Bind(cmd, options.Files, &f.sample)
	return cmd
}

// options returns the options that the flags set.
func (f *sampleFlags) options(t *cli.Terminal) (option.Unigraph, error) {
	if err := f.outFlags.Check(); err != nil {
		return f.sample, err
	}
	switch every := &f.sample.CheckpointEvery; {
	case *every < 0:
		return f.sample, cli.Usagef("found --checkpoint-every %s, expected at least 0s", *every)
	case *every == 0:
		*every = -1 // no checkpoints
	}
	o, err := f.workFlags.options(t)
	f.outFlags.Apply(&o.Run)
	return o, err
}

// sampleStore samples a store.
func sampleStore(cmd *cobra.Command, t *cli.Terminal, dir string, f *sampleFlags) error {
	o, err := f.options(t)
	if err != nil {
		return err
	}
	t.Renamed = map[string]string{"ranks": "rank"}
	c, err := f.where.cluster()
	if err != nil {
		return err
	}
	return t.Finish(f.AsJSON)(sampling.SampleFolder(cmd.Context(), dir, f.Path, o.Sample, c))
}

var shardedName = regexp.MustCompile(`^(.+?)(?:@(\d+))?$`)

// sampleUnigraph imports and samples, as tfgnn_sampler does.
func sampleUnigraph(cmd *cobra.Command, t *cli.Terminal, f *sampleFlags) error {
	if f.sample.GraphSchema == "" || f.theirs.OutputSamples == "" || f.sample.SamplingSpec == "" {
		return cli.Usagef("found some of TF-GNN's flags, expected --graph_schema, --sampling_spec and --output_samples, or a STORE; give all three, or Graphmill's own flags with a STORE")
	}
	if f.Path != "" {
		return cli.Usagef("found --out and --output_samples, expected one of them")
	}
	folder, name := filepath.Split(f.theirs.OutputSamples)
	m := shardedName.FindStringSubmatch(name)
	if folder == "" || m == nil {
		return cli.Usagef("found --output_samples %q, expected FOLDER/NAME or FOLDER/NAME@SHARDS, with a new folder for the output", f.theirs.OutputSamples)
	}
	f.Path, f.sample.Name, f.sample.Format = filepath.Clean(folder), m[1], option.FormatTFRecord
	if m[2] != "" {
		var err error
		if f.sample.Shards, err = strconv.Atoi(m[2]); err != nil || f.sample.Shards < 1 || f.sample.Shards > 99999 {
			return cli.Usagef("found --output_samples %q, expected 1 to 99999 shards", f.theirs.OutputSamples)
		}
	}
	if f.theirs.InputSeeds != "" {
		f.sample.Seeds = f.theirs.InputSeeds
	}
	t.Renamed = map[string]string{"ranks": "rank"}
	o, err := f.options(t)
	if err != nil {
		return err
	}
	c, err := f.where.cluster()
	if err != nil {
		return err
	}
	if f.runner != "" {
		t.Say("warning: --runner %s is ignored: sampling runs in this process", f.runner)
	}
	schema := o.GraphSchema
	o.GraphSchema = ""
	return t.Finish(f.AsJSON)(sampling.SampleUnigraph(cmd.Context(), schema, f.Path, o, c))
}
