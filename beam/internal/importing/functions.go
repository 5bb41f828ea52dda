package importing

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/graphmill/graphmill/beam/internal/sites"
)

// Registered functions need no reflection at run time, and work in a stripped binary.
func init() {
	register.DoFn2x0[[]byte, func(int64)](&tasksFn{})
	register.DoFn3x1[context.Context, int64, func(int64, []byte), error](&taskFn{})
	register.DoFn2x1[context.Context, int64, error](&aloneFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&stageFn{})
	register.DoFn3x1[context.Context, int64, func(*[]byte) bool, error](&lastFn{})
	register.Emitter1[int64]()
	register.Emitter2[int64, []byte]()
	register.Iter1[[]byte]()
}

// tasksFn emits the numbers of tasks.
type tasksFn struct{ Tasks int64 }

// ProcessElement emits the numbers.
func (f *tasksFn) ProcessElement(_ []byte, emit func(int64)) {
	for task := range f.Tasks {
		emit(task)
	}
}

// taskFn is the first stage.
type taskFn struct{ onSite }

// ProcessElement runs a task.
func (f *taskFn) ProcessElement(ctx context.Context, task int64, emit func(int64, []byte)) error {
	return f.site.Failed(f.site.Do(ctx, 0, task, none, emit))
}

// aloneFn is the only stage.
type aloneFn struct{ onSite }

// ProcessElement runs a task.
func (f *aloneFn) ProcessElement(ctx context.Context, task int64) error {
	return f.site.Failed(f.site.Do(ctx, 0, task, none, drop))
}

// stageFn is a stage between the first and the last.
type stageFn struct {
	onSite
	Stage int
}

// ProcessElement runs the stage for a key.
func (f *stageFn) ProcessElement(ctx context.Context, key int64, next func(*[]byte) bool, emit func(int64, []byte)) error {
	return f.site.Failed(f.site.Do(ctx, f.Stage, key, sites.All(next), emit))
}

// lastFn is the last stage.
type lastFn struct {
	onSite
	Stage int
}

// ProcessElement runs the stage for a key.
func (f *lastFn) ProcessElement(ctx context.Context, key int64, next func(*[]byte) bool) error {
	return f.site.Failed(f.site.Do(ctx, f.Stage, key, sites.All(next), drop))
}

func none() ([]byte, bool) { return nil, false }

// drop takes the records of a last stage, which makes none.
func drop(int64, []byte) {}
