package engine

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

// Init prepares Beam for this process. A program calls it before it builds a pipeline and before it runs a worker; further calls
// do nothing. From then on, the warnings and errors that Beam and Prism log go to the Message of the pipeline that runs as
// slog.LevelDebug, because a failure is in the error of Run too. So does what the program logs by slog's default logger.
func Init() { initOnce() }

var initOnce = sync.OnceFunc(func() {
	beam.Init()
	beamlog.SetLogger(beamLogger{})
	slog.SetDefault(slog.New(slogHandler{}))
})

// messages is the Message of the pipeline that runs, or nil.
var messages atomic.Pointer[func(slog.Level, string)]

func tell(level slog.Level, text string) {
	if f := messages.Load(); f != nil && level >= slog.LevelWarn {
		(*f)(slog.LevelDebug, text)
	}
}

type beamLogger struct{}

func (beamLogger) Log(_ context.Context, s beamlog.Severity, _ int, text string) {
	level := slog.LevelDebug
	switch {
	case s >= beamlog.SevError:
		level = slog.LevelError
	case s == beamlog.SevWarn:
		level = slog.LevelWarn
	}
	tell(level, text)
}

type slogHandler struct{ attrs string }

func (slogHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (h slogHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool { b.WriteString(" " + a.String()); return true })
	tell(r.Level, b.String())
	return nil
}

func (h slogHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.attrs += " " + a.String()
	}
	return h
}

func (h slogHandler) WithGroup(string) slog.Handler { return h }
