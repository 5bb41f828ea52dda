package dividing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/graphmill/graphmill/format/dglchunks"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/partition/cluster"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
	"github.com/graphmill/graphmill/option"
)

// Cluster divides a graph by the method ranges on the workers of an engine. The binary graphmill-beam makes it; the engine is internal, so other
// programs cannot. Memory is then a bound for each worker.
type Cluster struct {
	Engine stages.Engine
	// ShipGraph copies the store next to the output first, for workers that cannot reach it. The copy is removed at the end.
	ShipGraph bool
}

// check refuses what a cluster does not do, and fills in the method.
func (c *Cluster) check(in string, o *option.Partition) error {
	if c == nil {
		return nil
	}
	if o.Method == "" && o.Import == "" {
		o.Method = option.MethodRanges
	}
	if o.Method != option.MethodRanges || o.Import != "" {
		return operation.Usagef("found `Method` %s on a cluster, expected ranges: the other methods run in one process; leave it out, or use graphmill partition", o.Method)
	}
	file, err := isMETIS(in)
	if err != nil {
		return err
	}
	if file || dglchunks.IsMetadata(vfs.OS, filepath.Join(in, dglchunks.File)) {
		return operation.Usagef("%s: found a METIS file or a graph in DGL's chunked format, expected a store, of which each worker reads ranges; import the graph first", in)
	}
	return nil
}

// elsewhere makes the run on the cluster.
func (p *partitioning) elsewhere(c *Cluster, s *store.Store, sum string) (_ *cluster.Run, end func(), err error) {
	dir, err := vfs.Abs(s.Dir)
	if err != nil {
		return nil, nil, err
	}
	work, err := operation.SharedWork(p.out)
	if err != nil {
		return nil, nil, err
	}
	if err := operation.NoteCredentials(&p.o.Run, p.report, dir, work); err != nil {
		return nil, nil, err
	}
	progress := operation.NewStages(&p.o.Run)
	run := &p.o.Run
	r := &cluster.Run{FS: vfs.OS, Dir: work, Engine: c.Engine, Store: s, Overwrite: run.Overwrite, Stalled: run.Warn,
		Work: cluster.Work{Version: operation.Version(), Store: dir, StoreSum: sum},
		Tell: func(phase string, done, total int64) { progress.Update(phase, done, total, "tasks") }}
	if r.Ship = c.ShipGraph; r.Ship {
		size, err := store.Size(vfs.OS, s.Dir)
		if err != nil {
			return nil, nil, err
		}
		copied := int64(0)
		r.Shipped = func(bytes int) {
			copied += int64(bytes)
			progress.Update("copy the store", copied, size, "bytes")
		}
	}
	return r, progress.End, nil
}

// finished ends the output, and the folder of the workers. Where it was not published and something is kept from which a run can continue, the error says so.
func (p *partitioning) finished(ctx context.Context, err error) error {
	if p.run == nil {
		return p.w.End(err)
	}
	if p.w.Published() {
		_, ended := p.run.End(nil)
		return p.w.End(errors.Join(err, ended))
	}
	kept, unknown := p.run.End(err)
	if kept && !errors.Is(err, workfolder.ErrEarlier) {
		how := fmt.Errorf("what the workers did is kept in %s, and %w", p.run.Dir, operation.ErrContinues)
		if operation.OnlyStopped(ctx, err) {
			err = how
		} else {
			err = fmt.Errorf("%w; %w", err, how)
		}
	}
	return p.w.End(errors.Join(err, unknown))
}
