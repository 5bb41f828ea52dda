//go:build interop || interopdata

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// must runs the command.
func must(t *testing.T, args ...string) {
	t.Helper()
	var stderr bytes.Buffer
	if status := runCommand(append([]string{"graphmill"}, args...), io.Discard, &stderr); status != exitDone {
		t.Fatalf("graphmill %s: status %d: %s", strings.Join(args, " "), status, stderr.String())
	}
}

// content has the nodes and edges of a part by their ids in the input: "type 17".
type content struct{ nodes, haloNodes, edges, haloEdges []string }

// contents reads a partitioned folder that has original ids.
func contents(t *testing.T, config string) []content {
	t.Helper()
	f, err := parts.Open(vfs.OS, config, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []content
	for _, p := range f.Parts {
		var c content
		for i := range p.Nodes {
			id := p.NodeID.At(i)
			r := f.Nodes.Find(id)
			name := fmt.Sprint(f.Config.Nodes[r.Type].Name, " ", f.NodeIDs[r.Type].At(r.Wise+id-r.First))
			if p.InnerNode.At(i) == 1 {
				c.nodes = append(c.nodes, name)
			} else {
				c.haloNodes = append(c.haloNodes, name)
			}
		}
		for i := range p.Edges {
			id := p.EdgeID.At(i)
			r := f.Edges.Find(id)
			name := fmt.Sprint(f.Config.Edges[r.Type].Name, " ", f.EdgeIDs[r.Type].At(r.Wise+id-r.First))
			if p.InnerEdge.At(i) == 1 {
				c.edges = append(c.edges, name)
			} else {
				c.haloEdges = append(c.haloEdges, name)
			}
		}
		for _, x := range [][]string{c.nodes, c.haloNodes, c.edges, c.haloEdges} {
			slices.Sort(x)
		}
		list = append(list, c)
	}
	return list
}

// assignmentOf writes the assignment that a partitioned folder was made with.
func assignmentOf(t *testing.T, config string) string {
	t.Helper()
	f, err := parts.Open(vfs.OS, config, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a := &assign.Assignment{Parts: len(f.Parts), Method: "metis", Start: []uint64{0}}
	for k, n := range f.Config.Nodes {
		part := make([]uint16, n.Count())
		wise := int64(0)
		for p, r := range n.Ranges {
			for range r[1] - r[0] {
				part[f.NodeIDs[k].At(wise)] = uint16(p)
				wise++
			}
		}
		a.Types, a.Part = append(a.Types, n.Name), append(a.Part, part...)
		a.Start = append(a.Start, uint64(len(a.Part)))
	}
	dir := filepath.Join(t.TempDir(), "assignment")
	w, err := store.Create(vfs.OS, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := assign.Write(w, a); err != nil {
		t.Fatal(err)
	}
	if err := w.Seal(t.Context(), nil, 1); err != nil {
		t.Fatal(err)
	}
	if err := w.Publish(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestGoldenDispatch has the same nodes and edges in every part and its halo as DGL's
// partition_graph and its dispatch, of the same assignments.
func TestGoldenDispatch(t *testing.T) {
	for _, c := range golden.Partitions(t) {
		t.Run(c.Name, func(t *testing.T) {
			config := golden.Dir(t, "dgl", c.Name, c.Config)
			dir := t.TempDir()
			s, out := filepath.Join(dir, "g.store"), filepath.Join(dir, "parts")
			args := []string{"--num-hops", strconv.Itoa(c.Hops)}
			if c.Leaving {
				args = append(args, "--out-edges")
			}
			if c.Formats != "" {
				args = append(args, "--graph-formats", c.Formats)
			}
			must(t, "import", c.Input, "--out", s)
			must(t, append([]string{"dispatch", s, "--assignment", assignmentOf(t, config), "--out", out, "--graph-name", c.GraphName, "--save-orig-nids", "--save-orig-eids"}, args...)...)
			got, want := contents(t, filepath.Join(out, c.GraphName+".json")), contents(t, config)
			if len(got) != len(want) {
				t.Fatalf("found %d parts, expected %d", len(got), len(want))
			}
			for p := range want {
				for _, x := range []struct {
					what      string
					got, want []string
				}{
					{"owned nodes", got[p].nodes, want[p].nodes}, {"halo nodes", got[p].haloNodes, want[p].haloNodes},
					{"owned edges", got[p].edges, want[p].edges}, {"halo edges", got[p].haloEdges, want[p].haloEdges},
				} {
					if !slices.Equal(x.got, x.want) {
						t.Errorf("part %d: found %d %s, expected the %d that DGL has", p, len(x.got), x.what, len(x.want))
					}
				}
			}
		})
	}
}

// dglPython returns the Python of the real DGL, which it installs if needed.
func dglPython(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("../../bench/peers.sh", "dgl")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh dgl: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// checkLoop reads a list of arguments per line, and answers with the output of dgl_check.py and an empty line. Loading DGL
// takes longer than most checks, so it is done once; each check still runs in a process of its own.
const checkLoop = `
import importlib.util, json, os, sys
spec = importlib.util.spec_from_file_location("dgl_check", sys.argv[1])
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)
import numpy, torch, dgl, dgl.distributed
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        sys.argv[1:] = json.loads(line)
        try:
            check.main()
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.waitpid(child, 0)
    print(flush=True)
`

// dglOracle is a running checkLoop.
type dglOracle struct {
	in  io.Writer
	out *bufio.Scanner
	log string // a file
}

// startDGL starts the real DGL, until the test ends.
func startDGL(t *testing.T) *dglOracle {
	t.Helper()
	o := &dglOracle{log: filepath.Join(t.TempDir(), "log")}
	log, err := os.Create(o.log)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), dglPython(t), "-c", checkLoop, golden.Peers(t, "dgl_check.py"))
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // killed with the test's context
		log.Close()
	})
	o.in, o.out = in, bufio.NewScanner(out)
	o.out.Buffer(nil, 16<<20)
	return o
}

// checks has DGL load, check and, on request, serve parts. input are the flags that name the input of the parts.
func (o *dglOracle) checks(t *testing.T, config string, serve bool, outEdges bool, input ...string) {
	t.Helper()
	args := append([]string{config, "--json-only", "--timeout", "600"}, input...)
	if !serve {
		args = append(args, "--no-serve")
	}
	if err := json.NewEncoder(o.in).Encode(args); err != nil {
		t.Fatal(err)
	}
	var b []byte
	for o.out.Scan() && len(o.out.Bytes()) > 0 {
		b = append(b, o.out.Bytes()...)
	}
	var report struct {
		OK       bool     `json:"ok"`
		Errors   []string `json:"errors"`
		Notes    []string `json:"notes"`
		OutEdges bool     `json:"out_edges_in_halo"`
		Compared struct {
			Edges int `json:"edges"`
		} `json:"compared"`
		Served *struct {
			Sampled int `json:"sampled_edges"`
		} `json:"served"`
	}
	if err := json.Unmarshal(b, &report); err != nil {
		log, _ := os.ReadFile(o.log)
		t.Fatalf("dgl_check.py: %v, %v: %s%s", err, o.out.Err(), b, log)
	}
	if !report.OK || len(report.Notes) > 0 || report.Compared.Edges == 0 || outEdges && !report.OutEdges || serve && report.Served == nil {
		t.Errorf("DGL found %s", b)
	}
}

// inputOf writes the edges of a store, in the order of its input, and names them and the
// columns of nodes for dgl_check.py.
func inputOf(t *testing.T, dir string) []string {
	t.Helper()
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, flags := t.TempDir(), []string(nil)
	for i, e := range s.Graph.Edges {
		a := e.Adj[e.Primary]
		ends := make([]int64, 2*e.Count)
		near, far := ends[e.Count:], ends[:e.Count] // of in-edges: destinations below sources
		if e.Primary == graph.Out {
			near, far = far, near
		}
		position := graph.FindColumn(e.Columns, graph.PositionColumn)
		for v := range a.Indptr.Len() - 1 {
			for id := a.Indptr.At(v); id < a.Indptr.At(v+1); id++ {
				at := id
				if position != nil {
					at = uint64(graph.View[uint32](position.Values)[id])
				}
				near[at], far[at] = int64(v), int64(a.Far.At(int(id)))
			}
		}
		h, err := npy.AppendHeader(nil, "i8", []int{2, e.Count})
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(out, fmt.Sprint(i, ".npy"))
		if err := os.WriteFile(name, append(h, graph.Bytes(ends)...), 0o644); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--edges", e.Type.String()+"="+name)
	}
	for _, n := range slices.Sorted(maps.Keys(s.Meta.Nodes)) {
		for _, name := range slices.Sorted(maps.Keys(s.Meta.Nodes[n].Columns)) {
			if c := s.Meta.Nodes[n].Columns[name]; c.DType != "string" && !strings.HasPrefix(c.DType, "uint") && !slices.Contains(c.Shape, -1) {
				flags = append(flags, "--feats", n+"/"+name+"="+filepath.Join(dir, c.File))
			}
		}
	}
	return flags
}

// partsCase is a graph whose parts DGL checks.
type partsCase struct {
	name, store string
	input       []string // flags of dgl_check.py
	parts       int
	serve       bool // whether DGL serves parts of it
	once        bool // each number of hops is taken once
}

// goldenGraph imports a graph that DGL saved.
func goldenGraph(t *testing.T, name, saved string, parts int, serve bool) partsCase {
	t.Helper()
	s := filepath.Join(t.TempDir(), name+".store")
	must(t, "import", saved, "--out", s)
	return partsCase{name, s, []string{"--graph", saved}, parts, serve, false}
}

// checkParts has the real DGL load and check parts of graphs with halos of 0 to 2 hops, and serve some.
func checkParts(t *testing.T, cases []partsCase) {
	work, oracle := t.TempDir(), startDGL(t)
	for _, c := range cases {
		for hops := range 3 {
			for _, outEdges := range []bool{false, true} {
				// Without hops no edges leave the part.
				if outEdges && hops == 0 || c.once && outEdges != (hops == 1) {
					continue
				}
				// Each part that is served needs a process that loads DGL.
				parts, serve := c.parts, c.serve && outEdges && hops == 1
				if serve {
					parts = 2
				}
				t.Run(fmt.Sprint(c.name, "/hops", hops, map[bool]string{true: "/out-edges"}[outEdges]), func(t *testing.T) {
					out := filepath.Join(work, "parts")
					must(t, "partition-graph", c.store, "--parts", strconv.Itoa(parts), "--method", "fennel", "--graph-name", "g", "--num-hops", strconv.Itoa(hops),
						"--out-edges="+strconv.FormatBool(outEdges), "--save-orig-nids", "--save-orig-eids", "--graph-formats", "coo,csr,csc", "--out", out, "--force")
					must(t, "verify", out, "--against", c.store)
					oracle.checks(t, filepath.Join(out, "g.json"), serve, outEdges, c.input...)
				})
			}
		}
	}
}

// TestGoldenParts has the real DGL load and check parts of every golden graph, and serve some.
func TestGoldenParts(t *testing.T) {
	var cases []partsCase
	for _, p := range golden.Partitions(t) {
		if p.Name == "hetero_hop2" { // the graph of hetero_hop1
			continue
		}
		// DGL serves the typed parts, in the long form also the parts of one type, which takes 11 s.
		serve := p.Hops == 1 && p.Formats == "" && p.Leaving && (p.Name == "hetero_hop1" || proof.Long(t))
		cases = append(cases, goldenGraph(t, p.Name, p.Input, p.Parts, serve))
	}
	checkParts(t, cases)
}
