package graphmill_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

// setSamplers are the samplers of sets of nodes, for the graph of rmat.
func setSamplers(t *testing.T, assignment string) []option.Batches {
	t.Helper()
	return []option.Batches{
		{Draw: option.Draw{Sampler: option.SamplerCluster, Assignment: assignment}, Batching: option.Batching{BatchSize: 3, Shuffle: true}},
		{Draw: option.Draw{Sampler: option.SamplerSaintNode}, Batching: option.Batching{BatchSize: 60}},
		{Draw: option.Draw{Sampler: option.SamplerSaintEdge}, Batching: option.Batching{BatchSize: 30}},
		{Draw: option.Draw{Sampler: option.SamplerSaintWalk, WalkLength: 2}, Batching: option.Batching{BatchSize: 20}},
	}
}

// divided is the assignment of a store to parts.
func divided(t *testing.T, st *graphmill.Store, parts int) string {
	t.Helper()
	dir := t.TempDir() + "/parts"
	if _, err := graphmill.Partition(t.Context(), st.Dir(), dir, option.Partition{Parts: parts, Method: option.MethodHash}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Batches of sets have each node once, ascending, and all edges between their nodes. They do not depend on threads, and epochs differ.
func TestSets(t *testing.T) {
	defer goleak.VerifyNone(t)
	st := rmat(t)
	for _, o := range setSamplers(t, divided(t, st, 10)) {
		o.Epochs, o.Seed, o.Threads = 2, 5, 1
		want := batches(t, st, o)
		half := len(want) / 2
		if half < 2 || reflect.DeepEqual(want[0].Nodes("_N"), want[half].Nodes("_N")) {
			t.Errorf("%s: found %d batches, of which the first of both epochs are equal: %v", o.Sampler, len(want), half >= 2)
		}
		all := map[int64]bool{}
		for _, b := range want {
			nodes := b.Nodes("_N")
			if !slices.IsSorted(nodes) || len(slices.Compact(slices.Clone(nodes))) != len(nodes) || len(b.Seeds()) != len(nodes) {
				t.Fatalf("%s: found nodes %v and seeds %v, expected each node once, ascending, as a seed", o.Sampler, nodes, b.Seeds())
			}
			// The same subgraph by the sampler of neighbourhoods, which the reference describes.
			ids := make([]uint32, len(nodes))
			for i, v := range nodes {
				all[v] = true
				ids[i] = uint32(v)
			}
			src, dst := b.Edges("_N:_E:_N")
			if want := between(t, st, ids); !reflect.DeepEqual([][]int64{src, dst}, want) {
				t.Errorf("%s: found the edges %v, %v, expected %v", o.Sampler, src, dst, want)
			}
		}
		if o.Sampler == option.SamplerCluster && len(all) != 256 {
			t.Errorf("found %d nodes in the parts of an epoch, expected all 256", len(all))
		}
		o.Threads = 4
		if got := batches(t, st, o); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: found other batches with 4 threads", o.Sampler)
		}
	}
}

// between is the edges between nodes, as local ids, by destination.
func between(t *testing.T, st *graphmill.Store, nodes []uint32) [][]int64 {
	t.Helper()
	e := st.Graph().Edges[0]
	adj, out := e.Adj[e.Primary], [][]int64{{}, {}}
	for i, v := range nodes {
		for p := adj.Indptr.At(int(v)); p < adj.Indptr.At(int(v)+1); p++ {
			if j, ok := slices.BinarySearch(nodes, uint32(adj.Far.At(int(p)))); ok {
				out[0], out[1] = append(out[0], int64(j)), append(out[1], int64(i))
			}
		}
	}
	return out
}

// Options that say something else than the sampler are refused, with their names.
func TestSetsRefuse(t *testing.T) {
	st := rmat(t)
	parts := divided(t, st, 4)
	for _, c := range []struct {
		o    option.Batches
		want string
	}{
		{option.Batches{Draw: option.Draw{Sampler: "saint"}}, "found `Sampler` \"saint\""},
		{option.Batches{Draw: option.Draw{Sampler: "saint-node", Fanout: []int{3}}}, "found `Fanout` with `Sampler` saint-node"},
		{option.Batches{Draw: option.Draw{Sampler: "saint-node"}, Batching: option.Batching{Shuffle: true}}, "found `Shuffle` with `Sampler` saint-node"},
		{option.Batches{Draw: option.Draw{Sampler: "saint-node", WalkLength: 3}}, "found `WalkLength` with `Sampler` saint-node"},
		{option.Batches{Draw: option.Draw{Sampler: "saint-node", Assignment: parts}}, "found `Assignment` with `Sampler` saint-node"},
		{option.Batches{Draw: option.Draw{Sampler: "saint-node"}, Batching: option.Batching{BatchSize: -1}}, "found `BatchSize` -1"},
		{option.Batches{Draw: option.Draw{Sampler: "saint-node"}, Batching: option.Batching{Seeds: "_N"}}, "found `Seeds` with"},
		{option.Batches{Draw: option.Draw{Sampler: "saint-node", Scope: option.ScopeSeed}}, "found `Scope` with"},
		{option.Batches{Draw: option.Draw{Sampler: "saint-node"}, Batching: option.Batching{BatchSize: 1 << 40}}, "found `BatchSize` 1099511627776, expected at most"},
		{option.Batches{Draw: option.Draw{Sampler: "saint-node", Executor: option.ExecutorStream}}, "found `Executor` stream with `Sampler` saint-node"},
		{option.Batches{Draw: option.Draw{Sampler: "saint-walk"}}, "found no `WalkLength`"},
		{option.Batches{Draw: option.Draw{Sampler: "saint-walk", WalkLength: -1}}, "found `WalkLength` -1"},
		{option.Batches{Draw: option.Draw{Sampler: "saint-walk", WalkLength: 1 << 30}}, "found `WalkLength` 1073741824"},
		{option.Batches{Draw: option.Draw{Sampler: "cluster"}}, "found no `Assignment`"},
		{option.Batches{Order: "weighted:w", Draw: option.Draw{Sampler: "cluster", Assignment: parts}}, "found `Order` with"},
		{option.Batches{Draw: option.Draw{Sampler: "shadow"}}, "found `Sampler` without `Fanout`"},
		{option.Batches{Draw: option.Draw{Sampler: "shadow", Fanout: []int{3}, Scope: option.ScopeBatch}}, "found `Sampler` shadow with `Scope` batch"},
		{option.Batches{Draw: option.Draw{Fanout: []int{3}, WalkLength: 3}}, "found `WalkLength` without"},
		{option.Batches{Draw: option.Draw{Fanout: []int{3}, Assignment: parts}}, "found `Assignment` without"},
	} {
		for _, err := range graphmill.Batches(t.Context(), st, c.o) {
			if err == nil || !errors.Is(err, graphmill.ErrUsage) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: found %v, expected an error with %q", c.o, err, c.want)
			}
			break
		}
	}
	o := option.Batches{Draw: option.Draw{Sampler: "cluster", Assignment: t.TempDir()}}
	for _, err := range graphmill.Batches(t.Context(), st, o) {
		if err == nil || !strings.Contains(err.Error(), "_N.txt") {
			t.Errorf("found %v, expected an error about the missing file of the parts", err)
		}
	}
}
