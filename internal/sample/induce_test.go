package sample

import (
	"slices"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// TestInduce checks that a subgraph has every edge between its nodes once, also of a type that the plan does not draw
// from, for each way to find local ids.
func TestInduce(t *testing.T) {
	g, seeds := rmatGraph(t, 8, 6)
	more := *g.Edges[0]
	more.Type.Rel = "again"
	more.Primary = g.Edges[0].Primary
	g.Edges = append(g.Edges, &more)
	g.Sort()
	plan, err := FromFanouts(g, Fanouts{Types: []TypeFanouts{{Edges: graph.HomogeneousEdge.String(), Hops: []int{3, 2}}}},
		FanoutOptions{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch})
	if err != nil {
		t.Fatal(err)
	}
	without := Need(g, plan, 1)
	plan.Kind = Induced
	for _, kind := range []relabelKind{relabelDirect, relabelWide, relabelNarrow} {
		s, err := New(g, plan, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.relabel = kind
		c := s.NewContext()
		for at := 0; at+5 <= 60; at += 5 {
			sub, err := c.Sample(Input{Seeds: seeds[at : at+5], Unit: uint64(at)})
			if err != nil {
				t.Fatal(err)
			}
			for i := range g.Edges {
				got := sub.Edges[i]
				want := between(g, i, sub.Nodes[0])
				if !slices.Equal(narrow(got.ID), want) {
					t.Fatalf("way %d: found edges %v of type %d, expected %v", kind, got.ID, i, want)
				}
				for k, id := range narrow(got.ID) {
					src, dst := endsOfEdge(g, i, id)
					if sub.Nodes[0][got.Src[k]] != src || sub.Nodes[0][got.Dst[k]] != dst {
						t.Fatalf("way %d: edge %d has other ends", kind, id)
					}
				}
			}
		}
		s.Close()
	}
	if got, want := plan.Induced(g), []int{0, 1}; !slices.Equal(got, want) {
		t.Errorf("found induced types %v, expected %v", got, want)
	}
	if got := Need(g, plan, 1); got <= without {
		t.Errorf("found that inducing needs %d bytes, expected more than %d", got, without)
	}
}

// endsOfEdge is the source and destination of an edge.
func endsOfEdge(g *graph.Graph, edgeType int, id uint32) (src, dst uint32) {
	e := g.Edges[edgeType]
	a := e.Adj[e.Primary]
	near := uint32(0)
	for a.Indptr.At(int(near)+1) <= uint64(id) {
		near++
	}
	if far := uint32(a.Far.At(int(id))); e.Primary == graph.In {
		return far, near
	}
	return near, uint32(a.Far.At(int(id)))
}

// between is the edges between nodes: by the place of the near end, then by id.
func between(g *graph.Graph, edgeType int, nodes []uint32) []uint32 {
	e := g.Edges[edgeType]
	var ids []uint32
	for _, v := range nodes {
		for id := range uint32(e.Count) {
			src, dst := endsOfEdge(g, edgeType, id)
			near, far := src, dst
			if e.Primary == graph.In {
				near, far = dst, src
			}
			if near == v && slices.Contains(nodes, far) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// TestBatchRows checks that a batch has the places of its seeds among all seeds.
func TestBatchRows(t *testing.T) {
	for _, shuffle := range []bool{false, true} {
		job := Job{Seeds: []uint32{5, 4, 9, 9, 1, 0, 7, 2, 3, 3}, BatchSize: 2, Shuffle: shuffle}
		for _, width := range []int{1, 2} {
			b, err := job.Batches(width)
			if err != nil {
				t.Fatal(err)
			}
			var batch Batch
			seen := map[uint32]bool{}
			for i := range b.Len() {
				b.Get(i, &batch)
				for k, row := range batch.Rows {
					seen[row] = true
					if got, want := batch.Seeds[k*width:(k+1)*width], job.Seeds[int(row)*width:(int(row)+1)*width]; !slices.Equal(got, want) {
						t.Errorf("shuffle %t: found seeds %v at row %d, expected %v", shuffle, got, row, want)
					}
				}
			}
			if len(seen) != len(job.Seeds)/width {
				t.Errorf("shuffle %t: found %d rows of seeds, expected each of %d once", shuffle, len(seen), len(job.Seeds)/width)
			}
		}
	}
}
