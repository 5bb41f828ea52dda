package main

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/dispatch"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// partitionGraphFlags are the flags of partition-graph.
type partitionGraphFlags struct {
	dispatchInput
	cutFlags
	partsFlags
	sendFlags
	mapping bool
}

func newPartitionGraph(t *terminal) *cobra.Command {
	var f partitionGraphFlags
	cmd := &cobra.Command{
		Use:   "partition-graph STORE|CHUNKED",
		Short: "Divide a graph and write its parts for DGL, in one go",
		Long: `Does what dgl.distributed.partition_graph does: graphmill partition, then graphmill
dispatch, with the halo that partition_graph keeps (--out-edges is on) and the node data
part_id.

--return-mapping also writes what partition_graph returns: orig_nids/<node type>.npy and
orig_eids/<src>+<rel>+<dst>.npy, the original id of each new type-wise id.`,
		Example: `  graphmill partition-graph g.store --parts 8 --out parts
  graphmill partition-graph g.store --parts 4 --num-hops 2 --balance-edges --return-mapping --out parts
  graphmill partition-graph chunked/ --parts 4 --num-trainers-per-machine 2 --graph-formats csc --out parts`,
		Args: oneArg("one STORE or CHUNKED graph"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(f.common.check(), f.outFlags.check(), f.cutFlags.check(cmd, f.threads, f.memory), f.sendFlags.check(cmd)); err != nil {
				return usageError{err}
			}
			return cutError(t.partitionGraph(cmd.Context(), args[0], &f))
		},
	}
	f.common.add(cmd)
	f.outFlags.add(cmd)
	f.cutFlags.add(cmd)
	f.partsFlags.add(cmd, true)
	f.sendFlags.add(cmd)
	cmd.Flags().BoolVar(&f.mapping, "return-mapping", false, "write the original ids: --save-orig-nids, --save-orig-eids, and an .npy for each type")
	cmd.Flags().BoolVar(&f.outside, "allow-outside", false, "let metadata.json name files outside of its folder")
	return cmd
}

func (t *terminal) partitionGraph(ctx context.Context, in string, f *partitionGraphFlags) (err error) {
	start := time.Now()
	reads := []string{in}
	if f.cutFlags.options.Import != "" {
		reads = append(reads, f.cutFlags.options.Import)
	}
	if err := f.keeps(reads...); err != nil {
		return err
	}
	if f.mapping {
		f.origNodes, f.origEdges = true, true
	}
	r := t.begin("partition-graph", "Parts of "+graphName(in), f.common)
	g, err := t.openDispatched(ctx, in, &f.dispatchInput, r)
	if err != nil {
		return err
	}
	defer closeWith(&err, g.close)
	f.cutFlags.options.Temp = filepath.Dir(filepath.Clean(f.out))
	if err := vfs.OS.MkdirAll(f.cutFlags.options.Temp); err != nil {
		return err
	}
	result, err := t.cut(&f.cutFlags, func(o partition.Options) (*partition.Result, error) { return partition.Run(ctx, vfs.OS, g.store, o) })
	if err != nil {
		return err
	}
	opt, err := f.partsFlags.options(g.name, result.Assignment.Parts, f.common)
	if err != nil {
		return err
	}
	opt.PartIDs = true
	made := f.cutFlags.made("partition-graph", result)
	maps.Copy(made.Inputs, g.inputs)
	imported, err := f.imported(ctx, result, r)
	if err != nil {
		return err
	}
	maps.Copy(made.Inputs, imported)
	made.Options["return_mapping"] = strconv.FormatBool(f.mapping)
	f.partsFlags.made(&made, opt)
	reportCut(r, result)
	job := &partsJob{store: g.store, assignment: result.Assignment, opt: opt, made: made, out: f.outFlags, flags: &f.partsFlags, common: f.common, send: f.sendFlags}
	if f.mapping {
		job.finish = func(w *store.Writer) error {
			return dispatch.WriteMapping(ctx, vfs.OS, w, g.store.Graph, result.Assignment.Parts)
		}
	}
	return t.writeParts(ctx, job, r, start)
}
