package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/graphmill/graphmill/beam/internal/engine"
)

// number makes the numbers below N as bytes, with N modulo 3 as key.
type number struct{ N int64 }

func (f *number) ProcessElement(_ []byte, emit func(int64, []byte)) {
	for i := range f.N {
		emit(i%3, fmt.Append(nil, i))
	}
}

// count writes the number of values of a key to a file.
type count struct{ Dir string }

func (f *count) ProcessElement(k int64, values func(*[]byte) bool) error {
	n := 0
	for v := []byte(nil); values(&v); {
		n++
	}
	return os.WriteFile(filepath.Join(f.Dir, fmt.Sprint(k)), fmt.Append(nil, n), 0o600)
}

// slow counts like count, and takes three seconds for a key.
type slow struct{ Dir string }

func (f *slow) ProcessElement(k int64, values func(*[]byte) bool) error {
	time.Sleep(3 * time.Second) // work that can be cancelled
	return (&count{f.Dir}).ProcessElement(k, values)
}

// fail fails.
type fail struct{}

func (*fail) ProcessElement([]byte) error {
	return errors.New("graph.csv:7: found x, expected a number")
}

// sleep runs until its bundle is cancelled, at most a minute.
type sleep struct{ File string }

func (f *sleep) ProcessElement(ctx context.Context, _ []byte) error {
	if err := os.WriteFile(f.File, nil, 0o600); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute): // against a hang
	}
	return ctx.Err()
}

func init() {
	register.DoFn2x0[[]byte, func(int64, []byte)](&number{})
	register.DoFn2x1[int64, func(*[]byte) bool, error](&count{})
	register.DoFn2x1[int64, func(*[]byte) bool, error](&slow{})
	register.DoFn1x1[[]byte, error](&fail{})
	register.DoFn2x1[context.Context, []byte, error](&sleep{})
	register.Emitter2[int64, []byte]()
	register.Iter1[[]byte]()
}

func counting(dir string, n int64) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &count{dir}, beam.GroupByKey(s, beam.ParDo(s, &number{n}, beam.Impulse(s))))
	return p
}

func failing() *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &fail{}, beam.Impulse(s))
	return p
}

func sleeping(file string) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &sleep{file}, beam.Impulse(s))
	return p
}

// message shows the messages of a job as messages of a test.
func message(t *testing.T) func(slog.Level, string) {
	return func(l slog.Level, text string) { t.Log(l, text) }
}

func prism(t *testing.T) engine.Options {
	return engine.Options{Runner: engine.Prism, TimeLimit: time.Minute, Message: message(t)}
}

// counts runs a pipeline with a group by key, and verifies what it wrote.
func counts(t *testing.T, o engine.Options) {
	t.Helper()
	dir := t.TempDir()
	res, err := engine.Run(t.Context(), counting(dir, 100), o)
	if err != nil {
		t.Fatal(err)
	}
	if res.State != "DONE" || res.JobID == "" {
		t.Errorf("found %+v, expected a job that is DONE", res)
	}
	counted(t, dir)
}

// counted verifies what a pipeline of 100 numbers wrote.
func counted(t *testing.T, dir string) {
	t.Helper()
	for k, want := range []string{"34", "33", "33"} {
		if b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(k))); err != nil || string(b) != want {
			t.Errorf("key %d: found %q, %v, expected %s", k, b, err, want)
		}
	}
}

// fails runs a pipeline whose function fails.
func fails(t *testing.T, o engine.Options) {
	t.Helper()
	res, err := engine.Run(t.Context(), failing(), o)
	want := "job " + res.JobID + " failed: graph.csv:7: found x, expected a number"
	if err == nil || err.Error() != want || res.State != "FAILED" {
		t.Errorf("found %+v, %v, expected the error of the function: %s", res, err, want)
	}
}
