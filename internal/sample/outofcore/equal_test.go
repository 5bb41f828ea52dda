package outofcore

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

type lines struct{ list []string }

// line is all of a subgraph as text.
func line(b *sample.Batch, sub *sample.Subgraph) string {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, sub.Negatives.Ends)
	for _, list := range [][][]uint32{sub.Nodes, {sub.SeedLocal, sub.Negatives.Nodes, sub.Negatives.Local}, sub.NodesByHop, sub.EdgesByHop} {
		for _, x := range list {
			_, _ = fmt.Fprint(h, len(x))
			_, _ = h.Write(graph.Bytes(x))
		}
	}
	edges := slices.Clone(sub.Edges)
	for _, op := range sub.Ops {
		_, _ = fmt.Fprint(h, op.Frontier)
		edges = append(edges, op.SubEdges)
	}
	for _, e := range edges {
		ids := slices.Clone(e.ID.U32)
		for _, id := range e.ID.U64 {
			ids = append(ids, uint32(id))
		}
		for _, x := range [][]uint32{e.Src, e.Dst, ids} {
			_, _ = fmt.Fprint(h, len(x))
			_, _ = h.Write(graph.Bytes(x))
		}
	}
	return fmt.Sprintf("epoch %d batch %d seed %d: %d drawn, %x", b.Epoch, b.Number, b.At, sub.Drawn, h.Sum64())
}

func newLines() *lines { return &lines{} }

func encodeLine(_ context.Context, out *lines, b *sample.Batch, sub *sample.Subgraph) error {
	out.list = append(out.list, line(b, sub))
	return nil
}

// encodeChecked is encodeLine of a graph, and checks the subgraph.
func encodeChecked(t testing.TB, g *graph.Graph, p *sample.Plan) func(ctx context.Context, out *lines, b *sample.Batch, sub *sample.Subgraph) error {
	t.Helper()
	c, err := sampletest.NewChecker(g, p)
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, out *lines, b *sample.Batch, sub *sample.Subgraph) error {
		if err := c.Check(sub); err != nil {
			return err
		}
		return encodeLine(ctx, out, b, sub)
	}
}

func memory(t testing.TB, s *store.Store, p *sample.Plan, job sample.Job, opt Options) ([]string, sample.Stats) {
	t.Helper()
	view, done := sampletest.WithMessages(t, s, p)
	defer done()
	m, err := sample.New(view.Graph, p, sample.Options{Ops: opt.Ops, NoEdgeIDs: opt.NoEdgeIDs})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var all []string
	encode := encodeChecked(t, s.Graph, p)
	stats, err := sample.Run(context.Background(), m, job, newLines, func(out *lines, b *sample.Batch, sub *sample.Subgraph) error { return encode(t.Context(), out, b, sub) }, func(out *lines) error {
		all, out.list = append(all, out.list...), out.list[:0]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, stats
}

func streamed(t testing.TB, s *store.Store, p *sample.Plan, job sample.Job, opt Options) ([]string, sample.Stats, Counts) {
	t.Helper()
	view, done := sampletest.WithMessages(t, s, p)
	defer done()
	x, err := Open(context.Background(), vfs.OS, view, p, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}()
	var all []string
	stats, err := Run(context.Background(), x, job, newLines, encodeChecked(t, s.Graph, p), func(out *lines) error {
		all, out.list = append(all, out.list...), out.list[:0]
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, stats, x.Counts()
}

// TestEqualsMemory checks that any plan gives the subgraphs of the memory executor, for any window, any number of
// threads and epochs, and from any batch on.
func TestEqualsMemory(t *testing.T) {
	for name, s := range map[string]*store.Store{"typed": typedStore(t), "plain": plainStore(t)} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				p := sampletest.Plan(r, s.Graph)
				if p.Negatives != nil && p.Negatives.How != sample.InBatch && p.Negatives.How != sample.Listed && rapid.Bool().Draw(r, "by degree") {
					p.Negatives.By = sample.ByDegree
					if !stored(s.Graph, p) {
						p.Negatives.By = sample.ByNone
					}
				}
				sampletest.AddMessages(r, s.Graph, p)
				job := sampletest.Job(r, s.Graph, p)
				opt := Options{Threads: rapid.IntRange(1, 3).Draw(r, "threads"), Ops: rapid.Bool().Draw(r, "ops"), NoEdgeIDs: rapid.IntRange(0, 3).Draw(r, "no edge ids") == 0}
				if rapid.Bool().Draw(r, "budget") {
					opt.Memory = int64(rapid.IntRange(96, 400).Draw(r, "MiB")) << 20
				} else {
					opt.Window = rapid.IntRange(1, 12).Draw(r, "window")
				}
				checkEqual(t, r, s, p, job, opt)
			})
		})
	}
}

// stored says whether the store has both directions of the seed edges of a plan, and edges in them.
func stored(g *graph.Graph, p *sample.Plan) bool {
	e, err := g.EdgeType(p.SeedEdges)
	return err == nil && g.Edges[e].Count > 0 && g.Edges[e].Adj[graph.In] != nil && g.Edges[e].Adj[graph.Out] != nil
}

// checkEqual compares a run with a run of the memory executor, sometimes from a later batch on.
func checkEqual(t *testing.T, r *rapid.T, s *store.Store, p *sample.Plan, job sample.Job, opt Options) {
	t.Helper()
	want, stats := memory(t, s, p, job, opt)
	if len(want) > 0 && rapid.Bool().Draw(r, "later") {
		job.From = uint64(rapid.IntRange(0, int(stats.Batches)).Draw(r, "from"))
		want, stats = memory(t, s, p, job, opt)
	}
	// Edge types of more edges are wide.
	defer func(before int64) { limits.Positions = before }(limits.Positions)
	limits.Positions = rapid.SampledFrom([]int64{math.MaxUint32, 0, int64(s.Graph.Edges[0].Count)}).Draw(r, "positions")
	got, counted, _ := streamed(t, s, p, job, opt)
	if !slices.Equal(got, want) {
		r.Fatalf("found\n%q\nexpected\n%q", got, want)
	}
	if counted != stats {
		r.Fatalf("found counts %+v, expected %+v", counted, stats)
	}
}

// TestBothWays checks that edges met in both directions are told apart by their ids, also where subgraphs have no ids.
func TestBothWays(t *testing.T) {
	s := typedStore(t)
	plan := &sample.Plan{SeedType: []string{"a"}, Scope: sample.ScopeBatch, Ops: []sample.Op{
		{From: []int{0}, Edges: "a:aa:a", Dir: graph.In, Take: 40}, {From: []int{0, 1}, Edges: "a:aa:a", Dir: graph.Out, Take: 40},
	}}
	job := sample.Job{BatchSize: 50, Epochs: 2}
	for v := range uint32(200) {
		job.Seeds = append(job.Seeds, v)
	}
	for _, opt := range []Options{{Threads: 2, Window: 3}, {Threads: 2, Window: 3, NoEdgeIDs: true}} {
		want, stats := memory(t, s, plan, job, opt)
		if stats.Drawn == stats.Edges {
			t.Fatal("found no edge met twice")
		}
		if got, _, _ := streamed(t, s, plan, job, opt); !slices.Equal(got, want) {
			t.Errorf("no edge ids %t: found other subgraphs", opt.NoEdgeIDs)
		}
	}
}
