package importing

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/graphmill/graphmill/beam/internal/sites"
)

// Registered types are found by their names in a worker. The generic functions of Beam's package register would spare a reflection per element,
// and take more than a minute to compile: an element here is a block of records.
func init() {
	beam.RegisterDoFn(&tasksFn{})
	beam.RegisterDoFn(&taskFn{})
	beam.RegisterDoFn(&aloneFn{})
	beam.RegisterDoFn(&stageFn{})
	beam.RegisterDoFn(&lastFn{})
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
