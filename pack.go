package graphmill

import (
	"context"
	"io"

	"github.com/graphmill/graphmill/internal/operation/packing"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Pack puts small graphs into as few packs as it can find, so that no pack exceeds the limit of a component, and proves a
// lower bound on the number of packs. The input is a collection or a histogram: a CSV file with one line per size and the
// columns num_nodes,num_edges,count, or one to seven components of any name and count. Pack writes the pack layout to
// the folder out, or nothing if out is "". Without a TimeBudget the result depends neither on Threads nor on the machine.
func Pack(ctx context.Context, in, out string, o option.Pack) (*report.Packing, error) {
	return packing.Pack(ctx, in, out, o)
}

// Fill assigns the graphs of a collection to the packs of the layout in the folder plan, and writes the result to the
// folder out: pack k has the graphs graph_id.npy[pack_ptr.npy[k]:pack_ptr.npy[k+1]]. Every epoch has packs of the same
// shapes with different graphs in a different order, which depend only on the random seed and the epoch. Several epochs
// follow one another in the arrays. Graphs that are larger than a pack are in no pack; with OversizeAlone, alone_id.npy
// lists them.
func Fill(ctx context.Context, plan, in, out string, o option.Fill) (*Report, error) {
	return packing.Fill(ctx, plan, in, out, o)
}

// Materialise writes the packs that Fill assigns for an epoch to the folder out, with all columns of their graphs: as
// padded arrays, as a collection with one graph per pack, or as TFRecords with one GraphTensor per pack.
func Materialise(ctx context.Context, plan, in, out string, o option.Materialise) (*Report, error) {
	return packing.Materialise(ctx, plan, in, out, o)
}

// PackStream packs a stream of graphs in their order, without knowing their number, and holds at most Buffer of them. The
// input is a CSV file with one graph per line, o.In with the same text (in is "-" then), or a collection. PackStream
// writes pack_ptr.npy and graph_id.npy to the folder out or, if out is "", one line of JSON per pack to o.Lines. With
// OversizeAlone, graphs that are larger than a pack go to alone_id.npy or to lines of their own.
func PackStream(ctx context.Context, in, out string, o option.PackStream) (*report.PackedStream, error) {
	return packing.PackStream(ctx, in, out, o)
}

// PackHistogram counts the graphs of a collection by their sizes, and writes the counts to w as CSV: one line per size,
// with the columns of the components and count. Pack reads this format.
func PackHistogram(in string, w io.Writer, o option.PackHistogram) error {
	return packing.PackHistogram(in, w, o)
}

// ComparePacks makes the two tables of the paper on tuple packing for any collections or histograms. Table 1 has the
// properties of the data sets. Table 2 has the efficiency of the published heuristics, of the baselines of the paper, and
// of PackAuto. The limits are the sizes of the largest graph.
func ComparePacks(ctx context.Context, in []string, o option.ComparePacks) (report.PackTablesList, error) {
	return packing.ComparePacks(ctx, in, o)
}

// TunePacks searches for good limits. It packs with limits near the ratio of the mean sizes, from the size of the largest
// graph to packs that cost sixteen times as much, and finds the front: the limits for which no cheaper limits are as full.
// The measure of fullness is the harmonic mean of the efficiencies, which is low if any component loses room. A report
// with plots goes to the folder out, or, with a Target, the pack layout for the cheapest limits that reach it; if out is
// "", nothing is written.
func TunePacks(ctx context.Context, in, out string, o option.TunePacks) (*report.Tuning, error) {
	return packing.TunePacks(ctx, in, out, o)
}
