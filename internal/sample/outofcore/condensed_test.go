package outofcore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestCondensedEqualsMemory checks that condensed layers give the subgraphs of the memory executor, for any plan of
// scope epoch, any number of epochs together, and budgets that hold a part of them.
func TestCondensedEqualsMemory(t *testing.T) {
	for name, s := range map[string]*store.Store{"typed": typedStore(t), "plain": plainStore(t)} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				p := sampletest.Plan(r, s.Graph)
				p.Scope, p.Before = sample.ScopeEpoch, nil
				sampletest.AddMessages(r, s.Graph, p)
				job := sampletest.Job(r, s.Graph, p)
				job.Epochs = rapid.IntRange(1, 7).Draw(r, "epochs in all")
				opt := Options{Design: Condensed, Threads: rapid.IntRange(1, 3).Draw(r, "threads"), Ops: rapid.Bool().Draw(r, "ops"), NoEdgeIDs: rapid.IntRange(0, 3).Draw(r, "no edge ids") == 0,
					Epochs: rapid.IntRange(0, 9).Draw(r, "together")}
				if rapid.Bool().Draw(r, "budget") {
					opt.Memory = int64(rapid.IntRange(96, 300).Draw(r, "MiB")) << 20
				}
				checkEqual(t, r, s, p, job, opt)
			})
		})
	}
}

// TestCondensedEnds checks that a run ends with every budget: where the layers of the oldest epoch do not fit although younger
// epochs have given up theirs, the error says so.
func TestCondensedEnds(t *testing.T) {
	s := plainStore(t)
	edges := s.Graph.Edges[0].Type.String()
	p := &sample.Plan{SeedType: []string{graph.HomogeneousNode, graph.HomogeneousNode}, SeedEdges: edges, Scope: sample.ScopeEpoch,
		Negatives: &sample.Negatives{How: sample.Triplet, Each: 2},
		Ops: []sample.Op{{From: []int{0}, Edges: edges, Take: 1, How: sample.Weighted, Column: "w"},
			{From: []int{0, 1}, Edges: edges, Take: 2, How: sample.Recent, Column: "t", Parameters: sample.Parameters{HalfLife: 23}}}}
	job := sample.Job{Seeds: make([]uint32, 180), BatchSize: 2, Epochs: 7}
	for i := range job.Seeds {
		job.Seeds[i] = uint32(i * 1000)
	}
	refused, done := 0, 0
	for memory := int64(71 << 20); memory < 77<<20; memory += 1 << 20 {
		x, err := Open(t.Context(), vfs.OS, s, p, Options{Design: Condensed, Threads: 3, Ops: true, Epochs: 3, Memory: memory})
		if err == nil {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // against a hang
			_, err = Run(ctx, x, job, newLines, encodeLine, func(out *lines) error {
				out.list = out.list[:0]
				return nil
			})
			cancel()
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case err == nil:
			done++
		case errors.Is(err, ErrMemory) && done == 0:
			refused++
		default:
			t.Fatalf("%d bytes: found %v, expected an error about memory for small budgets and none for larger ones", memory, err)
		}
	}
	if refused == 0 || done == 0 {
		t.Errorf("found %d budgets refused and %d not, expected some of each", refused, done)
	}
}

// TestCells checks that cells count as a sorted list does.
func TestCells(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		count := uint32(rapid.IntRange(1, 1000).Draw(r, "nodes"))
		nodes := rapid.SliceOf(rapid.Uint32Range(0, count-1)).Draw(r, "marked")
		c := cells(make([]uint64, cellsOf(int(count))))
		c.mark(nodes)
		slices.Sort(nodes)
		nodes = slices.Compact(nodes)
		half := c.count() / 2
		if n := c.rank(half, c.count(), c.rank(0, half, 0)); int(n) != len(nodes) {
			r.Fatalf("found %d nodes, expected %d", n, len(nodes))
		}
		for v := range count + 1 {
			if want, _ := slices.BinarySearch(nodes, v); c.below(v) != uint32(want) {
				r.Fatalf("found %d nodes below %d, expected %d", c.below(v), v, want)
			}
		}
		from := rapid.Uint32Range(0, count).Draw(r, "from")
		to := rapid.Uint32Range(from, count).Draw(r, "to")
		first, _ := slices.BinarySearch(nodes, from)
		end, _ := slices.BinarySearch(nodes, to)
		var got []uint32
		for rank, v := range c.nodes(from, to) {
			if int(rank) != first+len(got) {
				r.Fatalf("found node %d as number %d, expected %d", v, rank, first+len(got))
			}
			got = append(got, v)
		}
		if !slices.Equal(got, nodes[first:end]) {
			r.Fatalf("found %d from %d to %d, expected %d", got, from, to, nodes[first:end])
		}
	})
}

// TestCondensedBudget checks that epochs wait for memory, and begin again where they held it and could not finish; that
// this changes nothing but the number of sweeps; and that a budget below the need of one epoch is refused.
func TestCondensedBudget(t *testing.T) {
	s := plainStore(t)
	plan, job := fanout(t, s, sample.ScopeEpoch, 8000)
	job.Epochs = 4
	want, _ := memory(t, s, plan, job, Options{})
	for _, together := range []int{0, 4} {
		var sweeps []int64
		for _, budget := range []int64{34 << 20, 36 << 20, 64 << 20} {
			got, _, counts := streamed(t, s, plan, job, Options{Threads: 2, Memory: budget, Design: Condensed, Epochs: together})
			if !slices.Equal(got, want) {
				t.Errorf("%d together: found other subgraphs with %d bytes", together, budget)
			}
			sweeps = append(sweeps, counts.Sweeps)
		}
		if sweeps[0] <= sweeps[len(sweeps)-1] {
			t.Errorf("%d together: found %d sweeps, expected fewer with more memory", together, sweeps)
		}
	}
	err := runStream(t.Context(), vfs.OS, s, plan, job, Options{Threads: 2, Memory: 29 << 20, Design: Condensed}, func(*lines) error { return nil })
	if !errors.Is(err, ErrMemory) {
		t.Errorf("found error %v, expected one of memory", err)
	}
}

// TestCondensedGivesWay checks that windows make the rest of the batches where an epoch has more samples than
// estimated.
func TestCondensedGivesWay(t *testing.T) {
	s := plainStore(t)
	plan, job := fanout(t, s, sample.ScopeEpoch, 20_000)
	job.From = 100
	want, stats := memory(t, s, plan, job, Options{})
	x, err := Open(t.Context(), vfs.OS, s, plan, Options{Threads: 2, Memory: 33 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.pilot(t.Context(), &job); err != nil {
		t.Fatal(err)
	}
	for op := range x.found.perOp {
		x.found.perOp[op] /= 100
	}
	if d, err := x.design(t.Context(), &job, 526); d.Design != Condensed || err != nil {
		t.Fatalf("found design %s, %v, expected condensed", d.Design, err)
	}
	var got []string
	x.opt.Design = Condensed
	_, err = Run(t.Context(), x, job, newLines, encodeLine, func(*lines) error { return nil })
	if !errors.Is(err, errLayers) || !strings.Contains(err.Error(), "found `Memory` 33.0 MiB, expected at least") {
		t.Fatalf("found error %v, expected one of memory", err)
	}
	x.opt.Design = Auto
	counted, err := Run(t.Context(), x, job, newLines, encodeLine, func(out *lines) error {
		got, out.list = append(got, out.list...), out.list[:0]
		return nil
	})
	if err := errors.Join(err, x.Close()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) || counted != stats {
		t.Errorf("found other subgraphs or counts %+v, expected %+v", counted, stats)
	}
}
