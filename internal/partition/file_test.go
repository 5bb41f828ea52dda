package partition

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/metis"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/vfs"
)

// A METIS file whose rows go to a temporary file gives the same graph as one that is read into memory, and the same errors.
func TestRowsOfAFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.graph")
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(rt, "nodes")
		weighted, heavy := rapid.Bool().Draw(rt, "edge weights"), rapid.Bool().Draw(rt, "weights")
		rows := make([][][2]int, n)
		pairs := 0
		for v := range n {
			for u := range v {
				if rapid.IntRange(0, 3).Draw(rt, "joined") == 0 {
					w := rapid.IntRange(1, 3).Draw(rt, "weight")
					rows[v], rows[u], pairs = append(rows[v], [2]int{u, w}), append(rows[u], [2]int{v, w}), pairs+1
				}
			}
		}
		// A row may come in any order, and one entry may be wrong.
		v := rapid.IntRange(0, n-1).Draw(rt, "row")
		slices.Reverse(rows[v])
		if len(rows[v]) > 0 && rapid.Bool().Draw(rt, "wrong") {
			i := rapid.IntRange(0, len(rows[v])-1).Draw(rt, "entry")
			if weighted && rapid.Bool().Draw(rt, "wrong weight") {
				rows[v][i][1]++
			} else {
				rows[v][i][0] = rapid.IntRange(0, n-1).Draw(rt, "neighbour")
			}
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%% a comment\n%d %d 0%d%d\n", n, pairs, map[bool]int{true: 1}[heavy], map[bool]int{true: 1}[weighted])
		for v, row := range rows {
			if heavy {
				fmt.Fprintf(&b, "%d ", v%3)
			}
			for _, e := range row {
				fmt.Fprintf(&b, "%d ", e[0]+1)
				if weighted {
					fmt.Fprintf(&b, "%d ", e[1])
				}
			}
			b.WriteByte('\n')
		}
		if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
			rt.Fatal(err)
		}
		want, expected := metis.Read(t.Context(), vfs.OS, name, 1)
		h, err := metis.ReadHeader(vfs.OS, name)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := readRows(t.Context(), vfs.OS, name, h, dir, nil)
		if expected != nil || err != nil {
			if expected == nil || err == nil {
				rt.Fatalf("found %v, in memory %v", err, expected)
			}
			// Of a wrong entry and the right one that lacks, either may be told.
			if !strings.HasPrefix(err.Error(), name+":") || strings.Contains(err.Error(), "itself") != strings.Contains(expected.Error(), "itself") {
				rt.Errorf("found %v, in memory %v", err, expected)
			}
			return
		}
		defer got.Close()
		if err := got.Scan(t.Context(), 1, func(_ int, b *undirected.Block) error {
			for i := range b.Len() {
				from, to := b.Row(i)
				lo, hi := want.Offsets[int(b.First)+i], want.Offsets[int(b.First)+i+1]
				if !slices.Equal(b.Neighbours[from:to], want.Neighbours[lo:hi]) || weighted && !slices.Equal(b.EdgeWeights[from:to], want.EdgeWeights[lo:hi]) {
					rt.Errorf("row %d: %d %d", int(b.First)+i, b.Neighbours[from:to], b.EdgeWeights)
				}
			}
			return nil
		}); err != nil {
			rt.Fatal(err)
		}
		if got.Len() != want.Len() || got.Constraints != want.Constraints || !slices.Equal(got.Weights, want.Weights) {
			rt.Errorf("%d nodes, weights %d", got.Len(), got.Weights)
		}
	})
}
