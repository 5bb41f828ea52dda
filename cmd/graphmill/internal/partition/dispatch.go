package partition

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
)

// addParts adds the flags of the commands that write and send parts.
func addParts(cmd *cobra.Command, o *graphmill.PartsOptions) {
	f := cmd.Flags()
	f.StringVar(&o.GraphName, "graph-name", "", "name of the graph and of its configuration file (default: name of the input)")
	f.IntVar(&o.NumHops, "num-hops", 1, "number of hops that the halo of a part reaches, 0 to 8; both 0 and 1 keep the in-edges of its own nodes")
	f.StringVar(&o.GraphFormats, "graph-formats", "", "sparse formats in which a part is stored, separated by commas: coo, csc, csr")
	f.BoolVar(&o.SaveOrigNids, "save-orig-nids", false, "write the original node ids: part<p>/orig_nids.dgl")
	f.BoolVar(&o.SaveOrigEids, "save-orig-eids", false, "write the original edge ids: part<p>/orig_eids.dgl")
	f.IntVar(&o.PartsAtOnce, "parts-at-once", 0, "most parts to make at a time (default: as many as fit --memory; with --resume at most a quarter of the parts)")
	f.BoolVar(&o.Resume, "resume", false, "keep the finished parts if the run is interrupted, and continue an earlier run that was interrupted")
	s := &o.Send
	f.StringVar(&s.IPConfig, "ip-config", "", "file with one machine per line, ADDRESS [PORT] (the port is DGL's): send part p to machine p mod n over SFTP")
	f.StringVar(&s.RemoteDir, "remote-dir", "", "folder on each machine (default: the local path of the parts)")
	f.StringVar(&s.SSHUser, "ssh-user", "", "user on the machines (default: the current user)")
	f.IntVar(&s.SSHPort, "ssh-port", 0, "SSH port of the machines")
	f.StringArrayVar(&s.Identity, "identity", nil, "file with a private key to log in with; may be repeated (default: keys of the SSH agent and in ~/.ssh)")
	f.StringArrayVar(&s.KnownHosts, "known-hosts", nil, "file with host keys of the machines; may be repeated (default: ~/.ssh/known_hosts)")
	cli.Defaults(f, map[string]string{"graph-formats": "coo,csc", "ssh-port": "22"})
}

// hops turns --num-hops 0 into NoHops, because 0 in the options is the default.
func hops(o *graphmill.PartsOptions) error {
	switch {
	case o.NumHops < 0:
		return cli.Usagef("found --num-hops %d, expected 0 to 8", o.NumHops)
	case o.NumHops == 0:
		o.NumHops = graphmill.NoHops
	}
	return nil
}

// NewDispatch makes the command dispatch.
func NewDispatch(t *cli.Terminal) *cobra.Command {
	var f struct {
		cli.Output
		inDir, outDir          string
		assignment, partitions string
		dryRun                 bool
	}
	var o graphmill.DispatchOptions
	cmd := &cobra.Command{
		Use:   "dispatch STORE|CHUNKED|PARTS",
		Short: "Write the parts of a graph in DGL's distributed format",
		Long: `Reads a store or a graph in DGL's chunked format, and the assignment of its nodes to
parts (from graphmill partition, or any folder of <node type>.txt). Writes the files
that dgl.distributed loads: <graph name>.json, metadata.json, and for each part
graph.dgl, node_feat.dgl and edge_feat.dgl. Neither Python nor DGL is needed.

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
  graphmill dispatch g.store --assignment g.parts --out parts --ip-config ip_config.txt --remote-dir /data/parts
  graphmill dispatch parts --ip-config ip_config.txt --remote-dir /data/parts
  graphmill dispatch --in-dir chunked/ --partitions-dir g.parts --out-dir parts`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.inDir != "" {
				return cli.NoArgs(cmd, args)
			}
			return cli.OneArg("one STORE, CHUNKED graph or folder of PARTS; or --in-dir")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in := f.inDir
			if in == "" {
				in = args[0]
			}
			for _, x := range []struct {
				ours, theirs *string
				names        string
			}{{&f.Path, &f.outDir, "--out and --out-dir"}, {&f.assignment, &f.partitions, "--assignment and --partitions-dir"}} {
				if *x.ours != "" && *x.theirs != "" {
					return cli.Usagef("found both %s, expected one of them", x.names)
				}
				if *x.ours == "" {
					*x.ours = *x.theirs
				}
			}
			if err := f.Common.Check(); err != nil {
				return err
			}
			if err := hops(&o.PartsOptions); err != nil {
				return err
			}
			o.Run = f.Run(t)
			made, err := graphmill.IsParts(in)
			switch {
			case err != nil:
				return err
			case made && (f.assignment != "" || f.Path != ""):
				return cli.Usagef("%s: found the parts of a graph with --assignment or --out, expected neither: they are only sent", in)
			case made:
				return t.Finish(f.AsJSON)(graphmill.Send(cmd.Context(), in, o))
			case f.dryRun:
				if f.Path == "" {
					f.Path = filepath.Clean(in) + ".parts"
				}
				return printForecast(t, f.AsJSON)(graphmill.ForecastDispatch(cmd.Context(), in, f.assignment, f.Path, o))
			}
			return t.Finish(f.AsJSON)(graphmill.Dispatch(cmd.Context(), in, f.assignment, f.Path, o))
		},
	}
	f.Output.Add(cmd)
	addParts(cmd, &o.PartsOptions)
	fs := cmd.Flags()
	fs.BoolVar(&o.OutEdges, "out-edges", false, "add the edges that leave the part to the halo, as DGL's partition_graph does; needs --num-hops of at least 1")
	fs.BoolVar(&f.dryRun, "dry-run", false, "print a forecast of disk space, memory and time, and write no parts")
	fs.StringVar(&f.assignment, "assignment", "", "folder with <node type>.txt and partition_meta.json (required)")
	fs.StringVar(&f.inDir, "in-dir", "", "DGL's name of the input")
	fs.StringVar(&f.partitions, "partitions-dir", "", "DGL's name of --assignment")
	fs.StringVar(&f.outDir, "out-dir", "", "DGL's name of --out")
	fs.IntVar(&o.NumParts, "num-parts", 0, "number of parts that the assignment must have (default: any)")
	fs.BoolVar(&o.AllowOutside, "allow-outside", false, "let metadata.json name files outside its folder")
	return cmd
}

// printForecast returns a function that prints a forecast, or returns its error.
func printForecast(t *cli.Terminal, asJSON bool) func(*graphmill.DispatchForecast, error) error {
	return func(f *graphmill.DispatchForecast, err error) error {
		if err != nil {
			return err
		}
		return t.Print(f, asJSON)
	}
}

// NewPartitionGraph makes the command partition-graph.
func NewPartitionGraph(t *cli.Terminal) *cobra.Command {
	var f struct {
		cli.Output
		outEdges, dryRun bool
	}
	var o graphmill.PartitionGraphOptions
	cut := cutFlags{PartitionOptions: &o.PartitionOptions}
	cmd := &cobra.Command{
		Use:   "partition-graph STORE|CHUNKED",
		Short: "Divide a graph and write its parts for DGL, in one step",
		Long: `Does the work of dgl.distributed.partition_graph: graphmill partition, then graphmill
dispatch. As with partition_graph, the halo has the edges that leave a part (--out-edges
is on), and nodes have the data part_id.

--return-mapping also writes the arrays that partition_graph returns:
orig_nids/<node type>.npy and orig_eids/<src>+<rel>+<dst>.npy have the original id of
each new type-wise id.`,
		Example: `  graphmill partition-graph g.store --parts 8 --out parts
  graphmill partition-graph g.store --parts 4 --num-hops 2 --balance-edges --return-mapping --out parts
  graphmill partition-graph chunked/ --parts 4 --num-trainers-per-machine 2 --graph-formats csc --out parts`,
		Args: cli.OneArg("one STORE or CHUNKED graph"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Output.Check(); err != nil {
				return err
			}
			if err := cut.check(cmd); err != nil {
				return err
			}
			if err := hops(&o.PartsOptions); err != nil {
				return err
			}
			o.Run, o.InEdgesOnly = f.Run(t), !f.outEdges
			if f.dryRun {
				return printForecast(t, f.AsJSON)(graphmill.ForecastPartitionGraph(cmd.Context(), args[0], f.Path, o))
			}
			return t.Finish(f.AsJSON)(graphmill.PartitionGraph(cmd.Context(), args[0], f.Path, o))
		},
	}
	f.Output.Add(cmd)
	cut.add(cmd)
	addParts(cmd, &o.PartsOptions)
	fs := cmd.Flags()
	fs.BoolVar(&f.outEdges, "out-edges", true, "add the edges that leave the part to the halo, as DGL's partition_graph does; needs --num-hops of at least 1")
	fs.BoolVar(&f.dryRun, "dry-run", false, "print a forecast of disk space, memory and time, and write no parts")
	fs.BoolVar(&o.ReturnMapping, "return-mapping", false, "write the original ids: sets --save-orig-nids and --save-orig-eids, and adds one .npy file per type")
	return cmd
}
