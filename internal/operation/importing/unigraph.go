package importing

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// BuildTemporary imports a source into a temporary store next to out, and closes the source. end closes and removes the store.
func BuildTemporary(o *option.Run, ctx context.Context, src *ingest.Source, out string, opt assemble.Options) (_ *store.Store, _ *assemble.Result, end func() error, err error) {
	defer operation.CloseWith(&err, src.Close)
	parent, base := filepath.Split(filepath.Clean(out))
	// The store is sealed and never published: the folder in which it is written is its place.
	w, err := store.Create(vfs.OS, filepath.Join(parent, "."+base+".store"), true)
	if err != nil {
		return nil, nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Abort())
		}
	}()
	defer guard.Catch(&err)()
	stages := operation.NewStages(o)
	opt.Progress = stages.Update
	result, err := assemble.Build(ctx, vfs.OS, w, src.Input, opt)
	stages.End()
	if err != nil {
		return nil, nil, nil, err
	}
	result.Meta.Made = store.Made{Command: "import", Version: operation.Version()}
	if src.DeclaredIDs != nil {
		result.Meta.Made.Options = map[string]string{DeclaredIDs: strings.Join(src.DeclaredIDs, ",")}
	}
	if err := w.Seal(ctx, result.Meta, o.Threads); err != nil {
		return nil, nil, nil, err
	}
	s, err := store.Open(vfs.OS, w.Dir())
	if err != nil {
		return nil, nil, nil, err
	}
	return s, result, func() error { return errors.Join(s.Close(), w.Abort()) }, nil
}
