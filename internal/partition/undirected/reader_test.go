package undirected

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Workers that each read a range and tell each other far ends make the rows of Build together.
func TestReaderMakesTheSameRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, _ := drawStore(rt)
		whole, err := Build(t.Context(), s, BuildOptions{Threads: 1, FS: vfs.OS, Temp: t.TempDir()})
		if err != nil {
			rt.Fatal(err)
		}
		ends := []int{0, rapid.IntRange(0, whole.Len()).Draw(rt, "a"), rapid.IntRange(0, whole.Len()).Draw(rt, "b"), whole.Len()}
		slices.Sort(ends)
		sent := make([][]uint64, len(ends)-1)
		for i := range sent {
			r, err := NewReader(s)
			if err != nil || r.Nodes() != whole.Len() {
				rt.Fatalf("found %d nodes, expected %d: %v", r.Nodes(), whole.Len(), err)
			}
			if err := r.Mirror(ends[i], ends[i+1], func(far uint32, record uint64) error {
				owner := 0
				for int(far) >= ends[owner+1] {
					owner++
				}
				sent[owner] = append(sent[owner], record)
				return nil
			}); err != nil {
				rt.Fatal(err)
			}
		}
		r, err := NewReader(s)
		if err != nil {
			rt.Fatal(err)
		}
		for i, records := range sent {
			slices.Reverse(records)
			b, err := r.Rows(ends[i], ends[i+1], records)
			if err != nil {
				rt.Fatal(err)
			}
			want, _ := whole.Between(ends[i], ends[i+1], nil)
			if b.Len() != want.Len() || !slices.Equal(b.Neighbours, want.Neighbours) {
				rt.Fatalf("nodes %d to %d: found %v, expected %v", ends[i], ends[i+1], b, want)
			}
			for v := range b.Len() {
				from, to := b.Row(v)
				if lo, hi := want.Row(v); from != lo || to != hi {
					rt.Fatalf("row %d: found %d to %d, expected %d to %d", v, from, to, lo, hi)
				}
			}
		}
	})
}

func TestReaderStopsAndFindsDamage(t *testing.T) {
	s := grid(5)
	r, err := NewReader(s)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("full")
	if err := r.Mirror(0, 25, func(uint32, uint64) error { return full }); !errors.Is(err, full) {
		t.Errorf("found %v, expected the error of fn", err)
	}
	adj := s.Graph.Edges[0].Adj[s.Graph.Edges[0].Primary]
	if adj.Far.U64 != nil {
		adj.Far.U64[3] = 25
	} else {
		adj.Far.U32[3] = 25
	}
	if err := r.Mirror(0, 25, func(uint32, uint64) error { return nil }); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("found %v, expected %v", err, store.ErrDamaged)
	}
}
