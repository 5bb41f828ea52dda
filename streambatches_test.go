package graphmill_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

// rated is a store of users and items with columns, whose edges have columns and positions; both directions are stored.
func rated(t *testing.T) *graphmill.Store {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	var users, items, rates, knows bytes.Buffer
	users.WriteString("age,weight,kind\n")
	for range 900 {
		fmt.Fprintf(&users, "%d,%d,k%d\n", r.IntN(90), r.IntN(5), r.IntN(3))
	}
	items.WriteString("a,b\n")
	for range 400 {
		fmt.Fprintf(&items, "%v,%v\n", r.Float32(), r.Float32())
	}
	rates.WriteString("src,dst,stars,day\n")
	for range 6000 {
		fmt.Fprintf(&rates, "%d,%d,%d,%d\n", r.IntN(900), r.IntN(400)*r.IntN(400)/400, 1+r.IntN(5), r.IntN(1000))
	}
	knows.WriteString("src,dst\n")
	for range 3000 {
		fmt.Fprintf(&knows, "%d,%d\n", r.IntN(900), r.IntN(900))
	}
	for name, text := range map[string]string{"users.csv": users.String(), "items.csv": items.String(), "rates.csv": rates.String(), "knows.csv": knows.String(), "graph.yaml": `
nodes:
  user: {table: users.csv, columns: {age: int64, weight: float32, kind: category}}
  item: {table: items.csv, columns: {a: float32, b: float16}}
edges:
  user:rates:item: {table: rates.csv, columns: {stars: int8, day: int64}}
  user:knows:user: {table: knows.csv}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	st, err := graphmill.Import(t.Context(), dir, dir+"/g.store", option.Import{Build: option.Build{Both: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// The stream executor makes the batches of the memory executor, byte for byte, also in little memory.
func TestBatchesStream(t *testing.T) {
	defer goleak.VerifyNone(t)
	st := rated(t)
	types := map[string][]int{"rates": {3, 2}, "knows": {2, 2}}
	for name, o := range map[string]option.Batches{
		"features":  {Draw: option.Draw{FanoutByType: types}, Batching: option.Batching{SeedType: []string{"user"}, Shuffle: true, Epochs: 3, Epoch: 2}},
		"edges":     {Draw: option.Draw{FanoutByType: types, Direction: "out"}, Batching: option.Batching{SeedType: []string{"user"}}, Columns: option.Columns{EdgeFeatures: []string{"all"}}},
		"no ids":    {Draw: option.Draw{FanoutByType: types, NoEdgeIDs: true}, Batching: option.Batching{SeedType: []string{"item"}}},
		"no e_id":   {Draw: option.Draw{FanoutByType: types, NoEdgeIDs: true}, Batching: option.Batching{SeedType: []string{"item"}}, Columns: option.Columns{EdgeFeatures: []string{"stars"}}},
		"joined":    {Draw: option.Draw{FanoutByType: types}, Batching: option.Batching{SeedType: []string{"user"}}, Columns: option.Columns{Joined: map[string][]string{"item/x": {"b", "a"}, "user:rates:item/z": {"day", "stars"}}}},
		"weighted":  {Order: "weighted:weight", Draw: option.Draw{FanoutByType: types}, Batching: option.Batching{SeedType: []string{"user"}, Epochs: 2}},
		"strata":    {Order: "stratified:age", Draw: option.Draw{FanoutByType: types}, Batching: option.Batching{SeedType: []string{"user"}, Epochs: 2}},
		"rank":      {Draw: option.Draw{FanoutByType: types}, Batching: option.Batching{SeedType: []string{"user"}, Rank: 2, Ranks: 4, Epochs: 2, Shuffle: true}},
		"seed":      {Draw: option.Draw{FanoutByType: types, Scope: option.ScopeSeed}, Batching: option.Batching{SeedType: []string{"user"}, LimitSeeds: 200}},
		"epoch":     {Draw: option.Draw{FanoutByType: types, Scope: option.ScopeEpoch}, Batching: option.Batching{SeedType: []string{"user"}, Epochs: 3}, Columns: option.Columns{Features: []string{}}},
		"ops":       {Draw: option.Draw{FanoutByType: types, Ops: true, Expand: option.ExpandAll}, Batching: option.Batching{SeedType: []string{"user"}}, Columns: option.Columns{EdgeFeatures: []string{"stars"}}},
		"links":     {Draw: option.Draw{FanoutByType: types, Negatives: 2}, Batching: option.Batching{Seeds: "user:rates:item", BatchSize: 700}},
		"positives": {Draw: option.Draw{FanoutByType: types, Negatives: 1.5, NegativesHow: "triplet", Positives: "user:rates:item"}, Batching: option.Batching{Seeds: "user", BatchSize: 300, Epochs: 3, Shuffle: true}},
		"by weight": {Order: "weighted:weight", Draw: option.Draw{FanoutByType: types, Positives: "rates"}, Batching: option.Batching{SeedType: []string{"user"}, Epochs: 2}, Columns: option.Columns{EdgeFeatures: []string{"stars"}}},
		"ages":      {Draw: option.Draw{FanoutByType: types, Scope: option.ScopeSeed, Before: "day", Untimed: []string{"knows"}}, Batching: option.Batching{SeedType: []string{"user"}, SeedTime: "age", LimitSeeds: 300}, Columns: option.Columns{Features: []string{"weight"}}, Ages: option.Ages{Age: map[string]string{"user": "age", "item": "a", "rates": "day"}}},
		"ages only": {Draw: option.Draw{FanoutByType: map[string][]int{"rates": {3, 2}}, Scope: option.ScopeSeed, Before: "day", NoEdgeIDs: true}, Batching: option.Batching{Seeds: "user:rates:item", LimitSeeds: 300}, Columns: option.Columns{Features: []string{}}, Ages: option.Ages{Age: map[string]string{"rates": "day"}}},
		"links day": {Draw: option.Draw{FanoutByType: map[string][]int{"rates": {3}}, Scope: option.ScopeSeed, Before: "day"}, Batching: option.Batching{Seeds: "user:rates:item", LimitSeeds: 300}},
	} {
		t.Run(name, func(t *testing.T) {
			if o.BatchSize == 0 {
				o.BatchSize = 64
			}
			o.Executor = option.ExecutorMemory
			want := batches(t, st, o)
			if len(want) == 0 {
				t.Fatal("found no batches")
			}
			o.Executor = option.ExecutorStream
			for _, o.Memory = range []int64{0, 64 << 20} {
				for _, o.Threads = range []int{1, 3} {
					if got := batches(t, st, o); !reflect.DeepEqual(got, want) {
						t.Errorf("found other batches with %d threads and %d bytes", o.Threads, o.Memory)
					}
				}
			}
		})
	}
}

// Batches come from the stream executor where the memory executor does not fit, and the loader says so.
func TestLoaderChooses(t *testing.T) {
	st := rated(t)
	base := option.Batches{Run: option.Run{Threads: 1}, Draw: option.Draw{FanoutByType: map[string][]int{"knows": {2}}}, Batching: option.Batching{BatchSize: 16, SeedType: []string{"user"}}, Columns: option.Columns{Features: []string{"age"}}}
	notes := func(executor option.Executor, memory int64) string {
		t.Helper()
		o := base
		o.Executor, o.Memory = executor, memory
		l, err := graphmill.NewLoader(t.Context(), st, o)
		if err != nil {
			return err.Error()
		}
		defer l.Close()
		return strings.Join(l.Notes(), "\n")
	}
	for _, c := range []struct {
		executor option.Executor
		memory   int64
		want     string
	}{
		{"", 0, "executor memory"},
		{option.ExecutorAuto, 1 << 30, "executor memory"},
		{option.ExecutorStream, 0, "executor stream, as `Executor` says\nan epoch is one window"},
		{option.ExecutorMemory, 16 << 20, "found `Memory` 16.0 MiB, expected at least"},
		{option.ExecutorAuto, 16 << 20, "which the stream executor needs"},
		{option.ExecutorStream, 16 << 20, "which the stream executor needs"},
	} {
		if got := notes(c.executor, c.memory); !strings.Contains(got, c.want) {
			t.Errorf("executor %q, %d bytes: found %q, expected %q", c.executor, c.memory, got, c.want)
		}
	}
}

// What the stream executor cannot do is refused by a sentence that says which executor to use.
func TestBatchesStreamRefuses(t *testing.T) {
	defer goleak.VerifyNone(t)
	st := rated(t)
	types := map[string][]int{"rates": {3}}
	for name, o := range map[string]option.Batches{
		"strict":  {Draw: option.Draw{FanoutByType: types, Negatives: 1, NegativesStrict: "count"}, Batching: option.Batching{Seeds: "user:rates:item"}},
		"exclude": {Draw: option.Draw{FanoutByType: types, Exclude: "self"}, Batching: option.Batching{Seeds: "user:rates:item"}},
		"induced": {Draw: option.Draw{FanoutByType: types, Subgraph: "induced"}, Batching: option.Batching{SeedType: []string{"item"}}},
	} {
		o.Executor = option.ExecutorStream
		n := 0
		for b, err := range graphmill.Batches(t.Context(), st, o) {
			if n++; b != nil || err == nil || !strings.Contains(err.Error(), "take the memory executor (`Executor`)") {
				t.Errorf("%s: found error %v, expected one that names the memory executor", name, err)
			}
		}
		if n != 1 {
			t.Errorf("%s: found %d steps, expected one", name, n)
		}
	}
}

// A caller who has enough ends the sweeps, and a context that ends is the last step.
func TestBatchesStreamEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	st := rated(t)
	o := option.Batches{Draw: option.Draw{FanoutByType: map[string][]int{"knows": {2, 2}}, Executor: option.ExecutorStream}, Batching: option.Batching{SeedType: []string{"user"}, BatchSize: 8, Epochs: 5}}
	var seen []int
	for b, err := range graphmill.Batches(t.Context(), st, o) {
		if err != nil {
			t.Fatal(err)
		}
		if seen = append(seen, b.Number); len(seen) == 3 {
			break
		}
	}
	if !slices.Equal(seen, []int{0, 1, 2}) {
		t.Errorf("found batches %v, expected 0, 1, 2", seen)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range graphmill.Batches(ctx, st, o) {
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("found error %v, expected that of the context", last)
	}
}
