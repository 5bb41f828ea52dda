package packing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/pack/collection"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/shards"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// mostEpochs bounds option.Fill.Epochs: more would fit on no disk.
const mostEpochs = 1 << 31

// filling is a layout and the collection whose graphs fill it.
type filling struct {
	run    *option.Run
	layout *layout.Layout
	store  *store.Store
	graphs *layout.Graphs
	made   store.Made
	report *report.Report
	start  time.Time
}

// open opens the inputs of Fill and Materialise.
func (f *filling) open(command, plan, dir, out string, seed *uint64, epoch uint64, epochs int) (err error) {
	f.start = time.Now()
	if err := operation.CheckRun(f.run); err != nil {
		return err
	}
	if err := operation.Keeps(out, plan, dir); err != nil {
		return err
	}
	if f.layout, err = layout.Open(vfs.OS, plan); err != nil {
		return err
	}
	if f.store, err = store.Open(vfs.OS, dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.store.Close())
		}
	}()
	defer guard.Catch(&err)()
	if f.store.Collection == nil {
		return fmt.Errorf("%s: found a store of one graph, expected the collection that the layout was made from; give the input of graphmill pack", dir)
	}
	if f.graphs, err = collection.Graphs(f.layout, f.store.Collection); err != nil {
		return fmt.Errorf("%s, filled with %s: %w", plan, dir, err)
	}
	f.report = operation.NewReport(f.run, command, "Packs of "+operation.Titled(dir))
	f.made = store.Made{Command: command, Version: operation.Version(), Seed: seed, Law: draw.Version, Inputs: map[string]string{}, Options: map[string]string{"epoch": strconv.FormatUint(epoch, 10)}}
	if f.made.Inputs["layout"], err = operation.InputFolder(f.report, plan); err != nil {
		return err
	}
	if f.made.Inputs["collection"], err = operation.InputFolder(f.report, dir); err != nil {
		return err
	}
	m := &f.layout.Meta
	f.report.Head("packs", report.Count(m.Packs*int64(epochs), "packs"))
	f.report.Head("graphs", report.Count(m.Graphs*int64(epochs), "graphs"))
	f.report.In("graphs", report.Count(m.Graphs+m.OversizeGraphs, "graphs"))
	f.report.Out("packs per epoch", report.Count(m.Packs, "packs"))
	f.report.Out("graphs in packs per epoch", report.Count(m.Graphs, "graphs"))
	if n := m.OversizeGraphs; n > 0 {
		f.report.Warn(n, layout.Larger(n, m.Oversize))
		operation.Warn(f.run, "%s %s", human.Exact(n), layout.Larger(n, m.Oversize))
	}
	f.report.Stage("open", time.Since(f.start), 0, "")
	return nil
}

// Fill assigns the graphs of a collection to the packs of the layout in the folder plan, and writes the result to the
// folder out: pack k has the graphs graph_id.npy[pack_ptr.npy[k]:pack_ptr.npy[k+1]]. Every epoch has packs of the same
// shapes with different graphs in a different order, which depend only on the random seed and the epoch. Several epochs
// follow one another in the arrays. Graphs that are larger than a pack are in no pack; with OversizeAlone, alone_id.npy
// lists them.
func Fill(ctx context.Context, plan, in, out string, o option.Fill) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	operation.SetDefault(&o.Epochs, 1)
	if o.Epochs < 1 || o.Epochs > mostEpochs {
		return nil, operation.Usagef("found `Epochs` %d, expected 1 to %d", o.Epochs, mostEpochs)
	}
	if o.Epoch+uint64(o.Epochs) < o.Epoch {
		return nil, operation.Usagef("found `Epoch` %d and `Epochs` %d, expected epochs below 2^64", o.Epoch, o.Epochs)
	}
	f := &filling{run: &o.Run}
	if err := f.open("pack fill", plan, in, out, &o.Seed, o.Epoch, o.Epochs); err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, out, f.store.Close)
	f.made.Options["epochs"] = strconv.Itoa(o.Epochs)
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return nil, err
	}
	defer operation.EndWith(&err, w)
	line := operation.NewMeter(&o.Run, "fill", f.layout.Meta.Packs*int64(o.Epochs), "packs")
	defer line.End()
	began := time.Now()
	opt := collection.Options{Threads: o.Threads, Progress: func(n int) { line.Add(int64(n)) }}
	if err := collection.Fill(ctx, w, f.layout, f.graphs, collection.Epochs{Seed: o.Seed, First: o.Epoch, Count: o.Epochs}, opt); err != nil {
		return nil, err
	}
	line.End()
	written := time.Now()
	f.report.Stage("deal and write", written.Sub(began), f.layout.Meta.Graphs*int64(o.Epochs), "graphs")
	if err := w.WriteMade(f.made); err != nil {
		return nil, err
	}
	if err := w.Seal(ctx, nil, o.Threads); err != nil {
		return nil, err
	}
	f.report.Stage("checksums", time.Since(written), 0, "")
	return f.report, operation.Publish(&o.Run, w, f.report, f.start)
}

// Materialise writes the packs that Fill assigns for an epoch to the folder out, with all columns of their graphs: as
// padded arrays, as a collection with one graph per pack, or as TFRecords with one GraphTensor per pack.
func Materialise(ctx context.Context, plan, in, out string, o option.Materialise) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	operation.SetDefault(&o.Format, option.FormatNpy)
	operation.SetDefault(&o.Shards, 1)
	if !slices.Contains([]option.Format{option.FormatNpy, option.FormatCollection, option.FormatTFRecord}, o.Format) {
		return nil, operation.Usagef("found `Format` %q, expected npy, collection or tfrecord", o.Format)
	}
	if o.Shards < 1 || o.Shards > 1 && o.Format != option.FormatTFRecord {
		return nil, operation.Usagef("found `Shards` %d with `Format` %s, expected 1, or with `Format` tfrecord at least 1", o.Shards, o.Format)
	}
	f := &filling{run: &o.Run}
	if err := f.open("pack materialise", plan, in, out, &o.Seed, o.Epoch, 1); err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, out, f.store.Close)
	f.made.Options["format"] = string(o.Format)
	began := time.Now()
	if err := f.store.Check(ctx); err != nil {
		return nil, err
	}
	f.report.Stage("check", time.Since(began), 0, "")
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return nil, err
	}
	defer operation.EndWith(&err, w)
	meta, gathered, began, err := f.write(ctx, w, &o)
	if err != nil {
		return nil, err
	}
	written := time.Now()
	f.report.Stage("gather and write", gathered.Sub(began), f.layout.Meta.Packs, "packs")
	f.report.Stage("wait for the disk", written.Sub(gathered), 0, "")
	if meta != nil {
		meta.Made = f.made
	} else if err := w.WriteMade(f.made); err != nil {
		return nil, err
	}
	if err := w.Seal(ctx, meta, o.Threads); err != nil {
		return nil, err
	}
	f.report.Stage("checksums", time.Since(written), 0, "")
	size, err := store.Size(vfs.OS, w.Dir())
	if err != nil {
		return nil, err
	}
	f.report.Head("on disk", report.Bytes(size))
	f.report.Head("bytes per second", report.Bytes(int64(float64(size)/gathered.Sub(began).Seconds())))
	return f.report, operation.Publish(&o.Run, w, f.report, f.start)
}

// write writes the packs in the requested format.
func (f *filling) write(ctx context.Context, w *store.Writer, o *option.Materialise) (meta *store.Meta, gathered, began time.Time, err error) {
	line := operation.NewMeter(&o.Run, "materialise", f.layout.Meta.Packs, "packs")
	defer line.End()
	began = time.Now()
	gathered = began
	opt := collection.Options{Threads: o.Threads, Progress: func(n int) {
		line.Add(int64(n))
		gathered = time.Now()
	}}
	var left []string
	var recorded collection.Recorded
	switch o.Format {
	case option.FormatNpy:
		if !f.layout.Meta.Reserve {
			operation.Warn(&o.Run, "the layout has no reserve: a padding node of each type and a padding graph are added on top of its limits (pack with `Reserve` keeps room for them within the limits)")
		}
		left, err = collection.Arrays(ctx, w, f.layout, f.store.Collection, f.graphs, o.Seed, o.Epoch, opt)
	case option.FormatCollection:
		meta, left, err = collection.Joined(ctx, vfs.OS, w, f.layout, f.store, f.graphs, o.Seed, o.Epoch, opt)
	case option.FormatTFRecord:
		recorded, err = collection.Records(ctx, vfs.OS, w, f.layout, f.store, f.graphs, o.Seed, o.Epoch, shards.Options{Shards: o.Shards}, opt)
		left = recorded.Left
	}
	if err != nil {
		return nil, gathered, began, err
	}
	line.End()
	if len(left) > 0 {
		const what = "arrays of the collection have no place in the packs and are left out: "
		operation.Warn(&o.Run, "%d %s%s", len(left), what, strings.Join(left, "; "))
		f.report.Warn(int64(len(left)), what+strings.Join(left, "; "))
	}
	operation.WarnRounded(&o.Run, f.report, recorded.Rounded)
	operation.WarnUnderflows(&o.Run, f.report, recorded.Underflows)
	return meta, gathered, began, nil
}
