package operation

import (
	"context"
	"time"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Work names the main stage of an operation.
type Work struct {
	Progress, Stage string // its names in Progress and in the report
	Total           int64
	Unit            string
}

// WriteOutput makes an output folder: write fills it, and tell reports the result. made goes into a file of its own.
func WriteOutput(o *option.Run, ctx context.Context, out string, made *store.Made, r *report.Report, start time.Time, do Work,
	write func(w *store.Writer, line *Meter) (count int64, err error), tell func(took time.Duration)) (err error) {
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return err
	}
	defer EndWith(&err, w)
	line := NewMeter(o, do.Progress, do.Total, do.Unit)
	defer line.End()
	began := time.Now()
	count, err := write(w, line)
	if err != nil {
		return err
	}
	line.End()
	written := time.Now()
	r.Stage(do.Stage, written.Sub(began), count, do.Unit)
	if err := w.WriteMade(*made); err != nil {
		return err
	}
	if err := w.Seal(ctx, nil, o.Threads); err != nil {
		return err
	}
	r.Stage("checksums", time.Since(written), 0, "")
	tell(written.Sub(began))
	if err := OnDisk(r, w.Dir()); err != nil {
		return err
	}
	return Publish(o, w, r, start)
}
