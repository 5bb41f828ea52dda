package partition

import (
	"context"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// The nodes that move so that every part has a type are those with the fewest neighbours, from parts that keep
// another node of the type. Types with fewer nodes than parts stay as they are.
func TestCover(t *testing.T) {
	// Type a is the nodes 0 to 4, of degrees 3, 1, 0, 2 and 0; b is 5 and 6; c is 7 to 9, of degrees 0, 2 and
	// 2.
	g := undirected.FromPairs(10, []uint32{0, 0, 0, 1, 3, 8, 9}, []uint32{5, 6, 8, 5, 8, 9, 3})
	j := &job{Options: Options{Parts: 3, Trainers: 2}, types: []string{"a", "b", "c"}, starts: []uint64{0, 5, 7, 10}}
	//                    a                b     c
	piece := []uint16{1, 1, 2, 1, 0, 3, 3, 4, 4, 0}
	// Part 2 lacks a: nodes 2 and 4 have the lowest degree; 2 is the only one of part 1, but part 0 keeps
	// others when it gives up 4. Part 1 lacks c: node 7 has the lowest degree, and part 2 keeps 8.
	want := []uint16{1, 1, 2, 1, 4, 3, 3, 2, 4, 0}
	if err := j.cover(t.Context(), g, piece); err != nil || !slices.Equal(piece, want) {
		t.Errorf("%v: found %v, expected %v", err, piece, want)
	}
	if err := j.cover(t.Context(), g, piece); err != nil || !slices.Equal(piece, want) {
		t.Errorf("%v: found %v, expected no change of %v", err, piece, want)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := j.cover(stopped, g, make([]uint16, 10)); err == nil {
		t.Error("found no error of a scan that was stopped")
	}
}
