package sample

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/prefetch"
)

// TestHugePages checks that copies stay within the budget and change nothing.
func TestHugePages(t *testing.T) {
	defer func(n int) { hugeWords = n }(hugeWords)
	hugeWords = 1
	g, seeds := rmatGraph(t, 10, 8)
	plan, err := FromFanouts(g, Fanouts{Each: []int{5, 3}}, FanoutOptions{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch})
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Seeds: seeds[:50], Seed: 1}
	var want refResult
	for i, test := range []struct {
		memory int64
		copies int
	}{{0, 0}, {1 << 20, 2}, {4 * 8 << 10, 1}, {4*8<<10 - 1, 1}, {100, 0}} {
		s, err := New(g, plan, Options{Memory: test.memory})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.free) != test.copies {
			t.Errorf("budget %d: found %d copies, expected %d", test.memory, len(s.free), test.copies)
		}
		sub, err := s.NewContext().Sample(in)
		if err != nil {
			t.Fatal(err)
		}
		got := answer(s, sub)
		if i == 0 {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("budget %d: found another subgraph than without copies", test.memory)
		}
		s.Close()
		s.Close() // frees nothing twice
	}
}

// TestPrefetch checks that the prefetching loops read no more than the given length and change nothing, at every
// length. Lists of length 0 may have no array.
func TestPrefetch(t *testing.T) {
	table, wide, sums := []uint32{1, 2, 3, 4}, make([]uint64, 1<<10), []float64{1, 2, 3, 4}
	prefetch.At(nil, nil)
	prefetch.Wide(nil, nil)
	prefetch.Hashed(nil, nil, 54)
	for n := range 9 {
		at := make([]uint32, n)
		for i := range at {
			at[i] = uint32(i % 4)
		}
		want := slices.Clone(at)
		prefetch.At(&table[0], at)
		prefetch.Wide(&sums[0], at)
		prefetch.Hashed(&wide[0], at, 54)
		if !slices.Equal(at, want) || !slices.Equal(table, []uint32{1, 2, 3, 4}) {
			t.Fatalf("found %v and %v after a prefetch, expected them as they were", at, table)
		}
	}
}

// TestContextRefuses checks that inputs without a subgraph are refused, and that the context still works afterwards.
func TestContextRefuses(t *testing.T) {
	s, _ := rmatSampler(t, FanoutOptions{Scope: ScopeSeed})
	c := s.NewContext()
	for name, in := range map[string]Input{
		"no seed":   {},
		"two seeds": {Seeds: []uint32{1, 2}},
		"too large": {Seeds: []uint32{1 << 10}},
	} {
		if _, err := c.Sample(in); err == nil {
			t.Errorf("%s: found no error, expected one", name)
		}
	}
	if sub, err := c.Sample(Input{Seeds: []uint32{7}}); err != nil || sub.Nodes[0][0] != 7 {
		t.Errorf("found %v, %v after refusals, expected the subgraph of node 7", sub, err)
	}
}

// TestTooManyPicks checks that more picks than local ids are refused before memory is allocated, whether ops run alone
// or side by side.
func TestTooManyPicks(t *testing.T) {
	op := Op{From: []int{0}, Edges: "a:r:b", Take: math.MaxInt32, How: Replace}
	for n := 1; n <= 2; n++ {
		s, err := New(smallGraph(), &Plan{SeedType: []string{"b"}, Scope: ScopeBatch, Ops: []Op{op, op}[:n]}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.NewContext().Sample(Input{Seeds: []uint32{0, 1}}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d ops: found error %v, expected ErrTooLarge", n, err)
		}
		s.Close()
	}
}
