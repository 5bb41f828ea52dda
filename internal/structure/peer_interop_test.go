//go:build interop

package structure

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/golden"
)

// peerGraph is a graph as structure_answers.py reads it.
type peerGraph struct {
	Nodes int   `json:"nodes"`
	Src   []int `json:"src"`
	Dst   []int `json:"dst"`
	Steps int   `json:"steps"`
	Dims  int   `json:"dims"`
}

type peerAnswer struct {
	In, Out, Both, PageRank, Back, Core, Clustering, Component []float64
	Walk                                                       [][]float64
	WalkBoth                                                   [][]float64 `json:"walk_both"`
	Eigenvalues                                                []float64
	Eigenvectors                                               [][]float64
}

// TestPeerStructure compares all structures with networkx, SciPy and PyG, on 300 random graphs with parallel edges and loops.
func TestPeerStructure(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var cases []peerGraph
	for range 300 {
		c := peerGraph{Nodes: 1 + r.IntN(40), Src: []int{}, Dst: []int{}, Steps: 10, Dims: 4}
		for range r.IntN(4 * c.Nodes) {
			c.Src, c.Dst = append(c.Src, r.IntN(c.Nodes)), append(c.Dst, r.IntN(c.Nodes))
		}
		cases = append(cases, c)
	}
	answers := askPeer(t, cases)
	vectors := 0
	for i, c := range cases {
		a := answers[i]
		g, _ := (&refGraph{Nodes: map[string]int{graph.HomogeneousNode: c.Nodes}, Edges: map[string]refEdges{graph.HomogeneousEdge.String(): {Src: c.Src, Dst: c.Dst}}}).
			build(func(int) graph.Direction { return graph.Direction(i % 2) }, false)
		got := func(s Spec) [][]float64 {
			rows, _ := column(t, g, graph.HomogeneousNode, s, Options{Threads: 2})
			return rows
		}
		for _, x := range []struct {
			spec  Spec
			want  []float64
			bound float64
		}{
			{Spec{Structure: Degree, Direction: In}, a.In, 0},
			{Spec{Structure: Degree, Direction: Out}, a.Out, 0},
			{Spec{Structure: Degree}, a.Both, 0},
			{Spec{Structure: PageRank}, a.PageRank, 1e-9},
			{Spec{Structure: PageRank, Direction: In}, a.Back, 1e-9},
			{Spec{Structure: CoreNumber}, a.Core, 0},
			{Spec{Structure: Clustering}, a.Clustering, 1e-12},
			{Spec{Structure: ComponentSize}, a.Component, 0},
		} {
			for v, row := range got(x.spec) {
				if math.Abs(row[0]-x.want[v]) > x.bound {
					t.Fatalf("graph %d, %+v: found %v of node %d, expected %v", i, x.spec, row[0], v, x.want[v])
				}
			}
		}
		compareRows(t, got(Spec{Structure: RandomWalkPE, Steps: c.Steps, Direction: Out}), a.Walk, 1e-6)
		compareRows(t, got(Spec{Structure: RandomWalkPE, Steps: c.Steps}), a.WalkBoth, 1e-6)
		if a.Eigenvectors != nil {
			vectors += comparePeerVectors(t, got(Spec{Structure: LaplacianPE, Dims: c.Dims}), &a)
		}
	}
	if vectors < 100 {
		t.Fatalf("found %d eigenvectors that are defined, expected at least 100", vectors)
	}
}

func compareRows(t *testing.T, rows, want [][]float64, bound float64) {
	t.Helper()
	for v, row := range rows {
		for p, x := range row {
			if math.Abs(x-want[v][p]) > bound {
				t.Fatalf("found %v of node %d, position %d, expected %v", x, v, p, want[v][p])
			}
		}
	}
}

// comparePeerVectors compares eigenvectors whose eigenvalue is apart from its neighbours, and returns their number. PyG draws signs.
func comparePeerVectors(t *testing.T, rows [][]float64, a *peerAnswer) (compared int) {
	t.Helper()
	w := a.Eigenvalues
	for p := range rows[0] {
		if at := p + 1; w[at]-w[at-1] < 1e-3 || at+1 < len(w) && w[at+1]-w[at] < 1e-3 {
			continue
		}
		compared++
		same, other := 0.0, 0.0
		for v, row := range rows {
			same = max(same, math.Abs(row[p]-a.Eigenvectors[v][p]))
			other = max(other, math.Abs(row[p]+a.Eigenvectors[v][p]))
		}
		if min(same, other) > 1e-4 {
			t.Fatalf("found an eigenvector %d that differs by %v from PyG's, expected at most 1e-4: PyG has float32", p+1, min(same, other))
		}
	}
	return compared
}

func askPeer(t *testing.T, cases []peerGraph) (answers []peerAnswer) {
	t.Helper()
	in, out := filepath.Join(t.TempDir(), "cases.json"), filepath.Join(t.TempDir(), "answers.json")
	b, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, b, 0o600); err != nil {
		t.Fatal(err)
	}
	peers := exec.Command("../../bench/peers.sh", "pyg") // installs networkx and SciPy, too
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh pyg: %v", err)
	}
	if msg, err := exec.Command(strings.TrimSpace(string(python)), golden.Peers(t, "structure_answers.py"), in, out).CombinedOutput(); err != nil {
		t.Fatalf("networkx, SciPy and PyG: %v\n%s", err, msg)
	}
	if b, err = os.ReadFile(out); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}
