package graphmill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/report"
)

// Forecast tells what Sample with the same options would take, by the executor that it would choose and by each of the
// others: the field Forecasts of the report, and in its notes which executor is chosen and why. The disk is measured,
// in less than a second, and a few seeds are sampled. Nothing is written.
func Forecast(ctx context.Context, st *Store, o SampleOptions) (*Report, error) {
	start := time.Now()
	if err := o.check(); err != nil {
		return nil, err
	}
	r := o.begin("forecast", "Forecast of sampling "+titled(st.Dir()))
	p, err := o.resolve(ctx, st.store)
	if err != nil {
		return nil, err
	}
	f := forecasting{choice: o.choose(st.Graph(), p, func(text string) { o.warn("%s", text) }), report: r}
	if err := f.run(ctx, st, p, o.Format == FormatTFRecord); err != nil {
		return nil, usageOf(err)
	}
	r.Finish(time.Since(start))
	return r, nil
}

// forecasting is a run of Forecast.
type forecasting struct {
	choice
	report *report.Report
}

// run adds to the report what a run by each executor would take, and which one Sample chooses. joins says that columns
// are written.
func (c forecasting) run(ctx context.Context, st *Store, p *planned, joins bool) (err error) {
	need, bound := c.need(st.Graph(), p.plan)
	memory := report.Forecast{Executor: "memory", Bytes: need, Memory: need, Least: need}
	if c.memory > 0 && need > bound {
		memory.Refused = tooLarge(need, bound)
	}
	designs, chosen := []report.Forecast{{Executor: "stream"}}, outofcore.Auto
	var refused error
	c.scratch = "." // in a run, the folder of the output
	x, err := c.streamed(ctx, st.store, p.plan, bound)
	switch {
	case errors.Is(err, sample.ErrFetch) || errors.Is(err, outofcore.ErrMemory):
		designs[0].Refused, refused = err.Error(), err
	case err != nil:
		return err
	default:
		defer closeWith(&err, x.Close)
		if joins {
			if err := output.Fetch(x, c.options.Induce); err != nil {
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
		memory.Seconds = told.Mapped
		c.report.In("seeds", report.Count(p.seeds(), "seeds"))
		c.report.In("batches", report.Count(told.Batches, "batches"))
		c.report.In("sampled edges, about", report.Count(uint64(told.Edges), "edges"))
	}
	c.report.Forecasts = append([]report.Forecast{memory}, designs...)
	c.verdict(chosen, refused, need, bound)
	return nil
}

// verdict tells which executor Sample would choose, and why. chosen is the design of the stream executor; refused is
// why there is none.
func (c forecasting) verdict(chosen outofcore.Design, refused error, need, bound int64) {
	r := c.report
	take := func(executor Executor, design outofcore.Design, why string) {
		for i, f := range r.Forecasts {
			if f.Executor == string(executor) && (executor == ExecutorMemory || f.Design == design.String()) {
				r.Executor, r.Design, r.Forecast = f.Executor, f.Design, &r.Forecasts[i]
			}
		}
		name := string(executor) + " executor"
		if r.Design != "" {
			name += ", design " + r.Design
		}
		r.Note("sample takes the " + name + ": " + why)
	}
	switch fits := bound == 0 || need <= bound; {
	case c.executor == ExecutorMemory && (fits || c.memory == 0):
		take(ExecutorMemory, 0, "`Executor` memory asks for it")
	case c.executor == ExecutorMemory:
		r.Note("sample refuses: " + tooLarge(need, bound))
	case c.executor == ExecutorAuto && fits && bound == 0:
		take(ExecutorMemory, 0, fmt.Sprintf("it needs %s, and what is available is not known", human.Bytes(need)))
	case c.executor == ExecutorAuto && fits:
		take(ExecutorMemory, 0, fmt.Sprintf("it needs %s, and there are %s", human.Bytes(need), human.Bytes(bound)))
	case c.executor == ExecutorAuto && refused == nil:
		take(ExecutorStream, chosen, tooLarge(need, bound))
	case c.executor == ExecutorAuto && c.memory == 0:
		take(ExecutorMemory, 0, "the stream executor cannot: "+refused.Error())
	case refused == nil:
		take(ExecutorStream, chosen, "`Executor` stream asks for it")
	default:
		e := executor{}
		if c.executor == ExecutorAuto {
			e.need = need
		}
		r.Note("sample refuses: " + e.both(refused).Error())
	}
}
