package main

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/dispatch"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/format/chunked"
	"github.com/graphmill/graphmill/internal/format/dgl"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// partsFlags are the flags of the commands that write parts.
type partsFlags struct {
	graphName string
	hops      int
	outEdges  bool
	formats   string
	origNodes bool
	origEdges bool
	atOnce    int
	resume    bool
	dryRun    bool
}

func (p *partsFlags) add(cmd *cobra.Command, outEdges bool) {
	f := cmd.Flags()
	f.StringVar(&p.graphName, "graph-name", "", "name of the graph and of its configuration (default: that of the input)")
	f.IntVar(&p.hops, "num-hops", 1, "how far the halo of a part reaches; 0 and 1 are the in-edges of its nodes")
	f.BoolVar(&p.outEdges, "out-edges", outEdges, "the halo has the edges that leave the part too, from 1 hop on, as DGL's partition_graph keeps them")
	f.StringVar(&p.formats, "graph-formats", "coo,csc", "sparse matrices of a part: coo, csc, csr")
	f.BoolVar(&p.origNodes, "save-orig-nids", false, "write the original node ids: part<p>/orig_nids.dgl")
	f.BoolVar(&p.origEdges, "save-orig-eids", false, "write the original edge ids: part<p>/orig_eids.dgl")
	f.IntVar(&p.atOnce, "parts-at-once", 0, "make so many parts at a time (default: as many as fit --memory; a quarter with --resume)")
	f.BoolVar(&p.resume, "resume", false, "keep finished parts when the run is interrupted, and go on with those of a run before")
	f.BoolVar(&p.dryRun, "dry-run", false, "print how much disk, memory and time it takes, and end")
}

// options checks the flags. name is the graph's if no flag says another.
func (p *partsFlags) options(name string, parts int, c common) (opt dispatch.Options, err error) {
	if p.graphName != "" {
		name = p.graphName
	}
	if err := dispatch.CheckGraphName(name); err != nil {
		return opt, usagef("%w; give --graph-name", err)
	}
	if p.hops < 0 || p.hops > 8 {
		return opt, usagef("found --num-hops %d, expected 0 to 8", p.hops)
	}
	if p.atOnce < 0 {
		return opt, usagef("found --parts-at-once %d, expected at least 1", p.atOnce)
	}
	opt = dispatch.Options{GraphName: name, Hops: p.hops, Leaving: p.outEdges, OriginalNodes: p.origNodes, OriginalEdges: p.origEdges,
		Threads: c.threads, Memory: int64(c.memory), PartsAtOnce: p.atOnce}
	if p.resume && p.atOnce == 0 {
		opt.PartsAtOnce = (parts + 3) / 4
	}
	if opt.Formats, err = dgl.ParseFormats(p.formats); err != nil {
		return opt, usagef("--graph-formats: %w", err)
	}
	return opt, nil
}

// made adds what the parts are a function of.
func (p *partsFlags) made(m *store.Made, opt dispatch.Options) {
	for key, v := range map[string]string{
		"graph_name": opt.GraphName, "num_hops": strconv.Itoa(p.hops), "out_edges": strconv.FormatBool(p.outEdges), "graph_formats": opt.Formats.String(),
		"save_orig_nids": strconv.FormatBool(p.origNodes), "save_orig_eids": strconv.FormatBool(p.origEdges), "part_ids": strconv.FormatBool(opt.PartIDs)} {
		m.Options[key] = v
	}
}

// dispatchInput are the flags of the commands that read a graph with all its columns.
type dispatchInput struct {
	common
	outFlags
	outside bool
}

// dispatchFlags are the flags of dispatch.
type dispatchFlags struct {
	dispatchInput
	partsFlags
	sendFlags
	inDir      string
	assignment string
	partitions string
	outDir     string
	numParts   int
}

func newDispatch(t *terminal) *cobra.Command {
	var f dispatchFlags
	cmd := &cobra.Command{
		Use:   "dispatch STORE|CHUNKED|PARTS",
		Short: "Write the parts of a graph in DGL's distributed format",
		Long: `Takes a store, or a graph in DGL's chunked format, and an assignment of its nodes to
parts (graphmill partition, or any folder of <node type>.txt), and writes what
dgl.distributed loads: <graph name>.json, metadata.json, and for each part graph.dgl,
node_feat.dgl and edge_feat.dgl. Neither Python nor DGL is needed.

A part has the nodes and edges that it owns, an edge with its destination, and a
halo. --num-hops 1 keeps the in-edges of owned nodes and their sources, as DGL's
dispatch does; with --out-edges also the edges that leave the part, as DGL's
partition_graph does; --num-hops 2 also the in-edges of the halo. Features are those
of owned nodes and edges. The bytes depend on neither --threads nor --memory. A warning names the
types with features of which a part owns nothing: DGL's server does not start for that part.

The flags of DGL's dispatch_data.py are taken as they are. With --ip-config, the parts
then go to their machines over SFTP; given a folder of parts, it only sends them.`,
		Example: `  graphmill dispatch g.store --assignment g.parts --out parts
  graphmill dispatch chunked/ --assignment g.parts --save-orig-nids --save-orig-eids --out parts
  graphmill dispatch g.store --assignment g.parts --num-hops 2 --out-edges --memory 2GiB --resume --out parts
  graphmill dispatch g.store --assignment g.parts --dry-run
  graphmill dispatch g.store --assignment g.parts --out parts --ip-config ip_config.txt --remote-dir /data/parts
  graphmill dispatch parts --ip-config ip_config.txt --remote-dir /data/parts
  graphmill dispatch --in-dir chunked/ --partitions-dir g.parts --out-dir parts`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.inDir != "" {
				return noArgs(cmd, args)
			}
			return oneArg("one STORE, CHUNKED graph or folder of PARTS; or --in-dir")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in := f.inDir
			if in == "" {
				in = args[0]
			}
			if err := f.check(cmd); err != nil {
				return err
			}
			if config, err := parts.Find(vfs.OS, in); err != nil {
				return err
			} else if config != "" {
				return t.sendOnly(cmd, in, &f)
			}
			return t.dispatch(cmd.Context(), in, &f)
		},
	}
	f.common.add(cmd)
	f.outFlags.add(cmd)
	f.partsFlags.add(cmd, false)
	f.sendFlags.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.assignment, "assignment", "", "folder with <node type>.txt and partition_meta.json (required)")
	fs.StringVar(&f.inDir, "in-dir", "", "DGL's name of the input")
	fs.StringVar(&f.partitions, "partitions-dir", "", "DGL's name of --assignment")
	fs.StringVar(&f.outDir, "out-dir", "", "DGL's name of --out")
	fs.IntVar(&f.numParts, "num-parts", 0, "the number of parts, to be held against the assignment's")
	fs.BoolVar(&f.outside, "allow-outside", false, "let metadata.json name files outside of its folder")
	return cmd
}

func (f *dispatchFlags) check(cmd *cobra.Command) error {
	for _, x := range []struct {
		ours, theirs *string
		names        string
	}{{&f.out, &f.outDir, "--out and --out-dir"}, {&f.assignment, &f.partitions, "--assignment and --partitions-dir"}} {
		if *x.ours != "" && *x.theirs != "" {
			return usagef("found both %s, expected one of them", x.names)
		}
		if *x.ours == "" {
			*x.ours = *x.theirs
		}
	}
	return errors.Join(f.common.check(), f.sendFlags.check(cmd))
}

// sendOnly sends parts that are made.
func (t *terminal) sendOnly(cmd *cobra.Command, dir string, f *dispatchFlags) error {
	switch {
	case f.ipConfig == "":
		return usagef("%s: found the parts of a graph, expected a store or chunked graph; to send the parts, give --ip-config", dir)
	case f.assignment != "" || f.out != "":
		return usagef("%s: found the parts of a graph with --assignment or --out, expected neither: they are only sent", dir)
	}
	s, err := f.delivery(dir, f.force, f.common)
	if err != nil {
		return err
	}
	return t.sendParts(cmd.Context(), s, f.common)
}

func (t *terminal) dispatch(ctx context.Context, in string, f *dispatchFlags) (err error) {
	start := time.Now()
	if f.assignment == "" {
		return usagef("found no --assignment, expected the folder that says which part each node is in; make one with: graphmill partition %s --parts K --out DIR", in)
	}
	if f.dryRun && f.out == "" {
		f.out = filepath.Clean(in) + ".parts"
	}
	if err := f.outFlags.check(); err != nil {
		return err
	}
	if err := f.keeps(in, f.assignment); err != nil {
		return err
	}
	r := t.begin("dispatch", "Parts of "+graphName(in), f.common)
	g, err := t.openDispatched(ctx, in, &f.dispatchInput, r)
	if err != nil {
		return err
	}
	defer closeWith(&err, g.close)
	s := g.store
	types, counts := nodeCounts(s.Graph)
	a, err := assign.Read(ctx, vfs.OS, f.assignment, types, counts)
	if err != nil {
		return err
	}
	if f.numParts != 0 && f.numParts != a.Parts {
		return usagef("found --num-parts %d, expected %d as in %s", f.numParts, a.Parts, f.assignment)
	}
	opt, err := f.options(g.name, a.Parts, f.common)
	if err != nil {
		return err
	}
	sums, err := assignmentInputs(ctx, f.assignment, "assignment/", a, r)
	if err != nil {
		return err
	}
	made := store.Made{Command: "dispatch", Inputs: sums, Version: version(), Options: map[string]string{}}
	maps.Copy(made.Inputs, g.inputs)
	f.made(&made, opt)
	job := &partsJob{store: s, assignment: a, opt: opt, made: made, out: f.outFlags, flags: &f.partsFlags, common: f.common, send: f.sendFlags}
	return t.writeParts(ctx, job, r, start)
}

// nodeCounts are the node types of a graph and how many nodes each has.
func nodeCounts(g *graph.Graph) (types []string, counts []uint64) {
	for _, n := range g.Nodes {
		types, counts = append(types, n.Type), append(counts, uint64(n.Count))
	}
	return types, counts
}

// dispatched is the graph that is dispatched.
type dispatched struct {
	store  *store.Store
	name   string            // of the graph
	inputs map[string]string // fingerprints
	close  func() error
}

// openDispatched opens a store, or imports a chunked graph into a temporary one.
func (t *terminal) openDispatched(ctx context.Context, in string, f *dispatchInput, r *report.Report) (_ *dispatched, err error) {
	metadata := filepath.Join(in, chunked.File)
	if !chunked.IsChunked(vfs.OS, metadata) {
		s, err := openGraphStore(in)
		if err != nil {
			return nil, err
		}
		sum, err := inputStore(r, in)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return &dispatched{s, graphName(in), map[string]string{"store": sum}, s.Close}, nil
	}
	m, err := chunked.Read(vfs.OS, metadata)
	if err != nil {
		return nil, err
	}
	src, inputs, err := t.openChunked(ctx, in, f.outside, &f.outFlags, r)
	if err != nil {
		return nil, err
	}
	// The store lives beside the output while it is needed.
	parent, base := filepath.Split(filepath.Clean(f.out))
	s, end, err := t.temporaryStore(ctx, src, filepath.Join(parent, "."+base+".store"), f.common, r)
	if err != nil {
		return nil, err
	}
	return &dispatched{s, m.GraphName, inputs, end}, nil
}
