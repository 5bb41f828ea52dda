//go:build interop

package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// rareTypes makes a random typed graph for parts: two common node types, a rare one of fewer than
// 10 nodes per part, all with features and a mask, edges with features, and a type of 2 nodes without
// features whose edges have none.
func rareTypes(t *testing.T, seed uint64, parts int) (dir string) {
	r, tables := rand.New(rand.NewPCG(seed, 1)), t.TempDir()
	count := map[string]int{"author": 30 + r.IntN(50), "country": 2, "paper": 40 + r.IntN(200), "venue": parts + r.IntN(9*parts)}
	var yaml strings.Builder
	array := func(name, descr string, data []byte, shape ...int) {
		writeNpy(t, filepath.Join(tables, name+".npy"), descr, data, shape...)
	}
	bools := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(2))
		}
		return b
	}
	floats := func(n int) []byte {
		f := make([]float32, n)
		for i := range f {
			f[i] = r.Float32()
		}
		return graph.Bytes(f)
	}
	fmt.Fprintf(&yaml, "nodes:\n  country: {count: 2}\n")
	for _, n := range []string{"author", "paper", "venue"} {
		array(n+"-feat", "f4", floats(3*count[n]), count[n], 3)
		array(n+"-mask", "b1", bools(count[n]), count[n])
		fmt.Fprintf(&yaml, "  %s: {columns: {feat: %s-feat.npy, mask: %s-mask.npy}}\n", n, n, n)
	}
	fmt.Fprintf(&yaml, "edges:\n")
	for _, e := range []struct {
		src, rel, dst string
		edges         int
		features      bool
	}{{"author", "writes", "paper", 300, true}, {"paper", "cites", "paper", 500, true}, {"paper", "in", "venue", 200, true}, {"venue", "lists", "paper", 30, true},
		{"author", "of", "country", 40, false}, {"country", "has", "author", 40, false}} {
		ends := make([]int64, 2*e.edges)
		for i := range e.edges {
			ends[i], ends[e.edges+i] = int64(r.IntN(count[e.src])), int64(r.IntN(count[e.dst]))
		}
		array(e.rel, "i8", graph.Bytes(ends), 2, e.edges)
		columns := ""
		if e.features {
			array(e.rel+"-w", "f4", floats(e.edges), e.edges)
			array(e.rel+"-sure", "b1", bools(e.edges), e.edges)
			columns = fmt.Sprintf(", columns: {w: %s-w.npy, sure: %s-sure.npy}", e.rel, e.rel)
		}
		fmt.Fprintf(&yaml, "  %s:%s:%s: {table: %s.npy%s}\n", e.src, e.rel, e.dst, e.rel, columns)
	}
	if err := os.WriteFile(filepath.Join(tables, "graph.yaml"), []byte(yaml.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "g.store")
	must(t, "import", tables, "--out", dir)
	return dir
}

// TestPeerDGLServesTypedParts has the real DGL serve the parts of typed graphs with a rare type, divided by
// default, and a client sample from them and read features; and the bools come back.
func TestPeerDGLServesTypedParts(t *testing.T) {
	oracle := startDGL(t)
	ways := [][]string{nil, {"--method", "fennel", "--trainers-per-machine", "2"}}
	if !proof.Long(t) {
		ways = ways[1:]
	}
	for seed, flags := range ways {
		dir := rareTypes(t, uint64(seed), 3)
		out := filepath.Join(t.TempDir(), "parts")
		var stderr bytes.Buffer
		if status := runCommand(append([]string{"graphmill", "partition-graph", dir, "--parts", "3", "--graph-name", "g", "--save-orig-nids", "--save-orig-eids", "--out", out}, flags...), io.Discard, &stderr); status != exitDone || strings.Contains(stderr.String(), "does not start") {
			t.Fatalf("status %d: %s", status, stderr.String())
		}
		must(t, "verify", out, "--against", dir)
		oracle.checks(t, filepath.Join(out, "g.json"), true, true, inputOf(t, dir)...)
		back := filepath.Join(t.TempDir(), "back.store")
		must(t, "import", out, "--out", back)
		sameBools(t, dir, back)
	}
}

// sameBools compares the bool columns of two stores.
func sameBools(t *testing.T, a, b string) {
	t.Helper()
	columns := func(dir string) map[string]string {
		s, err := store.Open(vfs.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		list := map[string]string{}
		add := func(name string, of []*graph.Column) {
			for _, c := range of {
				if c.DType == graph.Bool {
					list[name+"/"+c.Name] = string(c.Values)
				}
			}
		}
		for _, n := range s.Graph.Nodes {
			add(n.Type, n.Columns)
		}
		for _, e := range s.Graph.Edges {
			add(e.Type.String(), e.Columns)
		}
		return list
	}
	want, got := columns(a), columns(b)
	if len(want) == 0 || len(got) != len(want) {
		t.Errorf("found %d bool columns, expected %d, at least 1", len(got), len(want))
	}
	for name, values := range want {
		if got[name] != values {
			t.Errorf("%s: found other values", name)
		}
	}
}

// startServer starts the server of a part until its features are loaded, and returns their names and dtypes.
const startServer = `
import sys
config, part, ip = sys.argv[1:]
from dgl.distributed import DistGraphServer
s = DistGraphServer(int(part), ip, 1, 1, config, disable_shared_mem=True)
print("features", sorted((name, str(x.dtype)) for name, x in s.data_store.items()))
`

// TestPeerDGLServerNeedsRows checks the warning of dispatch against the real server, which starts only for parts that own rows
// of all features. A mask is served as uint8.
func TestPeerDGLServerNeedsRows(t *testing.T) {
	python, dir := dglPython(t), t.TempDir()
	s := rareTypes(t, 7, 3)
	// The venues are all in part 1.
	cut := filepath.Join(dir, "cut")
	must(t, "partition", s, "--parts", "3", "--method", "random", "--out", cut)
	text, err := os.ReadFile(filepath.Join(cut, "venue.txt"))
	if err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign")
	if err := os.Mkdir(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"author.txt", "country.txt", "paper.txt"} {
		b, err := os.ReadFile(filepath.Join(cut, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(foreign, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"venue.txt": strings.Repeat("1\n", strings.Count(string(text), "\n")), "partition_meta.json": `{"version": "1.0.0", "num_parts": 3, "algo_name": "metis"}`} {
		if err := os.WriteFile(filepath.Join(foreign, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "parts")
	var stderr bytes.Buffer
	if status := runCommand([]string{"graphmill", "dispatch", s, "--assignment", foreign, "--graph-name", "g", "--out", out}, io.Discard, &stderr); status != exitDone {
		t.Fatal(stderr.String())
	}
	if !strings.Contains(stderr.String(), "2 types are not in every part") || !strings.Contains(stderr.String(), "nodes in part 0, 2;") || strings.Contains(stderr.String(), "country") {
		t.Errorf("found %s", stderr.String())
	}
	ip := filepath.Join(dir, "ip.txt")
	if err := os.WriteFile(ip, []byte("127.0.0.1 30051\n127.0.0.1 30052\n127.0.0.1 30053\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for part, starts := range []bool{false, true, false} {
		text, err := exec.CommandContext(t.Context(), python, "-c", startServer, filepath.Join(out, "g.json"), strconv.Itoa(part), ip).CombinedOutput()
		if (err == nil) != starts || !starts && !bytes.Contains(text, []byte("Failed to map shared memory")) {
			t.Errorf("part %d: started %v, expected %v: %s", part, err == nil, starts, text)
		}
		if starts && !bytes.Contains(text, []byte("('node~venue~mask', 'torch.uint8')")) {
			t.Errorf("found %s, expected the mask as uint8", text)
		}
	}
}
