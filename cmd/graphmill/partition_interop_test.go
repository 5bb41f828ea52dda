//go:build interop || interopdata

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// checked has the values of an assignment by the definition of the cut.
type checked struct {
	OK          bool
	Cut         int64
	Balance     []float64
	EdgeBalance float64 `json:"edge_balance"`
	EmptyParts  int     `json:"empty_parts"`
}

// checkCut runs the definition, which needs only NumPy.
func checkCut(t *testing.T, graph, assignment, parts string) checked {
	t.Helper()
	peers := exec.Command("../../bench/peers.sh", "tables")
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh tables: %v", err)
	}
	script := golden.Peers(t, "cut_check.py")
	cmd := exec.Command(strings.TrimSpace(string(python)), script, graph, assignment, "-k", parts, "--json")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	var c checked
	if err := json.Unmarshal(out, &c); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return c
}

// partitioned runs partition and returns its JSON.
func partitioned(t *testing.T, args ...string) report.Division {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := runCommand(append([]string{"graphmill", "partition", "--json"}, args...), &stdout, &stderr); status != exitDone {
		t.Fatalf("%q: status %d: %s", args, status, stderr.String())
	}
	var j report.Division
	if err := json.Unmarshal(stdout.Bytes(), &j); err != nil {
		t.Fatal(err)
	}
	return j
}

func (c checked) compare(t *testing.T, name string, j report.Division) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-4 }
	var most, all int64
	for _, p := range j.Each {
		most, all = max(most, p.Nodes), all+p.Nodes
	}
	if j.Cut != c.Cut || !near(float64(most)*float64(j.Parts)/float64(all), c.Balance[0]) || !near(j.EdgeBalance, c.EdgeBalance) || j.EmptyParts != c.EmptyParts {
		t.Errorf("%s: says cut %d, balance %v, edge balance %v, %d empty parts; the definition %+v", name, j.Cut, j.Balance, j.EdgeBalance, j.EmptyParts, c)
	}
}

// testCut compares the values that partition reports for a METIS file with the definition.
func testCut(t *testing.T, file string) {
	t.Helper()
	for _, method := range []string{"multilevel", "fennel", "ranges"} {
		j := partitioned(t, file, "--parts", "8", "--method", method)
		c := checkCut(t, file, file+".part.8", "8")
		if c.compare(t, file+", "+method, j); !c.OK {
			t.Errorf("%s, %s: %+v", file, method, c)
		}
	}
}

// TestGoldenCut compares the values that partition reports with the definition, for a graph with types and directions and
// for DGL's assignment of it. A separate program makes the pairs of the graph.
func TestGoldenCut(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "g.store")
	var stderr bytes.Buffer
	if status := runCommand([]string{"graphmill", "import", golden.Dir(t, "dgl/chunked_in"), "--out", in}, io.Discard, &stderr); status != exitDone {
		t.Fatal(stderr.String())
	}
	s, err := store.Open(vfs.OS, in)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	starts := undirected.Starts(s.Graph)
	var src, dst []uint32
	for _, e := range s.Graph.Edges {
		a := e.Adj[e.Primary]
		near, far := starts[s.Graph.NodeType(e.Type.Near(e.Primary))], starts[s.Graph.NodeType(e.Type.Far(e.Primary))]
		for v := range a.Indptr.Len() - 1 {
			for i := a.Indptr.At(v); i < a.Indptr.At(v+1); i++ {
				src, dst = append(src, uint32(near)+uint32(v)), append(dst, uint32(far+a.Far.At(int(i))))
			}
		}
	}
	g := undirected.FromPairs(int(starts[len(starts)-1]), src, dst)
	prefix := filepath.Join(dir, "g")
	offsets := make([]uint64, len(g.Offsets))
	for i, x := range g.Offsets {
		offsets[i] = uint64(x)
	}
	writeNpy(t, prefix+".xadj.npy", "u8", graph.Bytes(offsets), len(offsets))
	writeNpy(t, prefix+".adjncy.npy", "u4", graph.Bytes(g.Neighbours), len(g.Neighbours))
	for name, args := range map[string][]string{
		"multilevel": {in, "--parts", "3"},
		"chunked":    {golden.Dir(t, "dgl/chunked_in"), "--parts", "3"},
		"DGL's":      {in, "--import", golden.Dir(t, "dgl/chunked_assign")},
	} {
		out := filepath.Join(dir, name)
		j := partitioned(t, append(args, "--out", out)...)
		var all []byte
		for _, n := range s.Graph.Nodes {
			lines, err := os.ReadFile(filepath.Join(out, n.Type+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, lines...)
		}
		file := filepath.Join(dir, name+".part")
		if err := os.WriteFile(file, all, 0o666); err != nil {
			t.Fatal(err)
		}
		checkCut(t, prefix, file, "3").compare(t, name, j)
	}
}

func writeNpy(t *testing.T, name, descr string, data []byte, shape ...int) {
	t.Helper()
	b, err := npy.AppendHeader(nil, descr, shape)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, data...)
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
}
