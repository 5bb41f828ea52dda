package command

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/dispatching"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// NewDispatch makes the command dispatch. where is nil for the one that makes parts in its own process.
func NewDispatch(t *cli.Terminal, where *Where[dispatching.Cluster]) *cobra.Command {
	var f struct {
		outputFlags
		InDir, OutDir, Assignment, PartitionsDir string
		DryRun                                   bool
	}
	var o option.Dispatch
	cmd := &cobra.Command{
		Use:   "dispatch STORE|CHUNKED|PARTS",
		Short: "Write the parts of a graph in DGL's distributed format",
		Long: `Reads a store or a graph in DGL's chunked format, and the assignment of its nodes to
parts (from graphmill partition, or any folder of <node type>.txt). With --parts, the
nodes are divided by a hash or at random instead. Writes the files that
dgl.distributed loads: <graph name>.json, metadata.json, and for each part graph.dgl,
node_feat.dgl and edge_feat.dgl. Neither Python nor DGL is needed.

A part has the nodes and edges that it owns, and a halo. The part that owns the
destination of an edge owns the edge. --num-hops 1 keeps the in-edges of owned nodes
and their sources, as DGL's dispatch does. --num-hops 2 adds the in-edges of the halo.
--out-edges adds the edges that leave the part, as DGL's partition_graph does. A part
has the features of the nodes and edges that it owns. The bytes do not depend on
--threads or --memory. A warning lists the types with features of which a part owns
nothing: DGL's server does not start for that part.

The flags of DGL's dispatch_data.py are accepted. With --ip-config, the finished parts
are sent to their machines over SFTP. If the input is a folder of parts, the command
only sends them.`,
		Example: `  graphmill dispatch g.store --assignment g.parts --out parts
  graphmill dispatch chunked/ --assignment g.parts --save-orig-nids --save-orig-eids --out parts
  graphmill dispatch g.store --assignment g.parts --num-hops 2 --out-edges --memory 2GiB --resume --out parts
  graphmill dispatch g.store --assignment g.parts --dry-run
  graphmill dispatch g.store --parts 8 --out parts
  graphmill dispatch g.store --assignment g.parts --out parts --ip-config ip_config.txt --remote-dir /data/parts
  graphmill dispatch parts --ip-config ip_config.txt --remote-dir /data/parts
  graphmill dispatch --in-dir chunked/ --partitions-dir g.parts --out-dir parts`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.InDir != "" {
				return cli.NoArgs(cmd, args)
			}
			return cli.OneArg("one STORE, CHUNKED graph or folder of PARTS; or --in-dir")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in := f.InDir
			if in == "" {
				in = args[0]
			}
			for _, x := range []struct {
				ours, theirs *string
				names        string
			}{{&f.Path, &f.OutDir, "--out and --out-dir"}, {&f.Assignment, &f.PartitionsDir, "--assignment and --partitions-dir"}} {
				if *x.ours != "" && *x.theirs != "" {
					return cli.Usagef("found both %s, expected one of them", x.names)
				}
				if *x.ours == "" {
					*x.ours = *x.theirs
				}
			}
			if err := f.CommonFlags.Check(); err != nil {
				return err
			}
			if err := applyHops(&o.DGLParts); err != nil {
				return err
			}
			o.Run = f.Run(t)
			made, err := dispatching.IsParts(in)
			if err == nil && where != nil && made {
				return cli.Usagef("%s: found the parts of a graph, expected a store; to send parts, use graphmill dispatch", in)
			}
			c, wrong := where.cluster()
			err = errors.Join(err, wrong)
			switch {
			case err != nil:
				return err
			case made && (f.Assignment != "" || f.Path != ""):
				return cli.Usagef("%s: found the parts of a graph with --assignment or --out, expected neither: they are only sent; leave both out to send the parts, or give the store to make others", in)
			case made:
				return t.Finish(f.AsJSON)(graphmill.Send(cmd.Context(), in, o))
			case f.DryRun:
				if f.Path == "" {
					f.Path = filepath.Clean(in) + ".parts"
				}
				return printDispatchForecast(t, f.AsJSON)(graphmill.ForecastDispatch(cmd.Context(), in, f.Assignment, f.Path, o))
			}
			return t.Finish(f.AsJSON)(dispatching.Dispatch(cmd.Context(), in, f.Assignment, f.Path, o, c))
		},
	}
	f.outputFlags.Add(cmd)
	addPartsFlags(cmd, &f.CommonFlags, &o.DGLParts)
	fs := cmd.Flags()
	f.Bind(cmd, options.OutEdges, &o)
	if where != nil {
		cmd.Use, cmd.Long, cmd.Example = "dispatch STORE", where.Long, where.Example
		where.Add(fs)
	} else {
		f.Bind(cmd, options.DryRun, &f)
	}
	f.Bind(cmd, options.Dispatch, &f, &o)
	return cmd
}

// printDispatchForecast returns a function that prints a forecast, or returns its error.
func printDispatchForecast(t *cli.Terminal, asJSON bool) func(*report.DispatchForecast, error) error {
	return func(f *report.DispatchForecast, err error) error {
		if err != nil {
			return err
		}
		return t.Print(f, asJSON)
	}
}
