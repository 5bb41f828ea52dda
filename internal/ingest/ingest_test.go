package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder writes files. The content of a name that ends in .npy is a description of array, such as "i8 2 3", or the bytes.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		data := []byte(text)
		if filepath.Ext(name) == ".npy" && !strings.HasPrefix(text, "\x93") {
			data = array(t, text)
		}
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// array returns an .npy file of zeros: "f4 3 16" is float32 of shape (3, 16).
func array(t testing.TB, text string) []byte {
	var shape []int
	words := strings.Fields(text)
	n := int(words[0][1] - '0')
	for _, w := range words[1:] {
		var d int
		if _, err := fmt.Sscan(w, &d); err != nil {
			t.Fatal(err)
		}
		shape = append(shape, d)
		n *= d
	}
	b, err := npy.AppendHeader(nil, words[0], shape)
	if err != nil {
		t.Fatal(err)
	}
	return append(b, make([]byte, n)...)
}

// show returns a source as text, one line per type.
func show(s *Source, dir string) string {
	short := func(t table.Table) string {
		if t == nil {
			return "-"
		}
		var names []string
		for _, f := range t.Files() {
			f, _ = filepath.Rel(dir, f)
			names = append(names, f)
		}
		return strings.Join(names, "+")
	}
	column := func(c table.Column) string {
		text := fmt.Sprintf("%s:%s", c.Name, c.DType)
		switch {
		case c.Unit != "":
			text = fmt.Sprintf("%s:datetime[%s]", c.Name, c.Unit)
		case c.Categories != nil:
			text = fmt.Sprintf("%s:category(%s)", c.Name, strings.Join(c.Categories.Texts(), ","))
		case c.Missing != nil:
			text += "(" + c.Missing.Name + ")"
		}
		if c.Shape != nil {
			text += strings.ReplaceAll(fmt.Sprint(c.Shape), " ", ",")
		}
		switch c.Empty {
		case table.EmptyAbsent:
			text += "?"
		case table.EmptyFill:
			text += "=" + c.Fill
		}
		if c.Given {
			text += "!"
		}
		if c.From != nil {
			text += "<" + strings.Join(c.From, "+")
		}
		return text
	}
	var lines []string
	for _, n := range s.Input.Nodes {
		line := fmt.Sprintf("%s %s %s", n.Type, short(n.Table), column(n.ID))
		if n.Count > 0 {
			line += fmt.Sprintf(" count %d", n.Count)
		}
		for _, c := range n.Columns {
			line += " " + column(c)
		}
		lines = append(lines, line)
	}
	for _, e := range s.Input.Edges {
		line := fmt.Sprintf("%s %s %s>%s", e.Type, short(e.Table), column(e.Src), column(e.Dst))
		if e.Where != nil {
			line += fmt.Sprintf(" where %s=%s", e.Where.Column, e.Where.Value)
		}
		if e.Symmetrise {
			line += " symmetrise"
		}
		for _, c := range e.Columns {
			line += " " + column(c)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// scanAll reads every table of a source with the columns asked of it.
func scanAll(s *Source) error {
	scan := func(t table.Table, cols ...table.Column) error {
		if t == nil {
			return nil
		}
		cols = slices.DeleteFunc(cols, func(c table.Column) bool { return c.Name == "" })
		_, err := t.Scan(context.Background(), cols, 2, func(int, *table.Chunk) error { return nil })
		return err
	}
	for _, n := range s.Input.Nodes {
		if err := scan(n.Table, append([]table.Column{n.ID}, n.Columns...)...); err != nil {
			return err
		}
	}
	for _, e := range s.Input.Edges {
		cols := append([]table.Column{e.Src, e.Dst}, e.Columns...)
		if e.Where != nil {
			cols = append(cols, table.Column{Name: e.Where.Column, DType: graph.String})
		}
		if err := scan(e.Table, cols...); err != nil {
			return err
		}
	}
	return nil
}

type sourceCase struct {
	name  string
	files map[string]string
	path  string
	opts  Options
	want  string // the source, or a part of the error
	err   error
}

func run(t *testing.T, cases []sourceCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, c.files)
			path := filepath.Join(dir, c.path)
			if c.opts.Indptr != "" {
				path, c.opts.Indptr, c.opts.Indices = "", filepath.Join(dir, c.opts.Indptr), filepath.Join(dir, c.opts.Indices)
			}
			s, err := Open(t.Context(), vfs.OS, path, c.opts)
			if err == nil {
				err = s.Collect(t.Context(), 2, 0, false)
			}
			if err == nil {
				err = scanAll(s)
			}
			if c.err != nil {
				if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("error %v, want %v with %q", err, c.err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.TrimSpace(c.want), show(s, dir)); d != "" {
				t.Fatal(d)
			}
		})
	}
}

func TestEdgeList(t *testing.T) {
	e := func(text string) map[string]string { return map[string]string{"e.csv": text} }
	run(t, []sourceCase{
		{name: "header", files: e("source,target,w,t,n\n0,1,1.5,7,x\n"), path: "e.csv", want: `
_N - :uint64
_N:_E:_N e.csv source:uint64>target:uint64 w:float32 t:int64 n:string`},
		{name: "no header", files: e("0,1\n1,2\n"), path: "e.csv", want: "_N - :uint64\n_N:_E:_N e.csv src:uint64>dst:uint64"},
		{name: "columns", files: e("0,1,2,3 4\n"), path: "e.csv", opts: Options{Columns: "dst,src,w:float64,v:uint8[2]", NumNodes: 9}, want: `
_N - :uint64 count 9
_N:_E:_N e.csv src:uint64>dst:uint64 w:float64 v:uint8[2]`},
		{name: "columns of a header", files: e("src,dst,w,t\n0,1,2,3\n"), path: "e.csv", opts: Options{Columns: "src,dst,t:float32"}, want: `
_N - :uint64
_N:_E:_N e.csv src:uint64>dst:uint64 t:float32`},
		{name: "strings", files: e("src,dst\na,1\n"), path: "e.csv", want: "_N - :string\n_N:_E:_N e.csv src:string>dst:string"},
		{name: "leading zeros are strings", files: e("src,dst\n007,1\n"), path: "e.csv", want: "_N - :string\n_N:_E:_N e.csv src:string>dst:string"},
		{name: "ids as told", files: e("src,dst\n7,1\n"), path: "e.csv", opts: Options{IDs: idsString}, want: "_N - :string\n_N:_E:_N e.csv src:string>dst:string"},
		{name: "ends as told", files: e("a,b,c\n7,1,2\n"), path: "e.csv", opts: Options{Src: "c", Dst: "a", Symmetrise: true}, want: "_N - :uint64\n_N:_E:_N e.csv c:uint64>a:uint64 symmetrise b:int64"},
		{name: "empty cells", files: e("src,dst,w\n7,1,\n1,2,3\n"), path: "e.csv", opts: Options{Missing: []Missing{{"", "-1"}}}, want: "_N - :uint64\n_N:_E:_N e.csv src:uint64>dst:uint64 w:int64=-1"},
		{name: "SNAP", files: map[string]string{"e.txt": "# a b\n0\t1\n"}, path: "e.txt", want: "_N - :uint64\n_N:_E:_N e.txt src:uint64>dst:uint64"},
		{name: "shards", files: map[string]string{"e.csv-00000-of-00002": "src,dst\n0,1\n", "e.csv-00001-of-00002": "src,dst\n0,1\n"}, path: "e.csv@2", want: "_N - :uint64\n_N:_E:_N e.csv-00000-of-00002+e.csv-00001-of-00002 src:uint64>dst:uint64"},
		{name: "a shard less", files: map[string]string{"e.csv-00000-of-00002": "src,dst\n0,1\n"}, path: "e.csv@2", want: "found 1 of 2 shards", err: ErrSource},
		{name: "three columns without names", files: e("0,1,2\n"), path: "e.csv", want: "for example `Columns` src,dst,weight:float32", err: table.ErrFormat},
		{name: "no ends", files: e("a,b\n0,1\n"), path: "e.csv", want: "name the column of the source with `Src` and `Dst`", err: ErrSource},
		{name: "a header among named columns", files: e("here,there\n0,1\n"), path: "e.csv", opts: Options{Columns: "src,dst"}, want: `found "here" in the first line above numbers`, err: ErrUsage},
		{name: "names of strings", files: e("a,b\nc,d\n"), path: "e.csv", opts: Options{Columns: "src,dst"}, want: "_N - :string\n_N:_E:_N e.csv src:string>dst:string"},
		{name: "wrong type", files: e("0,1\n"), path: "e.csv", opts: Options{Columns: "src,dst:int65"}, want: `found dtype "int65"`, err: ErrUsage},
		{name: "name twice", files: e("0,1\n"), path: "e.csv", opts: Options{Columns: "src,src"}, want: "different names", err: ErrUsage},
		{name: "nodes and strings", files: e("a,b\nc,d\n"), path: "e.csv", opts: Options{Columns: "src,dst", NumNodes: 5}, want: "`NumNodes` with string ids", err: ErrUsage},
		{name: "unknown", files: map[string]string{"e.foo": "x"}, path: "e.foo", want: "e.foo: found a file of no known format, expected one of those that are imported; `ListFormats` shows them", err: ErrSource},
		{name: "a version with a mistake", files: map[string]string{"e.foo": "x"}, path: "e@vers=1", want: "; the version of a table of a lake is @version=N, @time=T or @ref=NAME", err: ErrSource},
		{name: "XML", files: e("<?xml version='1.0' encoding='utf-8'?>\n<graphml>\n</graphml>\n"), path: "e.csv", want: "e.csv: found XML, expected a table; give `Format` graphml", err: ErrSource},
		{name: "GML", files: map[string]string{"e.txt": "graph [\n  node [\n"}, path: "e.txt", want: "e.txt: found a GML file, expected a table; read it in Python: python -m graphmill import FILE --kind gml", err: ErrSource},
		{name: "GML with commas", files: e("graph [\n"), path: "e.csv", want: "e.csv: found a GML file", err: ErrSource},
		{name: "no columns", files: map[string]string{"e.json": "{}"}, path: "e.json", want: "e.json: found a table without columns, expected the ends of edges", err: ErrSource},
		{name: "unknown folder", files: map[string]string{"d/x": ""}, path: "d", want: "found a folder of no known format", err: ErrSource},
		{name: "unknown name", files: e(""), path: "e.csv", opts: Options{Format: "edgelist"}, want: `did you mean "edge-list"?`, err: ErrUsage},
		{name: "options of another format", files: map[string]string{"e.npy": "i8 2 3"}, path: "e.npy", opts: Options{Columns: "src,dst"}, want: "expected them with an edge list", err: ErrUsage},
	})
}

func TestNpy(t *testing.T) {
	run(t, []sourceCase{
		{name: "pairs", files: map[string]string{"e.npy": "i8 2 3"}, path: "e.npy", opts: Options{NumNodes: 4}, want: "_N - :uint64 count 4\n_N:_E:_N e.npy src:uint64>dst:uint64"},
		{name: "matrix", files: map[string]string{"p.npy": "i8 5", "i.npy": "i4 0"}, opts: Options{Indptr: "p.npy", Indices: "i.npy"}, want: "_N - :uint64 count 4\n_N:_E:_N p.npy+i.npy src:uint64>dst:uint64"},
		{name: "too few nodes", files: map[string]string{"p.npy": "i8 5", "i.npy": "i4 0"}, opts: Options{Indptr: "p.npy", Indices: "i.npy", NumNodes: 3}, want: "found 4 nodes", err: ErrUsage},
		{name: "strings", files: map[string]string{"e.npy": "i8 2 3"}, path: "e.npy", opts: Options{IDs: idsString}, want: "expected integer ids", err: ErrUsage},
		{name: "a vector", files: map[string]string{"e.npy": "i8 6"}, path: "e.npy", want: "expected (2, E) or (E, 2)", err: table.ErrFormat},
	})
}

const schema = `
node_sets { key: "a" value { features { key: "#id" value { dtype: DT_STRING } } features { key: "x" value { dtype: DT_FLOAT shape { dim { size: 2 } } } } metadata { filename: "a.csv@2" } } }
node_sets { key: "b" value { } }
node_sets { key: "_aux" value { } }
edge_sets { key: "ab" value { source: "a" target: "b" features { key: "weight" value { dtype: DT_INT32 } } metadata { filename: "ab.csv" } } }
edge_sets { key: "ba" value { source: "b" target: "a" metadata { filename: "ab.csv" extra { key: "edge_type" value: "reversed" } } } }
edge_sets { key: "aa" value { source: "a" target: "a" metadata { filename: "aa.tfrecord" } } }
`

func record(source, target string) string {
	var w example.Writer
	for _, f := range [][2]string{{"#target", target}, {"#source", source}} {
		example.TextRows(&w, example.NewKey(f[0]), []byte(f[1]), []uint32{0, uint32(len(f[1]))}, 1, []uint32{0})
	}
	return string(tfrecord.AppendFrame(nil, w.Close()))
}

func TestUnigraph(t *testing.T) {
	files := map[string]string{
		"schema.pbtxt":         schema,
		"a.csv-00000-of-00002": "id,x\nn1,1 2\n",
		"a.csv-00001-of-00002": "id,x\nn2,3 4\n",
		"ab.csv":               "#source,#target,weight,#weight\nn1,b1,3,.5\n",
		"aa.tfrecord":          record("n1", "n2"),
	}
	with := func(name, text string) map[string]string {
		m := map[string]string{}
		for k, v := range files {
			m[k] = v
		}
		if m[name] = text; text == "" {
			delete(m, name)
		}
		return m
	}
	want := `
a a.csv-00000-of-00002+a.csv-00001-of-00002 id:string x:float32[2]
b - :string
a:aa:a aa.tfrecord #source:string>#target:string
a:ab:b ab.csv #source:string>#target:string weight:int32 #weight:float32
b:ba:a ab.csv #target:string>#source:string #weight:float32`
	run(t, []sourceCase{
		{name: "folder", files: files, want: want},
		{name: "file", files: files, path: "schema.pbtxt", want: want},
		{name: "a shard less", files: with("a.csv-00001-of-00002", ""), want: "found 1 of 2 shards", err: ErrSource},
		{name: "no table", files: with("aa.tfrecord", ""), want: `edge set "aa": `, err: ErrSource},
		{name: "no feature", files: with("ab.csv", "source,target,wieght\n1,2,3\n"), want: `did you mean "wieght"?`, err: ErrSource},
		{name: "no ends", files: with("ab.csv", "src,dst,weight\n1,2,3\n"), want: "expected one of #source, source among them", err: ErrSource},
		{name: "no edges", files: map[string]string{"s.pbtxt": `node_sets { key: "a" value { } } edge_sets { key: "e" value { source: "a" target: "a" } }`}, want: "found no filename in its metadata", err: ErrSource},
		{name: "out of the folder", files: with("schema.pbtxt", strings.Replace(schema, "ab.csv", "../ab.csv", 1)), want: "..", err: ErrSource},
		{name: "ids", files: files, opts: Options{IDs: idsInteger}, want: "its ids are strings", err: ErrUsage},
		{name: "bad cell", files: with("a.csv-00001-of-00002", "id,x\nn2,3\n"), want: `a.csv-00001-of-00002:2:4: found "3" in column "x", expected 2 values and not 1`, err: table.ErrFormat},
		{name: "edge type twice", files: map[string]string{"s.pbtxt": `node_sets { key: "a" value { } } node_sets { key: "b" value { } }
edge_sets { key: "e" value { source: "a" target: "b" metadata { filename: "e.csv" } } } edge_sets { key: "rev_e" value { source: "b" target: "a" metadata { filename: "e.csv" } } }`, "e.csv": "source,target\n"}, opts: Options{Symmetrise: true}, want: "found edge type b:rev_e:a twice", err: ErrSource},
	})
	dir := folder(t, files)
	s, err := Open(t.Context(), vfs.OS, dir, Options{})
	if err != nil || s.Primary != graph.Out || s.Format != "unigraph" || len(s.Files) != 5 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "_aux") {
		t.Fatalf("%+v, %v", s, err)
	}
	// The same file gives the same table.
	if e := s.Input.Edges; e[1].Table != e[2].Table {
		t.Fatal("two tables of one file")
	}
}

// The graph that is embedded in the program can be read completely.
func TestEmbedded(t *testing.T) {
	s, err := Open(t.Context(), vfs.OS, "../quickstart/debian", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := scanAll(s); err != nil {
		t.Fatal(err)
	}
	if len(s.Input.Nodes) < 4 || !slices.ContainsFunc(s.Input.Edges, func(e assemble.Edges) bool {
		return e.Type.String() == "package:needed_by:package" && e.Src.Name == "target"
	}) {
		t.Fatal(show(s, "."))
	}
}

// A symbolic link may lead out of the folder only if that is allowed.
func TestOutside(t *testing.T) {
	dir := folder(t, map[string]string{"in/graph.yaml": "nodes: {a: {}}\nedges: {\"a:r:a\": {table: link/e.csv}}", "out/e.csv": "src,dst\n1,2\n"})
	if err := os.Symlink("../out", filepath.Join(dir, "in", "link")); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), vfs.OS, filepath.Join(dir, "in"), Options{})
	if !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "found the symbolic link") {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), vfs.OS, filepath.Join(dir, "in"), Options{Outside: true}); err != nil {
		t.Fatal(err)
	}
}

// Names with .. are names of files elsewhere: a file, a glob, shards, a folder.
func TestOutsideByName(t *testing.T) {
	for _, name := range []string{"../out/e.csv", "../out/e*.csv", "../o*/e.csv", "x/../../out/e.csv", "../out/s.csv@1", "../out"} {
		dir := folder(t, map[string]string{
			"in/graph.yaml": "nodes: {a: {}}\nedges: {\"a:r:a\": {table: " + name + "}}",
			"out/e.csv":     "src,dst\n0,1\n", "out/s.csv-00000-of-00001": "src,dst\n0,1\n",
		})
		if name == "../out" {
			if err := os.Remove(filepath.Join(dir, "out", "s.csv-00000-of-00001")); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Open(t.Context(), vfs.OS, filepath.Join(dir, "in"), Options{})
		if !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "found a file name with ..") || !strings.Contains(err.Error(), "give `AllowOutside`") {
			t.Fatal(name, err)
		}
		if _, err := Open(t.Context(), vfs.OS, filepath.Join(dir, "in"), Options{Outside: true}); err != nil {
			t.Fatal(name, err)
		}
	}
}

func TestFaults(t *testing.T) {
	dir := folder(t, map[string]string{"graph.yaml": "nodes: {a: {}}\nedges: {\"a:r:a\": {table: e.csv}, \"a:s:a\": {table: e.npy}}", "e.csv": "src,dst\n1,2\n", "e.npy": "i8 2 3"})
	boom := errors.New("boom")
	for at := int64(1); ; at++ {
		fault := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: boom}
		_, err := Open(t.Context(), fault, dir, Options{})
		if at > fault.Calls() {
			break
		}
		if err == nil {
			t.Fatalf("call %d of %d failed unseen", at, fault.Calls())
		}
	}
}
