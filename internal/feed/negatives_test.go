//go:build unix

package feed

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/sample"
)

// linked is a source of batches of 16 links of an edge type, of a plan that change completes.
func linked(t *testing.T, g *graph.Graph, links []uint32, f Features, change func(*sample.Plan)) *Source {
	t.Helper()
	et := g.Edges[0].Type
	p, err := sample.FromFanouts(g, sample.Fanouts{Each: []int{4, 3}}, sample.FanoutOptions{SeedType: []string{et.Src, et.Dst}, Scope: sample.ScopeBatch})
	if err != nil {
		t.Fatal(err)
	}
	p.SeedEdges = et.String()
	change(p)
	s, err := sample.New(g, p, sample.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	src, err := NewSource(s, sample.Job{Seeds: links, BatchSize: 16, Seed: 9}, f, false)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// linksOf is the given number of links of an edge type.
func linksOf(g *graph.Graph, n int) (links []uint32) {
	et := g.Edges[0].Type
	src, dst := g.Nodes[g.NodeType(et.Src)].Count, g.Nodes[g.NodeType(et.Dst)].Count
	for i := range n {
		links = append(links, uint32(i*13%src), uint32(i*7%dst))
	}
	return links
}

// Batches have the negatives of the sampler, as local ids; with scope seed the negatives of each link alone. Batches of every kind
// of subgraph fit their slot, and have hops of edges only where these were drawn.
func TestNegatives(t *testing.T) {
	g := testGraph()
	links := linksOf(g, 40)
	et := g.Edges[0].Type
	ends := []string{et.Src, et.Dst}
	for _, how := range []sample.Corruption{sample.Binary, sample.Triplet, sample.InBatch} {
		for _, scope := range []sample.Scope{sample.ScopeBatch, sample.ScopeSeed} {
			for _, kind := range []sample.SubgraphKind{sample.Directional, sample.Bidirectional, sample.Induced} {
				if how == sample.InBatch && scope == sample.ScopeSeed {
					continue
				}
				t.Run(fmt.Sprint(how, scope, kind), func(t *testing.T) {
					src := linked(t, g, links, Features{}, func(p *sample.Plan) {
						p.Negatives, p.Exclude = &sample.Negatives{How: how, Each: 3, Strict: sample.StrictCount}, &sample.Exclude{}
						p.Scope, p.Kind = scope, kind
					})
					if d := cmp.Diff(&NegativesInfo{How: how.String(), Each: 3, KeepsSources: how != sample.Binary}, src.Negatives()); d != "" || src.SeedEdges() != et.String() {
						t.Error(d, src.SeedEdges())
					}
					x := src.sampler.NewContext()
					for b := range src.Batches() {
						got := batchOf(t, src, 3, b)
						first := b * 16
						n := min(16, len(links)/2-first)
						var want []int64
						var edges int64
						take := func(in sample.Input) {
							in.Seed, in.Epoch, in.Unit = 9, 3, uint64(b)
							sub, err := x.Sample(in)
							if err != nil {
								t.Fatal(err)
							}
							edges += int64(sub.Negatives.Edges)
							for _, v := range sub.Negatives.Nodes {
								want = append(want, int64(v))
							}
						}
						if scope == sample.ScopeBatch {
							take(sample.Input{Seeds: links[2*first : 2*(first+n)]})
						} else {
							for i := first; i < first+n; i++ {
								take(sample.Input{Seeds: links[2*i : 2*i+2]})
							}
						}
						if d := cmp.Diff([]int64{edges}, int64s(got["negative_edges"])); d != "" {
							t.Fatal(d)
						}
						local := int64s(got["negative_local"])
						ids := make([]int64, len(local))
						for i, v := range local {
							at := "nodes/" + ends[i%2] + "/"
							ids[i] = int64s(got[at+"n_id"])[v]
							if batch := got[at+"batch"]; scope == sample.ScopeSeed && int64s(batch)[v] != int64(i/6) {
								t.Fatalf("negative %d: found a node of link %d, expected link %d", i/2, int64s(batch)[v], i/6)
							}
						}
						if d := cmp.Diff(want, ids); d != "" {
							t.Fatal(d)
						}
						if _, has := got["edges/"+et.String()+"/by_hop"]; has != (kind == sample.Directional) {
							t.Errorf("found hops of edges: %v", has)
						}
					}
				})
			}
		}
	}
}

// With scope seed, subgraphs whose edges have no hops stand side by side too.
func TestDisjointKinds(t *testing.T) {
	g := testGraph()
	links := linksOf(g, 40)
	for _, kind := range []sample.SubgraphKind{sample.Bidirectional, sample.Induced} {
		src := linked(t, g, links, Features{}, func(p *sample.Plan) { p.Scope, p.Kind = sample.ScopeSeed, kind })
		got, x := batchOf(t, src, 0, 1), src.sampler.NewContext()
		at := make([]int, len(g.Edges))
		for i := range 16 {
			sub, err := x.Sample(sample.Input{Seeds: links[2*(16+i) : 2*(16+i)+2], Seed: 9})
			if err != nil {
				t.Fatal(err)
			}
			for k, e := range g.Edges {
				name := "edges/" + e.Type.String() + "/"
				both := int64s(got[name+"edge_index"])
				src, dst := both[:len(both)/2], both[len(both)/2:]
				for j := range sub.Edges[k].Src {
					pair := []int64{int64s(got["nodes/"+e.Type.Src+"/n_id"])[src[at[k]]], int64s(got["nodes/"+e.Type.Dst+"/n_id"])[dst[at[k]]]}
					want := []int64{int64(sub.Nodes[g.NodeType(e.Type.Src)][sub.Edges[k].Src[j]]), int64(sub.Nodes[g.NodeType(e.Type.Dst)][sub.Edges[k].Dst[j]])}
					if d := cmp.Diff(want, pair); d != "" {
						t.Fatalf("%s, link %d, edge %d of %s: %s", kind, i, j, e.Type, d)
					}
					at[k]++
				}
			}
		}
		for k, e := range g.Edges {
			if n := len(int64s(got["edges/"+e.Type.String()+"/e_id"])); n != at[k] {
				t.Errorf("%s: found %d edges of %s, expected %d", kind, n, e.Type, at[k])
			}
		}
	}
}

// wideColumn is a column of links that is a feature in pieces, with a place of 40 per link.
func wideColumn(name string, links int) *widening.Column {
	piece := features.Piece{Column: "#" + name + ".0", Kind: features.PieceOneHot, Width: 40}
	made := features.NewFile(features.FitRows{})
	made.Edges["a:b:c"] = &features.Type{Features: map[string]*features.Feature{name: {DType: "float32", Pieces: []features.Piece{piece}}}}
	columns, err := widening.Of(made).Among("a:b:c", []*graph.Column{{Name: piece.Column, DType: graph.Uint8, Rows: links, Values: make([]byte, links)}})
	if err != nil {
		panic(err)
	}
	return columns[0]
}

// The least value of a column is taken over all links, so that the label of a negative can differ from every label.
func TestLeast(t *testing.T) {
	g := testGraph()
	links := linksOf(g, 3)
	column := func(name string, d graph.DType, values []byte) *graph.Column {
		return &graph.Column{Name: name, DType: d, Rows: 3, Values: values}
	}
	long := make([]int16, 3*400) // several blocks
	for i := range long {
		long[i] = int16(1000 - i/4)
	}
	long[1100] = 7
	f := Features{Links: widening.Own([]*graph.Column{
		column("label", graph.Int8, graph.Bytes([]int8{2, 0, 1})),
		column("rating", graph.Float32, graph.Bytes([]float32{2.5, 3, -1})),
		column("none", graph.Float64, graph.Bytes([]float64{1, math.NaN(), 0})),
		{Name: "pair", DType: graph.Uint16, Shape: []int{2}, Rows: 3, Values: graph.Bytes([]uint16{5, 4, 6, 7, 8, 9})},
		{Name: "long", DType: graph.Int16, Shape: []int{400}, Rows: 3, Values: graph.Bytes(long)},
		column("half", graph.Float16, graph.Bytes([]uint16{0x3c00, 0x0000, 0x4000})),
	})}
	f.Links = append(f.Links, wideColumn("codes", 3))
	find := func(src *Source) map[string]float64 {
		out := map[string]float64{}
		for _, c := range src.Columns() {
			if c.Least != nil {
				out[c.Name] = *c.Least
			}
		}
		return out
	}
	with := linked(t, g, links, f, func(p *sample.Plan) { p.Negatives = &sample.Negatives{Each: 1} })
	if d := cmp.Diff(map[string]float64{"links/label": 0, "links/rating": -1, "links/pair": 4, "links/long": 7, "links/half": 0}, find(with)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]float64{}, find(linked(t, g, links, f, func(*sample.Plan) {})), cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}
