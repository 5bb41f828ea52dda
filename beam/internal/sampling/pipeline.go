package sampling

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/graphmill/graphmill/beam/internal/engine"
	"github.com/graphmill/graphmill/internal/sample/cluster"
)

// Engine implements cluster.Engine on a Beam runner.
type Engine struct{ Options engine.Options }

// Workers implements cluster.Engine.
func (e *Engine) Workers() int { return max(e.Options.Parallelism, 1) }

// Run implements cluster.Engine.
func (e *Engine) Run(ctx context.Context, dir string, w *cluster.Work, stages cluster.Stages, groups []uint64) error {
	if len(groups) == 0 {
		return errNoGroups
	}
	_, err := engine.Run(ctx, pipeline(dir, w, stages, groups), e.Options.In(dir))
	return err
}

// Free implements cluster.Engine.
func (e *Engine) Free(ctx context.Context, dir string) error {
	return engine.Free(ctx, e.Options.In(dir))
}

func pipeline(dir string, w *cluster.Work, stages cluster.Stages, groups []uint64) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	on := onSite{Dir: dir}
	// The numbers of groups are spread over the workers.
	start := beam.Reshuffle(s, beam.ParDo(s, &groupsFn{groups}, beam.Impulse(s)))
	if w.Method == cluster.Local {
		beam.ParDo0(s.Scope("sample"), &sampleFn{on}, start)
		return p
	}
	records := beam.ParDo(s.Scope("start"), &startFn{on}, start)
	for stage := range stages.Ranges {
		records = beam.ParDo(s.Scope("range"), &rangeFn{on, stage + 1}, beam.GroupByKey(s, records))
	}
	if stages.Rows {
		records = beam.ParDo(s.Scope("want"), &wantFn{on}, beam.GroupByKey(s, records))
		records = beam.ParDo(s.Scope("rows"), &rowsFn{on}, beam.GroupByKey(s, records))
	}
	beam.ParDo0(s.Scope("assemble"), &assembleFn{on}, beam.GroupByKey(s, records))
	return p
}
