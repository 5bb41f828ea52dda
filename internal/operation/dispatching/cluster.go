package dispatching

import (
	"context"
	"time"

	"github.com/graphmill/graphmill/internal/dispatch"
	"github.com/graphmill/graphmill/internal/dispatch/cluster"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// Cluster makes parts on the workers of an engine. The binary graphmill-beam makes it; the engine is internal, so other
// programs cannot. Memory is then a bound for each worker.
type Cluster struct {
	Engine stages.Engine
	// ShipGraph copies the store next to the output first, for workers that cannot reach it. The copy is removed at the end.
	ShipGraph bool
}

// check refuses what a cluster does not do.
func (c *Cluster) check(o *option.Dispatch) error {
	if c != nil && o.PartsAtOnce != 0 {
		return operation.Usagef("found `PartsAtOnce` %d, expected none: on a cluster, each worker makes one part at a time; leave it out", o.PartsAtOnce)
	}
	return nil
}

// elsewhere makes the parts on the cluster.
func (j *partsJob) elsewhere(ctx context.Context, w *store.Writer) (_ *dispatch.Report, err error) {
	began := time.Now()
	dir, err := vfs.Abs(j.store.Dir)
	if err != nil {
		return nil, err
	}
	work, err := operation.SharedWork(j.out)
	if err != nil {
		return nil, err
	}
	if err := operation.NoteCredentials(j.run, j.report, dir, work); err != nil {
		return nil, err
	}
	stages := operation.NewStages(j.run)
	defer stages.End()
	r := &cluster.Run{FS: vfs.OS, Dir: work, Engine: j.cluster.Engine, Store: j.store, Writer: w, Assignment: j.assignment, Options: j.opt, Overwrite: j.run.Overwrite,
		Work: cluster.Work{Version: operation.Version(), Store: dir, StoreSum: j.inputs["store"], Assignment: j.assignmentSum()}}
	if r.Ship = j.cluster.ShipGraph; r.Ship {
		size, err := store.Size(vfs.OS, j.store.Dir)
		if err != nil {
			return nil, err
		}
		copied := int64(0)
		r.Shipped = func(bytes int) {
			copied += int64(bytes)
			stages.Update("copy the store", copied, size, "bytes")
		}
	}
	r.Stalled = j.run.Warn
	r.Tell = func(c cluster.Counts) {
		if c.Finished > 0 {
			stages.Update("make parts", int64(c.Finished), int64(r.Work.Parts), "parts")
		} else {
			stages.Update("read", int64(c.Cut), int64(len(r.Work.Segments)), "segments")
		}
	}
	result, err := r.Make(ctx)
	if err == nil {
		j.report.Stage("make parts", time.Since(began), result.Bytes, "bytes")
	}
	return result, err
}
