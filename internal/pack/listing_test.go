package pack

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// entry is a number of open packs that are filled alike.
type entry struct {
	room  []int
	left  int // number of graphs that it may still take
	parts []Part
	packs int64
}

func (e entry) fits() bool { return slices.Min(e.room) >= 0 }

// literal is the listing as described: one sequence of open packs, searched from the start, one graph at a
// time into all packs of an entry.
func literal(p *Problem, h *heuristic, first, fair bool) []Pattern {
	most := maxSize
	if p.MaxGraphs > 0 {
		most = p.MaxGraphs
	}
	var open []entry
	var done []Pattern
	settle := func(e entry) {
		r := h.of(e.room)
		if r == 0 || e.left == 0 {
			done = append(done, Pattern{e.parts, e.packs})
			return
		}
		at := 0
		for at < len(open) && (first && h.of(open[at].room) >= r || !first && h.of(open[at].room) <= r) {
			at++
		}
		open = slices.Insert(open, at, e)
	}
	with := func(e entry, shape, copies int, packs int64) entry {
		room := slices.Clone(e.room)
		for j, s := range p.Shape(shape) {
			room[j] -= s * copies
		}
		return entry{room, e.left - copies, append(slices.Clone(e.parts), Part{shape, copies}), packs}
	}
	order := make([]int, len(p.Counts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if x, y := h.of(p.Shape(a)), h.of(p.Shape(b)); x != y {
			if x > y {
				return -1
			}
			return 1
		}
		return slices.Compare(p.Shape(b), p.Shape(a))
	})
	for _, s := range order {
		count, from := p.Counts[s], h.of(p.Shape(s))
		if fair {
			from = 0
		}
		for count > 0 {
			at := slices.IndexFunc(open, func(e entry) bool {
				return h.of(e.room) >= from && with(e, s, 1, 1).fits()
			})
			if at < 0 {
				break
			}
			e := open[at]
			open = slices.Delete(open, at, at+1)
			n := min(e.packs, count)
			if e.packs > n {
				rest := e
				rest.packs -= n
				settle(rest)
			}
			settle(with(e, s, 1, n))
			if count -= n; !fair {
				from = h.of(p.Shape(s)) + 1
			}
		}
		for count > 0 {
			copies, packs := 1, count
			if fair {
				for copies < int(count) && copies < most && with(entry{room: p.Limits}, s, copies+1, 1).fits() {
					copies++
				}
				packs = count / int64(copies)
			}
			settle(with(entry{room: p.Limits, left: most}, s, copies, packs))
			count -= int64(copies) * packs
		}
	}
	for _, e := range open {
		done = append(done, Pattern{e.parts, e.packs})
	}
	return done
}

// The listing takes several graphs in one step and gives the result of one graph at a time. Graphs of no size
// may be in other packs, but the number of packs is the same.
func TestListingIsTheLiteralOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		if rapid.Bool().Draw(t, "empty") {
			p.Add(rapid.Int64Range(1, 300).Draw(t, "count"), make([]int, len(p.Limits))...)
		}
		if err := p.Normalise(); err != nil {
			t.Fatal(err)
		}
		name := rapid.SampledFrom(append(slices.Clone(HeuristicNames), p.Components...)).Draw(t, "heuristic")
		h, err := parseHeuristic(name, p.Components)
		if err != nil {
			t.Fatal(err)
		}
		first, fair := rapid.Bool().Draw(t, "first"), rapid.Bool().Draw(t, "fair")
		patterns, err := list(context.Background(), p, &h, first, fair, math.MaxInt64)
		if err != nil {
			t.Fatal(err)
		}
		got, want := tidy(patterns), tidy(literal(p, &h, first, fair))
		if err := want.Check(p); err != nil {
			t.Fatal(err)
		}
		if got.Packs() != want.Packs() || slices.Max(p.Shape(0)) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("found %v, expected %v", got, want)
		}
	})
}

// Graphs of which thousands fit into a pack, or that have no size, need few steps.
func TestListingOfTinyGraphs(t *testing.T) {
	for _, p := range []*Problem{
		{Histogram: &Histogram{Components: []string{"n", "e"}, Sizes: []int{0, 0, 3, 4}, Counts: []int64{1e9, 7}}, Limits: []int{10, 12}},
		{Histogram: &Histogram{Components: []string{"n", "e"}, Sizes: []int{1, 1, 2, 2}, Counts: []int64{1e9, 1}}, Limits: []int{1e9, 1e9}},
	} {
		for _, method := range []string{"dlpfhp", "spfhp", "best-fit", "first-fit"} {
			r, err := Solve(context.Background(), p, Options{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			if r.Elapsed > 2*time.Second {
				t.Errorf("%s: took %v", method, r.Elapsed)
			}
		}
	}
}

func TestListingCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := problemOf(t, molecules(300), []int{100, 210})
	for _, method := range []string{"dlpfhp", "first-fit", "next-fit"} {
		if _, err := Solve(ctx, p, Options{Method: method}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: found %v, expected %v", method, err, context.Canceled)
		}
	}
}
