package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
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
	case <-time.After(time.Minute):
	}
	return ctx.Err()
}

func init() {
	register.DoFn2x0[[]byte, func(int64, []byte)](&number{})
	register.DoFn2x1[int64, func(*[]byte) bool, error](&count{})
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

func TestMain(m *testing.M) {
	engine.Init()
	os.Exit(m.Run())
}

func logging(t *testing.T) func(slog.Level, string) {
	return func(l slog.Level, text string) { fmt.Fprintln(os.Stderr, l, text) }
}

func TestPrism(t *testing.T) {
	dir := t.TempDir()
	res, err := engine.Run(t.Context(), counting(dir, 100), engine.Options{Runner: engine.Prism, Message: logging(t)})
	if err != nil {
		t.Fatal(err)
	}
	if res.State != "DONE" || res.JobID == "" {
		t.Errorf("found %+v, expected a job that is DONE", res)
	}
	for k, want := range []string{"34", "33", "33"} {
		if b, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(k))); err != nil || string(b) != want {
			t.Errorf("key %d: found %q, %v, expected %s", k, b, err, want)
		}
	}
}

func TestFailure(t *testing.T) {
	_, err := engine.Run(t.Context(), failing(), engine.Options{Runner: engine.Prism, Message: logging(t)})
	t.Log(err)
	if err == nil || !strings.HasSuffix(err.Error(), "graph.csv:7: found x, expected a number") {
		t.Errorf("found %v", err)
	}
}

func TestTimeLimit(t *testing.T) {
	start := time.Now()
	res, err := engine.Run(t.Context(), sleeping(filepath.Join(t.TempDir(), "f")), engine.Options{Runner: engine.Prism, TimeLimit: 2 * time.Second, Message: logging(t)})
	t.Log(res, err, time.Since(start))
}

func TestUnreachable(t *testing.T) {
	start := time.Now()
	res, err := engine.Run(t.Context(), failing(), engine.Options{Runner: engine.Flink, Endpoint: "localhost:1", Message: logging(t)})
	t.Log(res, err, time.Since(start))
}
