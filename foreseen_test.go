package graphmill

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/internal/progress"
)

func TestForeseen(t *testing.T) {
	var o Run
	o.foresee([]progress.Stage{{Name: "read", Work: 1}, {Name: "quick", Work: 0.5}, {Name: "sort", Work: 1.5}, {Name: "write", Work: 1}})
	for i, c := range []struct {
		at   Progress
		want float64
	}{
		{Progress{Stage: "read", Done: 5, Total: 10}, 0.125},
		{Progress{Stage: "read", Done: 4, Total: 10}, 0.125}, // it never falls
		{Progress{Stage: "read", Done: 20, Total: 10}, 0.25},
		{Progress{Stage: "read", Done: 20, Total: 10, End: true}, 0.25},
		{Progress{Stage: "other", Done: 1, Total: 1}, 0.25},
		{Progress{Stage: "sort", Done: 7}, 0.375}, // its total is not known, and what comes before it has ended
		{Progress{Stage: "quick", Done: 1, Total: 2}, 0.375},
		{Progress{Stage: "sort", End: true}, 0.75},
		{Progress{Stage: "write", End: true}, 1},
	} {
		if got := o.foreseen.share(c.at); got != c.want {
			t.Errorf("%d: found share %v of %+v, expected %v", i, got, c.at, c.want)
		}
	}
	if got := (*foreseen)(nil).share(Progress{Done: 1, Total: 1}); got != 0 {
		t.Errorf("found share %v where nothing is foreseen, expected 0", got)
	}
}

// The work of all stages of an import and of a division is foreseen: the share grows to 1.
func TestSharesOfRuns(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ids.csv":    "src,dst\n0,1\n1,2\n2,0\n",
		"names.csv":  "src,dst\na,b\nb,c\nc,a\n",
		"nodes.csv":  "id,x\na,1\nb,2\nc,3\n",
		"graph.yaml": "nodes: {n: {table: nodes.csv, id: id}}\nedges: {'n:to:n': {table: names.csv, src: src, dst: dst}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var shares []float64
	run := Run{Threads: 2, Progress: func(p Progress) {
		if p.End {
			shares = append(shares, p.Share)
		}
	}}
	rises := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if len(shares) < 2 || !slices.IsSorted(shares) || shares[len(shares)-1] != 1 {
			t.Errorf("found shares %v at the ends of stages, expected two or more that rise to 1", shares)
		}
		shares = nil
	}
	for _, input := range []string{"ids.csv", "names.csv", "graph.yaml"} {
		for _, both := range []bool{false, true} {
			out := filepath.Join(dir, input+".store")
			s, err := Import(t.Context(), filepath.Join(dir, input), out, ImportOptions{BuildOptions: BuildOptions{Run: run, Both: both}})
			rises(t, err)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			_, err = PartitionGraph(t.Context(), out, filepath.Join(dir, "parts"), PartitionGraphOptions{PartitionOptions: PartitionOptions{Run: run, Parts: 2}})
			rises(t, err)
			if err := os.RemoveAll(filepath.Join(dir, "parts")); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
		}
	}
}
