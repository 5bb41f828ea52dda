package seeds_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Ids count the nodes of all types. A type may have none.
func TestOfTypes(t *testing.T) {
	dir := t.TempDir()
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "a", Count: 3}, {Type: "empty"}, {Type: "b", Count: 4}}}
	for _, c := range []struct {
		name  string
		descr string
		ids   []int64
		shape []int
		want  [][]uint32
		err   string
	}{
		{name: "all", ids: []int64{0, 1, 2, 3, 4, 5, 6}, want: [][]uint32{{0, 1, 2}, nil, {0, 1, 2, 3}}},
		{name: "ends", ids: []int64{2, 3, 6}, want: [][]uint32{{2}, nil, {0, 3}}},
		{name: "none", ids: nil, want: [][]uint32{nil, nil, nil}},
		{name: "after", ids: []int64{1, 7}, err: "after.npy[1]: found node 7, expected 0 to 6"},
		{name: "twice", ids: []int64{1, 1}, err: "twice.npy[1]: found node 1 after 1, expected ascending ids"},
		{name: "below", ids: []int64{-1}, err: "below.npy[0]: found node -1 after -1"},
		{name: "pairs", ids: []int64{1, 2}, shape: []int{1, 2}, err: "pairs.npy: found int64 rows of shape [2], expected one int64 per row"},
		{name: "unsigned", descr: "u8", ids: []int64{1}, err: "unsigned.npy: found uint64 rows"},
	} {
		if c.descr == "" {
			c.descr = "i8"
		}
		if c.shape == nil {
			c.shape = []int{len(c.ids)}
		}
		got, err := seeds.OfTypes(t.Context(), vfs.OS, g, writeArray(t, dir, c.name+".npy", c.descr, c.shape, graph.Bytes(c.ids)))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: found %v, expected %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
