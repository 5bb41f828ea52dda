package graphmill_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

// rmat is a small store.
func rmat(t *testing.T) *graphmill.Store {
	t.Helper()
	st, err := graphmill.GenerateRMAT(t.Context(), t.TempDir()+"/g.store", option.RMAT{Scale: 8, EdgeFactor: 4, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// batches are copies of all batches.
func batches(t *testing.T, st *graphmill.Store, o option.Batches) (all []*graphmill.Batch) {
	t.Helper()
	for b, err := range graphmill.Batches(t.Context(), st, o) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b.Clone())
	}
	return all
}

// Batches do not depend on the number of threads, come in order, and epochs differ.
func TestBatchesThreads(t *testing.T) {
	defer goleak.VerifyNone(t)
	st := rmat(t)
	o := option.Batches{Draw: option.Draw{Fanout: []int{3, 2}}, Batching: option.Batching{BatchSize: 30, Epochs: 2, Epoch: 5, Shuffle: true, Seed: 7}}
	o.Threads = 1
	want := batches(t, st, o)
	if len(want) != 2*((256+29)/30) {
		t.Fatalf("found %d batches, expected 18", len(want))
	}
	for i, b := range want {
		if b.Number != i%9 || b.Epoch != 5+uint64(i/9) {
			t.Errorf("found epoch %d, batch %d at place %d", b.Epoch, b.Number, i)
		}
	}
	if reflect.DeepEqual(want[0].Column("input_id"), want[9].Column("input_id")) {
		t.Error("found equal first batches of two epochs, expected other orders")
	}
	for _, threads := range []int{2, 5} {
		o.Threads = threads
		if got := batches(t, st, o); !reflect.DeepEqual(got, want) {
			t.Errorf("found other batches with %d threads", threads)
		}
	}
}

// Ranks share the batches of an epoch: all get the same number, and the last ones repeat.
func TestBatchesRanks(t *testing.T) {
	defer goleak.VerifyNone(t)
	st := rmat(t)
	o := option.Batches{Draw: option.Draw{Fanout: []int{2}}, Batching: option.Batching{BatchSize: 100, Ranks: 2}}
	var numbers [2][]int
	for o.Rank = range 2 {
		for _, b := range batches(t, st, o) {
			numbers[o.Rank] = append(numbers[o.Rank], b.Number)
		}
	}
	if want := [2][]int{{0, 2}, {1, 3}}; !reflect.DeepEqual(numbers, want) {
		t.Errorf("found batches %v, expected %v", numbers, want)
	}
}

// A caller who has enough leaves nothing running, and a context that ends is the last step.
func TestBatchesEnd(t *testing.T) {
	defer goleak.VerifyNone(t)
	st := rmat(t)
	o := option.Batches{Draw: option.Draw{Fanout: []int{3, 2}}, Batching: option.Batching{BatchSize: 1}}
	for range graphmill.Batches(t.Context(), st, o) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	taken := 0
	for _, err := range graphmill.Batches(ctx, st, o) {
		cancel()
		taken++
		last = err
	}
	if !errors.Is(last, context.Canceled) || taken == 256 {
		t.Errorf("found %d batches and error %v, expected context.Canceled early", taken, last)
	}
}

// A seed's subgraph is the same in a batch as in a collection.
func TestBatchesEqualSample(t *testing.T) {
	st := rmat(t)
	o := option.Batches{Draw: option.Draw{Fanout: []int{3, 2}}, Batching: option.Batching{BatchSize: 40, Shuffle: true, Seed: 3}}
	dir := t.TempDir() + "/c"
	if _, err := graphmill.Sample(t.Context(), st, dir, option.Sample{Draw: o.Draw, Batching: o.Batching}); err != nil {
		t.Fatal(err)
	}
	c, err := graphmill.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	nodes, edges := c.Collection().Nodes[0], c.Collection().Edges[0]
	for i, b := range batches(t, st, o) {
		src, _ := b.Edges("_N:_E:_N")
		n, e := nodes.GraphPtr.At(i+1)-nodes.GraphPtr.At(i), edges.GraphPtr.At(i+1)-edges.GraphPtr.At(i)
		if len(b.Nodes("_N")) != int(n) || len(src) != int(e) {
			t.Errorf("batch %d: found %d nodes and %d edges, expected %d and %d as in the collection", i, len(b.Nodes("_N")), len(src), n, e)
		}
	}
}

// Options that contradict each other or the store are refused.
func TestBatchesRefuse(t *testing.T) {
	st := rmat(t)
	for _, o := range []option.Batches{
		{},
		{Slots: -1, Draw: option.Draw{Fanout: []int{2}}},
		{Draw: option.Draw{Fanout: []int{2}}, Columns: option.Columns{Features: []string{"nothing"}}},
		{Draw: option.Draw{Fanout: []int{2}}, Columns: option.Columns{Joined: map[string][]string{"x": {"a"}}}},
		{Draw: option.Draw{Fanout: []int{2}}, Columns: option.Columns{Joined: map[string][]string{"nothing/x": {"a"}}}},
		{Order: "windowed:2,2", Draw: option.Draw{Fanout: []int{2}}, Batching: option.Batching{Shuffle: true}},
		{Draw: option.Draw{Fanout: []int{2}, Plan: "plan.json"}},
		{Draw: option.Draw{Plan: "plan.json", Scope: option.ScopeSeed}},
		{Run: option.Run{Threads: -1}, Draw: option.Draw{Fanout: []int{2}}},
		{Run: option.Run{Overwrite: true}, Draw: option.Draw{Fanout: []int{2}}},
	} {
		for _, err := range graphmill.Batches(t.Context(), st, o) {
			if !errors.Is(err, graphmill.ErrUsage) {
				t.Errorf("%+v: found error %v, expected ErrUsage", o, err)
			}
		}
	}
}
