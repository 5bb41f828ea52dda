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
func (e *Engine) Run(ctx context.Context, dir string, w *cluster.Work, stages int, groups []uint64) error {
	if len(groups) == 0 {
		return errNoGroups
	}
	_, err := engine.Run(ctx, pipeline(dir, w, stages, groups), e.Options)
	return err
}

func pipeline(dir string, w *cluster.Work, stages int, groups []uint64) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	on := onSite{Dir: dir}
	// The numbers of groups are spread over the workers.
	start := beam.Reshuffle(s, beam.ParDo(s, &groupsFn{groups}, beam.Impulse(s)))
	switch {
	case w.Method == cluster.Local:
		beam.ParDo0(s.Scope("sample"), &sampleFn{on}, start)
		return p
	case stages == 0:
		beam.ParDo0(s.Scope("assemble"), &assembleAloneFn{on}, start)
		return p
	}
	requests := beam.ParDo(s.Scope("start"), &startFn{on}, start)
	var answers []beam.PCollection
	for stage := 1; stage < stages; stage++ {
		answer, later := beam.ParDo2(s.Scope("range"), &rangeFn{on, stage}, beam.GroupByKey(s, requests))
		answers, requests = append(answers, answer), later
	}
	answers = append(answers, beam.ParDo(s.Scope("range"), &lastRangeFn{on, stages}, beam.GroupByKey(s, requests)))
	all := answers[0]
	if len(answers) > 1 {
		all = beam.Flatten(s, answers...)
	}
	beam.ParDo0(s.Scope("assemble"), &assembleFn{on}, beam.GroupByKey(s, all))
	return p
}
