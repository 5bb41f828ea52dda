package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/pack/collection"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/shards"
	"github.com/graphmill/graphmill/internal/vfs"
)

// packFillFlags are the flags of pack fill and pack materialise.
type packFillFlags struct {
	common
	outFlags
	seed, epoch uint64
	epochs      int
	format      string
	shards      int
}

func (f *packFillFlags) add(cmd *cobra.Command) {
	f.addThreads(cmd)
	f.outFlags.add(cmd)
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the order")
	cmd.Flags().Uint64Var(&f.epoch, "epoch", 0, "epoch, the first one")
}

func newPackFill(t *terminal) *cobra.Command {
	var f packFillFlags
	cmd := &cobra.Command{
		Use:   "fill LAYOUT COLLECTION",
		Short: "Deal the graphs of a collection into a pack layout, fresh for each epoch",
		Long: `Writes which graphs are in which pack: pack_ptr.npy bounds the graphs of each pack
in graph_id.npy. Every epoch has packs of the same shapes with other graphs, in
another order, which are a function of seed and epoch alone. Several epochs lie one
behind the other. Graphs that are larger than a pack are in none of them; where the
layout has them alone, alone_id.npy lists them.`,
		Example: `  graphmill pack fill plan molecules.coll --seed 1 --epoch 0 --out filled
  graphmill pack fill plan molecules.coll --seed 1 --epochs 100 --out filled`,
		Args: twoArgs("a LAYOUT and its COLLECTION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return t.packFill(cmd, args[0], args[1], &f)
		},
	}
	f.add(cmd)
	cmd.Flags().IntVar(&f.epochs, "epochs", 1, "how many epochs")
	return cmd
}

// The formats of pack materialise.
const (
	formatNpy        = "npy"
	formatCollection = "collection"
	formatTFRecord   = "tfrecord"
)

func newPackMaterialise(t *terminal) *cobra.Command {
	f := packFillFlags{epochs: 1}
	cmd := &cobra.Command{
		Use:     "materialise LAYOUT COLLECTION",
		Aliases: []string{"materialize"},
		Short:   "Write the packs of an epoch as tensors",
		Long: `Writes the packs that pack fill deals, with all that their graphs have.

npy: arrays of one shape a pack, padded, with masks, for JAX, PyG and whatever
takes static shapes. The limits must name every node and edge type (num_nodes and
num_edges where there is one). A layout that was made with --reserve has the shape
of its limits; without, padding comes on top: a node of each type and a graph.
collection: a graph a pack, whose components are the graphs of the pack. Unpadded.
tfrecord: a GraphTensor a pack, with a component a graph. Unpadded: TF-GNN pads it
to the limits with pad_to_total_sizes.`,
		Example: `  graphmill pack molecules.coll --limit num_nodes=1024 --limit num_edges=2200 --max-graphs 64 --reserve --out plan
  graphmill pack materialise plan molecules.coll --seed 1 --epoch 0 --out packs
  graphmill pack materialise plan molecules.coll --format tfrecord --out records`,
		Args: twoArgs("a LAYOUT and its COLLECTION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if !slices.Contains([]string{formatNpy, formatCollection, formatTFRecord}, f.format) {
				return usagef("found --format %q, expected npy, collection or tfrecord", f.format)
			}
			if f.shards < 1 || f.shards > 1 && f.format != formatTFRecord {
				return usagef("found --shards %d with --format %s, expected at least 1, and 1 but for tfrecord", f.shards, f.format)
			}
			return t.packMaterialise(cmd, args[0], args[1], &f)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.format, "format", formatNpy, "npy, collection or tfrecord")
	cmd.Flags().IntVar(&f.shards, "shards", 1, "files to divide the records of tfrecord over")
	return cmd
}

// twoArgs is the check of a command with two arguments.
func twoArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 2 {
			return usagef("found %d arguments, expected %s", len(args), what)
		}
		return nil
	}
}

// maxEpochs is more than any disk holds.
const maxEpochs = 1 << 31

func (f *packFillFlags) check() error {
	if err := f.common.check(); err != nil {
		return err
	}
	if f.epochs < 1 || f.epochs > maxEpochs {
		return usagef("found --epochs %d, expected 1 to %d", f.epochs, maxEpochs)
	}
	if f.epoch+uint64(f.epochs) < f.epoch {
		return usagef("found --epoch %d and --epochs %d, expected epochs below 2^64", f.epoch, f.epochs)
	}
	return f.outFlags.check()
}

// packJob is a layout and the collection that it is filled with.
type packJob struct {
	layout *layout.Layout
	store  *store.Store
	graphs *layout.Graphs
	made   store.Made
	report *report.Report
	start  time.Time
}

// openPackJob opens what fill and materialise read.
func (t *terminal) openPackJob(command, plan, dir string, f *packFillFlags) (_ *packJob, err error) {
	j := &packJob{start: time.Now()}
	if err := f.keeps(plan, dir); err != nil {
		return nil, err
	}
	if j.layout, err = layout.Open(vfs.OS, plan); err != nil {
		return nil, err
	}
	if j.store, err = store.Open(vfs.OS, dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			closeWith(&err, j.store.Close)
		}
	}()
	if j.store.Collection == nil {
		return nil, fmt.Errorf("%s: found a store of one graph, expected the collection that the layout was made of", dir)
	}
	if j.graphs, err = collection.Graphs(j.layout, j.store.Collection); err != nil {
		return nil, fmt.Errorf("%s, filled with %s: %w", plan, dir, err)
	}
	j.report = t.begin(command, "Packs of "+filepath.Base(filepath.Clean(dir)), f.common)
	j.made = store.Made{Command: command, Version: version(), Seed: &f.seed, Law: draw.Version, Inputs: map[string]string{}, Options: map[string]string{"epoch": strconv.FormatUint(f.epoch, 10)}}
	if j.made.Inputs["layout"], err = inputStore(j.report, plan); err != nil {
		return nil, err
	}
	if j.made.Inputs["collection"], err = inputStore(j.report, dir); err != nil {
		return nil, err
	}
	m := &j.layout.Meta
	j.report.Head("packs", report.Count(m.Packs*int64(f.epochs), "packs"))
	j.report.Head("graphs", report.Count(m.Graphs*int64(f.epochs), "graphs"))
	j.report.In("graphs", report.Count(m.Graphs+m.OversizeGraphs, "graphs"))
	j.report.Out("packs of each epoch", report.Count(m.Packs, "packs"))
	j.report.Out("graphs in packs of each epoch", report.Count(m.Graphs, "graphs"))
	if n := m.OversizeGraphs; n > 0 {
		j.report.Warn(n, larger(n, m.Oversize))
		t.warn("%s %s", human.Exact(n), larger(n, m.Oversize))
	}
	return j, nil
}

// packFill deals the graphs of epochs.
func (t *terminal) packFill(cmd *cobra.Command, plan, dir string, f *packFillFlags) (err error) {
	j, err := t.openPackJob("pack fill", plan, dir, f)
	if err != nil {
		return err
	}
	defer closeWith(&err, j.store.Close)
	j.made.Options["epochs"] = strconv.Itoa(f.epochs)
	w, err := store.Create(vfs.OS, f.out, f.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	line := t.progress("fill", j.layout.Meta.Packs*int64(f.epochs), "packs")
	defer line.Done()
	began := time.Now()
	opt := collection.Options{Threads: f.threads, Progress: func(n int) { line.Add(int64(n)) }}
	if err := collection.Fill(cmd.Context(), w, j.layout, j.graphs, collection.Epochs{Seed: f.seed, First: f.epoch, Count: f.epochs}, opt); err != nil {
		return err
	}
	line.Done()
	j.report.Stage("deal and write", time.Since(began), j.layout.Meta.Graphs*int64(f.epochs), "graphs")
	if err := w.WriteMade(j.made); err != nil {
		return err
	}
	if err := w.Seal(cmd.Context(), nil, f.threads); err != nil {
		return err
	}
	return t.publish(w, j.report, f.common, j.start)
}

// packMaterialise writes the packs of an epoch.
func (t *terminal) packMaterialise(cmd *cobra.Command, plan, dir string, f *packFillFlags) (err error) {
	j, err := t.openPackJob("pack materialise", plan, dir, f)
	if err != nil {
		return err
	}
	defer closeWith(&err, j.store.Close)
	j.made.Options["format"] = f.format
	began := time.Now()
	if err := j.store.Check(cmd.Context()); err != nil {
		return err
	}
	j.report.Stage("check", time.Since(began), 0, "")
	w, err := store.Create(vfs.OS, f.out, f.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	line := t.progress("materialise", j.layout.Meta.Packs, "packs")
	defer line.Done()
	began = time.Now()
	gathered := began
	opt := collection.Options{Threads: f.threads, Progress: func(n int) {
		line.Add(int64(n))
		gathered = time.Now()
	}}
	var left []string
	var meta *store.Meta
	var recorded collection.Recorded
	switch f.format {
	case formatNpy:
		if !j.layout.Meta.Reserve {
			t.warn("the layout has no reserve: a padding node of each type and a padding graph come on top of its limits (pack --reserve counts them in)")
		}
		left, err = collection.Arrays(cmd.Context(), w, j.layout, j.store.Collection, j.graphs, f.seed, f.epoch, opt)
	case formatCollection:
		meta, left, err = collection.Joined(cmd.Context(), vfs.OS, w, j.layout, j.store, j.graphs, f.seed, f.epoch, opt)
	case formatTFRecord:
		recorded, err = collection.Records(cmd.Context(), vfs.OS, w, j.layout, j.store, j.graphs, f.seed, f.epoch, shards.Options{Shards: f.shards}, opt)
		left = recorded.Left
	}
	if err != nil {
		return err
	}
	line.Done()
	if len(left) > 0 {
		const what = "parts of the collection have no place in the packs: "
		t.warn("%d %s%s", len(left), what, strings.Join(left, "; "))
		j.report.Warn(int64(len(left)), what+strings.Join(left, "; "))
	}
	t.warnRounded(j.report, recorded.Rounded)
	t.warnUnderflows(j.report, recorded.Underflows)
	written := time.Now()
	j.report.Stage("gather and write", gathered.Sub(began), j.layout.Meta.Packs, "packs")
	j.report.Stage("wait for the disk", written.Sub(gathered), 0, "")
	if meta != nil {
		meta.Made = j.made
	} else if err := w.WriteMade(j.made); err != nil {
		return err
	}
	if err := w.Seal(cmd.Context(), meta, f.threads); err != nil {
		return err
	}
	j.report.Stage("checksums", time.Since(written), 0, "")
	size, err := store.Size(vfs.OS, w.Dir())
	if err != nil {
		return err
	}
	j.report.Head("on disk", report.Bytes(size))
	j.report.Head("bytes a second", report.Bytes(int64(float64(size)/gathered.Sub(began).Seconds())))
	return t.publish(w, j.report, f.common, j.start)
}
