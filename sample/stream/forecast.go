package stream

import (
	"context"

	"github.com/graphmill/graphmill/sample"
)

// edgeSeconds is the time that one core takes for a sampled edge: asking, serving,
// assembling.
const edgeSeconds = 110e-9

// Forecast is what a run is expected to take.
type Forecast struct {
	Window
	Sweeps  int64   `json:"sweeps"`
	Bytes   int64   `json:"bytes_read"`
	Memory  int64   `json:"memory_bytes"`
	Seconds float64 `json:"seconds"`
}

// Forecast is that of the last run, or of the last Foretell.
func (x *Executor) Forecast() Forecast { return x.forecast }

// Foretell reckons what Run would take, and samples some seeds for it where the
// plan alone does not tell.
func (x *Executor) Foretell(ctx context.Context, job sample.Job) (Forecast, error) {
	batches, err := x.sampler.Batches(&job)
	if err != nil {
		return Forecast{}, err
	}
	defer raiseProcs(x.opt.Threads)()
	w, err := x.windowOf(ctx, &job, batches.Len())
	if err != nil {
		return Forecast{}, err
	}
	x.foretell(&job, w, batches.Len())
	return x.forecast, nil
}

func (x *Executor) foretell(job *sample.Job, w Window, total uint64) {
	f := Forecast{Window: w}
	if total > 0 && len(x.waves) > 0 {
		windows := (total + w.Batches - 1) / w.Batches
		f.Sweeps = int64(windows) + int64(len(x.waves)) - 1
	}
	f.Bytes = x.size() * f.Sweeps
	edges := w.BatchEdges * float64(total)
	n := float64(min(w.Batches, total))
	f.Memory = x.fixed() + x.held + int64(n*x.perBatch(job, w.BatchEdges)+w.BatchEdges*x.perContext())
	f.Seconds = edges * edgeSeconds / float64(x.opt.Threads)
	if x.speed.Sequential > 0 {
		f.Seconds = max(f.Seconds, float64(f.Bytes)/x.speed.Sequential)
	}
	x.forecast = f
}

// size is the bytes that a sweep reads at most.
func (x *Executor) size() int64 {
	size := int64(0)
	for _, file := range x.files {
		size += file.far.Size()
		if file.ids != nil {
			size += file.ids.Size()
		}
	}
	return size
}
