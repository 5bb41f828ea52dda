package ingest_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// disk is the file system without waiting for the disk.
var disk vfs.FS = vfs.Unsynced{FS: vfs.OS}

// values is a column of a data set: rows of int64 or float32.
type values struct {
	name    string // name in the store
	file    string // OGB's file name, without extension
	width   int
	integer bool
	dtype   graph.DType // of columns that are neither int64 nor float32
	rows    [][]float64
}

func (v *values) kind() graph.DType {
	switch {
	case v.dtype != graph.Invalid:
		return v.dtype
	case v.integer:
		return graph.Int64
	}
	return graph.Float32
}

// ogbPart is a node or edge type of a data set.
type ogbPart struct {
	name    string // the node type, or A___R___B
	count   int
	edges   [][2]int
	columns []values
}

// ogbSet is a data set of nodes or links.
type ogbSet struct {
	typed, binary bool
	nodes, edges  []ogbPart
	label         bool
	splits        []ogbSplit
}

// ogbSplit is a folder of split: the parts of the nodes of each type that it divides.
type ogbSplit struct {
	name   string
	arrays bool
	codes  map[string][]int
}

func drawValues(t *rapid.T, name, file string, rows int, missing bool) values {
	v := values{name: name, file: file, width: rapid.IntRange(1, 3).Draw(t, "width"), integer: rapid.Bool().Draw(t, "integer")}
	for range rows {
		row := make([]float64, v.width)
		for i := range row {
			if row[i] = float64(rapid.IntRange(-9, 9).Draw(t, "value")); !v.integer {
				row[i] += 0.5
			}
			if missing && rapid.IntRange(0, 3).Draw(t, "missing") == 0 {
				row[i], v.integer = math.NaN(), false
			}
		}
		v.rows = append(v.rows, row)
	}
	return v
}

func drawSet(t *rapid.T) *ogbSet {
	s := &ogbSet{typed: rapid.Bool().Draw(t, "typed"), binary: rapid.Bool().Draw(t, "binary"), label: rapid.Bool().Draw(t, "label")}
	names := []string{graph.HomogeneousNode}
	if s.typed {
		names = []string{"a field", "paper", "true"}[:rapid.IntRange(1, 3).Draw(t, "types")]
	}
	for i, name := range names {
		n := ogbPart{name: name, count: rapid.IntRange(0, 5).Draw(t, "nodes")}
		if rapid.Bool().Draw(t, "feat") {
			n.columns = append(n.columns, drawValues(t, "feat", "node-feat", n.count, false))
		}
		if s.label && i == 0 {
			// Other text columns have no missing values.
			n.columns = append(n.columns, drawValues(t, "label", "node-label", n.count, !s.binary))
		}
		if rapid.Bool().Draw(t, "year") {
			n.columns = append(n.columns, drawValues(t, "node_year", "node_year", n.count, false))
		}
		s.nodes = append(s.nodes, n)
	}
	relations := 1
	if s.typed {
		relations = rapid.IntRange(1, 3).Draw(t, "relations")
	}
	for r := range relations {
		src, dst := rapid.IntRange(0, len(names)-1).Draw(t, "src"), rapid.IntRange(0, len(names)-1).Draw(t, "dst")
		e := ogbPart{name: fmt.Sprintf("%s___rel-%d___%s", names[src], r, names[dst])}
		for range rapid.IntRange(0, 6).Draw(t, "edges") {
			if s.nodes[src].count == 0 || s.nodes[dst].count == 0 {
				break
			}
			e.edges = append(e.edges, [2]int{rapid.IntRange(0, s.nodes[src].count-1).Draw(t, "s"), rapid.IntRange(0, s.nodes[dst].count-1).Draw(t, "d")})
		}
		e.count = len(e.edges)
		if rapid.Bool().Draw(t, "edge feat") {
			e.columns = append(e.columns, drawValues(t, "feat", "edge-feat", e.count, false))
		}
		if rapid.Bool().Draw(t, "weight") {
			e.columns = append(e.columns, drawValues(t, "edge_weight", "edge_weight", e.count, false))
		}
		s.edges = append(s.edges, e)
	}
	for _, name := range []string{"time", "random"}[:rapid.IntRange(0, 2).Draw(t, "splits")] {
		x := ogbSplit{name: name, arrays: rapid.Bool().Draw(t, "arrays"), codes: map[string][]int{}}
		for _, n := range s.nodes {
			if !s.typed || rapid.Bool().Draw(t, "divided") {
				x.codes[n.name] = rapid.SliceOfN(rapid.IntRange(-1, 2), n.count, n.count).Draw(t, "codes")
			}
		}
		if len(x.codes) > 0 { // otherwise there is no folder
			s.splits = append(s.splits, x)
		}
	}
	return s
}

// addSplits adds the splits as files, and as columns of the nodes.
func (s *ogbSet) addSplits(files map[string]string) {
	for _, x := range s.splits {
		column := "split"
		if len(s.splits) > 1 {
			column += "_" + x.name
		}
		for i := range s.nodes {
			n := &s.nodes[i]
			codes, ok := x.codes[n.name]
			if !ok {
				continue
			}
			v := values{name: column, dtype: graph.Int32, width: 1}
			parts := [3][]int64{}
			for id, c := range codes {
				v.rows = append(v.rows, []float64{float64(c)})
				if c >= 0 {
					parts[c] = append(parts[c], int64(id))
				}
			}
			n.columns = append(n.columns, v)
			dir := "split/" + x.name + "/"
			if s.typed {
				dir += n.name + "/"
			}
			for c, name := range []string{"train", "valid", "test"} {
				slices.Reverse(parts[c])
				if x.arrays {
					files[dir+name+".npy"] = string(int64s([]int{len(parts[c])}, parts[c]...))
					continue
				}
				text := ""
				for _, id := range parts[c] {
					text += fmt.Sprintln(id)
				}
				files[dir+name+".csv.gz"] = gz(text)
			}
		}
	}
}

func gz(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

func (v *values) text() string {
	var b strings.Builder
	for _, row := range v.rows {
		for i, x := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			switch {
			case math.IsNaN(x) && v.width > 1:
			case math.IsNaN(x):
				b.WriteString("nan") // an empty line would not be a row
			default:
				fmt.Fprint(&b, x)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// array returns an .npy file of int64 or float32.
func (v *values) array() []byte {
	var data []byte
	descr := "f4"
	if v.integer {
		descr = "i8"
	}
	for _, row := range v.rows {
		for _, x := range row {
			if v.integer {
				data = append(data, graph.Bytes([]int64{int64(x)})...)
			} else {
				data = append(data, graph.Bytes([]float32{float32(x)})...)
			}
		}
	}
	h, err := npy.AppendHeader(nil, descr, []int{len(v.rows), v.width})
	if err != nil {
		panic(err)
	}
	return append(h, data...)
}

func int64s(shape []int, v ...int64) []byte {
	h, err := npy.AppendHeader(nil, "i8", shape)
	if err != nil {
		panic(err)
	}
	return append(h, graph.Bytes(v)...)
}

func npz(arrays map[string][]byte) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		w, err := z.Create(name + ".npy")
		if err == nil {
			_, err = w.Write(arrays[name])
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

// ends returns the sources, followed by the targets.
func (p *ogbPart) ends() []byte {
	var v []int64
	for k := range 2 {
		for _, e := range p.edges {
			v = append(v, int64(e[k]))
		}
	}
	return int64s([]int{2, len(p.edges)}, v...)
}

func (p *ogbPart) text() string {
	var b strings.Builder
	for _, e := range p.edges {
		fmt.Fprintf(&b, "%d,%d\n", e[0], e[1])
	}
	return b.String()
}

// files returns the files that OGB's package has.
func (s *ogbSet) files() map[string]string {
	out := map[string]string{}
	switch {
	case !s.typed && !s.binary:
		out["num-node-list.csv.gz"] = gz(fmt.Sprintln(s.nodes[0].count))
		out["num-edge-list.csv.gz"] = gz(fmt.Sprintln(s.edges[0].count))
		out["edge.csv.gz"] = gz(s.edges[0].text())
		for _, v := range append(s.nodes[0].columns, s.edges[0].columns...) {
			out[v.file+".csv.gz"] = gz(v.text())
		}
	case !s.binary:
		var names, counts, triplets []string
		for _, n := range s.nodes {
			names, counts = append(names, n.name), append(counts, fmt.Sprint(n.count))
			for _, v := range n.columns {
				dir := "node-feat"
				if v.name == "label" {
					dir = "node-label"
				}
				out[dir+"/"+n.name+"/"+v.file+".csv.gz"] = gz(v.text())
			}
		}
		out["num-node-dict.csv.gz"] = gz(strings.Join(names, ",") + "\n" + strings.Join(counts, ",") + "\n")
		for _, e := range s.edges {
			triplets = append(triplets, strings.ReplaceAll(e.name, "___", ","))
			dir := "relations/" + e.name + "/"
			out[dir+"edge.csv.gz"], out[dir+"num-edge-list.csv.gz"] = gz(e.text()), gz(fmt.Sprintln(e.count))
			for _, v := range e.columns {
				out[dir+v.file+".csv.gz"] = gz(v.text())
			}
		}
		out["triplet-type-list.csv.gz"] = gz(strings.Join(triplets, "\n") + "\n")
	case !s.typed:
		arrays := map[string][]byte{"edge_index": s.edges[0].ends(), "num_nodes_list": int64s([]int{1}, int64(s.nodes[0].count)), "num_edges_list": int64s([]int{1}, int64(s.edges[0].count))}
		for _, v := range append(s.nodes[0].columns, s.edges[0].columns...) {
			if v.name == "label" {
				out["node-label.npz"] = npz(map[string][]byte{"node_label": v.array()})
			} else {
				arrays[strings.ReplaceAll(v.file, "-", "_")] = v.array()
			}
		}
		out["data.npz"] = npz(arrays)
	default:
		archives := map[string]map[string][]byte{}
		put := func(file, key string, b []byte) {
			if archives[file] == nil {
				archives[file] = map[string][]byte{}
			}
			archives[file][key] = b
		}
		for _, n := range s.nodes {
			put("num_nodes_dict", n.name, int64s([]int{1}, int64(n.count)))
			for _, v := range n.columns {
				file := strings.ReplaceAll(v.file, "-", "_") + "_dict"
				if v.name == "label" {
					file = v.file
				}
				put(file, n.name, v.array())
			}
		}
		for _, e := range s.edges {
			put("num_edges_dict", e.name, int64s([]int{1}, int64(e.count)))
			put("edge_index_dict", e.name, e.ends())
			for _, v := range e.columns {
				put(strings.ReplaceAll(v.file, "-", "_"), e.name, v.array())
			}
		}
		for file, arrays := range archives {
			out[file+".npz"] = npz(arrays)
		}
	}
	return out
}

func writeAll(t fatal, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// drops says whether the text of a column has no line, from which its shape cannot be known.
func (s *ogbSet) drops(p *ogbPart, v values) bool {
	return !s.binary && p.count == 0 && !strings.HasPrefix(v.name, "split")
}

// shown returns a graph as text: types, and columns with their dtypes and values. Edges are in the order of the
// input.
func (s *ogbSet) shown() string {
	var b strings.Builder
	columns := func(p *ogbPart) {
		slices.SortFunc(p.columns, func(x, y values) int { return strings.Compare(x.name, y.name) })
		for _, v := range p.columns {
			if s.drops(p, v) {
				continue
			}
			fmt.Fprintf(&b, " %s %s %v", v.name, v.kind(), v.rows)
		}
		b.WriteByte('\n')
	}
	title := func(p ogbPart) string { return strings.ReplaceAll(p.name, "___", ":") }
	inOrder := func(parts []ogbPart) []ogbPart {
		return slices.SortedFunc(slices.Values(parts), func(x, y ogbPart) int { return strings.Compare(title(x), title(y)) })
	}
	for _, n := range inOrder(s.nodes) {
		fmt.Fprintf(&b, "%s %d", n.name, n.count)
		columns(&n)
	}
	for _, e := range inOrder(s.edges) {
		name := title(e)
		if !s.typed {
			name = graph.HomogeneousEdge.String()
		}
		fmt.Fprintf(&b, "%s %v", name, e.edges)
		columns(&e)
	}
	return b.String()
}

// fatal is the part of testing.TB that rapid.T also has.
type fatal interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// showStore imports a source and returns its graph as text. parent is an existing folder for the store.
func showStore(t fatal, path, parent string, threads int) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "")
	if err != nil {
		t.Fatal(err)
	}
	src, err := ingest.Open(context.Background(), disk, path, ingest.Options{Temp: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := src.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	if src.Collection != nil {
		t.Fatalf("%s: found a collection", path)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Fatalf("found %v, %v in the folder of temporary files, expected nothing that has a name", entries, err)
	}
	out := filepath.Join(dir, "out")
	w, err := store.Create(disk, out, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := assemble.Build(context.Background(), disk, w, src.Input, assemble.Options{Primary: src.Primary, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep, Threads: threads})
	if err == nil {
		err = w.Seal(context.Background(), r.Meta, 1)
	}
	if err != nil {
		t.Fatal(errors.Join(err, w.Abort()))
	}
	if err := w.Publish(); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(disk, out)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b strings.Builder
	columns := func(list []*graph.Column, order []int) {
		for _, c := range list {
			if c.Name == graph.PositionColumn {
				continue
			}
			if split := strings.HasPrefix(c.Name, "split"); split != (c.Categories != nil) || split && (string(c.Categories.Text(0)) != "train" || string(c.Categories.Text(1)) != "valid" || string(c.Categories.Text(2)) != "test") {
				t.Fatalf("found the categories %v of %s", c.Categories, c.Name)
			}
			width := 1
			for _, d := range c.Shape {
				width *= d
			}
			rows := make([][]float64, len(order))
			for i, r := range order {
				for k := r * width; k < (r+1)*width; k++ {
					switch c.DType {
					case graph.Int32:
						rows[i] = append(rows[i], float64(graph.View[int32](c.Values)[k]))
					case graph.Int64:
						rows[i] = append(rows[i], float64(graph.View[int64](c.Values)[k]))
					default:
						rows[i] = append(rows[i], float64(graph.View[float32](c.Values)[k]))
					}
				}
			}
			fmt.Fprintf(&b, " %s %s %v", c.Name, c.DType, rows)
		}
		b.WriteByte('\n')
	}
	for _, n := range s.Graph.Nodes {
		order := make([]int, n.Count)
		for i := range order {
			order[i] = i
		}
		fmt.Fprintf(&b, "%s %d", n.Type, n.Count)
		columns(n.Columns, order)
	}
	for _, e := range s.Graph.Edges {
		order, edges := make([]int, e.Count), make([][2]int, e.Count)
		position := graph.FindColumn(e.Columns, graph.PositionColumn)
		a := e.Adj[graph.In]
		for dst := range a.Indptr.Len() - 1 {
			for k := a.Indptr.At(dst); k < a.Indptr.At(dst+1); k++ {
				at := graph.View[uint32](position.Values)[k]
				order[at], edges[at] = int(k), [2]int{int(a.Far.At(int(k))), dst}
			}
		}
		fmt.Fprintf(&b, "%s %v", e.Type, edges)
		columns(e.Columns, order)
	}
	return b.String()
}

// A data set of nodes or links is a store with all columns, their values, and the splits, with any number of threads.
func TestOGBGraphs(t *testing.T) {
	parent, run := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSet(t)
		run++
		path := filepath.Join(parent, fmt.Sprintf("%d set's", run))
		files := map[string]string{"mapping/README.md": "x", "RELEASE_v1.txt": "x"}
		s.addSplits(files)
		raw := "raw"
		if rapid.Bool().Draw(t, "no raw") {
			raw = "."
		}
		for name, b := range s.files() {
			files[filepath.Join(raw, name)] = b
		}
		writeAll(t, path, files)
		for _, threads := range []int{1, 4} {
			if diff := cmp.Diff(s.shown(), showStore(t, path, parent, threads)); diff != "" {
				t.Fatalf("-want +found:\n%s", diff)
			}
		}
	})
}

// What makes a data set a collection, and what is refused, with the reason.
func TestOGBLevels(t *testing.T) {
	one := map[string]string{"edge.csv.gz": gz("0,1\n"), "num-node-list.csv.gz": gz("2\n"), "num-edge-list.csv.gz": gz("1\n"), "node-label.csv.gz": gz("1\n0\n")}
	many := map[string]string{"edge.csv.gz": gz("0,1\n"), "num-node-list.csv.gz": gz("2\n1\n"), "num-edge-list.csv.gz": gz("1\n0\n"), "node-label.csv.gz": gz("1\n0\n2\n")}
	typed := map[string]string{"num-node-dict.csv.gz": gz("a,b\n1,2\n"), "triplet-type-list.csv.gz": gz("a,r,b\n"), "relations/a___r___b/edge.csv.gz": gz("0,1\n")}
	with := func(files map[string]string, more ...string) map[string]string {
		files = maps.Clone(files)
		for i := 0; i < len(more); i += 2 {
			if files[more[i]] = more[i+1]; more[i+1] == "" {
				delete(files, more[i])
			}
		}
		return files
	}
	ends := int64s([]int{2, 1}, 0, 1)
	arrays := func(nodes []byte, more ...string) map[string][]byte {
		m := map[string][]byte{"edge_index": ends, "num_nodes_list": nodes}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = []byte(more[i+1])
		}
		return m
	}
	two := int64s([]int{1}, 2)
	data := func(m map[string][]byte) map[string]string { return map[string]string{"data.npz": npz(m)} }
	const store, collection = "a store", "a collection"
	for _, c := range []struct {
		name  string
		files map[string]string
		o     ingest.Options
		want  string // store, collection or an error
	}{
		{"one graph with a label", with(one, "graph-label.csv.gz", gz("1\n")), ingest.Options{}, collection},
		{"two graphs with labels of nodes", many, ingest.Options{}, collection},
		{"nodes", one, ingest.Options{}, store},
		{"nodes, and the format", one, ingest.Options{Format: "ogb"}, store},
		{"links", with(one, "node-label.csv.gz", ""), ingest.Options{}, store},
		{"ids that are strings", one, ingest.Options{IDs: 2}, "found string ids with an OGB data set"},
		{"a number of nodes", one, ingest.Options{NumNodes: 2}, "found `NumNodes` with an OGB data set"},
		{"no nodes", with(one, "num-node-list.csv.gz", gz("x\n")), ingest.Options{}, `num-node-list.csv.gz:1:1: found "x"`},
		{"strings", with(one, "node_name.csv.gz", gz("x\ny\n")), ingest.Options{}, `node_name.csv.gz: found strings for column "node_name"`},
		{"several types", typed, ingest.Options{}, store},
		{"several types of many graphs", with(typed, "num-node-dict.csv.gz", gz("a,b\n1,2\n1,2\n")), ingest.Options{}, "found many graphs, expected one, or OGB's text layout of many graphs of one type"},
		{"a relation that is not there", with(typed, "relations/a___r___b/edge.csv.gz", ""), ingest.Options{}, "a___r___b/edge.csv.gz: found no such file"},
		{"a type that is not counted", with(typed, "num-node-dict.csv.gz", gz("a\n1\n")), ingest.Options{}, `found the node type "b" of a:r:b without a number of nodes`},
		{"a relation that is listed twice", with(typed, "triplet-type-list.csv.gz", gz("a,r,b\na,r,b\n")), ingest.Options{}, "found edge type a:r:b twice"},
		{"a type that leaves the folder", with(typed, "num-node-dict.csv.gz", gz("..,b\n1,2\n"), "triplet-type-list.csv.gz", gz("..,r,b\n")), ingest.Options{}, `found a type named "..", expected a name that a folder can have`},
		{"a type that no graph can have", with(typed, "num-node-dict.csv.gz", gz("a,b,c:d\n1,2,3\n")), ingest.Options{}, "c:d"},
		{"many relations", with(typed, "relations/a___r___b/num-edge-list.csv.gz", gz("1\n1\n")), ingest.Options{}, "num-edge-list.csv.gz: found no line or several"},
		{"arrays", data(arrays(two)), ingest.Options{}, store},
		{"arrays of many graphs", data(arrays(int64s([]int{2}, 1, 1))), ingest.Options{}, "found many graphs"},
		{"an archive of something else", data(map[string][]byte{"x": two}), ingest.Options{}, "data.npz: found no arrays edge_index and num_nodes_list"},
		{"no archive", map[string]string{"data.npz": "x"}, ingest.Options{}, "data.npz: not a usable .npz file: found no directory"},
		{"counts that are no integers", data(arrays([]byte("x"))), ingest.Options{}, `data.npz: "num_nodes_list.npy": not a usable .npy file`},
		{"a negative count", data(arrays(int64s([]int{1}, -1))), ingest.Options{}, "data.npz:num_nodes_list: found -1"},
		{"fewer rows than nodes", data(arrays(two, "node_feat", string(two))), ingest.Options{}, "data.npz:node_feat: found 1 rows, expected 2, as"},
		{"a pickle", data(arrays(two, "node_x", strings.Replace(string(two), "'<i8'", "'|O' ", 1))), ingest.Options{}, "pickle"},
		{"labels that are not there", with(data(arrays(two)), "node-label.npz", npz(map[string][]byte{"y": two})), ingest.Options{}, `found the arrays y, expected "node_label" among them`},
		{"an array of no type", map[string]string{"num_nodes_dict.npz": npz(map[string][]byte{"a": two}), "edge_index_dict.npz": npz(map[string][]byte{"a___r___a": ends}), "node_x.npz": npz(map[string][]byte{"b": two})}, ingest.Options{}, `node_x.npz: found the array "b", expected one of the types`},
		{"a relation without types", map[string]string{"num_nodes_dict.npz": npz(map[string][]byte{"a": two}), "edge_index_dict.npz": npz(map[string][]byte{"a": ends})}, ingest.Options{}, `found the array "a", expected SOURCE___RELATION___TARGET`},
		{"a split beyond the nodes", with(one, "../split/s/train.csv.gz", gz("0\n2\n")), ingest.Options{}, "split/s/train.csv.gz:2:1: found node 2, expected less than 2, the number of nodes"},
		{"a node in two parts", with(one, "../split/s/train.csv.gz", gz("0\n"), "../split/s/test.csv.gz", gz("1\n0\n")), ingest.Options{}, "split/s/test.csv.gz:2:1: found node 0, which is also in train"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writeAll(t, filepath.Join(dir, "raw"), c.files)
			src, err := ingest.Open(t.Context(), disk, dir, c.o)
			if c.want == store || c.want == collection {
				if err != nil || (src.Collection == nil) != (c.want == store) {
					t.Fatalf("found %v, %v, expected %s", src, err, c.want)
				}
				if err := src.Close(); err != nil {
					t.Fatal(err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ingest.ErrSource) && !errors.Is(err, table.ErrFormat) && !errors.Is(err, ingest.ErrUsage) {
				t.Fatalf("found %v, expected %s", err, c.want)
			}
		})
	}
}

// Numbers of rows that differ from the stated ones are errors of the import.
func TestOGBCounts(t *testing.T) {
	one := map[string]string{"edge.csv.gz": gz("0,1\n"), "num-node-list.csv.gz": gz("2\n"), "num-edge-list.csv.gz": gz("1\n"), "node-label.csv.gz": gz("1\n0\n")}
	for file, c := range map[string]struct{ text, want string }{
		"node-label.csv.gz":    {"1\n0\n2\n", "raw/node-label.csv.gz: found at least 3 rows, expected 2, as %s/raw/num-node-list.csv.gz says"},
		"num-edge-list.csv.gz": {"2\n", "raw/edge.csv.gz: found 1 rows, expected 2, as %s/raw/num-edge-list.csv.gz says"},
		"edge-feat.csv.gz":     {"1\n1\n", "raw/edge.csv.gz: found 1 rows, expected more, as in %s/raw/edge-feat.csv.gz"},
		"edge.csv.gz":          {"0,2\n", "raw/edge.csv.gz:1:3: found destination 2, expected an id of node type _N, below 2"},
	} {
		dir := t.TempDir()
		files := maps.Clone(one)
		files[file] = gz(c.text)
		writeAll(t, filepath.Join(dir, "raw"), files)
		src, err := ingest.Open(t.Context(), disk, dir, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := store.Create(disk, filepath.Join(t.TempDir(), "out"), false)
		if err != nil {
			t.Fatal(err)
		}
		_, err = assemble.Build(t.Context(), disk, w, src.Input, assemble.Options{Primary: src.Primary, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep})
		if want := strings.ReplaceAll(c.want, "%s", dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %s", file, err, want)
		}
		if err := errors.Join(w.Abort(), src.Close()); err != nil {
			t.Error(err)
		}
	}
}

// A folder whose only folder is a data set, as DatasetSaver writes it, stands for that.
func TestOGBFolderOfOneDataSet(t *testing.T) {
	set := map[string]string{"x/raw/edge.csv.gz": gz("0,1\n"), "x/raw/num-node-list.csv.gz": gz("2\n"), "x/raw/num-edge-list.csv.gz": gz("1\n"), "meta_dict.pt": "x"}
	dir := t.TempDir()
	writeAll(t, dir, set)
	src, err := ingest.Open(t.Context(), disk, dir, ingest.Options{Symmetrise: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "x", "raw", "edge.csv.gz"); !slices.Contains(src.Files, want) {
		t.Errorf("found the files %q, expected %s among them", src.Files, want)
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}
	writeAll(t, dir, map[string]string{"y/raw/edge.csv.gz": gz("0,1\n")})
	if _, err := ingest.Open(t.Context(), disk, dir, ingest.Options{}); err == nil || !strings.Contains(err.Error(), dir+": found a folder of no known format") {
		t.Errorf("two folders: found %v, expected an error", err)
	}
}

// What is left out, and why, is said.
func TestOGBWarnings(t *testing.T) {
	one := map[string]string{"raw/edge.csv.gz": gz("0,1\n"), "raw/num-node-list.csv.gz": gz("2\n"), "raw/num-edge-list.csv.gz": gz("1\n")}
	for _, c := range []struct {
		name  string
		files map[string]string
		o     ingest.Options
		want  []string
	}{
		{"each edge once", nil, ingest.Options{}, []string{"raw/edge.csv.gz: OGB's undirected data sets (add_inverse_edge, as of ogbn-products) list each edge once: `Symmetrise` adds the reverses"}},
		{"symmetrised", nil, ingest.Options{Symmetrise: true}, nil},
		{"another file", map[string]string{"raw/x.csv.gz": gz("1\n")}, ingest.Options{Symmetrise: true}, []string{"raw/x.csv.gz: not imported: the format does not have such a file"}},
		{"a link split", map[string]string{"split/time/train.pt": "x", "split/time/valid.pt": "x"}, ingest.Options{Symmetrise: true}, []string{"split/time/train.pt: not read: it is a pickle, which can run programs, with links; load it with torch.load, save them with numpy.save as an array of shape [links, 2], and give that as `Seeds`, with `SeedType` SOURCE,TARGET (here _N,_N)", "split/time/valid.pt: not read: it is a pickle"}},
		{"pairs", map[string]string{"split/time/train.npy": string(int64s([]int{1, 2}, 0, 1))}, ingest.Options{Symmetrise: true}, []string{"split/time/train.npy: left out: it has pairs of ends, not ids of nodes; give it as `Seeds`, with `SeedType` SOURCE,TARGET (here _N,_N)"}},
		{"a split of nodes as pickle", map[string]string{"split/time/split_dict.pt": "x"}, ingest.Options{Symmetrise: true}, []string{"split/time/split_dict.pt: not read: it is a pickle, which can run programs; load it with torch.load, and save its arrays with numpy.save as train.npy, valid.npy and test.npy in "}},
		{"splits of graphs", map[string]string{"raw/graph-label.csv.gz": gz("1\n"), "split/scaffold/train.csv.gz": gz("0\n")}, ingest.Options{}, []string{"split/scaffold: not imported: a collection has no splits; its files number the graphs of the collection from 0"}},
		{"a pickle beside text", map[string]string{"split/time/split_dict.pt": "x", "split/time/train.csv.gz": gz("0\n")}, ingest.Options{Symmetrise: true}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writeAll(t, dir, one)
			writeAll(t, dir, c.files)
			src, err := ingest.Open(t.Context(), disk, dir, c.o)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			if len(src.Warnings) != len(c.want) {
				t.Fatalf("found %q, expected %q", src.Warnings, c.want)
			}
			for i, w := range src.Warnings {
				if !strings.HasPrefix(w, filepath.Join(dir, c.want[i])) {
					t.Errorf("found %q, expected %q", w, c.want[i])
				}
			}
		})
	}
}

// MAG240M's folder: float16 features, labels with NaN, and numbers of nodes from the arrays.
func TestMAG240M(t *testing.T) {
	f4 := func(descr string, shape []int, data []byte) string {
		h, err := npy.AppendHeader(nil, descr, shape)
		if err != nil {
			t.Fatal(err)
		}
		return string(append(h, data...))
	}
	dir := t.TempDir()
	nan := float32(math.NaN())
	writeAll(t, dir, map[string]string{
		"meta.pt": "pickle", "split_dict.pt": "pickle", "RELEASE_v1.txt": "",
		"processed/paper/node_feat.npy":                                   f4("f2", []int{2, 2}, graph.Bytes([]uint16{0x3c00, 0x4000, 0x3800, 0})),
		"processed/paper/node_label.npy":                                  f4("f4", []int{2}, graph.Bytes([]float32{nan, 1})),
		"processed/paper/node_year.npy":                                   f4("i4", []int{2}, graph.Bytes([]int32{1999, 2000})),
		"processed/author___writes___paper/edge_index.npy":                string(int64s([]int{2, 3}, 0, 4, 1, 0, 1, 1)),
		"processed/paper___cites___paper/edge_index.npy":                  string(int64s([]int{2, 1}, 1, 0)),
		"processed/author___affiliated_with___institution/edge_index.npy": string(int64s([]int{2, 2}, 0, 4, 2, 1)),
		"split/time/paper/train.npy":                                      string(int64s([]int{1}, 1)),
	})
	src, err := ingest.Open(t.Context(), disk, dir, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(src.Warnings) > 0 {
		t.Errorf("found %q", src.Warnings)
	}
	paper := src.Input.Nodes[slices.IndexFunc(src.Input.Nodes, func(n assemble.Nodes) bool { return n.Type == "paper" })]
	var columns []string
	for _, c := range paper.Columns {
		columns = append(columns, fmt.Sprint(c.Name, " ", c.DType, " ", c.Shape))
	}
	if got := strings.Join(columns, ", "); got != "feat float16 [2], label float32 [], node_year int32 [], split int32 []" {
		t.Errorf("found %s", got)
	}
	w, err := store.Create(disk, filepath.Join(t.TempDir(), "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := assemble.Build(t.Context(), disk, w, src.Input, assemble.Options{Primary: src.Primary, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep})
	if err := errors.Join(err, w.Abort(), src.Close()); err != nil {
		t.Fatal(err)
	}
	counts := map[string]uint64{}
	for t, n := range r.Meta.Nodes {
		counts[t] = uint64(n.Count)
	}
	if want := map[string]uint64{"paper": 2, "author": 5, "institution": 3}; !maps.Equal(counts, want) {
		t.Errorf("found %v, expected %v", counts, want)
	}
}

// Whichever call to the file system fails, there is an error that says so.
func TestOGBGraphFaults(t *testing.T) {
	for i := range 4 {
		s := rapid.Custom(drawSet).Filter(func(s *ogbSet) bool { return s.typed == (i&1 > 0) && s.binary == (i&2 > 0) && len(s.splits) > 0 }).Example(1)
		dir := t.TempDir()
		splits := map[string]string{}
		s.addSplits(splits)
		writeAll(t, dir, splits)
		writeAll(t, filepath.Join(dir, "raw"), s.files())
		open := func(fsys vfs.FS) error {
			src, err := ingest.Open(t.Context(), fsys, dir, ingest.Options{Temp: t.TempDir()})
			if err == nil {
				err = src.Close()
			}
			return err
		}
		count := &vfs.Fault{FS: disk}
		if err := open(count); err != nil {
			t.Fatal(err)
		}
		broken := errors.New("broken")
		for k := int64(1); k <= count.Calls(); k++ {
			fault := &vfs.Fault{FS: disk, FailAt: k, Err: broken, Short: k%2 == 0}
			if err := open(fault); !errors.Is(err, broken) && !errors.Is(err, ingest.ErrSource) {
				t.Errorf("set %d: call %d of %d fails: found %v", i, k, count.Calls(), err)
			}
		}
	}
}
