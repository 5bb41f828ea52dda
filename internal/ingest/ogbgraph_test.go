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
	"os/exec"
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
	rows    [][]float64
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
		n := ogbPart{name: name, count: rapid.IntRange(1, 5).Draw(t, "nodes")}
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
		for range rapid.IntRange(1, 6).Draw(t, "edges") {
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
	return s
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

func writeAll(t testing.TB, dir string, files map[string]string) {
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

// words splits a command line as a shell does.
func words(line string) []string {
	out, quoted := []string{""}, false
	for i := 0; i < len(line); i++ {
		last := &out[len(out)-1]
		switch c := line[i]; {
		case c == '\'':
			quoted = !quoted
		case c == '\\' && !quoted:
			i++
			*last += line[i : i+1]
		case c == ' ' && !quoted:
			out = append(out, "")
		default:
			*last += line[i : i+1]
		}
	}
	return out
}

// unpack does what python3 -m zipfile -e does with its last two arguments.
func unpack(t testing.TB, line string) {
	t.Helper()
	args := words(line)[4:]
	z, err := zip.OpenReader(args[0])
	if err != nil || len(args) != 2 {
		t.Fatalf("%s: %v", line, err)
	}
	defer z.Close()
	files := map[string]string{}
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		files[m.Name] = string(b)
	}
	writeAll(t, args[1], files)
}

// obey does what the error says, and returns the path to import. run runs the error's commands.
func obey(t testing.TB, err error, run func(testing.TB, string)) string {
	t.Helper()
	var e *ingest.LayoutError
	if !errors.As(err, &e) || !errors.Is(err, ingest.ErrSource) {
		t.Fatalf("found error %v", err)
	}
	head, text, _ := strings.Cut(err.Error(), "\n\n")
	want := fmt.Sprintf("save this as %s, and import %s again", e.File, e.Path)
	if !strings.Contains(head, "found one graph, expected many: this is OGB's layout") || !strings.Contains(head, want) || text != e.Text() || !strings.HasSuffix(text, e.YAML) {
		t.Fatalf("found %q", err.Error())
	}
	for _, line := range e.Unpack {
		run(t, line)
	}
	if err := os.WriteFile(e.File, []byte(e.YAML), 0o644); err != nil {
		t.Fatal(err)
	}
	return e.Path
}

// shown returns a graph as text: types, and columns with their dtypes and values. Edges are in the order of the
// input.
func (s *ogbSet) shown() string {
	var b strings.Builder
	columns := func(p *ogbPart) {
		slices.SortFunc(p.columns, func(x, y values) int { return strings.Compare(x.name, y.name) })
		for _, v := range p.columns {
			dtype := graph.Float32
			if v.integer {
				dtype = graph.Int64
			}
			fmt.Fprintf(&b, " %s %s %v", v.name, dtype, v.rows)
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

func showStore(t testing.TB, path string) string {
	t.Helper()
	src, err := ingest.Open(context.Background(), disk, path, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if src.Collection != nil {
		t.Fatalf("%s: found a collection", path)
	}
	out := filepath.Join(t.TempDir(), "out")
	w, err := store.Create(disk, out, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := assemble.Build(context.Background(), disk, w, src.Input, assemble.Options{Primary: src.Primary, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep, Threads: 2})
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
			width := 1
			for _, d := range c.Shape {
				width *= d
			}
			rows := make([][]float64, len(order))
			for i, r := range order {
				for k := r * width; k < (r+1)*width; k++ {
					if c.DType == graph.Int64 {
						rows[i] = append(rows[i], float64(graph.View[int64](c.Values)[k]))
					} else {
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

// A data set of nodes or links is refused, and the graph.yaml of the error, saved where the error says, imports it:
// all columns with their values.
func TestOGBGraphs(t *testing.T) {
	parent, run := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSet(rt)
		run++
		path := filepath.Join(parent, fmt.Sprintf("%d set's", run))
		raw := path
		if rapid.Bool().Draw(rt, "raw") {
			raw = filepath.Join(path, "raw")
			writeAll(t, path, map[string]string{"split/time/train.csv.gz": gz("0\n"), "mapping/README.md": "x"})
		}
		writeAll(t, raw, s.files())
		_, err := ingest.Open(context.Background(), disk, path, ingest.Options{})
		if diff := cmp.Diff(s.shown(), showStore(t, obey(t, err, unpack))); diff != "" {
			rt.Fatalf("%v\n-want +found:\n%s", err, diff)
		}
	})
}

// The commands of the error work in a shell.
func TestOGBCommands(t *testing.T) {
	for seed := range 2 {
		s := rapid.Custom(drawSet).Filter(func(s *ogbSet) bool { return s.binary && s.typed == (seed > 0) }).Example(seed)
		path := filepath.Join(t.TempDir(), "it's a set")
		writeAll(t, filepath.Join(path, "raw"), s.files())
		_, err := ingest.Open(t.Context(), disk, path, ingest.Options{})
		again := obey(t, err, func(t testing.TB, line string) {
			if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", line, err, out)
			}
		})
		if diff := cmp.Diff(s.shown(), showStore(t, again)); diff != "" {
			t.Errorf("-want +found:\n%s", diff)
		}
	}
}

// How one graph is distinguished from many, and a data set of graphs from others.
func TestOGBLevels(t *testing.T) {
	one := map[string]string{"edge.csv.gz": gz("0,1\n"), "num-node-list.csv.gz": gz("2\n"), "num-edge-list.csv.gz": gz("1\n"), "node-label.csv.gz": gz("1\n0\n")}
	many := map[string]string{"edge.csv.gz": gz("0,1\n"), "num-node-list.csv.gz": gz("2\n1\n"), "num-edge-list.csv.gz": gz("1\n0\n"), "node-label.csv.gz": gz("1\n0\n2\n")}
	with := func(files map[string]string, more ...string) map[string]string {
		files = maps.Clone(files)
		for i := 0; i < len(more); i += 2 {
			if files[more[i]] = more[i+1]; more[i+1] == "" {
				delete(files, more[i])
			}
		}
		return files
	}
	arrays := func(nodes []byte) string {
		return npz(map[string][]byte{"edge_index": int64s([]int{2, 1}, 0, 1), "num_nodes_list": nodes})
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		o     ingest.Options
		err   string // empty: a collection
	}{
		{"one graph with a label", with(one, "graph-label.csv.gz", gz("1\n")), ingest.Options{}, ""},
		{"one graph, as asked for", one, ingest.Options{Format: "ogb"}, ""},
		{"two graphs with labels of nodes", many, ingest.Options{}, ""},
		{"nodes", one, ingest.Options{}, "layout of a data set of nodes, whose graph becomes a store"},
		{"links", with(one, "node-label.csv.gz", ""), ingest.Options{}, "layout of a data set of links, or of nodes without labels"},
		{"symmetrised", one, ingest.Options{Symmetrise: true}, "again; a data set of graphs that has only one is imported with the format ogb\n"},
		{"no nodes", with(one, "num-node-list.csv.gz", gz("x\n")), ingest.Options{}, `num-node-list.csv.gz:1:1: found "x"`},
		{"several types of many graphs", map[string]string{"num-node-dict.csv.gz": gz("a,b\n1,2\n1,2\n"), "triplet-type-list.csv.gz": gz("a,r,b\n")}, ingest.Options{}, "num-node-dict.csv.gz: found no single graph, expected one, or OGB's text layout of many graphs of one type"},
		{"a relation that is not there", map[string]string{"num-node-dict.csv.gz": gz("a,b\n1,2\n"), "triplet-type-list.csv.gz": gz("a,r,b\n")}, ingest.Options{}, "a___r___b/edge.csv.gz: found no such file"},
		{"a type that leaves the folder", map[string]string{"num-node-dict.csv.gz": gz("..,b\n1,2\n"), "triplet-type-list.csv.gz": gz("..,r,b\n")}, ingest.Options{}, `found a type named "..", expected a name that a folder can have`},
		{"a type that is a pattern", map[string]string{"num-node-dict.csv.gz": gz("a*\n1\n"), "triplet-type-list.csv.gz": gz("a*,r,a*\n"), "relations/a*___r___a*/edge.csv.gz": gz("0,0\n")}, ingest.Options{}, "expected a name without *, ?, [ and @"},
		{"arrays of many graphs", map[string]string{"data.npz": arrays(int64s([]int{2}, 1, 1))}, ingest.Options{}, "data.npz: found no single graph"},
		{"an archive of something else", map[string]string{"data.npz": npz(map[string][]byte{"x": int64s([]int{1}, 1)})}, ingest.Options{}, "data.npz: found no arrays edge_index and num_nodes_list"},
		{"no archive", map[string]string{"data.npz": "x"}, ingest.Options{}, "expected an archive of NumPy arrays"},
		{"counts that are no integers", map[string]string{"data.npz": arrays([]byte("x"))}, ingest.Options{}, "data.npz: numbers of nodes: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writeAll(t, filepath.Join(dir, "raw"), c.files)
			src, err := ingest.Open(t.Context(), disk, dir, c.o)
			if c.err == "" {
				if err != nil || src.Collection == nil {
					t.Fatalf("found %v, %v, expected a collection", src, err)
				}
			} else if !errors.Is(err, ingest.ErrSource) && !strings.Contains(c.name, "no nodes") || !strings.Contains(err.Error(), c.err) {
				t.Fatalf("found %v, expected %s", err, c.err)
			}
		})
	}
}

// Whichever call to the file system fails, there is an error that says so.
func TestOGBGraphFaults(t *testing.T) {
	for i := range 4 {
		s := rapid.Custom(drawSet).Filter(func(s *ogbSet) bool { return s.typed == (i&1 > 0) && s.binary == (i&2 > 0) }).Example(1)
		dir := t.TempDir()
		writeAll(t, filepath.Join(dir, "raw"), s.files())
		count := &vfs.Fault{FS: disk}
		if _, err := ingest.Open(t.Context(), count, dir, ingest.Options{}); !errors.Is(err, ingest.ErrSource) {
			t.Fatal(err)
		}
		broken := errors.New("broken")
		for k := int64(1); k <= count.Calls(); k++ {
			_, err := ingest.Open(t.Context(), &vfs.Fault{FS: disk, FailAt: k, Err: broken, Short: k%2 == 0}, dir, ingest.Options{})
			if !errors.Is(err, broken) && !errors.Is(err, ingest.ErrSource) {
				t.Errorf("call %d of %d fails: found %v", k, count.Calls(), err)
			}
		}
	}
}
