package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/operation/dispatching"
	"github.com/graphmill/graphmill/internal/operation/dividing"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Partition assigns each node of a graph to a part, so that the parts are balanced and few edges run between them. It
// writes <node type>.txt (line i has the part of node i) and partition_meta.json to the folder out, for Dispatch and DGL's
// tools. The graph is a store, a graph in DGL's chunked format, or a METIS file. For a METIS file out may be "": the
// assignment is then written next to it as GRAPH.graph.part.K, as gpmetis writes it.
func Partition(ctx context.Context, in, out string, o option.Partition) (*report.Division, error) {
	return dividing.Partition(ctx, in, out, o, nil)
}

// Dispatch writes the parts of a graph to the folder out in DGL's distributed format: GRAPH_NAME.json, metadata.json,
// and for each part graph.dgl, node_feat.dgl and edge_feat.dgl. The graph in is a store or a graph in DGL's chunked
// format. The assignment is the folder that Partition wrote, or any folder with a file <node type>.txt per node type; with
// option.Dispatch.Parts it is "". The bytes depend neither on Threads nor on Memory. If a run with Resume stops early, its error is ErrResumable.
func Dispatch(ctx context.Context, in, assignment, out string, o option.Dispatch) (*Report, error) {
	return dispatching.Dispatch(ctx, in, assignment, out, o, nil)
}

// PartitionGraph divides a graph and writes its parts to the folder out, as dgl.distributed.partition_graph does:
// Partition, then Dispatch with the halo that partition_graph keeps and the node data part_id.
func PartitionGraph(ctx context.Context, in, out string, o option.PartitionGraph) (*Report, error) {
	return dispatching.PartitionGraph(ctx, in, out, o)
}

// ForecastDispatch forecasts the disk space, memory and time that Dispatch will take. It writes no parts.
func ForecastDispatch(ctx context.Context, in, assignment, out string, o option.Dispatch) (*report.DispatchForecast, error) {
	return dispatching.ForecastDispatch(ctx, in, assignment, out, o)
}

// ForecastPartitionGraph divides a graph, and forecasts the disk space, memory and time that PartitionGraph will take to
// write its parts. It writes no parts.
func ForecastPartitionGraph(ctx context.Context, in, out string, o option.PartitionGraph) (*report.DispatchForecast, error) {
	return dispatching.ForecastPartitionGraph(ctx, in, out, o)
}

// Send sends existing parts, in the folder dir, to their machines. Files that are already there and equal are not sent
// again. Of the options, only Run's and Send's apply.
func Send(ctx context.Context, dir string, o option.Dispatch) (*Report, error) {
	return dispatching.Send(ctx, dir, o)
}
