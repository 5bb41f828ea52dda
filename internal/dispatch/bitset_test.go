package dispatch

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// A bitset holds what was set, from several goroutines, and its ranks are the places of its members.
func TestBitset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 63, 64, 223, 224, 225, 1000, 5000}).Draw(t, "n")
		ids := rapid.SliceOfN(rapid.Uint32Range(0, uint32(n-1)), 0, 300).Draw(t, "ids")
		s, err := newBitset(n)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		var wait sync.WaitGroup
		half := len(ids) / 2
		wait.Go(func() { s.setAll(ids[:half]) })
		wait.Go(func() {
			for _, id := range ids[half:] {
				s.set(id)
			}
		})
		wait.Wait()
		slices.Sort(ids)
		ids = slices.Compact(ids)
		if got := s.index(); got != len(ids) {
			t.Fatalf("found %d members, expected %d", got, len(ids))
		}
		for id := range uint32(n) {
			at, has := slices.BinarySearch(ids, id)
			if s.has(id) != has || s.rank(id) != uint32(at) {
				t.Fatalf("id %d: found has %t, rank %d, expected %t, %d", id, s.has(id), s.rank(id), has, at)
			}
		}
		var got []uint32
		if err := s.members(func(id uint32) error { got = append(got, id); return nil }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, ids) {
			t.Fatalf("found members %d, expected %d", got, ids)
		}
		stop := errors.New("stop")
		if err := s.members(func(uint32) error { return stop }); len(ids) > 0 && !errors.Is(err, stop) {
			t.Fatalf("found %v", err)
		}
	})
}
