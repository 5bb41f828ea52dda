package importing

import (
	"context"
	"fmt"
	"strconv"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/generate"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// GenerateRMAT makes the R-MAT graph of Graph500 (A = 0.57, B = 0.19, C = 0.19) with nodes renumbered at random, and
// writes it to the folder out. The same parameters give the same graph on every machine. The caller closes the store.
func GenerateRMAT(ctx context.Context, out string, o option.RMAT) (_ *store.Store, _ *report.Report, err error) {
	defer guard.Catch(&err)()
	if err := checkBuild(&o.Build); err != nil {
		return nil, nil, err
	}
	if err := operation.Keeps(out); err != nil {
		return nil, nil, err
	}
	operation.SetDefault(&o.EdgeFactor, 16)
	law, err := generate.NewRMAT(o.Seed, o.Scale, o.EdgeFactor)
	if err != nil {
		return nil, nil, operation.Usagef("%w", err)
	}
	made := store.Made{Command: "generate rmat", Seed: &o.Seed, Law: draw.Version, Version: operation.Version(), Options: map[string]string{
		"scale": strconv.Itoa(o.Scale), "edge_factor": strconv.Itoa(o.EdgeFactor),
		"duplicate_edges": string(o.DuplicateEdges), "self_loops": string(o.SelfLoops)}}
	recordTransforms(&o.Build.Transforms, &made)
	r := operation.NewReport(&o.Build.Run, "generate rmat", fmt.Sprintf("R-MAT graph, scale %d", o.Scale))
	st, err := buildStore(&o.Build, ctx, pairsInput(law, law.Nodes(), law.Edges()), assembleOptions(&o.Build), out, made, r)
	return st, r, err
}

// GenerateCommunity makes an undirected graph with communities inside regions, and writes it to the folder out. It serves
// to compare partitioners. Each pair of neighbours is listed once. The density of degree d is proportional to d^(-7/3);
// 65 % of the edges stay in their community, 20 % in its region, and 15 % go anywhere. The same parameters give the same
// graph on every machine. The caller closes the store.
func GenerateCommunity(ctx context.Context, out string, o option.Community) (_ *store.Store, _ *report.Report, err error) {
	defer guard.Catch(&err)()
	operation.SetDefault(&o.DuplicateEdges, option.PolicyDrop)
	operation.SetDefault(&o.SelfLoops, option.PolicyDrop)
	if err := checkBuild(&o.Build); err != nil {
		return nil, nil, err
	}
	if err := operation.Keeps(out); err != nil {
		return nil, nil, err
	}
	opt := assembleOptions(&o.Build)
	if o.Nodes > 0 && o.Nodes <= generate.MaxCommunityNodes {
		opt.Held = int64(o.Nodes) * generate.CommunityNodeBytes
	}
	if opt.Memory > 0 && opt.Held >= opt.Memory {
		return nil, nil, tagged.Errorf(operation.ErrMemory, "found `Memory` %s, expected more than the %s that the tables for %s nodes take; give more `Memory` or fewer nodes",
			human.Bytes(opt.Memory), human.Bytes(opt.Held), human.Exact(int64(o.Nodes)))
	}
	law, err := generate.NewCommunity(o.Seed, o.Nodes)
	if err != nil {
		return nil, nil, operation.Usagef("%w", err)
	}
	made := store.Made{Command: "generate community", Seed: &o.Seed, Version: operation.Version(), Options: map[string]string{
		"nodes": strconv.Itoa(o.Nodes), "duplicate_edges": string(o.DuplicateEdges), "self_loops": string(o.SelfLoops)}}
	recordTransforms(&o.Build.Transforms, &made)
	r := operation.NewReport(&o.Build.Run, "generate community", fmt.Sprintf("Community graph, %d nodes", o.Nodes))
	st, err := buildStore(&o.Build, ctx, pairsInput(law, law.Nodes(), law.Edges()), opt, out, made, r)
	return st, r, err
}

// pairsInput is a homogeneous graph with a table of edges: src and dst.
func pairsInput(edges table.Table, nodes, rows uint64) assemble.Input {
	end := func(name string) table.Column { return table.Column{Name: name, DType: graph.Uint64, ID: true} }
	return assemble.Input{
		Nodes: []assemble.Nodes{{Type: graph.HomogeneousNode, Count: nodes}},
		Edges: []assemble.Edges{{Type: graph.HomogeneousEdge, Table: edges, Src: end("src"), Dst: end("dst"), Made: rows}},
	}
}
