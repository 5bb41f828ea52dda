package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Sample samples subgraphs around the seeds of a store, and writes them to the folder out as a collection or as TFRecords.
// The same store, options and random seed give the same bytes for any Threads, Memory and Executor. If a run stops after
// a checkpoint, its error is ErrResumable.
func Sample(ctx context.Context, st *Store, out string, o option.Sample) (*Report, error) {
	return sampling.Sample(ctx, st.store, out, o, nil)
}

// SampleUnigraph imports the unigraph of a GraphSchema (a file, or the folder that holds it) into a temporary store next
// to out, samples it, and writes TFRecords to the folder out, as TF-GNN's tfgnn_sampler does.
func SampleUnigraph(ctx context.Context, schema, out string, o option.Unigraph) (*Report, error) {
	return sampling.SampleUnigraph(ctx, schema, out, o, nil)
}

// Forecast predicts the time, memory and reads of Sample with the same options, for each executor, in the field Forecasts
// of the report. The notes of the report say which executor Sample would choose, and why. To predict, it measures the
// disk for less than a second and samples a few seeds. It writes nothing.
func Forecast(ctx context.Context, st *Store, o option.Sample) (*Report, error) {
	return sampling.Forecast(ctx, st.store, o)
}

// MeasureSampling samples batches in memory and discards them, to measure the speed of sampling itself, including
// relabelling and edge ids. Without Seeds, the seeds are the nodes at which the first hop finds edges, in shuffled order.
func MeasureSampling(ctx context.Context, st *Store, batches int, o option.Measure) (*report.Measurement, error) {
	return sampling.Measure(ctx, st.store, batches, o)
}
