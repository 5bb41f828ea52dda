package command

import (
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/option"
)

// sampleFlags has the flags of sample.
type sampleFlags struct {
	workFlags
	outFlags
	ids        string
	resume     bool
	checkpoint time.Duration
	// Flags of TF-GNN's tfgnn_sampler.
	dataPath, samples, inputSeeds, runner string
	missing                               option.Missing

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
			if f.GraphSchema != "" && (len(args) == 0 || f.samples != "") {
				return cli.NoArgs(cmd, args)
			}
			return cli.OneArg("one STORE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || f.samples != "" || f.inputSeeds != "" || f.dataPath != "" {
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
	fs, o := cmd.Flags(), &f
	fs.StringVar(&o.GraphSchema, "graph-schema", "", "TF-GNN: GraphSchema of a unigraph, a file or its folder, to import and sample in one step; with a STORE: GraphSchema of its graph, for descriptions and the features of links")
	fs.StringVar(&f.dataPath, "data-path", "", "TF-GNN: folder of the unigraph's tables (default: folder of the schema)")
	fs.StringVar(&f.samples, "output-samples", "", "TF-GNN: TFRecords to write, FOLDER/NAME or FOLDER/NAME@SHARDS; FOLDER is a new output folder")
	fs.StringVar(&f.inputSeeds, "input-seeds", "", "TF-GNN: file of seeds (default: all nodes of the node set of the seed op)")
	fs.StringVar((*string)(&f.missing), "missing-nodes", "", "TF-GNN: how to treat nodes that edges name and that no table has: error, drop (drop their edges), or zeros (add them with features of zeros) (default: drop; zeros with --compat tfgnn or tfgnn-classic)")
	if where != nil {
		cmd.Long, cmd.Example = where.Long, where.Example
		where.Add(fs)
	} else {
		fs.StringVar(&f.runner, "runner", "", "TF-GNN: accepted and ignored, as sampling does not use Beam")
		cli.Group(fs, cli.GroupTFGNN, "runner")
	}
	fs.BoolVar(&o.resume, "resume", false, "continue an interrupted run of the same command, if there is one")
	fs.DurationVar(&f.checkpoint, "checkpoint-every", 30*time.Second, "time between two checkpoints, from which --resume continues; 0 makes no checkpoints")
	fs.IntVar(&o.Shards, "shards", 0, "number of TFRecord files")
	fs.StringVar(&o.Name, "name", "", "prefix of the names of TFRecord files (default \"samples.tfrecord\")")
	fs.BoolVar(&o.Gzip, "gzip", false, "compress TFRecords")
	fs.StringVar(&f.ids, "ids", "", "node types whose original ids are written to TFRecords as #id: TYPE,TYPE, all or none (default: as the unigraph's schema declares)")
	cli.Defaults(fs, map[string]string{"shards": "1"})
	cli.Choices(fs, "missing-nodes", "error", "drop", "zeros")
	cli.Files(fs, "graph-schema", "input-seeds")
	cli.Folders(fs, "data-path")
	cli.Values(fs, cli.NodeTypes, "TYPES", "ids")
	cli.Group(fs, cli.GroupTFGNN, "graph-schema", "data-path", "output-samples", "input-seeds", "missing-nodes")
	cli.Group(fs, cli.GroupOutput, "*shards", "name", "gzip", "ids")
	cli.Group(fs, cli.GroupRun, "*resume", "checkpoint-every")
	return cmd
}

// options returns the options that the flags set.
func (f *sampleFlags) options(cmd *cobra.Command, t *cli.Terminal) (option.Sample, error) {
	if err := f.outFlags.Check(); err != nil {
		return option.Sample{}, err
	}
	if f.checkpoint < 0 {
		return option.Sample{}, cli.Usagef("found --checkpoint-every %s, expected at least 0s", f.checkpoint)
	}
	o, err := f.workFlags.options(cmd, t)
	if err != nil {
		return o, err
	}
	f.outFlags.Apply(&o.Run)
	o.IDs, o.Resume, o.CheckpointEvery = splitCommas(f.ids), f.resume, f.checkpoint
	if f.checkpoint == 0 {
		o.CheckpointEvery = -1
	}
	return o, nil
}

// sampleStore samples a store.
func sampleStore(cmd *cobra.Command, t *cli.Terminal, dir string, f *sampleFlags) error {
	o, err := f.options(cmd, t)
	if err != nil {
		return err
	}
	t.Renamed = map[string]string{"ranks": "rank"}
	c, err := f.where.cluster()
	if err != nil {
		return err
	}
	return t.Finish(f.AsJSON)(sampling.SampleFolder(cmd.Context(), dir, f.Path, o, c))
}

var shardedName = regexp.MustCompile(`^(.+?)(?:@(\d+))?$`)

// sampleUnigraph imports and samples, as tfgnn_sampler does.
func sampleUnigraph(cmd *cobra.Command, t *cli.Terminal, f *sampleFlags) error {
	if f.GraphSchema == "" || f.samples == "" || f.SamplingSpec == "" {
		return cli.Usagef("found some of TF-GNN's flags, expected --graph_schema, --sampling_spec and --output_samples, or a STORE; give all three, or Graphmill's own flags with a STORE")
	}
	if f.Path != "" {
		return cli.Usagef("found --out and --output_samples, expected one of them")
	}
	folder, name := filepath.Split(f.samples)
	m := shardedName.FindStringSubmatch(name)
	if folder == "" || m == nil {
		return cli.Usagef("found --output_samples %q, expected FOLDER/NAME or FOLDER/NAME@SHARDS, with a new folder for the output", f.samples)
	}
	f.Path, f.Name, f.format = filepath.Clean(folder), m[1], option.FormatTFRecord
	if m[2] != "" {
		var err error
		if f.Shards, err = strconv.Atoi(m[2]); err != nil || f.Shards < 1 || f.Shards > 99999 {
			return cli.Usagef("found --output_samples %q, expected 1 to 99999 shards", f.samples)
		}
	}
	if f.inputSeeds != "" {
		f.Seeds = f.inputSeeds
	}
	t.Renamed = map[string]string{"ranks": "rank"}
	o, err := f.options(cmd, t)
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
	return t.Finish(f.AsJSON)(sampling.SampleUnigraph(cmd.Context(), schema, f.Path, option.Unigraph{Sample: o, DataPath: f.dataPath, MissingNodes: f.missing}, c))
}
