package outofcore

import (
	"context"
	"errors"

	"github.com/graphmill/graphmill/internal/sample"
)

// Forecast is what a run by a design is expected to take.
type Forecast struct {
	Design Design `json:"-"`
	Window
	Sweeps  int64   `json:"sweeps"`
	Bytes   int64   `json:"bytes_read"`
	Written int64   `json:"scratch_bytes_written"`
	Memory  int64   `json:"memory_bytes"`
	Least   int64   `json:"least_memory_bytes"` // the smallest budget that a run by the design fits
	Seconds float64 `json:"seconds"`
	Err     error   `json:"-"` // why such a run is refused
}

// Forecast is the forecast of the last run, or of the last Foretell.
func (x *Executor) Forecast() Forecast { return x.forecast }

// Foretell is the forecast of Run for a job. It samples some seeds to find it.
func (x *Executor) Foretell(ctx context.Context, job sample.Job) (Forecast, error) {
	batches, err := x.look(ctx, &job)
	if err != nil {
		return Forecast{}, err
	}
	d, err := x.design(ctx, &job, batches)
	if err != nil {
		return Forecast{}, err
	}
	x.forecast = x.estimate(&d, batches)
	return x.forecast, x.forecast.Err
}

// Outlook is what a job would take by every way to sample it.
type Outlook struct {
	Batches uint64
	Edges   float64    // sampled, about
	Designs []Forecast // of the designs that the plan allows
	Chosen  Design     // the design of Run; Auto where Err refuses the job
	Err     error
	Mapped  float64 // seconds that the memory executor takes over the mapped store
	Cold    float64 // bytes of the neighbours that it reads from the disk: those that are not in the page cache
}

// Forecasts is the forecast of a run by each design, and the design that Run chooses.
func (x *Executor) Forecasts(ctx context.Context, job sample.Job) (*Outlook, error) {
	batches, err := x.look(ctx, &job)
	if err != nil {
		return nil, err
	}
	plan := x.neighbours.sampler
	o := &Outlook{Batches: batches, Edges: float64(batches) * x.found.edges * filled(&job, plan.SeedWidth())}
	chosen, err := x.design(ctx, &job, batches)
	if o.Chosen, o.Err = chosen.Design, err; err != nil {
		if !errors.Is(err, ErrMemory) {
			return nil, err
		}
		o.Chosen = Auto
	}
	e := estimate{x.budget(&job, x.found), batches}
	if o.Cold, err = x.neighbours.uncached(x.fsys); err != nil {
		return nil, err
	}
	o.Mapped = e.mapped(o.Edges, o.Cold)
	for _, design := range []Design{Windows, Condensed, Spilled} {
		if design == Condensed && plan.Plan().Scope != sample.ScopeEpoch {
			continue
		}
		d, err := x.windows(ctx, &job, batches)
		if d.Design = design; design != Windows {
			err = d.fits(design, d.Window, batches)
		}
		f := Forecast{Design: design, Window: d.Window}
		if err == nil {
			f = x.estimate(&d, batches)
		}
		d.need = x.found
		f.Err, f.Least = err, d.least(design, batches)
		if design == o.Chosen && err != nil {
			o.Chosen, o.Err = Auto, err
		}
		o.Designs = append(o.Designs, f)
	}
	return o, nil
}

// look counts the batches of a job, and runs a pilot where there was none.
func (x *Executor) look(ctx context.Context, job *sample.Job) (total uint64, err error) {
	x.cutBatch(job)
	batches, err := x.neighbours.sampler.Batches(job)
	if err != nil {
		return 0, err
	}
	if batches.Len() == 0 || len(x.neighbours.waves) == 0 {
		x.found = x.neighbours.bounds(job)
		return batches.Len(), nil
	}
	defer raiseProcs(x.opt.Threads)()
	if !x.found.by(job) {
		if err := x.pilot(ctx, job); err != nil {
			return 0, err
		}
	}
	return batches.Len(), nil
}

// pilot runs a pilot, for the forecasts and the runs of the job.
func (x *Executor) pilot(ctx context.Context, job *sample.Job) error {
	found, err := pilot{x, x.neighbours, job}.run(ctx)
	if err == nil {
		x.found = found
	}
	return err
}

// estimate is the forecast of a run by a division.
func (x *Executor) estimate(d *division, total uint64) Forecast {
	e := estimate{d.budget, total}
	if e.need = x.found; !x.found.by(d.job) {
		e.need = x.neighbours.bounds(d.job)
	}
	f := e.of(d.Design, d.Window, d.share)
	if total > 0 && len(d.waves) > 0 {
		// Counts has the bytes that were read to measure the disk, too.
		f.Bytes += x.Counts().Bytes
	}
	return f
}
