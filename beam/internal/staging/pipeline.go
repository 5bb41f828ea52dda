package staging

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/graphmill/graphmill/beam/internal/engine"
	"github.com/graphmill/graphmill/internal/stages"
)

// Registered types are found by their names in a worker. The generic functions of Beam's package register would spare a reflection per element,
// and take more than a minute to compile: an element here is a task.
func init() {
	beam.RegisterDoFn(&tasksFn{})
	beam.RegisterDoFn(&taskFn{})
	beam.RegisterDoFn(&endFn{})
	beam.RegisterDoFn(&lastFn{})
}

// Engine implements stages.Engine on a Beam runner.
type Engine struct {
	Operation Operation
	Options   engine.Options
}

// Workers implements stages.Engine.
func (e *Engine) Workers() int { return max(e.Options.Parallelism, 1) }

// Run implements stages.Engine.
func (e *Engine) Run(ctx context.Context, dir string, list []stages.Stage) error {
	_, err := engine.Run(ctx, pipeline(onSite{Operation: e.Operation, Dir: dir}, list), e.Options.In(dir))
	return err
}

// Free implements stages.Engine.
func (e *Engine) Free(ctx context.Context, dir string) error {
	return engine.Free(ctx, e.Options.In(dir))
}

func pipeline(on onSite, list []stages.Stage) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	tasks := beam.ParDo(s, &tasksFn{list[0].Tasks}, beam.Impulse(s))
	for n, stage := range list {
		in := s.Scope(stage.Name)
		ended := beam.GroupByKey(in, beam.ParDo(in, &taskFn{on, n}, beam.Reshuffle(in, tasks)))
		if n == len(list)-1 {
			beam.ParDo0(in, &lastFn{on, n}, ended)
			break
		}
		tasks = beam.ParDo(in, &endFn{on, n, list[n+1].Tasks}, ended)
	}
	return p
}

// tasksFn emits the numbers of tasks.
type tasksFn struct{ Tasks int64 }

// ProcessElement emits the numbers.
func (f *tasksFn) ProcessElement(_ []byte, emit func(int64)) {
	for task := range f.Tasks {
		emit(task)
	}
}

// taskFn runs tasks of a stage.
type taskFn struct {
	onSite
	Stage int
}

// ProcessElement runs a task, and emits its number by the one key of the stage.
func (f *taskFn) ProcessElement(ctx context.Context, task int64, emit func(int64, int64)) error {
	if err := f.used.site.Job().Task(ctx, f.Stage, task); err != nil {
		return err
	}
	emit(0, task)
	return nil
}

// endFn ends a stage.
type endFn struct {
	onSite
	Stage int
	Next  int64
}

// ProcessElement ends the stage, and emits the tasks of the next one.
func (f *endFn) ProcessElement(_ int64, _ func(*int64) bool, emit func(int64)) error {
	if err := f.used.site.Job().Finish(f.Stage); err != nil {
		return err
	}
	for task := range f.Next {
		emit(task)
	}
	return nil
}

// lastFn ends the last stage.
type lastFn struct {
	onSite
	Stage int
}

// ProcessElement ends the stage.
func (f *lastFn) ProcessElement(_ int64, _ func(*int64) bool) error {
	return f.used.site.Job().Finish(f.Stage)
}
