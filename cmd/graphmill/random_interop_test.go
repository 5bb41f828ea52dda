//go:build interop

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// manyGraphs writes the arrays of count random graphs with labels, or of trees as the parent of each node, with
// their counts and their histogram. Some graphs have no nodes or no edges, unless full is set: then each node is a source.
func manyGraphs(t *testing.T, count int, trees, full bool) string {
	t.Helper()
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, uint64(count)))
	var (
		nodePtr, edgePtr        = []int64{0}, []int64{0}
		src, dst, tags, parents []int32
		idents, labels, many    []int32
		kinds, depths, flags    []uint8
		sizes                   = map[[2]int]int{}
	)
	for i := range count {
		n := r.IntN(30)
		edges := 0
		if n > 0 && i%7 > 0 {
			edges = r.IntN(60)
		}
		switch {
		case trees:
			n, edges = n+1, n
		case full:
			n, edges = n+1, n+1+edges
		}
		sizes[[2]int{n, edges}]++
		nodePtr, edgePtr = append(nodePtr, nodePtr[i]+int64(n)), append(edgePtr, edgePtr[i]+int64(edges))
		labels, many, flags = append(labels, int32(r.IntN(5))), append(many, int32(r.IntN(9))), append(flags, uint8(r.IntN(2)))
		depth := make([]uint8, n)
		for v := range n {
			parent := -1
			if v > 0 {
				parent = r.IntN(v)
				depth[v] = depth[parent] + 1
			}
			parents, kinds, tags, idents = append(parents, int32(parent)), append(kinds, uint8(r.IntN(50))), append(tags, int32(r.IntN(7))), append(idents, int32(r.IntN(100)-1))
		}
		depths = append(depths, depth...)
		for k := range edges {
			near := int32(r.IntN(n))
			if full { // DGL's reader gives the edges in the order of their sources
				near = int32(k * n / edges)
			}
			src, dst = append(src, near), append(dst, int32(r.IntN(n)))
		}
	}
	array := func(name, descr string, data []byte, n int) {
		writeNpy(t, filepath.Join(dir, name+".npy"), descr, data, n)
	}
	ints := func(name string, x []int32) { array(name, "i4", graph.Bytes(x), len(x)) }
	array("graph_node_ptr", "i8", graph.Bytes(nodePtr), len(nodePtr))
	if trees {
		ints("node_parent_local", parents)
		ints("node_ident", idents)
		array("node_type", "u1", kinds, len(kinds))
		array("node_depth", "u1", depths, len(depths))
		ints("graph_package", labels)
		ints("graph_num_params", many)
		ints("graph_num_results", many)
		array("graph_is_test", "u1", flags, len(flags))
	} else {
		array("graph_edge_ptr", "i8", graph.Bytes(edgePtr), len(edgePtr))
		ints("edge_src_local", src)
		ints("edge_dst_local", dst)
		ints("node_tag", tags)
		ints("graph_label", labels)
	}
	meta, err := json.Marshal(map[string]int64{"graphs": int64(count), "nodes": nodePtr[count], "edges": edgePtr[count]})
	if err != nil {
		t.Fatal(err)
	}
	var histogram bytes.Buffer
	z := gzip.NewWriter(&histogram)
	fmt.Fprintln(z, "num_nodes,num_edges,count")
	for _, size := range slices.SortedFunc(maps.Keys(sizes), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		fmt.Fprintf(z, "%d,%d,%d\n", size[0], size[1], sizes[size])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"meta.json": meta, "hist_nodes_edges.csv.gz": histogram.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Imports of many random graphs, and of trees given by their parents, equal their arrays.
func TestPeerManyGraphs(t *testing.T) {
	asCollection(t, manyGraphs(t, 500, false, false), "edge_src_local.npy", "small")
	asCollection(t, manyGraphs(t, 501, true, false), "node_parent_local.npy", "trees", "--memory", "96MiB", "--threads", "2")
}

// A TU data set of random graphs is read as DGL reads it.
func TestPeerTUAsDGL(t *testing.T) { tuAsDGL(t, manyGraphs(t, 300, false, true)) }

// TestPeerCutOfMETISFiles compares the values that partition reports for a METIS file, a grid with random shortcuts, with the
// definition.
func TestPeerCutOfMETISFiles(t *testing.T) {
	const side = 120
	r := rand.New(rand.NewPCG(3, 4))
	near := make([]map[int]bool, side*side)
	for v := range near {
		near[v] = map[int]bool{}
	}
	join := func(a, b int) {
		if a != b {
			near[a][b], near[b][a] = true, true
		}
	}
	for v := range near {
		if v%side > 0 {
			join(v, v-1)
		}
		if v >= side {
			join(v, v-side)
		}
		if r.IntN(20) == 0 {
			join(v, r.IntN(len(near)))
		}
	}
	var text bytes.Buffer
	edges := 0
	for _, of := range near {
		edges += len(of)
	}
	fmt.Fprintln(&text, len(near), edges/2)
	for _, of := range near {
		for i, u := range slices.Sorted(maps.Keys(of)) {
			if i > 0 {
				text.WriteByte(' ')
			}
			fmt.Fprint(&text, u+1)
		}
		text.WriteByte('\n')
	}
	file := filepath.Join(t.TempDir(), "grid.graph")
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	testCut(t, file)
}
