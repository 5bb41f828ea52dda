package ingest

import (
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMETIS(t *testing.T) {
	one := func(text string) map[string]string { return map[string]string{"g.graph": text} }
	runImports(t, []importCase{
		{name: "plain", files: one("% a comment\n4 3\n2 3\n1\n% another\n1 4\n3\n"), path: "g.graph", want: `
_N 4:
_N:_E:_N: 0>1 0>2 1>0 2>0 2>3 3>2`},
		{name: "weights of edges", files: one("3 2 1\n2 5\n1 5 3 7\n2 7\n"), path: "g.graph", want: `
_N 3:
_N:_E:_N: 0>1 weight=5 1>0 weight=5 1>2 weight=7 2>1 weight=7`},
		{name: "all weights", files: one("2 1 111 2\n9 1 2 2 4\n8 3 4 1 4\n"), path: "g.graph", want: `
_N 2: size=9 weight=1,2 size=8 weight=3,4
_N:_E:_N: 0>1 weight=4 1>0 weight=4`},
		{name: "nodes without edges", files: map[string]string{"g.metis": "3 0\n\n\n\n"}, path: "g.metis", want: `
_N 3:
_N:_E:_N:`},
		{name: "no nodes", files: one("0 0\n"), path: "g.graph", want: `
_N 0:
_N:_E:_N:`},
		{name: "compressed", files: map[string]string{"g.graph.gz": gzipped("2 1\n2\n1\n")}, path: "g.graph.gz", want: `
_N 2:
_N:_E:_N: 0>1 1>0`},
		{name: "too many neighbours", files: one("2 1\n2\n1 1 2\n"), path: "g.graph", want: "g.graph:1: found 1 edges in the header, but more than 2 neighbours up to line 3", fails: true},
		{name: "half of the edges", files: one("2 1\n2\n\n"), path: "g.graph", want: "g.graph:1: found 1 edges in the header, expected half of the 1 neighbours", fails: true},
		{name: "too few lines", files: one("3 1\n2\n1\n"), path: "g.graph", want: "g.graph: found the lines of 2 nodes, expected 3", fails: true},
		{name: "too many lines", files: one("1 0\n\n1\n"), path: "g.graph", want: "g.graph:3: found a line after that of the last node", fails: true},
		{name: "a neighbour that is no node", files: one("2 1\n2\n3\n"), path: "g.graph", want: "g.graph:3: found neighbour 3, expected 1 to 2", fails: true},
		{name: "a word", files: one("2 1\n2\nx\n"), path: "g.graph", want: `g.graph:3: found "x", expected a number`, fails: true},
		{name: "no header", files: one("a b\n"), path: "g.graph", opts: Options{Format: "metis"}, want: "g.graph:1: found the first line", fails: true},
		{name: "nodes without lines", files: one("4000000000 0\n"), path: "g.graph", want: "is the count right?", fails: true},
		{name: "symmetrise", files: one("2 1\n2\n1\n"), path: "g.graph", opts: Options{Symmetrise: true}, want: "lists both directions", fails: true},
		{name: "DIMACS", files: map[string]string{"g.gr": "c 9th challenge\np sp 2 1\na 1 2 3\n"}, path: "g.gr", opts: Options{Format: "metis"}, want: "g.gr:1: found the first line", fails: true},
	})
}

// An error of a later step names the line of an edge.
func TestMETISPlace(t *testing.T) {
	path := filepath.Join(folder(t, map[string]string{"g.graph": "% c\n3 3 10\n7 2\n% c\n8 1 3 3\n9 2 2\n"}), "g.graph")
	s, err := Open(t.Context(), vfs.OS, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range map[uint64]string{0: ":3", 1: ":5", 3: ":5", 5: ":6"} {
		if got := s.Input.Edges[0].Table.Where(row, ""); got != path+want {
			t.Errorf("edge %d: found %s, expected %s", row, got, path+want)
		}
	}
	if got := s.Input.Nodes[0].Table.Where(1, ""); got != path+":5" {
		t.Errorf("node 1: found %s, expected %s:5", got, path)
	}
}
