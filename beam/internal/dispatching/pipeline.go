package dispatching

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/graphmill/graphmill/beam/internal/engine"
	"github.com/graphmill/graphmill/internal/dispatch/cluster"
)

// Engine implements cluster.Engine on a Beam runner.
type Engine struct{ Options engine.Options }

// Workers implements cluster.Engine.
func (e *Engine) Workers() int { return max(e.Options.Parallelism, 1) }

// Run implements cluster.Engine.
func (e *Engine) Run(ctx context.Context, dir string, w *cluster.Work, parts []int) error {
	_, err := engine.Run(ctx, pipeline(dir, w, parts), e.Options.In(dir))
	return err
}

// Free implements cluster.Engine.
func (e *Engine) Free(ctx context.Context, dir string) error {
	return engine.Free(ctx, e.Options.In(dir))
}

func pipeline(dir string, w *cluster.Work, parts []int) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	on := onSite{Dir: dir}
	// The numbers of steps are spread over the workers.
	steps := beam.Reshuffle(s, beam.ParDo(s, &stepsFn{w.Steps()}, beam.Impulse(s)))
	records := beam.GroupByKey(s, beam.ParDo(s.Scope("cut"), &cutFn{on, parts}, steps))
	if w.Slices > 1 {
		records = beam.GroupByKey(s, beam.ParDo(s.Scope("slice"), &sliceFn{on}, records))
	}
	if !w.Deep() {
		beam.ParDo0(s.Scope("make"), &makeFn{on}, records)
		return p
	}
	gathered := beam.ParDo(s.Scope("gather"), &gatherFn{on}, records)
	beam.ParDo0(s.Scope("finish"), &finishFn{on}, beam.GroupByKey(s, gathered))
	return p
}
