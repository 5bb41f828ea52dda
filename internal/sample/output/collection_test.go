package output

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

var update = flag.Bool("update", false, "write the golden files")

func newRand() *rand.Rand { return rand.New(rand.NewPCG(5, 6)) }

// writeCollection makes a whole output of jobs.
func writeCollection(ctx context.Context, fsys vfs.FS, dir string, s *sample.Sampler, ops bool, jobs ...sample.Job) (err error) {
	w, err := store.Create(fsys, dir, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	c, err := NewCollection(w, s, CollectionOptions{Ops: ops})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, j := range jobs {
		if _, err := c.Run(ctx, j); err != nil {
			return err
		}
	}
	plan, err := json.Marshal(s.Plan())
	if err != nil {
		return err
	}
	meta, err := c.Finish(store.Made{Command: "sample", Plan: plan})
	if err != nil {
		return err
	}
	if err := w.Seal(ctx, meta, 1); err != nil {
		return err
	}
	return w.Publish()
}

func slice(x graph.Index, i, j uint64) []uint32 {
	var out []uint32
	for ; i < j; i++ {
		out = append(out, uint32(x.At(int(i))))
	}
	return out
}

// Every list of every subgraph is found in the collection, also edge ids of 64 bits.
func TestCollectionHoldsTheSubgraphs(t *testing.T) {
	t.Run("narrow", testCollectionHoldsTheSubgraphs)
	defer func(before int64) { limits.Positions = before }(limits.Positions)
	limits.Positions = 0
	t.Run("wide", testCollectionHoldsTheSubgraphs)
}

func testCollectionHoldsTheSubgraphs(t *testing.T) {
	for _, scope := range []sample.Scope{sample.ScopeEpoch, sample.ScopeBatch, sample.ScopeSeed} {
		t.Run(scope.String(), func(t *testing.T) {
			g := typed(200)
			s := sampler(t, g, "cites=3,2;author:by:paper=2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: scope}, false)
			dir := filepath.Join(t.TempDir(), "out")
			job := sample.Job{Seeds: append(seeds(200), 7, 7, 7), BatchSize: 30, Seed: 5, Threads: 2}
			second := job
			second.Epoch, second.Shuffle = 1, true
			if err := writeCollection(context.Background(), vfs.OS, dir, s, false, job, second); err != nil {
				t.Fatal(err)
			}
			st, err := store.Open(vfs.OS, dir)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			if err := st.Check(context.Background()); err != nil {
				t.Error(err)
			}
			c := st.Collection
			if len(c.Nodes) != 2 || len(c.Edges) != 2 {
				t.Fatalf("found %d node types and %d edge types, expected the 2 and 2 of the plan", len(c.Nodes), len(c.Edges))
			}
			i := 0
			for _, j := range []sample.Job{job, second} {
				subgraphs(t, s, j, func(b *sample.Batch, sub *sample.Subgraph) {
					same := func(what string, got, want []uint32) {
						if !slices.Equal(got, want) {
							t.Fatalf("graph %d: %s: found %v, expected %v", i, what, got, want)
						}
					}
					for _, n := range c.Nodes {
						k := g.NodeType(n.Type)
						same(n.Type, slice(n.NodeID, n.GraphPtr.At(i), n.GraphPtr.At(i+1)), sub.Nodes[k])
						same(n.Type+" hops", graph.View[uint32](n.NumSampled.Row(i)), sub.NodesByHop[k])
					}
					for _, e := range c.Edges {
						k, _ := g.EdgeType(e.Type.String())
						from, to := e.GraphPtr.At(i), e.GraphPtr.At(i+1)
						same("src", slice(e.Src, from, to), sub.Edges[k].Src)
						same("dst", slice(e.Dst, from, to), sub.Edges[k].Dst)
						if wide := limits.Positions == 0; (e.EdgeID.U64 != nil) != wide && e.Count > 0 {
							t.Fatalf("found edge ids of 64 bits %t, expected %t", !wide, wide)
						}
						same("edge_id", slice(e.EdgeID, from, to), slice(sub.Edges[k].ID, 0, uint64(len(sub.Edges[k].Src))))
						same("hops", graph.View[uint32](e.NumSampled.Row(i)), sub.EdgesByHop[k])
					}
					same("seeds", slice(c.SeedLocal, c.SeedPtr.At(i), c.SeedPtr.At(i+1)), sub.SeedLocal)
					context := map[string]int64{}
					for _, col := range c.Context {
						context[col.Name] = graph.View[int64](col.Values)[i]
					}
					if want := map[string]int64{"epoch": int64(j.Epoch), "batch": int64(b.Number)}; !maps.Equal(context, want) {
						t.Fatalf("graph %d: found context %v, expected %v", i, context, want)
					}
					i++
				})
			}
			if i != c.Graphs {
				t.Errorf("found %d graphs, expected %d", c.Graphs, i)
			}
		})
	}
}

// With Ops, the frontier and the edges of each op are kept. Link seeds are pairs.
func TestCollectionOfOpsAndLinks(t *testing.T) {
	g := typed(100)
	plan := &sample.Plan{SeedType: []string{"paper", "author"}, Scope: sample.ScopeBatch, Expand: sample.ExpandAll, Ops: []sample.Op{
		{From: []int{0}, Edges: "paper:cites:paper", Take: 3},
		{From: []int{0, 1}, Edges: "author:by:paper", Take: 2},
	}}
	s, err := sample.New(g, plan, sample.Options{Ops: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "out")
	job := sample.Job{Seeds: seeds(50), BatchSize: 4, Threads: 2}
	if err := writeCollection(context.Background(), vfs.OS, dir, s, true, job); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Check(context.Background()); err != nil {
		t.Error(err)
	}
	all := files(t, dir)
	read := func(key string) []byte {
		name := st.Meta.Context.Arrays[key]
		b := []byte(all[name])
		if len(b) < npy.HeaderSize {
			t.Fatalf("found no array %s", key)
		}
		return b[npy.HeaderSize:]
	}
	i := 0
	subgraphs(t, s, job, func(_ *sample.Batch, sub *sample.Subgraph) {
		if got := slice(st.Collection.SeedLocal, 2*st.Collection.SeedPtr.At(i), 2*st.Collection.SeedPtr.At(i+1)); !slices.Equal(got, sub.SeedLocal) {
			t.Fatalf("graph %d: found seeds %v, expected %v", i, got, sub.SeedLocal)
		}
		for k, op := range sub.Ops {
			prefix := []string{"op_1_", "op_2_"}[k]
			frontier, edges := graph.View[uint64](read(prefix+"frontier_ptr")), graph.View[uint64](read(prefix+"edge_ptr"))
			for key, want := range map[string][]uint32{"src": op.Src, "dst": op.Dst, "edge_id": op.ID.U32} {
				if got := graph.View[uint32](read(prefix + key))[edges[i]:edges[i+1]]; !slices.Equal(got, want) {
					t.Fatalf("graph %d: op %d: %s: found %v, expected %v", i, k+1, key, got, want)
				}
			}
			if got := graph.View[uint32](read(prefix + "frontier"))[frontier[i]:frontier[i+1]]; !slices.Equal(got, op.Frontier) {
				t.Fatalf("graph %d: op %d: found frontier %v, expected %v", i, k+1, got, op.Frontier)
			}
		}
		i++
	})
}

func TestCollectionIsDeterministic(t *testing.T) {
	s := sampler(t, typed(500), "3,2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeBatch}, true)
	var first map[string]string
	for _, threads := range []int{1, 2, 8} {
		dir := filepath.Join(t.TempDir(), "out")
		if err := writeCollection(context.Background(), vfs.OS, dir, s, true, sample.Job{Seeds: seeds(500), BatchSize: 20, Threads: threads, Shuffle: true}); err != nil {
			t.Fatal(err)
		}
		got := files(t, dir)
		if first == nil {
			first = got
		}
		if !maps.Equal(got, first) {
			t.Fatalf("%d threads give other bytes than 1", threads)
		}
	}
}

func TestCollectionFails(t *testing.T) {
	s := sampler(t, typed(30), "2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed}, false)
	job := sample.Job{Seeds: seeds(30), BatchSize: 7, Threads: 2}
	count := &vfs.Fault{FS: vfs.OS}
	if err := writeCollection(context.Background(), count, filepath.Join(t.TempDir(), "out"), s, false, job); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	parent := t.TempDir()
	for i := int64(1); i <= count.Calls(); i += 3 {
		dir := filepath.Join(parent, "out")
		err := writeCollection(context.Background(), &vfs.Fault{FS: vfs.OS, FailAt: i, Err: broken}, dir, s, false, job)
		if err == nil {
			t.Errorf("call %d fails: found no error", i)
		}
		_ = vfs.OS.RemoveAll(dir)
	}
}
