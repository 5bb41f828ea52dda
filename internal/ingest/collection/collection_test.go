package collection_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// disk is the file system without waiting for the disk.
var disk vfs.FS = vfs.Unsynced{FS: vfs.OS}

// array returns the bytes of an .npy file of int64 or float32.
func array[T int32 | int64 | float32](values ...T) string {
	descr := map[string]string{"int32": "i4", "int64": "i8", "float32": "f4"}[fmt.Sprintf("%T", *new(T))]
	b, err := npy.AppendHeader(nil, descr, []int{len(values)})
	if err == nil {
		b, err = binary.Append(b, binary.LittleEndian, values)
	}
	if err != nil {
		panic(err)
	}
	return string(b)
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		panic(err)
	}
	return b.String()
}

func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return dir
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// importDir makes a collection from a folder.
func importDir(ctx context.Context, fsys vfs.FS, dir, out string, o ingest.Options, opt collection.Options) (_ *collection.Result, err error) {
	src, err := ingest.Open(ctx, fsys, dir, o)
	if err != nil {
		return nil, err
	}
	if src.Collection == nil {
		return nil, fmt.Errorf("found one graph of format %s, expected a collection", src.Format)
	}
	w, err := store.Create(fsys, out, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	r, err := collection.Import(ctx, w, src.Collection, opt)
	if err != nil {
		return nil, err
	}
	if err := w.Seal(ctx, r.Meta, 1); err != nil {
		return nil, err
	}
	return r, w.Publish()
}

// show returns a collection as text, one line per graph and type.
func show(t testing.TB, dir string) string {
	t.Helper()
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Check(context.Background()); err != nil {
		t.Fatal(err)
	}
	c := s.Collection
	var b strings.Builder
	for g := range c.Graphs {
		fmt.Fprintf(&b, "%d:", g)
		columns(&b, c.Context, g, g+1)
		for _, n := range c.Nodes {
			from, to := int(n.GraphPtr.At(g)), int(n.GraphPtr.At(g+1))
			fmt.Fprintf(&b, " | %s %d", n.Type, to-from)
			columns(&b, n.Columns, from, to)
		}
		for _, e := range c.Edges {
			from, to := int(e.GraphPtr.At(g)), int(e.GraphPtr.At(g+1))
			fmt.Fprintf(&b, " | %s", e.Type.Rel)
			for i := from; i < to; i++ {
				fmt.Fprintf(&b, " %d>%d", e.Src.At(i), e.Dst.At(i))
			}
			columns(&b, e.Columns, from, to)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func columns(b *strings.Builder, cols []*graph.Column, from, to int) {
	for _, c := range cols {
		fmt.Fprintf(b, " %s=", c.Name)
		switch {
		case c.DType == graph.String && !c.Ragged():
			n := c.RowValues()
			var list []string
			for i := from * n; i < to*n; i++ {
				list = append(list, string(c.Values[c.StringOffsets.At(i):c.StringOffsets.At(i+1)]))
			}
			fmt.Fprint(b, list)
		case c.Ragged():
			for i := from; i < to; i++ {
				size := uint64(c.DType.Size())
				v := c.Values[c.Offsets[0].At(i)*size : c.Offsets[0].At(i+1)*size]
				fmt.Fprint(b, graph.View[int64](v))
			}
		case c.DType == graph.Int64:
			fmt.Fprint(b, graph.View[int64](c.Values)[from*c.RowValues():to*c.RowValues()])
		case c.DType == graph.Int32:
			fmt.Fprint(b, graph.View[int32](c.Values)[from*c.RowValues():to*c.RowValues()])
		case c.DType == graph.Float32:
			fmt.Fprint(b, graph.View[float32](c.Values)[from*c.RowValues():to*c.RowValues()])
		default:
			fmt.Fprint(b, c.DType, c.Values)
		}
	}
}

// arrays returns the files of three graphs: with two nodes, none, and three.
func arrays(yaml string) map[string]string {
	return map[string]string{
		"graph.yaml": yaml,
		"ptr.npy":    array[int64](0, 2, 2, 5),
		"id.npy":     array[int64](0, 0, 2, 2, 2),
		"label.npy":  array[int32](7, 8, 9),
		"tag.npy":    array[int64](1, 2, 3, 4, 5),
		"eptr.npy":   array[int64](0, 1, 1, 4),
		"eid.npy":    array[int64](0, 2, 2, 2),
		"src.npy":    array[int32](1, 0, 1, 2),
		"dst.npy":    array[int32](0, 0, 2, 1),
		"gsrc.npy":   array[int64](1, 2, 3, 4),
		"gdst.npy":   array[int64](0, 2, 4, 3),
		"w.npy":      array[float32](.5, 1, 1.5, 2),
		"parent.npy": array[int64](-1, 0, -1, 0, 1),
		"self.npy":   array[int64](0, 0, 2, 2, 3),
		"rows.csv":   "name,g,up,list\na,0,-1,1 2\nb,0,0,\nc,2,-1,3\nd,2,0,4 5 6\ne,2,1,7\n",
		"edges.csv":  "from,to,why,list\n1,0,x,1 2\n0,0,yy,\n1,2,,3\n2,1,z,4 5 6\n",
		"two.npy":    array[int64](0, 2, 5),
	}
}

const (
	nodesYAML = "nodes: {a: {graph_ptr: ptr.npy, columns: {tag: tag.npy}}}\n"
	edgesYAML = "edges: {\"a:e:a\": {graph_ptr: eptr.npy, src: src.npy, dst: dst.npy, ends: local, columns: {w: w.npy}}}\n"
	allYAML   = "graphs: {columns: {label: label.npy}}\n" + nodesYAML + edgesYAML
)

const three = `0: label=[7] | a 2 tag=[1 2] | e 1>0 w=[0.5]
1: label=[8] | a 0 tag=[] | e w=[]
2: label=[9] | a 3 tag=[3 4 5] | e 0>0 1>2 2>1 w=[1 1.5 2]
`

// tu and ogb return the same graphs.
func tu() map[string]string {
	return map[string]string{
		"T_A.txt":               "2, 1\n3, 3\n4, 5\n5, 4\n",
		"T_graph_indicator.txt": "1\n1\n3\n3\n3\n",
		"T_graph_labels.txt":    "7\n8\n9\n",
		"T_node_labels.txt":     "1\n2\n3\n4\n5\n",
		"T_node_attributes.txt": "1.0, 2\n0, -1e3\n.5, 1\n1, 1\n2, 2\n",
		"T_edge_labels.txt":     "0\n1\n2\n3\n",
		"README.txt":            "text",
	}
}

func ogb() map[string]string {
	return map[string]string{
		"raw/edge.csv.gz":          zipped("1,0\n0,0\n1,2\n2,1\n"),
		"raw/num-node-list.csv.gz": zipped("2\n0\n3\n"),
		"raw/num-edge-list.csv.gz": zipped("1\n0\n3\n"),
		"raw/graph-label.csv.gz":   zipped("0,1\n,0\n1,\n"),
		"raw/node-feat.csv.gz":     zipped("1,2\n3,4\n5,6\n7,8\n9,10\n"),
		"raw/edge-feat.csv.gz":     zipped("0.5\n1\n1.5\n2\n"),
		"raw/node_depth.csv.gz":    zipped("0\n1\n0\n1\n2\n"),
		"mapping/mol.csv.gz":       zipped("x\n"),
	}
}

func with(files map[string]string, changes map[string]string) map[string]string {
	for k, v := range changes {
		if v == "" {
			delete(files, k)
		} else {
			files[k] = v
		}
	}
	return files
}

func TestImport(t *testing.T) {
	type c struct {
		name  string
		files map[string]string
		o     ingest.Options
		want  string
	}
	for _, tc := range []c{
		{"offsets and local ends", arrays(allYAML), ingest.Options{}, three},
		{"ids and global ends", arrays("graphs: {columns: {label: label.npy}}\nnodes: {a: {graph_id: id.npy, columns: {tag: tag.npy}}}\nedges: {\"a:e:a\": {src: gsrc.npy, dst: gdst.npy, ends: global, columns: {w: w.npy}}}"), ingest.Options{}, three},
		{"graph of each edge", arrays("graphs: {columns: {label: label.npy}}\n" + nodesYAML + "edges: {\"a:e:a\": {graph_id: eid.npy, src: gsrc.npy, dst: gdst.npy, ends: global, columns: {w: w.npy}}}"), ingest.Options{}, three},
		{"parents", arrays("graphs: {}\nnodes: {a: {graph_ptr: ptr.npy}}\nedges: {\"a:child:a\": {parent: parent.npy, ends: local, reverse: up}}"), ingest.Options{},
			"0: | a 2 | child 0>1 | up 1>0\n1: | a 0 | child | up\n2: | a 3 | child 0>1 1>2 | up 1>0 2>1\n"},
		{"a root is its own parent, global, both ways", arrays("graphs: {}\nnodes: {a: {graph_ptr: ptr.npy}}\nedges: {\"a:child:a\": {parent: self.npy, ends: global, symmetrise: true}}"), ingest.Options{},
			"0: | a 2 | child 0>1 1>0\n1: | a 0 | child\n2: | a 3 | child 0>1 1>0 1>2 2>1\n"},
		{"tables of text, each edge twice", arrays("graphs: {columns: {label: label.npy}}\nnodes: {a: {table: rows.csv, graph_id: g, columns: {name: string, list: 'int64[]'}}}\nedges:\n  \"a:e:a\": {table: edges.csv, graph_ptr: eptr.npy, ends: local, symmetrise: true, columns: {why: string, list: 'int64[]'}}\n  \"a:child:a\": {parent: up, ends: local}"), ingest.Options{},
			"0: label=[7] | a 2 list=[1 2][] name=[a b] | child 0>1 | e 1>0 0>1 list=[1 2][1 2] why=[x x]\n" +
				"1: label=[8] | a 0 list= name=[] | child | e list= why=[]\n" +
				"2: label=[9] | a 3 list=[3][4 5 6][7] name=[c d e] | child 0>1 1>2 | e 0>0 0>0 1>2 2>1 2>1 1>2 list=[][][3][3][4 5 6][4 5 6] why=[yy yy   z z]\n"},
		{"two types", arrays("graphs: {}\nnodes: {a: {graph_ptr: ptr.npy}, b: {graph_ptr: ptr.npy}}\nedges: {\"a:e:b\": {graph_ptr: eptr.npy, src: src.npy, dst: dst.npy, ends: local}}"), ingest.Options{Symmetrise: true},
			"0: | a 2 | b 2 | e 1>0 | rev_e 0>1\n1: | a 0 | b 0 | e | rev_e\n2: | a 3 | b 3 | e 0>0 1>2 2>1 | rev_e 0>0 2>1 1>2\n"},
		{"TU", tu(), ingest.Options{},
			"0: label=[7] | _N 2 attributes=[1 2 0 -1000] label=[1 2] | _E 1>0 label=[0]\n1: label=[8] | _N 0 attributes=[] label=[] | _E label=[]\n2: label=[9] | _N 3 attributes=[0.5 1 1 1 2 2] label=[3 4 5] | _E 0>0 1>2 2>1 label=[1 2 3]\n"},
		{"TU without labels", map[string]string{"T_A.txt": "1,2\n3,3\n", "T_graph_indicator.txt": "1\n1\n2\n"}, ingest.Options{},
			"0: | _N 2 | _E 0>1\n1: | _N 1 | _E 0>0\n"},
		{"OGB", ogb(), ingest.Options{},
			"0: label=[0 1] | _N 2 feat=[1 2 3 4] node_depth=[0 1] | _E 1>0 feat=[0.5]\n1: label=[NaN 0] | _N 0 feat=[] node_depth=[] | _E feat=[]\n2: label=[1 NaN] | _N 3 feat=[5 6 7 8 9 10] node_depth=[0 1 2] | _E 0>0 1>2 2>1 feat=[1 1.5 2]\n"},
		{"OGB without directions", with(ogb(), map[string]string{"raw/graph-label.csv.gz": zipped("a,bc\nd,\n\"\",e\n"), "raw/node-feat.csv.gz": zipped("1\n2\n3\n4\n0.5\n"), "raw/node_depth.csv.gz": ""}), ingest.Options{Symmetrise: true},
			"0: label=[a bc] | _N 2 feat=[1 2] | _E 1>0 0>1 feat=[0.5 0.5]\n1: label=[d ] | _N 0 feat=[] | _E feat=[]\n2: label=[ e] | _N 3 feat=[3 4 0.5] | _E 0>0 0>0 1>2 2>1 2>1 1>2 feat=[1 1 1.5 1.5 2 2]\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := folder(t, tc.files)
			var sums []string
			for i, opt := range []collection.Options{{}, {Threads: 3}, {Threads: 2, Memory: 96 << 20}} {
				out := filepath.Join(dir, fmt.Sprint("out", i))
				if _, err := importDir(context.Background(), disk, dir, out, tc.o, opt); err != nil {
					t.Fatal(err)
				}
				sum, err := os.ReadFile(filepath.Join(out, store.ManifestFile))
				if err != nil {
					t.Fatal(err)
				}
				sums = append(sums, string(sum))
				if diff := cmp.Diff(tc.want, show(t, out)); diff != "" {
					t.Fatalf("-want +found:\n%s", diff)
				}
			}
			if len(slices.Compact(sums)) != 1 {
				t.Error("found other bytes with other threads or a budget")
			}
		})
	}
}

// Bad input is reported with its place, and no output is left.
func TestBadInput(t *testing.T) {
	yaml := func(old, new string) map[string]string {
		if !strings.Contains(allYAML, old) {
			panic(old)
		}
		return arrays(strings.Replace(allYAML, old, new, 1))
	}
	file := func(changes ...string) map[string]string {
		files := arrays(allYAML)
		for i := 0; i < len(changes); i += 2 {
			files[changes[i]] = changes[i+1]
		}
		return files
	}
	for _, tc := range []struct {
		name  string
		files map[string]string
		kind  error
		want  string
	}{
		{"offsets that fall", file("ptr.npy", array[int64](0, 3, 2, 5)), collection.ErrFormat, "ptr.npy[2]: found 2, expected offsets that ascend from 0; the one before is 3"},
		{"offsets not from 0", file("ptr.npy", array[int64](1, 2, 2, 5)), collection.ErrFormat, "ptr.npy[0]: found 1, expected offsets that ascend from 0"},
		{"no offsets", file("ptr.npy", array[int64]()), collection.ErrFormat, "ptr.npy: found no offsets"},
		{"offsets of floats", file("ptr.npy", array[float32](0, 1.5, 2, 5)), table.ErrFormat, "ptr.npy[1]: found 1.5, expected an integer from 0"},
		{"negative offsets", file("ptr.npy", array[int64](0, -2, 2, 5)), table.ErrFormat, "ptr.npy[1]: found -2, expected an integer from 0"},
		{"too few rows", file("ptr.npy", array[int64](0, 2, 2, 6)), collection.ErrFormat, "tag.npy: found 5 rows, expected 6"},
		{"too few graphs", file("ptr.npy", array[int64](0, 2, 5)), collection.ErrFormat, "ptr.npy: found 2 graphs, expected 3"},
		{"too few edges", file("eptr.npy", array[int64](0, 1, 1, 5)), collection.ErrFormat, "src.npy: found 4 rows, expected 5"},
		{"too many edges", file("eptr.npy", array[int64](0, 1, 1, 3)), collection.ErrFormat, "src.npy[3]: found row 3, expected 3 rows"},
		{"lengths that differ", file("w.npy", array[float32](1, 2, 3)), table.ErrFormat, "w.npy: found 3 rows, expected 4"},
		{"a source out of the graph", file("src.npy", array[int32](2, 0, 1, 2)), collection.ErrFormat, "src.npy[0]: found node 2, expected one from 0 to 1, the nodes of graph 0"},
		{"a destination out of the graph", file("dst.npy", array[int32](0, 0, 3, 1)), collection.ErrFormat, "expected one from 0 to 2, the nodes of graph 2"},
		{"an edge of a graph without nodes", file("eptr.npy", array[int64](0, 1, 2, 4)), collection.ErrFormat, "src.npy[1]: found node 0 in graph 1, expected no edge, as the graph has no nodes"},
		{"a negative end", file("src.npy", array[int32](-1, 0, 1, 2)), table.ErrFormat, "src.npy[0]: found -1, expected an integer from 0"},
		{"a graph too large", with(file("ptr.npy", array[int64](0, 1<<33, 1<<33, 1<<33)), map[string]string{"tag.npy": array[int64]()}), collection.ErrFormat, "a: found 8589934592 nodes in graph 0, expected fewer than 2^32"},
		{"a missing file", with(arrays(allYAML), map[string]string{"src.npy": ""}), ingest.ErrSource, "src.npy"},
		{"ids that fall", with(yaml("graph_ptr: ptr.npy", "graph_id: id.npy"), map[string]string{"id.npy": array[int64](0, 1, 0, 2, 2)}), collection.ErrFormat, "id.npy[2]: found 0, expected at least 1"},
		{"an id that no graph has", with(yaml("graph_ptr: ptr.npy", "graph_id: id.npy"), map[string]string{"id.npy": array[int64](0, 1, 1, 2, 1<<40)}), collection.ErrFormat, "id.npy[4]: found 1099511627776, expected one of the 3 graphs"},
		{"ids with a gap", arrays("graphs: {}\nnodes: {a: {graph_id: id.npy}}\n" + edgesYAML), collection.ErrFormat, "id.npy[2]: found 2, expected 0 or the next graph, as no table of the graphs"},
		{"global edges out of order", with(arrays("graphs: {}\n"+nodesYAML+"edges: {\"a:e:a\": {src: gsrc.npy, dst: gdst.npy, ends: global}}"), map[string]string{"gsrc.npy": array[int64](2, 1, 3, 4), "gdst.npy": array[int64](2, 1, 3, 4)}), collection.ErrFormat, "gsrc.npy[1]: found an edge from node 1 after an edge of graph 2, expected edges in the order of their graphs"},
		{"an edge between graphs", with(arrays("graphs: {}\n"+nodesYAML+"edges: {\"a:e:a\": {src: gsrc.npy, dst: gdst.npy, ends: global}}"), map[string]string{"gdst.npy": array[int64](2, 2, 4, 3)}), collection.ErrFormat, "found node 2, expected one from 0 to 1, the nodes of graph 0"},
		{"a global end that is no node", with(arrays("graphs: {}\n"+nodesYAML+"edges: {\"a:e:a\": {src: gsrc.npy, dst: gdst.npy, ends: global}}"), map[string]string{"gsrc.npy": array[int64](1, 2, 3, 5)}), collection.ErrFormat, "gsrc.npy[3]: found node 5, expected one from 0 to 4"},
		{"a parent of no graph", with(arrays("graphs: {}\nnodes: {a: {graph_ptr: ptr.npy}}\nedges: {\"a:c:a\": {parent: parent.npy, ends: local}}"), map[string]string{"parent.npy": array[int64](-1, 0, -1, 0, 3)}), collection.ErrFormat, "parent.npy[4]: found node 3, expected one from 0 to 2, the nodes of graph 2"},
		{"a parent below -1", with(arrays("graphs: {}\nnodes: {a: {graph_ptr: ptr.npy}}\nedges: {\"a:c:a\": {parent: parent.npy, ends: local}}"), map[string]string{"parent.npy": array[int64](-1, -2, -1, 0, 3)}), collection.ErrFormat, "parent.npy[1]: found parent -2, expected a node, or -1 for a root"},
		{"parents of too few nodes", with(arrays("graphs: {}\nnodes: {a: {graph_ptr: ptr.npy}}\nedges: {\"a:c:a\": {parent: parent.npy, ends: local}}"), map[string]string{"parent.npy": array[int64](-1, 0)}), collection.ErrFormat, "parent.npy: found 2 rows, expected 5"},
		{"an edge of no graphs", with(arrays("graphs: {}\nnodes: {a: {graph_ptr: ptr.npy}}\nedges: {\"a:e:a\": {graph_ptr: eptr.npy, src: src.npy, dst: dst.npy, ends: local}}"), map[string]string{"ptr.npy": array[int64](0), "eptr.npy": array[int64](0)}), collection.ErrFormat, "src.npy[0]: found row 0, expected 0 rows"},
		{"a parent of no graphs", with(arrays("graphs: {}\nnodes: {a: {graph_ptr: ptr.npy}}\nedges: {\"a:c:a\": {parent: parent.npy, ends: local}}"), map[string]string{"ptr.npy": array[int64](0)}), collection.ErrFormat, "parent.npy[0]: found row 0, expected 0 rows"},
		{"which graph a node is of", yaml("graph_ptr: ptr.npy, ", ""), ingest.ErrSource, `graph.yaml:2:9: found neither graph_ptr nor graph_id of "a"`},
		{"both", yaml("graph_ptr: ptr.npy, ", "graph_ptr: ptr.npy, graph_id: id.npy, "), ingest.ErrSource, "found graph_ptr and graph_id, expected one of them"},
		{"which graph a local edge is of", yaml("graph_ptr: eptr.npy, ", ""), ingest.ErrSource, "found neither graph_ptr nor graph_id of a:e:a, expected one, as its ends are local"},
		{"ends not said", yaml("ends: local, ", ""), ingest.ErrSource, "found no ends of a:e:a, expected ends: local"},
		{"ends not known", yaml("ends: local", "ends: locl"), ingest.ErrSource, `found ends "locl", expected local (counted from the first node of the graph) or global (of all graphs); did you mean "local"?`},
		{"a key that is not known", yaml("graph_ptr: eptr.npy", "graphptr: eptr.npy"), ingest.ErrSource, `did you mean "graph_ptr"?`},
		{"no nodes", arrays("graphs: {}\n" + edgesYAML), ingest.ErrSource, "graph.yaml:1:1: found no nodes"},
		{"no edges", arrays("graphs: {}\n" + nodesYAML + "edges: {}"), ingest.ErrSource, "found no edges, expected at least one type"},
		{"a type that is not listed", yaml("a:e:a", "a:e:b"), ingest.ErrSource, `found the node type "b" in a:e:b, expected one of the nodes a`},
		{"a column that is not there", arrays("graphs: {}\nnodes: {a: {table: rows.csv, graph_id: h}}\n" + edgesYAML), ingest.ErrSource, `found the column "h", expected an .npy array or one of the columns name, g, up, list`},
		{"parent beside ends", yaml("src: src.npy", "parent: parent.npy, src: src.npy"), ingest.ErrSource, "found parent together with"},
		{"out of the folder", yaml("src: src.npy", "src: ../src.npy"), ingest.ErrSource, "found a file name with .."},
		{"an edge type twice", arrays("graphs: {}\nnodes: {a: {graph_ptr: ptr.npy}}\nedges: {\"a:c:a\": {parent: parent.npy, ends: local, reverse: c}}"), ingest.ErrSource, "found edge type a:c:a twice"},

		{"TU: a label that is no number", with(tu(), map[string]string{"T_graph_labels.txt": "7\nnan\n9\n"}), table.ErrFormat, `T_graph_labels.txt:2:1: found "nan" in column "0", expected an integer`},
		{"TU: a graph too few", with(tu(), map[string]string{"T_graph_labels.txt": "7\n8\n"}), collection.ErrFormat, "T_graph_indicator.txt:3:1: found 3, expected one of the 2 graphs, from 1"},
		{"TU: graphs from 0", with(tu(), map[string]string{"T_graph_indicator.txt": "0\n0\n2\n2\n2\n"}), collection.ErrFormat, "T_graph_indicator.txt:1:1: found 0, expected graphs from 1"},
		{"TU: nodes from 0", with(tu(), map[string]string{"T_A.txt": "1, 0\n"}), collection.ErrFormat, "T_A.txt:1:3: found node 0, expected one from 1 to 5"},
		{"TU: edges out of order", with(tu(), map[string]string{"T_A.txt": "3, 3\n4, 5\n2, 1\n5, 4\n"}), collection.ErrFormat, "T_A.txt:3:1: found an edge from node 2 after an edge of graph 2, expected edges in the order of their graphs; sort"},
		{"TU: labels of other edges", with(tu(), map[string]string{"T_edge_labels.txt": "1\n2\n"}), collection.ErrFormat, "T_edge_labels.txt: found 2 rows, expected 4"},
		{"TU: two data sets", with(tu(), map[string]string{"U_A.txt": "1,1\n"}), ingest.ErrSource, "found 2 files NAME_A.txt, expected one data set"},
		{"TU: ragged attributes", with(tu(), map[string]string{"T_node_attributes.txt": "1,2\n1\n1,2\n1,2\n1,2\n"}), table.ErrFormat, "T_node_attributes.txt:2"},
		{"OGB: a missing file", with(ogb(), map[string]string{"raw/num-edge-list.csv.gz": ""}), ingest.ErrSource, "num-edge-list.csv.gz: found no such file"},
		{"OGB: counts that are too large", with(ogb(), map[string]string{"raw/num-node-list.csv.gz": zipped("18446744073709551615\n1\n1\n")}), collection.ErrFormat, "num-node-list.csv.gz:1:1: found 18446744073709551615, expected counts whose sum is below 2^63"},
		{"OGB: counts of other graphs", with(ogb(), map[string]string{"raw/num-edge-list.csv.gz": zipped("1\n3\n")}), collection.ErrFormat, "num-edge-list.csv.gz: found 2 graphs, expected 3"},
		{"OGB: a feature of nothing", with(ogb(), map[string]string{"raw/node-feat.csv.gz": zipped("1,\n3,4\n5,6\n7,8\n9,10\n")}), table.ErrFormat, `node-feat.csv.gz:1:3: found ""`},
		{"OGB: an empty file", with(ogb(), map[string]string{"raw/node-feat.csv.gz": zipped("")}), ingest.ErrSource, "node-feat.csv.gz: found no lines"},
		{"OGB: a cut file", with(ogb(), map[string]string{"raw/edge.csv.gz": zipped("1,0\n0,0\n1,2\n2,1\n")[:20]}), table.ErrFormat, "edge.csv.gz"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := folder(t, tc.files)
			_, err := importDir(context.Background(), disk, dir, filepath.Join(dir, "out"), ingest.Options{}, collection.Options{Threads: 2})
			if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("found %v\nexpected %s", err, tc.want)
			}
			for _, left := range []string{"out", ".out.partial"} {
				if _, err := os.Lstat(filepath.Join(dir, left)); err == nil {
					t.Errorf("found %s, expected nothing", left)
				}
			}
		})
	}
}
