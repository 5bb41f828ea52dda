package importing

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/graphmill/graphmill/beam/internal/engine"
)

// Engine implements cluster.Engine on a Beam runner.
type Engine struct{ Options engine.Options }

// Workers implements cluster.Engine.
func (e *Engine) Workers() int { return max(e.Options.Parallelism, 1) }

// Run implements cluster.Engine.
func (e *Engine) Run(ctx context.Context, dir string, tasks int64, stages int) error {
	_, err := engine.Run(ctx, pipeline(dir, tasks, stages), e.Options.In(dir))
	return err
}

// Free implements cluster.Engine.
func (e *Engine) Free(ctx context.Context, dir string) error {
	return engine.Free(ctx, e.Options.In(dir))
}

func pipeline(dir string, tasks int64, stages int) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	on := onSite{Dir: dir}
	// The numbers of tasks are spread over the workers.
	start := beam.Reshuffle(s, beam.ParDo(s, &tasksFn{tasks}, beam.Impulse(s)))
	if stages == 1 {
		beam.ParDo0(s.Scope("tasks"), &aloneFn{on}, start)
		return p
	}
	records := beam.ParDo(s.Scope("tasks"), &taskFn{on}, start)
	for n := 1; n < stages-1; n++ {
		records = beam.ParDo(s.Scope(fmt.Sprintf("stage %d", n)), &stageFn{on, n}, beam.GroupByKey(s, records))
	}
	beam.ParDo0(s.Scope(fmt.Sprintf("stage %d", stages-1)), &lastFn{on, stages - 1}, beam.GroupByKey(s, records))
	return p
}
