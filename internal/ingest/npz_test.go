package ingest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
)

// int64Array, float32Array and textArray return .npy files.
func int64Array(shape []int, v ...int64) string {
	return npyFile("i8", shape, graph.Bytes(v))
}

func float32Array(shape []int, v ...float32) string {
	return npyFile("f4", shape, graph.Bytes(v))
}

func npyFile(descr string, shape []int, data []byte) string {
	b, err := npy.AppendHeader(nil, descr, shape)
	if err != nil {
		panic(err)
	}
	return string(append(b, data...))
}

// damaged changes a bit of the last byte of a text in an archive that is not compressed, at its last place.
func damaged(files map[string]string, text string) map[string]string {
	at := strings.LastIndex(files["a.npz"], text)
	if at < 0 {
		panic("no such text in the archive")
	}
	at += len(text) - 1
	b := []byte(files["a.npz"])
	b[at] ^= 1
	return map[string]string{"a.npz": string(b)}
}

func textArray(text string) string {
	h := fmt.Sprintf("{'descr': '|S%d', 'fortran_order': False, 'shape': (), }\n", len(text))
	return string(append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(h))), h+text...))
}

// archiveOf returns an .npz file, compressed if its number of arrays is even.
func archiveOf(arrays map[string]string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		method := zip.Store
		if len(arrays)%2 == 0 {
			method = zip.Deflate
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: method})
		if err == nil {
			_, err = w.Write([]byte(arrays[name]))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func TestSparseMatrices(t *testing.T) {
	one := func(format string, shape []int64, more ...string) map[string]string {
		m := map[string]string{"format": textArray(format), "shape": int64Array([]int{len(shape)}, shape...), "data": float32Array([]int{3}, 1, 2, 0)}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return map[string]string{"a.npz": archiveOf(m)}
	}
	ends := func(v ...int64) string { return int64Array([]int{len(v)}, v...) }
	compressed := func(format string, shape []int64, indptr string) map[string]string {
		return one(format, shape, "indptr", indptr, "indices", ends(1, 0, 2))
	}
	runImports(t, []importCase{
		{name: "csr", path: "a.npz", files: compressed("csr", []int64{3, 3}, ends(0, 1, 3, 3)), want: "_N 3:\n_N:_E:_N: 0>1 weight=1 1>0 weight=2 1>2 weight=0"},
		{name: "csc", path: "a.npz", files: compressed("csc", []int64{3, 3}, ends(0, 1, 3, 3)), want: "_N 3:\n_N:_E:_N: 1>0 weight=1 0>1 weight=2 2>1 weight=0"},
		{name: "coo", path: "a.npz", files: one("coo", []int64{4, 4}, "row", ends(3, 0, 3), "col", ends(0, 0, 0)), want: "_N 4:\n_N:_E:_N: 3>0 weight=1 0>0 weight=2 3>0 weight=0"},
		{name: "more nodes", path: "a.npz", files: compressed("csr", []int64{3, 3}, ends(0, 1, 3, 3)), opts: Options{NumNodes: 4}, want: "_N 4:\n_N:_E:_N: 0>1 weight=1 1>0 weight=2 1>2 weight=0"},
		{name: "fewer nodes", path: "a.npz", files: compressed("csr", []int64{3, 3}, ends(0, 1, 3, 3)), opts: Options{NumNodes: 2}, fails: true, want: "found 3 nodes in "},
		{name: "not square", path: "a.npz", files: compressed("csr", []int64{2, 5}, ends(0, 1, 3)), want: "column 5:\nrow 2:\nrow:_E:column: 0>1 weight=1 1>0 weight=2 1>2 weight=0"},
		{name: "not square, with a number of nodes", path: "a.npz", files: compressed("csr", []int64{2, 5}, ends(0, 1, 3)), opts: Options{NumNodes: 5}, fails: true, want: "found `NumNodes` with a matrix of shape [2 5]"},
		{name: "nothing", path: "a.npz", files: map[string]string{"a.npz": archiveOf(map[string]string{"format": textArray("coo"), "shape": ends(0, 0), "row": ends(), "col": ends(), "data": float32Array([]int{0})})}, want: "_N 0:\n_N:_E:_N:"},
		{name: "bsr", path: "a.npz", files: one("bsr", []int64{3, 3}), fails: true, want: "a.npz: found a sparse matrix in the format bsr, expected csr, csc or coo; save A.tocsr()"},
		{name: "one dimension", path: "a.npz", files: one("coo", []int64{3}), fails: true, want: "found the shape [3], expected a matrix"},
		{name: "another shape", path: "a.npz", files: compressed("csr", []int64{4, 4}, ends(0, 1, 3, 3)), fails: true, want: "found an indptr of 3 rows, expected 4, as the shape [4 4] says"},
		{name: "a column beyond the shape", path: "a.npz", files: compressed("csr", []int64{2, 2}, ends(0, 1, 3)), fails: true, want: "a.npz:indices[2]: found destination 2, expected an id of node type _N, below 2"},
		{name: "an indptr that decreases", path: "a.npz", files: compressed("csr", []int64{3, 3}, ends(0, 2, 1, 3)), fails: true, want: "a.npz:indptr[2]: found 1, expected at least 2"},
		{name: "fewer values", path: "a.npz", files: one("coo", []int64{3, 3}, "row", ends(1), "col", ends(1)), fails: true, want: "a.npz:data: found 3 rows, expected 1"},
		{name: "no values", path: "a.npz", files: map[string]string{"a.npz": archiveOf(map[string]string{"format": textArray("coo"), "shape": ends(1, 1)})}, fails: true, want: `expected "data" among them`},
		{name: "complex numbers", path: "a.npz", files: one("coo", []int64{3, 3}, "data", strings.Replace(float32Array([]int{2}, 1, 2), "<f4", "<c8", 1)), fails: true, want: `found dtype "<c8"`},
		{name: "string ids", path: "a.npz", files: one("coo", []int64{3, 3}), opts: Options{IDs: idsString}, fails: true, want: "found string ids with arrays"},
	})
}

func TestEdgeIndex(t *testing.T) {
	files := func(more ...string) map[string]string {
		m := map[string]string{"edge_index": int64Array([]int{2, 3}, 0, 1, 1, 1, 0, 1)}
		for i := 0; i < len(more); i += 2 {
			if m[more[i]] = more[i+1]; more[i+1] == "" {
				delete(m, more[i])
			}
		}
		return map[string]string{"a.npz": archiveOf(m)}
	}
	f := func(v ...float32) string { return float32Array([]int{len(v)}, v...) }
	n := func(v int64) string { return int64Array([]int{}, v) }
	const edges = "_N:_E:_N: 0>1 1>0 1>1"
	runImports(t, []importCase{
		{name: "ends alone", path: "a.npz", files: files(), want: "_N 2:\n" + edges},
		{name: "pairs in rows", path: "a.npz", files: files("edge_index", int64Array([]int{3, 2}, 0, 1, 1, 0, 1, 1)), want: "_N 2:\n" + edges},
		{name: "a number of nodes", path: "a.npz", files: files("num_nodes", n(4)), want: "_N 4:\n" + edges},
		{name: "columns by their rows", path: "a.npz", files: files("num_nodes", n(2), "a", f(5, 6), "w", f(7, 8, 9)), want: "_N 2: a=5 a=6\n_N:_E:_N: 0>1 w=7 1>0 w=8 1>1 w=9"},
		{name: "as many nodes as edges", path: "a.npz", files: files("num_nodes", n(3), "a", f(5, 6, 7), "edge_w", f(7, 8, 9)), want: "_N 3: a=5 a=6 a=7\n_N:_E:_N: 0>1 edge_w=7 1>0 edge_w=8 1>1 edge_w=9"},
		{name: "PyG's names", path: "a.npz", files: files("x", float32Array([]int{3, 2}, 1, 2, 3, 4, 5, 6), "train_mask", npyFile("b1", []int{3}, []byte{1, 0, 1}), "edge_attr", f(7, 8, 9)),
			want: "_N 3: train_mask=1 x=1,2 train_mask=0 x=3,4 train_mask=1 x=5,6\n_N:_E:_N: 0>1 edge_attr=7 1>0 edge_attr=8 1>1 edge_attr=9"},
		{name: "the first other length", path: "a.npz", files: files("a", f(5, 6), "b", f(1, 2, 3, 4)), want: "_N 2: a=5 a=6\n" + edges + "\nwarning: a.npz: the array \"b\" is left out: it has 4 rows, and there are 3 edges and 2 nodes"},
		{name: "two arrays", path: "a.npz", files: files("edge_index", "", "src", int64Array([]int{2}, 0, 1), "dst", int64Array([]int{2}, 1, 1), "w", f(1, 2)), want: "_N 2:\n_N:_E:_N: 0>1 w=1 1>1 w=2"},
		{name: "row and col", path: "a.npz", files: files("edge_index", "", "row", int64Array([]int{2}, 0, 1), "col", int64Array([]int{2}, 1, 1)), want: "_N 2:\n_N:_E:_N: 0>1 1>1"},
		{name: "edges", path: "a.npz", files: files("edge_index", "", "edges", int64Array([]int{3, 2}, 0, 1, 1, 0, 1, 1), "node_x", f(5, 6)), want: "_N 2: node_x=5 node_x=6\n" + edges},
		{name: "edge_index before edges", path: "a.npz", files: files("edges", int64Array([]int{1, 2}, 0, 0), "num_nodes", n(2)), want: "_N 2:\n" + edges + "\nwarning: a.npz: the array \"edges\" is left out: it has 1 rows, and there are 3 edges and 2 nodes"},
		{name: "masks with a row per split", path: "a.npz", files: files("train_masks", npyFile("b1", []int{4, 2}, make([]byte, 8)), "x", f(5, 6)), want: "_N 2: x=5 x=6\n" + edges +
			"\nwarning: a.npz: the array \"train_masks\" is left out: it has 4 rows, and there are 3 edges and 2 nodes; save its transpose for a column of 4 values per node"},
		{name: "no nodes", path: "a.npz", files: files("edge_index", int64Array([]int{2, 0}), "num_nodes", n(0)), want: "_N 0:\n_N:_E:_N:"},
		{name: "what is no column", path: "a.npz", files: files("num_nodes", n(2), "name", textArray("x"), "k", n(1), "src", f(1, 2, 3), "o", strings.Replace(int64Array([]int{1}, 1), "'<i8'", "'|O' ", 1)),
			want: "_N 2:\n" + edges + "\nwarning: a.npz: the array \"k\" is left out: it is a single value, not one per node or edge" +
				"\nwarning: a.npz: the array \"name\" is left out: a.npz: \"name.npy\": not a usable .npy file: found dtype \"|S1\", expected bool, int8..int64, uint8..uint64 or float16..float64" +
				"\nwarning: a.npz: the array \"o\" is left out: a.npz: \"o.npy\": not a usable .npy file: found an object array (a pickle), expected plain numbers; it is never loaded" +
				"\nwarning: a.npz: the array \"src\" is left out: the ends are those of edge_index"},
		{name: "no ends", path: "a.npz", files: files("edge_index", "", "x", f(1)), fails: true, want: "a.npz: found the arrays x, expected edge_index or edges, or src and dst"},
		{name: "ends as a pickle", path: "a.npz", files: files("edge_index", strings.Replace(int64Array([]int{1}, 1), "'<i8'", "'|O' ", 1)), fails: true, want: "pickle"},
		{name: "ends of another shape", path: "a.npz", files: files("edge_index", f(1, 2)), fails: true, want: "a.npz:edge_index: found shape [2], expected (2, E) or (E, 2)"},
		{name: "too few rows of edges", path: "a.npz", files: files("edge_attr", f(1, 2)), fails: true, want: `found 2 rows of "edge_attr", expected 3, one per edge`},
		{name: "too few rows of nodes", path: "a.npz", files: files("x", f(1, 2), "num_nodes", n(4)), fails: true, want: `found 2 rows of "x", expected 4, one per node`},
		{name: "an end beyond the nodes", path: "a.npz", files: files("num_nodes", n(1)), fails: true, want: "a.npz:edge_index[1, 0]: found destination 1, expected an id of node type _N, below 1"},
		{name: "a destination in a row of pairs", path: "a.npz", files: files("edge_index", int64Array([]int{3, 2}, 0, 0, 0, 1, 0, 2), "num_nodes", n(2)), fails: true, want: "a.npz:edge_index[2, 1]: found destination 2"},
		{name: "a source", path: "a.npz", files: files("edge_index", int64Array([]int{2, 3}, 0, 1, 5, 1, 0, 1), "num_nodes", n(2)), fails: true, want: "a.npz:edge_index[0, 2]: found source 5"},
		{name: "a number of nodes that is none", path: "a.npz", files: files("num_nodes", int64Array([]int{2}, 1, 2)), fails: true, want: "a.npz:num_nodes: found [1 2], expected the number of nodes"},
		{name: "a damaged column", path: "a.npz", files: damaged(files("x", f(6, 7), "y", f(1, 2)), f(6, 7)), fails: true, want: `a.npz: not a usable .npz file: "x.npy": found damaged data`},
		{name: "a damaged column of many values", path: "a.npz", files: damaged(files("num_nodes", n(9000), "x", float32Array([]int{9000}, slices.Repeat([]float32{7.5}, 9000)...)), "\x00\x00\xf0\x40\x00\x00\xf0\x40"), fails: true, want: `"x.npy": found damaged data`},
		{name: "a damaged header", path: "a.npz", files: damaged(files("x", f(6, 7), "y", f(1, 2)), "x.npy"+f(6, 7)[:20]), fails: true, want: `"x.npy": found damaged data`},
		{name: "damaged", path: "a.npz", files: map[string]string{"a.npz": "PK and more"}, fails: true, want: "a.npz: not a usable .npz file: found no directory"},
	})
}

// Random graphs with columns of nodes and edges come back from an archive, whatever the order of its arrays.
func TestArchivedGraphs(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		nodes, edges := rapid.IntRange(1, 6).Draw(rt, "nodes"), rapid.IntRange(0, 6).Draw(rt, "edges")
		end := rapid.SliceOfN(rapid.Int64Range(0, int64(nodes)-1), edges, edges)
		src, dst := end.Draw(rt, "src"), end.Draw(rt, "dst")
		values := func(n int, name string) []float32 {
			small := rapid.Map(rapid.IntRange(-9, 9), func(v int) float32 { return float32(v) / 4 })
			return rapid.SliceOfN(small, n, n).Draw(rt, name)
		}
		x, w := values(nodes, "x"), values(edges, "w")
		dir, err := os.MkdirTemp(parent, "")
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "a.npz"), []byte(archiveOf(map[string]string{
				"edge_index": int64Array([]int{2, edges}, append(slices.Clone(src), dst...)...), "edge_w": float32Array([]int{edges}, w...), "x": float32Array([]int{nodes}, x...)})), 0o644)
		}
		if err != nil {
			rt.Fatal(err)
		}
		want := fmt.Sprintf("_N %d:", nodes)
		for _, v := range x {
			want += fmt.Sprintf(" x=%v", v)
		}
		want += "\n_N:_E:_N:"
		for i := range src {
			want += fmt.Sprintf(" %d>%d edge_w=%v", src[i], dst[i], w[i])
		}
		got, err := imported(t, filepath.Join(dir, "a.npz"), Options{Temp: dir})
		if err != nil || strings.TrimSpace(got) != want {
			rt.Fatalf("found %v\n%s\nexpected\n%s", err, got, want)
		}
	})
}

// Columns, ends and sparse matrices of a graph.yaml can be arrays of archives.
func TestArchivesInYAML(t *testing.T) {
	archive := archiveOf(map[string]string{
		"x": float32Array([]int{3}, 4, 5, 6), "edge_index": int64Array([]int{2, 2}, 0, 1, 1, 2), "w": float32Array([]int{2}, 7, 8),
		"indptr": int64Array([]int{4}, 0, 1, 1, 1), "indices": int64Array([]int{1}, 2), "n": int64Array([]int{2}, 1, 2), "p": strings.Replace(int64Array([]int{1}, 1), "'<i8'", "'|O' ", 1),
	})
	files := func(yaml string) map[string]string {
		return map[string]string{"graph.yaml": yaml, "data.npz": archive}
	}
	const nodes = "nodes: {a: {columns: {x: \"data.npz:x\"}}}\n"
	runImports(t, []importCase{
		{name: "names", files: files(nodes + "edges: {\"a:r:a\": {table: \"data.npz:edge_index\", columns: {w: \"data.npz:w\"}}}"), want: "a 3: x=4 x=5 x=6\na:r:a: 0>1 w=7 1>2 w=8"},
		{name: "keys", files: files("nodes: {a: {columns: {x: {file: data.npz, array: x, dtype: float64}}}}\nedges: {\"a:r:a\": {table: \"data.npz:edge_index\"}}"), want: "a 3: x=4 x=5 x=6\na:r:a: 0>1 1>2"},
		{name: "a sparse matrix", files: files(nodes + "edges: {\"a:r:a\": {indptr: \"data.npz:indptr\", indices: \"data.npz:indices\"}}"), want: "a 3: x=4 x=5 x=6\na:r:a: 2>0"},
		{name: "no such array", files: files("nodes: {a: {columns: {x: \"data.npz:y\"}}}\nedges: {\"a:r:a\": {table: \"data.npz:edge_index\"}}"), fails: true, want: `expected "y" among them`},
		{name: "no such archive", files: files("nodes: {a: {columns: {x: \"other.npz:y\"}}}\nedges: {\"a:r:a\": {table: \"data.npz:edge_index\"}}"), fails: true, want: "other.npz"},
		{name: "a pickle", files: files("nodes: {a: {columns: {x: \"data.npz:p\"}}}\nedges: {\"a:r:a\": {table: \"data.npz:edge_index\"}}"), fails: true, want: "pickle"},
		{name: "outside", files: files("nodes: {a: {columns: {x: \"../data.npz:x\"}}}\nedges: {\"a:r:a\": {table: \"data.npz:edge_index\"}}"), fails: true, want: "data.npz"},
		{name: "a file without array", files: files("nodes: {a: {columns: {x: {file: data.npz}}}}\nedges: {\"a:r:a\": {table: \"data.npz:edge_index\"}}"), fails: true, want: `graph.yaml:1:23: found file "data.npz" and array "" of column "x", expected both`},
		{name: "an array without file", files: files("nodes: {a: {columns: {x: {dtype: int8, array: x}}}}\nedges: {\"a:r:a\": {table: \"data.npz:edge_index\"}}"), fails: true, want: `found file "" and array "x"`},
	})
}
