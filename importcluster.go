package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	importing "github.com/graphmill/graphmill/internal/ingest/cluster"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ImportCluster imports on the workers of an engine. The binary graphmill-beam makes it; the engine is internal, so other
// programs cannot.
//
// The store has the bytes of an import in this process. The source and the folder of the output lie on storage that all
// workers reach at the same paths.
type ImportCluster struct{ Engine importing.Engine }

// build writes the arrays and columns of a store.
func (c *ImportCluster) build(ctx context.Context, w *store.Writer, source string, from ingest.Options, src *ingest.Source, opt assemble.Options, work string, progress told) (*assemble.Result, error) {
	for _, path := range []*string{&source, &from.Indptr, &from.Indices, &from.DataPath, &work} {
		if *path == "" {
			continue
		}
		var err error
		if *path, err = vfs.Abs(*path); err != nil {
			return nil, err
		}
	}
	r := &importing.Run{FS: vfs.OS, Dir: work, Engine: c.Engine, Source: src, Work: importing.Work{Version: Version(), Source: source, Options: from,
		Rules: importing.Rules{Primary: opt.Primary, Both: opt.Both, Homogeneous: opt.Homogeneous, NoPositions: opt.NoPositions,
			DanglingEdges: opt.DanglingEdges, DuplicateNodes: opt.DuplicateNodes, DuplicateEdges: opt.DuplicateEdges, SelfLoops: opt.SelfLoops}}}
	r.Progress = progress
	return r.Build(ctx, w)
}
