package sampling

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Forecast predicts the time, memory and reads of Sample with the same options, for each executor, in the field Forecasts
// of the report. The notes of the report say which executor Sample would choose, and why. To predict, it measures the
// disk for less than a second and samples a few seeds. It writes nothing.
func Forecast(ctx context.Context, st *store.Store, options option.Sample) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	o := ofSample(&options, nil)
	if err := o.check(); err != nil {
		return nil, err
	}
	r := operation.NewReport(&o.Run, "forecast", "Forecast of sampling "+operation.Titled(st.Dir))
	p, err := o.resolve(ctx, st)
	if err != nil {
		return nil, err
	}
	m, err := OpenMessages(ctx, &o.Run, st, p.plan, "")
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, m.Close)
	st = m.Store
	f := forecasting{choice: o.choose(st, p, func(text string) { operation.Warn(&o.Run, "%s", text) }), report: r}
	if err := f.run(ctx, st, p, o.Format == option.FormatTFRecord); err != nil {
		return nil, UsageOf(err)
	}
	r.Finish(time.Since(start))
	return r, nil
}

// forecasting is a run of Forecast.
type forecasting struct {
	choice
	report *report.Report
}

// run adds to the report the forecast of each executor, and the executor that Sample would choose. joins says whether
// columns are written.
func (c forecasting) run(ctx context.Context, st *store.Store, p *planned, joins bool) (err error) {
	need, bound := c.need(st.Graph, p.plan)
	memory := report.Forecast{Executor: "memory", Bytes: need, Memory: need, Least: need}
	if c.memory > 0 && need > bound {
		memory.Refused = tooLarge(need, bound)
	}
	designs, chosen := []report.Forecast{{Executor: "stream"}}, outofcore.Auto
	var refused error
	c.scratch = "." // Sample spills next to its output, which is not known here
	x, err := c.streamed(ctx, st, p.plan, bound)
	switch {
	case errors.Is(err, sample.ErrFetch) || errors.Is(err, outofcore.ErrMemory):
		designs[0].Refused, refused = err.Error(), err
	case err != nil:
		return err
	default:
		defer operation.CloseWith(&err, x.Close)
		if joins {
			if err := output.Fetch(x, p.features); err != nil {
				return err
			}
		}
		told, err := x.Forecasts(ctx, p.job)
		if err != nil {
			return err
		}
		designs, chosen, refused = nil, told.Chosen, told.Err
		for _, f := range told.Designs {
			designs = append(designs, forecastOf(f))
		}
		memory.Seconds, memory.Bytes = told.Mapped, int64(told.Cold)
		c.report.In("seeds", report.Count(p.seeds(), "seeds"))
		c.report.In("batches", report.Count(told.Batches, "batches"))
		c.report.In("sampled edges (estimate)", report.Count(uint64(told.Edges), "edges"))
	}
	c.report.Forecasts = append([]report.Forecast{memory}, designs...)
	c.verdict(chosen, refused, need, bound)
	return nil
}

// verdict notes which executor Sample would choose, and why. chosen is the design of the stream executor; refused is
// the error if it has none.
func (c forecasting) verdict(chosen outofcore.Design, refused error, need, bound int64) {
	r := c.report
	take := func(executor option.Executor, design outofcore.Design, why string) {
		for i, f := range r.Forecasts {
			if f.Executor == string(executor) && (executor == option.ExecutorMemory || f.Design == design.String()) {
				r.Executor, r.Design, r.Forecast = f.Executor, f.Design, &r.Forecasts[i]
			}
		}
		name := string(executor) + " executor"
		if r.Design != "" {
			name += ", design " + r.Design
		}
		r.Note("sample would choose the " + name + ": " + why)
	}
	switch fits := bound == 0 || need <= bound; {
	case c.executor == option.ExecutorMemory && (fits || c.memory == 0):
		take(option.ExecutorMemory, 0, "`Executor` memory requests it")
	case c.executor == option.ExecutorMemory:
		r.Note("sample would fail: " + tooLarge(need, bound))
	case c.executor == option.ExecutorAuto && fits && bound == 0:
		take(option.ExecutorMemory, 0, fmt.Sprintf("it needs %s, and the available memory is not known", human.Bytes(need)))
	case c.executor == option.ExecutorAuto && fits:
		take(option.ExecutorMemory, 0, fmt.Sprintf("it needs %s, and %s are available", human.Bytes(need), human.Bytes(bound)))
	case c.executor == option.ExecutorAuto && refused == nil:
		take(option.ExecutorStream, chosen, tooLarge(need, bound))
	case c.executor == option.ExecutorAuto && c.memory == 0:
		take(option.ExecutorMemory, 0, "the stream executor cannot run: "+refused.Error())
	case refused == nil:
		take(option.ExecutorStream, chosen, "`Executor` stream requests it")
	default:
		e := executor{}
		if c.executor == option.ExecutorAuto {
			e.need = need
		}
		r.Note("sample would fail: " + e.both(refused).Error())
	}
}
