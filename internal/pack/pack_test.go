package pack

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawProblem draws a histogram of small graphs and limits that they fit into.
func drawProblem(t *rapid.T) *Problem {
	k := rapid.IntRange(1, 4).Draw(t, "components")
	h := &Histogram{Components: []string{"a", "b", "c", "d"}[:k]}
	p := &Problem{Histogram: h}
	for range k {
		p.Limits = append(p.Limits, rapid.IntRange(1, 40).Draw(t, "limit"))
	}
	for range rapid.IntRange(1, 12).Draw(t, "shapes") {
		shape := make([]int, k)
		for j := range shape {
			shape[j] = rapid.IntRange(0, p.Limits[j]).Draw(t, "size")
		}
		if slices.Max(shape) == 0 {
			shape[0] = 1
		}
		h.Add(rapid.Int64Range(1, 30).Draw(t, "count"), shape...)
	}
	p.MaxGraphs = rapid.SampledFrom([]int{0, 0, 1, 3, 8}).Draw(t, "cap")
	return p
}

// Every method deals every graph once and keeps the limits (Solve checks that), no proven bound is above any
// packing, and the portfolio is never worse than a method.
func TestMethodsAndBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		auto, err := Solve(context.Background(), p, Options{Effort: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		if auto.LowerBound > auto.Packs() || auto.LowerBound < 1 {
			t.Fatalf("found bound %d above %d packs", auto.LowerBound, auto.Packs())
		}
		for _, method := range Methods[1:] {
			for _, h := range append(HeuristicNames, p.Components...) {
				r, err := Solve(context.Background(), p, Options{Method: method, Heuristic: h})
				if err != nil {
					t.Fatal(err)
				}
				if r.Packs() < auto.Packs() || auto.LowerBound > r.Packs() {
					t.Fatalf("%s, %s: found %d packs, expected none fewer than the %d of auto, bound %d", method, h, r.Packs(), auto.Packs(), auto.LowerBound)
				}
			}
		}
	})
}

// The result does not depend on the number of threads, whichever of the slow parts ends the run.
func TestThreadsChangeNothing(t *testing.T) {
	for _, limits := range [][]int{{80, 160}, {70, 145}, {600, 1150}, {100, 100, 100}} {
		p := &Problem{Histogram: problemOf(t, molecules(2000), []int{1000, 2000}).Histogram, Limits: limits}
		if len(limits) == 3 {
			f := family{"kinds", 1000, limits, kinds(40)}
			p = f.problem()
		}
		p.Histogram, _ = p.Oversize()
		var first *Result
		for _, threads := range []int{1, 2, 3} {
			r, err := Solve(context.Background(), p, Options{Effort: 0.05, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = r
			}
			if !reflect.DeepEqual(r.Packing, first.Packing) || r.LowerBound != first.LowerBound || r.By != first.By {
				t.Errorf("%v, %d threads: found %d packs by %s, bound %d, expected those of one thread: %d by %s, %d", limits, threads, r.Packs(), r.By, r.LowerBound, first.Packs(), first.By, first.LowerBound)
			}
		}
	}
}

func problemOf(t testing.TB, graphs [][]int, limits []int) *Problem {
	h := &Histogram{Components: []string{"num_nodes", "num_edges", "num_triplets"}[:len(limits)]}
	for _, g := range graphs {
		h.Add(1, g...)
	}
	if err := h.Normalise(); err != nil {
		t.Fatal(err)
	}
	return &Problem{Histogram: h, Limits: limits}
}

// The bound of small problems is valid: brute force finds the minimum.
func TestBoundsOfSmallProblems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 4).Draw(t, "components")
		h := &Histogram{Components: []string{"n", "e", "t", "u"}[:k]}
		n := rapid.IntRange(1, 7).Draw(t, "graphs")
		for range n {
			shape := make([]int, k)
			for j := range shape {
				shape[j] = rapid.IntRange(0, 10).Draw(t, "size")
			}
			shape[0] = max(shape[0], 1)
			h.Add(1, shape...)
		}
		p := &Problem{Histogram: h, Limits: same(10, k), MaxGraphs: rapid.IntRange(0, 3).Draw(t, "cap")}
		r, err := Solve(context.Background(), p, Options{Effort: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		best := leastPacks(p)
		if r.LowerBound > best || r.Packs() < best {
			t.Fatalf("found %d packs and bound %d, expected %d", r.Packs(), r.LowerBound, best)
		}
	})
}

// leastPacks finds the fewest packs by brute force.
func leastPacks(p *Problem) int64 {
	var graphs [][]int
	for i, c := range p.Counts {
		for range c {
			graphs = append(graphs, p.Shape(i))
		}
	}
	var packs [][]int // by pack: the sums of its sizes and its graphs
	best := int64(len(graphs))
	fits := func(pack []int) bool {
		for j, l := range p.Limits {
			if pack[j] > l {
				return false
			}
		}
		return p.MaxGraphs == 0 || pack[len(p.Limits)] <= p.MaxGraphs
	}
	add := func(pack, graph []int) []int {
		sum := slices.Clone(pack)
		for j, s := range graph {
			sum[j] += s
		}
		sum[len(graph)]++
		return sum
	}
	var place func(i int)
	place = func(i int) {
		if int64(len(packs)) >= best {
			return
		}
		if i == len(graphs) {
			best = int64(len(packs))
			return
		}
		for k := range packs {
			was := packs[k]
			if sum := add(was, graphs[i]); fits(sum) {
				packs[k] = sum
				place(i + 1)
				packs[k] = was
			}
		}
		packs = append(packs, add(make([]int, len(p.Limits)+1), graphs[i]))
		place(i + 1)
		packs = packs[:len(packs)-1]
	}
	place(0)
	return best
}

// drawNoSize draws up to most graphs of one to three components, some of them of no size, and limits that they
// fit into.
func drawNoSize(t *rapid.T, most int) (graphs [][]int, p *Problem) {
	k := rapid.IntRange(1, 3).Draw(t, "components")
	p = &Problem{Histogram: &Histogram{Components: []string{"a", "b", "c"}[:k]}, MaxGraphs: rapid.IntRange(0, 4).Draw(t, "cap")}
	for range k {
		p.Limits = append(p.Limits, rapid.IntRange(0, 6).Draw(t, "limit"))
	}
	for range rapid.IntRange(1, most).Draw(t, "graphs") {
		shape := make([]int, k)
		if rapid.Bool().Draw(t, "sized") {
			for j, l := range p.Limits {
				shape[j] = rapid.IntRange(0, l).Draw(t, "size")
			}
		}
		graphs = append(graphs, shape)
		p.Add(1, shape...)
	}
	return graphs, p
}

// Graphs of no size take no pack unless the cap requires it: the portfolio finds the fewest packs, and every
// method that returns to packs needs as many as without such graphs, or as the cap requires. Such graphs are
// dealt evenly.
func TestNoSizeTakesNoPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, p := drawNoSize(t, 8)
		auto, err := Solve(context.Background(), p, Options{Effort: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		if best := leastPacks(p); auto.Packs() != best || auto.LowerBound > best {
			t.Fatalf("found %d packs and bound %d, expected %d", auto.Packs(), auto.LowerBound, best)
		}
		least, given := math.MaxInt, 0 // fewest graphs of a pack, and the most of a pack that has graphs of no size
		for _, x := range auto.Patterns {
			_, n := sums(p.Histogram, x.Parts)
			if least = min(least, n); slices.Max(p.Shape(x.Parts[0].Shape)) == 0 {
				given = max(given, n)
			}
		}
		if given > least+1 {
			t.Fatalf("found a pack of %d graphs, some of no size, beside one of %d, expected them dealt evenly: %v", given, least, auto.Patterns)
		}
		others := &Histogram{Components: p.Components}
		for i, c := range p.Counts {
			if slices.Max(p.Shape(i)) > 0 {
				others.Add(c, p.Shape(i)...)
			}
		}
		never := func() bool { return false }
		want := int64(1)
		if len(others.Counts) > 0 {
			if err := others.Normalise(); err != nil {
				t.Fatal(err)
			}
			want, _ = quick(&Problem{Histogram: others, Limits: p.Limits, MaxGraphs: p.MaxGraphs}, never)
		}
		if p.MaxGraphs > 0 {
			want = max(want, ceilDiv(p.Graphs(), int64(p.MaxGraphs)))
		}
		if n, _ := quick(p, never); n != want {
			t.Fatalf("quick: found %d packs, expected %d", n, want)
		}
		for _, method := range []string{"dlpfhp", "spfhp", "best-fit", "first-fit"} {
			for _, h := range append(HeuristicNames, p.Components...) {
				want := int64(1)
				if len(others.Counts) > 0 {
					r, err := Solve(context.Background(), &Problem{Histogram: others, Limits: p.Limits, MaxGraphs: p.MaxGraphs}, Options{Method: method, Heuristic: h})
					if err != nil {
						t.Fatal(err)
					}
					want = r.Packs()
				}
				if p.MaxGraphs > 0 {
					want = max(want, ceilDiv(p.Graphs(), int64(p.MaxGraphs)))
				}
				r, err := Solve(context.Background(), p, Options{Method: method, Heuristic: h})
				if err != nil {
					t.Fatal(err)
				}
				if r.Packs() != want {
					t.Fatalf("%s, %s: found %d packs, expected %d", method, h, r.Packs(), want)
				}
			}
		}
	})
}

// A stream deals every graph once and keeps the limits, whatever the buffer. No graph waits for more than
// twice as many packs as the buffer holds graphs. The oldest graph that has a size is the first of its pack;
// only a graph of no size that has waited can keep it out of the next pack.
func TestStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := []int{rapid.IntRange(5, 60).Draw(t, "nodes"), rapid.IntRange(5, 60).Draw(t, "edges")}
		graphs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []int {
			return []int{rapid.IntRange(0, limits[0]).Draw(t, "n"), rapid.IntRange(0, limits[1]).Draw(t, "e")}
		}), 0, 60).Draw(t, "graphs")
		s := &Stream{Limits: limits, MaxGraphs: rapid.IntRange(0, 5).Draw(t, "cap"), Buffer: rapid.IntRange(1, 20).Draw(t, "buffer")}
		seen := make([]bool, len(graphs))
		oldest, read, totals := 0, 0, []int64{0, 0} // oldest: of those that have a size
		came := make([]int64, len(graphs))          // packs before each graph arrived
		for pack, err := range s.Pack(func(yield func([]int) bool) {
			for read < len(graphs) {
				came[read] = s.Packs
				if read++; !yield(graphs[read-1]) {
					return
				}
			}
		}) {
			if err != nil {
				t.Fatal(err)
			}
			for oldest < len(seen) && (seen[oldest] || slices.Max(graphs[oldest]) == 0) {
				oldest++
			}
			waited := func(g int64) int { return int(s.Packs - 1 - came[g]) }
			i := slices.IndexFunc(pack, func(g int64) bool { return slices.Max(graphs[g]) > 0 })
			if i < 0 && oldest < read && waited(pack[0]) < s.Buffer || i >= 0 && pack[i] != int64(oldest) {
				t.Fatalf("found the pack %v, expected the oldest graph that has a size, %d, in front of all others that have one", pack, oldest)
			}
			n, e := 0, 0
			for _, g := range pack {
				if seen[g] || waited(g) > 2*s.Buffer {
					t.Fatalf("found graph %d after %d packs, seen before: %v", g, waited(g), seen[g])
				}
				seen[g] = true
				n, e = n+graphs[g][0], e+graphs[g][1]
			}
			if n > limits[0] || e > limits[1] || s.MaxGraphs > 0 && len(pack) > s.MaxGraphs {
				t.Fatalf("found a pack of %d graphs, %d and %d, expected at most %v and %d graphs", len(pack), n, e, limits, s.MaxGraphs)
			}
			totals[0], totals[1] = totals[0]+int64(n), totals[1]+int64(e)
		}
		if slices.Contains(seen, false) || s.Graphs != int64(len(graphs)) {
			t.Fatalf("found %v packed, expected all of %d graphs", seen, len(graphs))
		}
		if len(graphs) > 0 && !slices.Equal(totals, s.Totals) {
			t.Fatalf("found totals %v, expected %v", s.Totals, totals)
		}
	})
}

// In a buffer that holds the whole stream, graphs of no size take no packs beyond the packs of the others and
// those that the cap requires.
func TestStreamNoSize(t *testing.T) {
	packs := func(t *rapid.T, p *Problem, graphs [][]int) int64 {
		s := &Stream{Limits: p.Limits, MaxGraphs: p.MaxGraphs, Buffer: 40}
		for _, err := range s.Pack(slices.Values(graphs)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		return s.Packs
	}
	rapid.Check(t, func(t *rapid.T) {
		graphs, p := drawNoSize(t, 40)
		sized := slices.DeleteFunc(slices.Clone(graphs), func(g []int) bool { return slices.Max(g) == 0 })
		want := max(packs(t, p, sized), 1)
		if p.MaxGraphs > 0 {
			want = max(want, ceilDiv(int64(len(graphs)), int64(p.MaxGraphs)))
		}
		if n := packs(t, p, graphs); n != want {
			t.Fatalf("found %d packs, expected %d", n, want)
		}
	})
}

// Lost reports the loss of a buffer if a larger one would lose less: not the loss of the last pack, nor if a
// cap fills the packs, nor if the graphs themselves leave room.
func TestLost(t *testing.T) {
	six, five := []int{6}, []int{5}
	for name, c := range map[string]struct {
		graphs      [][]int
		cap, buffer int
		lost        float64
		short       int
	}{
		"nothing yet":   {nil, 0, 1, 0, 0},
		"one pack":      {[][]int{six}, 0, 1, 0, 0},
		"small":         {[][]int{six, {4}, six, {4}, six, {4}}, 0, 1, 1 - 30./10/5, 4},
		"large enough":  {[][]int{six, {4}, six, {4}, six, {4}}, 0, 2, 0, 0},
		"large graphs":  {slices.Repeat([][]int{six}, 11), 0, 4, 1 - 66./10/10, 0},
		"full by a cap": {slices.Repeat([][]int{five}, 11), 1, 2, 0, 0},
	} {
		s := &Stream{Limits: []int{10}, MaxGraphs: c.cap, Buffer: c.buffer}
		for _, err := range s.Pack(slices.Values(c.graphs)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if lost := s.Lost(); math.Abs(lost-c.lost) > 1e-12 || s.Short() != c.short {
			t.Errorf("%s: found %v lost and short of %d graphs, expected %v and %d", name, lost, s.Short(), c.lost, c.short)
		}
	}
}

func TestRefusals(t *testing.T) {
	two := []string{"n", "e"}
	huge := &Histogram{Components: two, Sizes: []int{1 << 30, 1}, Counts: []int64{1 << 40}}
	for name, c := range map[string]struct {
		p    *Problem
		opt  Options
		kind error
	}{
		"no graphs":       {&Problem{Histogram: &Histogram{Components: two}, Limits: []int{1, 1}}, Options{}, ErrHistogram},
		"negative count":  {&Problem{Histogram: &Histogram{Components: two, Sizes: []int{1, 1}, Counts: []int64{-1}}, Limits: []int{1, 1}}, Options{}, ErrHistogram},
		"negative size":   {&Problem{Histogram: &Histogram{Components: two, Sizes: []int{1, -1}, Counts: []int64{1}}, Limits: []int{1, 1}}, Options{}, ErrHistogram},
		"overflow":        {&Problem{Histogram: huge, Limits: []int{1 << 30, 1}}, Options{}, ErrHistogram},
		"missing limit":   {&Problem{Histogram: &Histogram{Components: two, Sizes: []int{1, 1}, Counts: []int64{1}}, Limits: []int{1}}, Options{}, ErrLimits},
		"negative limit":  {&Problem{Histogram: &Histogram{Components: two, Sizes: []int{1, 1}, Counts: []int64{1}}, Limits: []int{1, -1}}, Options{}, ErrLimits},
		"oversize":        {&Problem{Histogram: &Histogram{Components: two, Sizes: []int{1, 2}, Counts: []int64{1}}, Limits: []int{1, 1}}, Options{}, ErrOversize},
		"unknown method":  {&Problem{Histogram: &Histogram{Components: two, Sizes: []int{1, 1}, Counts: []int64{1}}, Limits: []int{1, 1}}, Options{Method: "best"}, ErrLimits},
		"bad heuristic":   {&Problem{Histogram: &Histogram{Components: two, Sizes: []int{1, 1}, Counts: []int64{1}}, Limits: []int{1, 1}}, Options{Heuristic: "weighted:1"}, ErrLimits},
		"huge product":    {&Problem{Histogram: &Histogram{Components: []string{"a", "b", "c"}, Sizes: []int{1, 1, 1}, Counts: []int64{1}}, Limits: []int{1 << 30, 1 << 30, 1 << 30}}, Options{Method: "dlpfhp"}, ErrLimits},
		"too many graphs": {&Problem{Histogram: &Histogram{Components: two, Sizes: []int{1, 1}, Counts: []int64{1 << 40}}, Limits: []int{1, 1}}, Options{Method: "next-fit"}, ErrLimits},
	} {
		if _, err := Solve(context.Background(), c.p, c.opt); !errors.Is(err, c.kind) {
			t.Errorf("%s: found error %v, expected %v", name, err, c.kind)
		}
	}
}

// The number of graphs dealt is not counted modulo 2^64.
func TestCheckOverflow(t *testing.T) {
	p := &Problem{Histogram: &Histogram{Components: []string{"n"}, Sizes: []int{0}, Counts: []int64{4}}, Limits: []int{0}}
	if err := (&Packing{Patterns: []Pattern{{[]Part{{0, 4}}, 1}}}).Check(p); err != nil {
		t.Error(err)
	}
	for _, more := range []Pattern{{[]Part{{0, 1 << 31}}, 1 << 33}, {[]Part{{0, 1}}, 1}} {
		if err := (&Packing{Patterns: []Pattern{{[]Part{{0, 4}}, 1}, more}}).Check(p); err == nil {
			t.Errorf("found %v to be sound, expected an error: there are 4 graphs", more)
		}
	}
}

// A thousand million graphs take as long as a thousand.
func TestHugeCounts(t *testing.T) {
	two := []string{"n", "e"}
	many := &Histogram{Components: two}
	for i := range 300 {
		many.Add([]int64{1, 1e3, 1e6, 1e9}[i%4], i%17, i*i%29) // some have size 0 in one component or both
	}
	for _, p := range []*Problem{
		{Histogram: &Histogram{Components: two, Sizes: []int{3, 4, 7, 12}, Counts: []int64{1e9, 1e9}}, Limits: []int{20, 34}},
		{Histogram: &Histogram{Components: two, Sizes: []int{0, 0, 3, 4, 5, 7, 7, 12, 11, 9}, Counts: []int64{1e9, 1e9, 7, 1e9, 13}}, Limits: []int{20, 34}},
		{Histogram: many, Limits: []int{20, 34}},
		{Histogram: many, Limits: []int{70_000, 80_000}},
		{Histogram: many, Limits: []int{1 << 30, 1<<31 - 1}},
		{Histogram: many, Limits: []int{70_000, 80_000}, MaxGraphs: 5000},
	} {
		for _, method := range []string{"auto", "dlpfhp", "spfhp", "best-fit", "first-fit", "none"} {
			if p.Limits[0] == 1<<30 && (method == "spfhp" || method == "first-fit") {
				continue // they deal graphs one by one to thousands of millions of packs
			}
			r, err := Solve(context.Background(), p, Options{Method: method, Effort: 0.1})
			if err != nil {
				t.Fatal(err)
			}
			if r.Elapsed.Seconds() > 3 {
				t.Errorf("%s, %d shapes, limits %v: took %v", method, len(p.Counts), p.Limits, r.Elapsed)
			}
		}
	}
}

// Graphs of no size, in all components or in one, change no bound, and take few packs.
func TestNoSize(t *testing.T) {
	h := &Histogram{Components: []string{"n"}}
	for _, n := range []int{5, 7, 11, 13, 17, 19, 23} {
		h.Add(1e6+int64(n), n)
	}
	p := &Problem{Histogram: h, Limits: []int{48}}
	with, err := Solve(context.Background(), p, Options{Effort: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if least := bound(context.Background(), p); with.LowerBound <= least {
		t.Fatalf("found bound %d, expected the linear program to raise that of no effort, %d", with.LowerBound, least)
	}
	h.Add(1e9, 0)
	r, err := Solve(context.Background(), p, Options{Effort: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if r.LowerBound != with.LowerBound || r.Packs() > with.Packs()+1 {
		t.Errorf("found %d packs, bound %d, with graphs of no size, expected those of the others: %d, %d", r.Packs(), r.LowerBound, with.Packs(), with.LowerBound)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := problemOf(t, molecules(3000), []int{100, 210})
	if _, err := Solve(ctx, p, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected %v", err, context.Canceled)
	}
}

// Divide gives every rank equally many packs, and changes nothing else.
func TestDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		r, err := Solve(context.Background(), p, Options{Method: "dlpfhp"})
		if err != nil {
			t.Fatal(err)
		}
		before := r.Packs()
		ranks := rapid.IntRange(1, 9).Draw(t, "ranks")
		if err := r.Divide(p.Histogram, ranks); err != nil {
			if p.Graphs() >= before+int64(ranks) {
				t.Fatal(err)
			}
			return
		}
		if n := r.Packs(); n%int64(ranks) != 0 || n < before || n >= before+int64(ranks) {
			t.Fatalf("found %d packs of %d, expected the next multiple of %d", n, before, ranks)
		}
		if err := r.Check(p); err != nil {
			t.Fatal(err)
		}
	})
}

// With far more ranks than packs, all packs are split repeatedly, in few steps.
func TestDivideMuch(t *testing.T) {
	p := &Problem{Histogram: &Histogram{Components: []string{"n"}, Sizes: []int{1}, Counts: []int64{1 << 30}}, Limits: []int{1 << 20}}
	r, err := Solve(context.Background(), p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Divide(p.Histogram, 1_000_000); err != nil {
		t.Fatal(err)
	}
	if n := r.Packs(); n != 1_000_000 {
		t.Errorf("found %d packs, expected 1000000", n)
	}
	if err := r.Check(p); err != nil {
		t.Error(err)
	}
}
