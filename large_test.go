//go:build large

package graphmill_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/sample/cluster"
	tasks "github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/stages/stagestest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// The size of the store of TestLarge. Almost all edges are from node 0, so that its files are mostly holes.
const (
	largeNodes = 1 << 20
	largeEdges = 5_000_000_000
)

// largeStart is the position of the first edge into a node. The last node has the rest of the edges.
func largeStart(v int) uint64 {
	if v == largeNodes {
		return largeEdges
	}
	return uint64(v) * (largeEdges / largeNodes)
}

// largeFar is the source of edge k into a node whose sources are written.
func largeFar(v, k int) uint32 { return uint32((7*k + v) % largeNodes) }

// TestLarge runs commands on a store of 5 * 10^9 edges, which takes some MB of the disk. It reads holes for minutes, so it runs with
// make large alone. The small stores of TestWide take the same paths.
func TestLarge(t *testing.T) {
	dir := t.TempDir() + "/g.store"
	seeds := []int{0, largeNodes / 2, largeNodes - 1}
	largeStore(t, dir, seeds)
	st, err := graphmill.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	t.Run("info", func(t *testing.T) {
		if n := st.Graph().Edges[0].Count; n != largeEdges {
			t.Errorf("found %d edges, expected %d", n, largeEdges)
		}
		if _, err := st.Describe(); err != nil {
			t.Error(err)
		}
	})
	t.Run("verify", func(t *testing.T) {
		if v, err := graphmill.Verify(t.Context(), dir, option.Verify{}); err != nil || !v.OK {
			t.Errorf("found %+v, %v, expected a whole store", v, err)
		}
	})
	list := t.TempDir() + "/seeds.csv"
	text := "id\n"
	for _, v := range seeds {
		text += fmt.Sprintln(v)
	}
	if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, executor := range []option.Executor{option.ExecutorStream, option.ExecutorMemory} {
		t.Run("sample by "+string(executor), func(t *testing.T) {
			out := t.TempDir() + "/out"
			if _, err := graphmill.Sample(t.Context(), st, out, option.Sample{Draw: option.Draw{Fanout: []int{-1}, Executor: executor}, Batching: option.Batching{Seeds: list}}); err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(vfs.OS, out)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			checkLarge(t, seeds, s.Collection.Edges[0].Count, func(i int) (id, src, dst uint64) {
				e, nodes := s.Collection.Edges[0], s.Collection.Nodes[0].NodeID
				return e.EdgeID.At(i), nodes.At(int(e.Src.At(i))), nodes.At(int(e.Dst.At(i)))
			})
		})
	}
	// Each node that the first hop finds asks a range for one edge, whose id most often takes more than 32 bits.
	t.Run("sample by shuffle", func(t *testing.T) {
		out := t.TempDir() + "/out"
		engine := &stagestest.Engine{Slots: 2, Open: func(_ context.Context, dir string) (tasks.Site, error) { return cluster.Open(vfs.OS, dir) }}
		if _, err := sampling.SampleFolder(t.Context(), dir, out, option.Sample{Draw: option.Draw{Fanout: []int{-1, 1}}, Batching: option.Batching{Seeds: list}},
			&sampling.Cluster{Engine: engine, Method: sampling.ClusterShuffle}); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(vfs.OS, out)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		e, nodes := s.Collection.Edges[0], s.Collection.Nodes[0].NodeID
		least, beyond := 2*len(seeds)*(largeEdges/largeNodes), 0
		for i := range e.Count {
			id, src, dst := e.EdgeID.At(i), nodes.At(int(e.Src.At(i))), int(nodes.At(int(e.Dst.At(i))))
			want := uint64(0)
			if slices.Contains(seeds, dst) {
				want = uint64(largeFar(dst, int(id-largeStart(dst))))
			}
			if id < largeStart(dst) || id >= largeStart(dst+1) || src != want {
				t.Fatalf("edge %d: found id %d from %d to %d, expected one from %d with an id from %d to %d", i, id, src, dst, want, largeStart(dst), largeStart(dst+1)-1)
			}
			if id > math.MaxUint32 {
				beyond++
			}
		}
		if e.Count < least-len(seeds) || beyond < len(seeds) {
			t.Errorf("found %d edges, %d of them beyond 2^32, expected at least %d and %d", e.Count, beyond, least-len(seeds), len(seeds))
		}
	})
	t.Run("batches", func(t *testing.T) {
		for b, err := range graphmill.Batches(t.Context(), st, option.Batches{Draw: option.Draw{Fanout: []int{-1}}, Batching: option.Batching{Seeds: list}}) {
			if err != nil {
				t.Fatal(err)
			}
			ints := func(name string) []int64 { return graph.View[int64](b.Column(name).Values) }
			nodes, ends, ids := ints("nodes/_N/n_id"), ints("edges/_N:_E:_N/edge_index"), ints("edges/_N:_E:_N/e_id")
			checkLarge(t, seeds, len(ids), func(i int) (id, src, dst uint64) {
				return uint64(ids[i]), uint64(nodes[ends[i]]), uint64(nodes[ends[len(ids)+i]])
			})
		}
	})
}

// checkLarge compares sampled edges with those into the seeds.
func checkLarge(t *testing.T, seeds []int, n int, edge func(i int) (id, src, dst uint64)) {
	t.Helper()
	i := 0
	for _, v := range seeds {
		for k := range int(largeStart(v+1) - largeStart(v)) {
			want := [3]uint64{largeStart(v) + uint64(k), uint64(largeFar(v, k)), uint64(v)}
			if i == n {
				t.Fatalf("found %d edges, expected more", n)
			}
			if id, src, dst := edge(i); want != [3]uint64{id, src, dst} {
				t.Fatalf("edge %d: found id %d from %d to %d, expected %d", i, id, src, dst, want)
			}
			i++
		}
	}
	if i != n {
		t.Errorf("found %d edges, expected %d", n, i)
	}
}

// largeStore writes the store: the sources of the edges into the given nodes are written, and all others are 0.
func largeStore(t *testing.T, dir string, written []int) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := store.Create(vfs.OS, dir, false)
	must(err)
	defer func() { _ = w.Abort() }()
	folder := store.EdgesDir(graph.HomogeneousEdge)
	indptr, err := w.Array(folder+"/indptr.npy", graph.Uint64)
	must(err)
	offsets := make([]uint64, 0, largeNodes+1)
	for v := range largeNodes + 1 {
		offsets = append(offsets, largeStart(v))
	}
	_, err = indptr.Write(graph.Bytes(offsets))
	must(errors.Join(err, indptr.Close()))
	far, err := w.Array(folder+"/far.npy", graph.Uint32)
	must(err)
	for _, v := range slices.Sorted(slices.Values(written)) {
		var list []uint32
		for k := range int(largeStart(v+1) - largeStart(v)) {
			list = append(list, largeFar(v, k))
		}
		_, err = far.WriteAt(graph.Bytes(list), 4*int64(largeStart(v)))
		must(err)
	}
	must(far.Close())
	must(w.Seal(t.Context(), &store.Meta{Format: 1, Kind: store.KindStore,
		Nodes: map[string]*store.NodesMeta{graph.HomogeneousNode: {Count: largeNodes, Columns: map[string]store.ColumnMeta{}}},
		Edges: map[string]*store.EdgesMeta{graph.HomogeneousEdge.String(): {Count: largeEdges, Primary: "in", Columns: map[string]store.ColumnMeta{},
			Arrays: map[string]string{"indptr": folder + "/indptr.npy", "far": folder + "/far.npy"}}},
	}, 2))
	must(w.Publish())
}
