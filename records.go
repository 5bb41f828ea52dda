package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/operation/surveying"
	"github.com/graphmill/graphmill/option"
)

// RandomRecords makes GraphTensors that conform to a schema, with few nodes and random values, and writes them to the
// folder out as TFRecords, together with the schema. The same schema and random seed give the same GraphTensors: the GraphTensors of
// a smaller Count are the first of a larger one.
func RandomRecords(ctx context.Context, schema, out string, o option.RandomRecords) (*Report, error) {
	return surveying.RandomRecords(ctx, schema, out, o)
}

// Statistics measures the sizes of the GraphTensors in TFRecords, the degrees of their nodes, and the distribution of the
// values of each feature. given lists the TFRecord files. Statistics returns the text that TF-GNN's sampled_stats writes.
// If out is not "", it also writes that text to the folder out, with a page of plots.
func Statistics(ctx context.Context, schema string, given []string, out string, o option.Statistics) ([]byte, *Report, error) {
	return surveying.Statistics(ctx, schema, given, out, o)
}
