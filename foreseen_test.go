package graphmill_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

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
	run := option.Run{Threads: 2, Progress: func(p option.Progress) {
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
			s, err := graphmill.Import(t.Context(), filepath.Join(dir, input), out, option.Import{Build: option.Build{Run: run, Both: both}})
			rises(t, err)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			_, err = graphmill.PartitionGraph(t.Context(), out, filepath.Join(dir, "parts"), option.PartitionGraph{Partition: option.Partition{Run: run, Parts: 2}})
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
