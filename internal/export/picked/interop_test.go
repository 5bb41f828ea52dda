//go:build interop

package picked_test

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/export/picked"
)

// readFiles compares files with the values that they were made of, as networkx reads them.
const readFiles = `
import json, struct, sys
import networkx as nx

single = lambda x: struct.unpack("f", struct.pack("f", x))[0]
files = 0
for line in sys.stdin:
    case = json.loads(line)
    linked = nx.node_link_graph(json.load(open(case["json"])), edges="links")
    marked = nx.read_graphml(case["graphml"], force_multigraph=True)
    for g in (linked, marked):
        assert g.is_directed() and list(g.nodes) == [n["id"] for n in case["nodes"]], (list(g.nodes), case["nodes"])
        for n in case["nodes"]:
            got = dict(g.nodes[n["id"]])
            assert got["type"] == "a & b" and got["b"] is n["b"] and got["number"] == n["number"] and got["label <&\""] == n["label"], (got, n)
            assert got["d"] == float(n["d"]) and single(got["f"]) == single(float(n["f"])), (got, n)
        key = lambda e: (e[0], e[1], e[2])
        got = sorted((u, v, single(d["w"])) for u, v, d in g.edges(data=True))
        assert got == sorted((e["source"], e["target"], single(float(e["w"]))) for e in case["edges"]), (got, case["edges"])
        files += 1
print(files)
`

// TestPeerNetworkX reads files with networkx.
func TestPeerNetworkX(t *testing.T) {
	dir := t.TempDir()
	peers := exec.Command("../../../bench/peers.sh", "pyg") // installs networkx, too
	peers.Stderr = os.Stderr
	path, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh pyg: %v", err)
	}
	var cases strings.Builder
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		b, err := g.NodeLink()
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{"json": filepath.Join(dir, strconv.Itoa(n)+".json"), "graphml": filepath.Join(dir, strconv.Itoa(n)+".graphml")}
		n++
		for name, data := range map[string][]byte{files["json"]: b, files["graphml"]: g.GraphML()} {
			if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c := g.NodeTypes[0].Columns
		var nodes, edges []map[string]any
		for i := range g.Nodes {
			number, err := strconv.ParseInt(picked.ValueOf(c[1], i).Text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, map[string]any{"id": g.ID(&g.Nodes[i]).Text, "label": picked.ValueOf(c[0], i).Text, "number": number,
				"d": picked.ValueOf(c[2], i).Text, "f": picked.ValueOf(c[3], i).Text, "b": math.Round(picked.ValueOf(c[4], i).Of) == 1})
		}
		for _, e := range g.Edges {
			edges = append(edges, map[string]any{"source": g.ID(&g.Nodes[e.Source]).Text, "target": g.ID(&g.Nodes[e.Target]).Text, "w": picked.ValueOf(g.EdgeTypes[0].Columns[0], e.Row).Text})
		}
		line, err := json.Marshal(map[string]any{"json": files["json"], "graphml": files["graphml"], "nodes": nodes, "edges": edges})
		if err != nil {
			t.Fatal(err)
		}
		cases.Write(append(line, '\n'))
	})
	cmd := exec.Command(strings.TrimSpace(string(path)), "-c", readFiles)
	cmd.Stdin, cmd.Stderr = strings.NewReader(cases.String()), os.Stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if files := strings.TrimSpace(string(b)); files != strconv.Itoa(2*n) {
		t.Errorf("read %s files, expected %d", files, 2*n)
	}
}
