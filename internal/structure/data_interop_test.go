//go:build interopdata

package structure

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/golden"
)

// dataGraph is a graph of structure.json, with what networkx, SciPy and PyG computed of it.
type dataGraph struct {
	Nodes       int                  `json:"nodes"`
	Edges       [][2]int             `json:"edges"`
	Directed    bool                 `json:"directed"`
	ByType      map[string][][2]int  `json:"edges_by_type"`
	TypedOut    map[string][]float64 `json:"typed_out_degree"`
	TypedIn     map[string][]float64 `json:"typed_in_degree"`
	InDegree    []float64            `json:"in_degree"`
	OutDegree   []float64            `json:"out_degree"`
	PageRank    []float64            `json:"pagerank_0.85"`
	Core        []float64            `json:"core_number_undirected_simple"`
	Clustering  []float64            `json:"clustering_undirected_simple"`
	Component   []float64            `json:"component_size"`
	Walk        [][]float64          `json:"rwse_16_exact_float64"`
	Eigenvector [][]float64          `json:"laplacian_sym_eigenvectors_1_to_4_signed"`
}

// TestDataStructure compares all structures with the golden values of three graphs: undirected, directed, and typed, whose node types lie one after
// another.
func TestDataStructure(t *testing.T) {
	b, err := os.ReadFile(golden.Dir(t, "features", "structure.json"))
	if err != nil {
		t.Fatal(err)
	}
	var graphs map[string]json.RawMessage
	if err := json.Unmarshal(b, &graphs); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"undirected", "directed", "typed"} {
		var d dataGraph
		if err := json.Unmarshal(graphs[name], &d); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			for _, primary := range []graph.Direction{graph.In, graph.Out} {
				compareData(t, &d, primary)
			}
		})
	}
}

// build makes the graph, and returns its node types in the order of the golden rows.
func (d *dataGraph) build(primary graph.Direction) (*graph.Graph, []string) {
	ref, types := &refGraph{Nodes: map[string]int{}, Edges: map[string]refEdges{}}, []string{graph.HomogeneousNode}
	add := func(name string, pairs [][2]int) {
		var e refEdges
		for _, p := range pairs {
			e.Src, e.Dst = append(e.Src, p[0]), append(e.Dst, p[1])
		}
		ref.Edges[name] = e
	}
	if d.ByType != nil {
		// Users come first in the golden values, as in the order of the types here.
		ref.Nodes["a_user"], ref.Nodes["item"] = 12, 9
		types = []string{"a_user", "item"}
		add("a_user:buys:item", d.ByType["user-buys->item"])
		add("a_user:knows:a_user", d.ByType["user-knows->user"])
	} else {
		ref.Nodes[graph.HomogeneousNode] = d.Nodes
		add(graph.HomogeneousEdge.String(), d.Edges)
	}
	g, _ := ref.build(func(int) graph.Direction { return primary }, false)
	return g, types
}

func compareData(t *testing.T, d *dataGraph, primary graph.Direction) {
	t.Helper()
	g, types := d.build(primary)
	all := func(s Spec) (rows [][]float64) {
		for _, node := range types {
			part, _ := column(t, g, node, s, Options{Threads: 2})
			rows = append(rows, part...)
		}
		return rows
	}
	one := func(what string, s Spec, want []float64, bound float64) {
		t.Helper()
		rows := all(s)
		if len(rows) != len(want) {
			t.Fatalf("%s: found %d rows, expected %d", what, len(rows), len(want))
		}
		for v, row := range rows {
			if math.Abs(row[0]-want[v]) > bound {
				t.Errorf("%s: found %v of node %d, expected %v", what, row[0], v, want[v])
			}
		}
	}
	walk := Out
	if !d.Directed {
		walk = Both
		one("degree", Spec{Structure: Degree}, d.InDegree, 0)
	} else {
		one("in-degree", Spec{Structure: Degree, Direction: In}, d.InDegree, 0)
		one("out-degree", Spec{Structure: Degree, Direction: Out}, d.OutDegree, 0)
	}
	one("PageRank", Spec{Structure: PageRank, Direction: walk}, d.PageRank, 1e-9)
	one("core number", Spec{Structure: CoreNumber}, d.Core, 0)
	one("clustering", Spec{Structure: Clustering}, d.Clustering, 1e-12)
	one("component", Spec{Structure: ComponentSize}, d.Component, 0)
	for v, row := range all(Spec{Structure: RandomWalkPE, Direction: walk, Steps: 16}) {
		for k, x := range row {
			if math.Abs(x-d.Walk[v][k]) > 1e-7 {
				t.Errorf("walk: found %v of node %d at step %d, expected %v", x, v, k+1, d.Walk[v][k])
			}
		}
	}
	for v, row := range all(Spec{Structure: LaplacianPE, Dims: 4}) {
		for p, x := range row {
			if math.Abs(x-d.Eigenvector[p][v]) > 1e-9 {
				t.Errorf("Laplacian: found %v of node %d in vector %d, expected %v", x, v, p+1, d.Eigenvector[p][v])
			}
		}
	}
	if d.ByType == nil {
		return
	}
	for name, want := range map[string][]float64{"a_user:buys:item": d.TypedOut["user-buys->item"], "a_user:knows:a_user": d.TypedOut["user-knows->user"]} {
		rows, _ := column(t, g, "a_user", Spec{Structure: Degree, Direction: Out, Edges: []string{name}, Typed: true}, Options{})
		for v, row := range rows {
			if row[0] != want[v] {
				t.Errorf("%s: found %v of node %d, expected %v", name, row[0], v, want[v])
			}
		}
	}
}
