package operation

import (
	"context"
	"errors"
	"time"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// The end of an output is one way for all operations: Seal, publish, and what is deferred by endWith. A store.Writer owns it,
// and store.Writer.End has the table of what can then be on the disk. Everything that an operation does after publish, such
// as the delivery of parts or the removal of a temporary store, passes its error through endWith or closeAfter, which say
// that the output is whole. An operation that publishes and then finds its context ended returns nil, unless its delivery is
// not done.

// Publish adds the report to a sealed output, unless it is to have none, and gives the folder its final name.
func Publish(o *option.Run, w *store.Writer, r *report.Report, start time.Time) error {
	r.Finish(time.Since(start))
	if !o.NoReport {
		r.Link(func(at, _, _ string) string { return PageOf(w.Dir(), at) }) // it lies beside the output until it gets its name
		html, json, err := Render(r)
		if err != nil {
			return err
		}
		if err := w.Report(html, json); err != nil {
			return err
		}
	}
	err := w.Publish()
	if w.Published() {
		r.Output = w.Out() // after report.json, which may be moved with its folder
	}
	return err
}

// EndWith ends the output of a function that returns *err. It is deferred before everything else that can fail.
func EndWith(err *error, w *store.Writer) { *err = w.End(*err) }

// CloseAfter joins the error of a close to the error that a function returns. The function returns nil only if the output out
// has its name, so that the error of the close leaves it whole.
func CloseAfter(err *error, out string, f func() error) {
	whole := *err == nil || errors.Is(*err, ErrWhole)
	*err = errors.Join(*err, f())
	if whole {
		*err = store.Whole(out, *err)
	}
}

// OnlyStopped says whether an error is nothing but the end of its context.
func OnlyStopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && tagged.Only(err, context.Canceled, context.DeadlineExceeded)
}
