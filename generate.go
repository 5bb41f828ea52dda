package graphmill

import (
	"context"
	"fmt"
	"strconv"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/generate"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
)

// RMATOptions are the parameters of an R-MAT graph.
type RMATOptions struct {
	BuildOptions
	Scale      int    // 2^Scale nodes
	EdgeFactor int    // edges per node; 0 is 16
	Seed       uint64 // random seed of the edges
}

// GenerateRMAT makes the R-MAT graph of Graph500 (A .57, B .19, C .19), with nodes renumbered at random, and writes it
// to the folder out. The same parameters give the same graph on every machine. The caller closes the store.
func GenerateRMAT(ctx context.Context, out string, o RMATOptions) (*Store, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := keeps(out); err != nil {
		return nil, err
	}
	setDefault(&o.EdgeFactor, 16)
	law, err := generate.NewRMAT(o.Seed, o.Scale, o.EdgeFactor)
	if err != nil {
		return nil, usagef("%w", err)
	}
	made := store.Made{Command: "generate rmat", Seed: &o.Seed, Law: draw.Version, Version: Version(), Options: map[string]string{
		"scale": strconv.Itoa(o.Scale), "edge_factor": strconv.Itoa(o.EdgeFactor),
		"duplicate_edges": string(o.DuplicateEdges), "self_loops": string(o.SelfLoops)}}
	r := o.begin("generate rmat", fmt.Sprintf("R-MAT graph, scale %d", o.Scale))
	return o.build(ctx, pairsInput(law, law.Nodes()), o.assemble(), out, made, r)
}

// CommunityOptions are the parameters of a community graph. DuplicateEdges and SelfLoops are dropped by default: the
// definition has each pair once, and no loops.
type CommunityOptions struct {
	BuildOptions
	Nodes int    // number of nodes
	Seed  uint64 // random seed of the graph
}

// GenerateCommunity makes an undirected graph with communities in regions, each pair of neighbours listed once, and
// writes it to the folder out. It is what partitioners are compared on. Degrees have a density of d^-7/3; 65 % of the
// edges stay in their community, 20 % in its region, 15 % go anywhere. The same parameters give the same graph on every
// machine. The caller closes the store.
func GenerateCommunity(ctx context.Context, out string, o CommunityOptions) (*Store, error) {
	setDefault(&o.DuplicateEdges, PolicyDrop)
	setDefault(&o.SelfLoops, PolicyDrop)
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := keeps(out); err != nil {
		return nil, err
	}
	opt := o.assemble()
	if o.Nodes > 0 && o.Nodes <= generate.MaxCommunityNodes {
		opt.Held = int64(o.Nodes) * generate.CommunityNodeBytes
	}
	if opt.Memory > 0 && opt.Held >= opt.Memory {
		return nil, fmt.Errorf("found `Memory` %s, expected more than the %s that the law of %s nodes takes; give more, or fewer nodes",
			human.Bytes(opt.Memory), human.Bytes(opt.Held), human.Exact(int64(o.Nodes)))
	}
	law, err := generate.NewCommunity(o.Seed, o.Nodes)
	if err != nil {
		return nil, usagef("%w", err)
	}
	made := store.Made{Command: "generate community", Seed: &o.Seed, Version: Version(), Options: map[string]string{
		"nodes": strconv.Itoa(o.Nodes), "duplicate_edges": string(o.DuplicateEdges), "self_loops": string(o.SelfLoops)}}
	r := o.begin("generate community", fmt.Sprintf("Community graph, %d nodes", o.Nodes))
	return o.build(ctx, pairsInput(law, law.Nodes()), opt, out, made, r)
}

// pairsInput is a homogeneous graph of which a table lists the edges as src and dst.
func pairsInput(edges table.Table, nodes uint64) assemble.Input {
	end := func(name string) table.Column { return table.Column{Name: name, DType: graph.Uint64, ID: true} }
	return assemble.Input{
		Nodes: []assemble.Nodes{{Type: graph.HomogeneousNode, Count: nodes}},
		Edges: []assemble.Edges{{Type: graph.HomogeneousEdge, Table: edges, Src: end("src"), Dst: end("dst")}},
	}
}
