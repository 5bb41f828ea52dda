package assemble

import (
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestErrors checks the text of each error, with the place.
func TestErrors(t *testing.T) {
	ids := func(name string, vs ...int) *memTable {
		m := &memTable{name: name, chunk: 1}
		var cells []cell
		for _, v := range vs {
			cells = append(cells, id64(v))
		}
		m.add(table.Column{Name: "v", DType: graph.Uint64}, cells)
		return m
	}
	pairs := func(vs ...int) *memTable {
		m := ids("e.csv", vs...)
		m.add(table.Column{Name: "w", DType: graph.Uint64}, m.cells["v"])
		m.cells["w"] = append(m.cells["w"][1:len(vs):len(vs)], id64(vs[0]))
		return m
	}
	keys := func(name string, vs ...string) *memTable {
		m := &memTable{name: name, chunk: 1, shuffle: 3}
		var cells []cell
		for _, v := range vs {
			cells = append(cells, cell{texts: []string{v}})
		}
		m.add(table.Column{Name: "k", DType: graph.String}, cells)
		return m
	}
	v, w, k := table.Column{Name: "v", DType: graph.Uint64}, table.Column{Name: "w", DType: graph.Uint64}, table.Column{Name: "k", DType: graph.String}
	edge := func(tab table.Table, src, dst table.Column) []Edges {
		return []Edges{{Type: graph.EdgeType{Src: "n", Rel: "e", Dst: "n"}, Table: tab, Src: src, Dst: dst}}
	}
	free := []Nodes{{Type: "n"}}
	for _, c := range []struct {
		name string
		in   Input
		opt  Options
		want string
	}{
		{"dangling number", Input{Nodes: []Nodes{{Type: "n", Count: 3}}, Edges: edge(pairs(0, 5, 1), v, w)}, Options{},
			"e.csv:2: found destination 5, expected an id of node type n, below 3; add the node, or give `DanglingEdges` drop or zeros"},
		{"dangling key", Input{Nodes: []Nodes{{Type: "n", Table: keys("n.csv", "a", "b"), ID: k}}, Edges: edge(keys("e.csv", "a", "x", "y"), k, k)}, Options{SelfLoops: Keep},
			"e.csv:3: found source \"x\", expected an id of node type n; add the node, or give `DanglingEdges` drop or zeros"},
		{"duplicate key", Input{Nodes: []Nodes{{Type: "n", Table: keys("n.csv", "a", "b", "a", "b"), ID: k}}}, Options{},
			"n.csv:4: found id \"a\" again, first at n.csv:2, expected each id once; remove a row, or give `DuplicateNodes` drop"},
		{"duplicate integer key", Input{Nodes: []Nodes{{Type: "n", Table: ids("n.csv", 7, 8, 7), ID: v}}}, Options{},
			`n.csv:4: found id 7 again, first at n.csv:2`},
		{"duplicate edge", Input{Nodes: free, Edges: edge(pairs(1, 2, 1, 2), v, w)}, Options{},
			"e.csv:4: found an edge again, first at e.csv:2, expected each once; remove it, or give `DuplicateEdges` keep or drop"},
		{"self-loop", Input{Nodes: free, Edges: edge(pairs(1, 2, 2, 3), v, w)}, Options{},
			"e.csv:3: found an edge from a node to itself, expected none; give `SelfLoops` keep or drop"},
		{"far too large", Input{Nodes: free, Edges: edge(pairs(1, 1<<41, 3), v, w)}, Options{},
			`e.csv:2: found destination 2199023255552, expected ids below 1099511627776; read the ids as strings`},
		{"the largest integer", Input{Nodes: free, Edges: edge(pairs(1, -1, 3), v, w)}, Options{},
			`e.csv:2: found destination 18446744073709551615, expected ids below 1099511627776; read the ids as strings`},
		{"the largest integer, counted nodes", Input{Nodes: []Nodes{{Type: "n", Count: 5}}, Edges: edge(pairs(1, 2, -1, 3), v, w)}, Options{},
			`e.csv:3: found destination 18446744073709551615, expected an id of node type n, below 5`},
		{"sparse destination", Input{Nodes: free, Edges: edge(pairs(1, 1<<31), v, w)}, Options{},
			`e.csv:3: found id 2147483648 among 2 edges, expected ids below 67108864; read the ids as strings`},
		{"sparse", Input{Nodes: free, Edges: edge(pairs(1, 1<<31, 3), v, w)}, Options{},
			`e.csv:3: found id 2147483648 among 3 edges, expected ids below 67108864; read the ids as strings`},
		{"too many nodes", Input{Nodes: []Nodes{{Type: "n", Count: 1<<40 + 1}}}, Options{}, `node type n: found 1099511627777 as the number of nodes, expected at most 1099511627776`},
		{"nodes of 2^32", Input{Nodes: []Nodes{{Type: "n", Count: 1 << 32}}}, Options{}, `node type n: found 4294967296 nodes, expected fewer than 2^32, because ids of nodes have 32 bits within a type; divide the type into several`},
		{"nodes of 2^32 together", Input{Nodes: []Nodes{{Type: "m", Count: 1}, {Type: "n", Count: 1<<32 - 1}}}, Options{Homogeneous: true}, `found 4294967296 nodes of all types, expected fewer than 2^32 in a homogeneous graph`},
		{"no type", Input{Edges: edge(pairs(1, 2), v, w)}, Options{}, `edge type n:e:n: found node type "n", expected one of`},
		{"type twice", Input{Nodes: []Nodes{{Type: "n"}, {Type: "n"}}}, Options{}, `found node type "n" twice`},
		{"edge type twice", Input{Nodes: free, Edges: append(edge(pairs(1, 2), v, w), edge(pairs(1, 2), v, w)...)}, Options{}, `found edge type n:e:n twice`},
		{"bad name", Input{Nodes: []Nodes{{Type: "a:b"}}}, Options{}, `found type name "a:b"`},
		{"no table", Input{Nodes: free, Edges: edge(nil, v, w)}, Options{}, `found no table`},
		{"mixed dtypes", Input{Nodes: free, Edges: edge(pairs(1, 2), v, k)}, Options{}, `found the destination column "k" read as string, expected uint64`},
		{"reserved column", Input{Nodes: []Nodes{{Type: "n", Table: ids("n.csv", 0), Columns: []table.Column{{Name: "#type", DType: graph.Int8}}}}}, Options{}, `found column "#type" twice or reserved`},
		{"bad shape", Input{Nodes: []Nodes{{Type: "n", Table: ids("n.csv", 0), Columns: []table.Column{{Name: "v", DType: graph.Int8, Shape: []int{2, 0}}}}}}, Options{}, `found shape [2 0]`},
		{"no dtype", Input{Nodes: []Nodes{{Type: "n", Table: ids("n.csv", 0), Columns: []table.Column{{Name: "v"}}}}}, Options{}, `found dtype invalid`},
		{"symmetrise", Input{Nodes: []Nodes{{Type: "a"}, {Type: "b"}}, Edges: []Edges{{Type: graph.EdgeType{Src: "a", Rel: "e", Dst: "b"}, Table: pairs(1), Src: v, Dst: w, Symmetrise: true}}}, Options{}, "found `Symmetrise` between node types a and b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, threads := range []int{1, 4} {
				c.opt.Threads = threads
				_, _, err := build(t, vfs.OS, t.TempDir(), c.in, c.opt)
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), ": e.csv") || strings.Contains(err.Error(), ": n.csv") {
					t.Fatalf("error %v, want %q", err, c.want)
				}
			}
		})
	}
}
