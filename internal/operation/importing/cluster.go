package importing

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	importing "github.com/graphmill/graphmill/internal/ingest/cluster"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
	"github.com/graphmill/graphmill/report"
)

// Cluster imports on the workers of an engine. The binary graphmill-beam makes it; the engine is internal, so other
// programs cannot.
//
// The store has the bytes of an import in this process. The source and the folder of the output lie on storage that all
// workers reach at the same paths.
type Cluster struct {
	Engine stages.Engine
	// ArrayShards is the most files that an array has, which workers write at the same time; 0 chooses by the size of the source, 1 gives the files
	// of an import in one process.
	ArrayShards int
}

// mostArrayShards bounds ArrayShards.
const mostArrayShards = 1 << 12

// onCluster makes a store of one graph on the cluster. If pieces are kept after an error, the error is ErrResumable.
func (o *importJob) onCluster(ctx context.Context, source string, from ingest.Options, src *ingest.Source, opt assemble.Options, out string, made store.Made, r *report.Report) (*store.Store, error) {
	if t := transformsOf(&o.Import.Build); !t.None() {
		return nil, operation.Usagef("found changes of the whole graph (`LargestComponent`, `Splits`, `Normalise`, or `SelfLoops` and `DuplicateEdges` other than keep, drop and error) on a cluster, expected none; use graphmill import")
	}
	shards := o.cluster.ArrayShards
	if shards < 0 || shards > mostArrayShards {
		return nil, operation.Usagef("found `ArrayShards` %d, expected 1 to %d, or 0 to choose", shards, mostArrayShards)
	}
	work, err := operation.SharedWork(out)
	if err != nil {
		return nil, err
	}
	for _, path := range []*string{&source, &from.Indptr, &from.Indices, &from.DataPath} {
		if *path == "" {
			continue
		}
		if *path, err = vfs.Abs(*path); err != nil {
			return nil, err
		}
	}
	if err := operation.NoteCredentials(&o.Run, r, source, work); err != nil {
		return nil, err
	}
	run := &importing.Run{FS: vfs.OS, Dir: work, Engine: o.cluster.Engine, Source: src, Overwrite: o.Overwrite, Shards: shards, Warn: o.Warn,
		Work: importing.Work{Version: operation.Version(), Source: source, Options: from, Inputs: made.Inputs,
			Rules: importing.Rules{Primary: opt.Primary, Both: opt.Both, Homogeneous: opt.Homogeneous, NoPositions: opt.NoPositions,
				DanglingEdges: opt.DanglingEdges, DuplicateNodes: opt.DuplicateNodes, DuplicateEdges: opt.DuplicateEdges, SelfLoops: opt.SelfLoops}}}
	if shards > 0 {
		run.ShardBytes = limits.ShardAlign
	}
	began := false
	s, err := buildStoreBy(&o.Import.Build, ctx, o.started, out, made, r, func(w *store.Writer, progress told) (*assemble.Result, error) {
		began, run.Progress = true, progress
		return o.reviewed(src, r)(run.Build(ctx, w))
	})
	if !began {
		return s, err
	}
	if err == nil || errors.Is(err, operation.ErrWhole) {
		operation.CloseAfter(&err, out, func() error {
			_, err := run.End(nil)
			return err
		})
		return s, err
	}
	kept, unknown := run.End(err)
	if kept && !errors.Is(err, workfolder.ErrEarlier) {
		pieces := fmt.Errorf("the pieces that are finished are kept in %s, and %w", work, operation.ErrContinues)
		if operation.OnlyStopped(ctx, err) {
			err = pieces
		} else {
			err = fmt.Errorf("%w; %w", err, pieces)
		}
	}
	return s, errors.Join(err, unknown)
}
