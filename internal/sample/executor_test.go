package sample

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func rmatSampler(t testing.TB, o FanoutOptions) (*Sampler, []uint32) {
	t.Helper()
	g, seeds := rmatGraph(t, 10, 8)
	if o.SeedType == nil {
		o.SeedType = []string{graph.HomogeneousNode}
	}
	plan, err := FromFanouts(g, Fanouts{Each: []int{5, 3}}, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(g, plan, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, seeds
}

// collect runs a job into one line per subgraph, in the order of the sink.
func collect(t testing.TB, s *Sampler, job Job) []string {
	t.Helper()
	type buf struct {
		lines  []string
		number uint64
	}
	var all []string
	last, step := int64(job.Rank)-int64(max(job.Ranks, 1)), int64(max(job.Ranks, 1))
	batches, err := job.Batches(s.SeedWidth())
	if err != nil {
		t.Fatal(err)
	}
	stats, err := Run(context.Background(), s, job, func() *buf { return &buf{} },
		func(out *buf, b *Batch, sub *Subgraph) error {
			out.number = b.Number
			out.lines = append(out.lines, fmt.Sprint(b.Epoch, b.Number, b.First, b.At, b.Seeds, sub.Nodes, sub.SeedLocal, sub.Edges))
			return nil
		},
		func(out *buf) error {
			if job.Epochs <= 1 && job.From == 0 && int64(out.number) != last+step {
				t.Fatalf("found batch %d after %d, expected them in order", out.number, last)
			}
			last = int64(out.number)
			all = append(all, out.lines...)
			out.lines = out.lines[:0]
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if stats.Subgraphs != uint64(len(all)) || stats.Batches != batches.Len() {
		t.Fatalf("found stats %+v, expected %d subgraphs and %d batches", stats, len(all), batches.Len())
	}
	return all
}

// TestRunEpochs checks that a run of several epochs equals a run per epoch, one after the other, and that From leaves
// out what an earlier run made.
func TestRunEpochs(t *testing.T) {
	for _, scope := range []Scope{ScopeEpoch, ScopeBatch, ScopeSeed} {
		s, seeds := rmatSampler(t, FanoutOptions{Scope: scope})
		job := Job{Seeds: seeds, BatchSize: 16, Seed: 5, Epoch: 3, Shuffle: true, Threads: 2, Rank: 1, Ranks: 2}
		var want []string
		for range 3 {
			want = append(want, collect(t, s, job)...)
			job.Epoch++
		}
		job.Epoch, job.Epochs = 3, 3
		each := job.EpochBatches(1)
		if got := collect(t, s, job); !slices.Equal(got, want) {
			t.Errorf("scope %s: found other subgraphs in one run than in three", scope)
		}
		subgraphs := int(each)
		if scope == ScopeSeed {
			subgraphs = len(want) / 3
		}
		job.From = each
		if got := collect(t, s, job); !slices.Equal(got, want[subgraphs:]) {
			t.Errorf("scope %s: found other subgraphs from batch %d on", scope, each)
		}
	}
}

// TestRunThreads checks that threads change nothing, and that ranks only divide the batches.
func TestRunThreads(t *testing.T) {
	for _, scope := range []Scope{ScopeEpoch, ScopeBatch, ScopeSeed} {
		for _, shuffle := range []bool{false, true} {
			for width := 1; width <= 2; width++ {
				t.Run(fmt.Sprintf("%s/shuffle=%v/width=%d", scope, shuffle, width), func(t *testing.T) {
					types := []string{graph.HomogeneousNode, graph.HomogeneousNode}[:width]
					s, seeds := rmatSampler(t, FanoutOptions{Scope: scope, SeedType: types})
					seeds = seeds[:len(seeds)/2*2]
					job := Job{Seeds: seeds, BatchSize: 32, Seed: 3, Epoch: 2, Shuffle: shuffle, Threads: 1}
					want := collect(t, s, job)
					for _, threads := range []int{2, 8} {
						job.Threads = threads
						if got := collect(t, s, job); !slices.Equal(got, want) {
							t.Fatalf("found other subgraphs with %d threads than with 1", threads)
						}
					}
					var merged []string
					const ranks = 3
					var parts [ranks][]string
					for r := range ranks {
						job.Rank, job.Ranks = r, ranks
						parts[r] = collect(t, s, job)
					}
					size := 1
					if scope == ScopeSeed {
						size = job.BatchSize
					}
					for b := 0; len(merged) < len(want); b++ {
						p := &parts[b%ranks]
						n := min(size, len(*p))
						merged = append(merged, (*p)[:n]...)
						*p = (*p)[n:]
					}
					if !slices.Equal(merged, want) {
						t.Fatal("found other subgraphs over three ranks than on one")
					}
				})
			}
		}
	}
}

// TestRunOrder checks the order of the seeds against the order of the batches.
func TestRunOrder(t *testing.T) {
	s, seeds := rmatSampler(t, FanoutOptions{Scope: ScopeBatch})
	var got []uint32
	job := Job{Seeds: seeds, BatchSize: 300, Seed: 9, Epoch: 4, Shuffle: true, Threads: 2}
	_, err := Run(context.Background(), s, job, func() *[]uint32 { return new([]uint32) },
		func(out *[]uint32, b *Batch, _ *Subgraph) error { *out = append(*out, b.Seeds...); return nil },
		func(out *[]uint32) error { got = append(got, *out...); *out = (*out)[:0]; return nil })
	if err != nil {
		t.Fatal(err)
	}
	order := draw.NewOrder(uint64(len(seeds)), draw.Key(9, 4, draw.OrderWord))
	want := make([]uint32, len(seeds))
	for i := range want {
		want[i] = seeds[order.At(uint64(i))]
	}
	if !slices.Equal(got, want) {
		t.Fatal("found seeds out of order(n, key(seed, epoch, ORDER))")
	}
}

// TestRunFails checks that the first failure in order of batches is returned, for any number of threads, and that no
// goroutine is left (see TestMain).
func TestRunFails(t *testing.T) {
	s, seeds := rmatSampler(t, FanoutOptions{Scope: ScopeBatch})
	type none struct{}
	broken := func(n uint64) error { return fmt.Errorf("batch %d is broken", n) }
	for _, threads := range []int{1, 2, 8} {
		job := Job{Seeds: seeds, BatchSize: 8, Threads: threads}
		_, err := Run(context.Background(), s, job, func() none { return none{} },
			func(_ none, b *Batch, _ *Subgraph) error {
				if b.Number >= 5 {
					time.Sleep(time.Duration(9-min(b.Number, 9)) * time.Millisecond) // so that errors come in another order
					return broken(b.Number)
				}
				return nil
			}, func(none) error { return nil })
		if err == nil || err.Error() != "batch 5 is broken" {
			t.Errorf("%d threads: found error %v, expected that of batch 5", threads, err)
		}
		number := func(n *uint64, b *Batch, _ *Subgraph) error { *n = b.Number; return nil }
		_, err = Run(context.Background(), s, job, func() *uint64 { return new(uint64) }, number,
			func(n *uint64) error {
				if *n == 3 {
					return broken(*n)
				}
				return nil
			})
		if err == nil || err.Error() != "batch 3 is broken" {
			t.Errorf("%d threads: found error %v, expected that of the sink", threads, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		_, err = Run(ctx, s, job, func() *uint64 { return new(uint64) }, number,
			func(n *uint64) error {
				if *n == 2 {
					cancel()
				}
				return nil
			})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d threads: found error %v, expected that of the context", threads, err)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	s, _ := rmatSampler(t, FanoutOptions{Scope: ScopeBatch})
	for name, job := range map[string]Job{
		"no batch size": {Seeds: []uint32{0}},
		"seed range":    {Seeds: []uint32{1 << 20}, BatchSize: 1},
		"rank":          {Seeds: []uint32{0}, BatchSize: 1, Rank: 2, Ranks: 2},
		"times":         {Seeds: []uint32{0}, BatchSize: 1, Times: make([]Time, 2)},
	} {
		_, err := Run(context.Background(), s, job, func() int { return 0 },
			func(int, *Batch, *Subgraph) error { return nil }, func(int) error { return nil })
		if !errors.Is(err, ErrSeed) {
			t.Errorf("%s: found error %v, expected ErrSeed", name, err)
		}
		if _, _, err := Bench(context.Background(), s, job, 1); !errors.Is(err, ErrSeed) {
			t.Errorf("%s: found error %v in Bench, expected ErrSeed", name, err)
		}
	}
}

// TestSteadyState checks that a context that has grown allocates nothing more.
func TestSteadyState(t *testing.T) {
	for _, o := range []FanoutOptions{{Scope: ScopeBatch}, {Scope: ScopeBatch, Expand: ExpandAll}, {Scope: ScopeSeed}} {
		for _, kind := range []relabelKind{relabelDirect, relabelWide, relabelNarrow} {
			s, seeds := rmatSampler(t, o)
			s.relabel = kind
			c := s.NewContext()
			n := 64
			if o.Scope == ScopeSeed {
				n = 1
			}
			unit := uint64(0)
			one := func() {
				unit++
				at := int(unit) * 7 % (len(seeds) - n)
				if _, err := c.Sample(Input{Seeds: seeds[at : at+n], Unit: unit % 50}); err != nil {
					t.Fatal(err)
				}
			}
			for range 3000 {
				one()
			}
			if got := testing.AllocsPerRun(500, one); got != 0 {
				t.Errorf("%s %s, relabel %d: found %v allocations per subgraph, expected none", o.Scope, o.Expand, kind, got)
			}
		}
	}
}

// TestRelabelWraps checks that local ids survive the reuse of all slot values.
func TestRelabelWraps(t *testing.T) {
	s, seeds := rmatSampler(t, FanoutOptions{Scope: ScopeBatch})
	for _, kind := range []relabelKind{relabelDirect, relabelWide, relabelNarrow} {
		s.relabel = kind
		in := Input{Seeds: seeds[:100], Unit: 1}
		fresh := s.NewContext()
		sub, err := fresh.Sample(in)
		if err != nil {
			t.Fatal(err)
		}
		want := answer(s, sub)
		old := s.NewContext()
		for range 4 {
			old.local[0].base = maxBase - 100 // the next subgraph exceeds it, and the one after starts over
			old.picker.tick = ^uint32(0) - 20
			for range 3 {
				sub, err := old.Sample(in)
				if err != nil {
					t.Fatal(err)
				}
				if got := answer(s, sub); !reflect.DeepEqual(got, want) {
					t.Fatalf("relabel %d: found another subgraph after the slots' values wrapped", kind)
				}
			}
		}
	}
}

func TestBench(t *testing.T) {
	s, seeds := rmatSampler(t, FanoutOptions{Scope: ScopeBatch})
	job := Job{Seeds: seeds, BatchSize: 100, Shuffle: true, Threads: 2}
	drawn, seconds, err := Bench(context.Background(), s, job, 30)
	if err != nil || drawn.Drawn == 0 || seconds <= 0 {
		t.Fatalf("found %d edges in %v s, error %v, expected some", drawn.Drawn, seconds, err)
	}
	job.Threads = 1
	if again, _, err := Bench(context.Background(), s, job, 30); err != nil || again != drawn {
		t.Fatalf("found %d edges on one thread (%v), expected the %d of two", again.Drawn, err, drawn.Drawn)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Bench(ctx, s, job, 30); !errors.Is(err, context.Canceled) {
		t.Fatalf("found error %v, expected that of the context", err)
	}
}

// TestRunAllocates checks that a run's allocations do not grow with its batches.
func TestRunAllocates(t *testing.T) {
	s, seeds := rmatSampler(t, FanoutOptions{Scope: ScopeBatch})
	mallocs := func(batches int) uint64 {
		var many []uint32
		for len(many) < 16*batches {
			many = append(many, seeds...)
		}
		job := Job{Seeds: many[:16*batches], BatchSize: 16, Threads: 2, Shuffle: true}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Run(context.Background(), s, job, func() *[]byte { return new([]byte) },
			func(out *[]byte, _ *Batch, sub *Subgraph) error { *out = append(*out, byte(sub.Drawn)); return nil },
			func(out *[]byte) error { *out = (*out)[:0]; return nil })
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	mallocs(500)
	few, many := mallocs(500), mallocs(3000)
	if many > few+250 {
		t.Fatalf("found %d allocations in 500 batches and %d in 3,000, expected about as many", few, many)
	}
}
