package joining

import (
	"context"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Join writes the store or collection in the folder in to the folder out, with each array as one file: the files that one process would have written.
func Join(ctx context.Context, in, out string, o option.Run) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if err := operation.CheckRun(&o); err != nil {
		return nil, err
	}
	if err := operation.Keeps(out, in); err != nil {
		return nil, err
	}
	r := operation.NewReport(&o, "join", operation.Titled(in)+" in one file per array")
	if _, err := operation.InputFolder(r, in); err != nil {
		return nil, err
	}
	size, err := store.Size(vfs.OS, in)
	if err != nil {
		return nil, err
	}
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return nil, err
	}
	defer operation.EndWith(&err, w)
	line := operation.NewMeter(&o, "join", size, "bytes")
	defer line.End()
	if err := store.Join(ctx, vfs.OS, in, w, o.Threads, func(n int) { line.Add(int64(n)) }); err != nil {
		return nil, err
	}
	line.End()
	r.Stage("join", time.Since(start), size, "bytes")
	s, err := store.Open(vfs.OS, w.Dir()) // as every reader will
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	if err := operation.OnDisk(r, w.Dir()); err != nil {
		return nil, err
	}
	return r, operation.Publish(&o, w, r, start)
}
