package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// opens opens and scans a file. An error is of the kinds of this package, and names the file.
func opens(t *testing.T, path string, b []byte, o Options) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), vfs.OS, path, o)
	if err == nil {
		err = scanAll(s)
	}
	if err == nil {
		return
	}
	if !errors.Is(err, ErrSource) && !errors.Is(err, table.ErrFormat) && !errors.Is(err, ErrUsage) {
		t.Fatalf("found %v (%T), expected an error about the source", err, err)
	}
	if !strings.Contains(err.Error(), filepath.Base(path)) {
		t.Fatalf("found %v, expected an error with the name of the file", err)
	}
}

// FuzzKonect reads any bytes as out.NAME.
func FuzzKonect(f *testing.F) {
	f.Add([]byte("% sym unweighted\n% 2 3 3\n1 2 \n3\t1 \n"))
	f.Add([]byte("% asym positive\n1 2 1 1100000000\n3 1 2 1100000001\n"))
	f.Add([]byte("% bip weighted\n% 3 2 4\n1 1 .5\n2 4 1\n1 3 -2\n"))
	path := filepath.Join(f.TempDir(), "out.x")
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() { opens(t, path, b, Options{Format: "konect"}) })
	})
}

// FuzzOpenKE reads any text as the triples, and any as the names, of a folder of OpenKE.
func FuzzOpenKE(f *testing.F) {
	f.Add("1\n0 1 0\n", "2\na\t0\nb c\t1\n")
	f.Add("2\n0 0 0\n\n0 0 1\n", "1\n/r/x:y 0")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, triples, names string) {
		fuzzing.Check(t, len(triples)+len(names), func() {
			for name, text := range map[string]string{"entity2id.txt": names, "relation2id.txt": names, "train2id.txt": triples} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			s, err := Open(t.Context(), vfs.OS, dir, Options{})
			if err == nil {
				err = scanAll(s)
			}
			if err != nil && !errors.Is(err, ErrSource) && !errors.Is(err, table.ErrFormat) {
				t.Fatalf("found %v (%T), expected an error about the source", err, err)
			}
		})
	})
}

// FuzzNeptune reads any text as the two tables of a folder of Neptune.
func FuzzNeptune(f *testing.F) {
	f.Add("~id,~label,x:Int,t:String[]\na,A;B,1,u;v\nb,,,\n", "~id,~from,~to,~label,w:Double\n1,a,b,R,.5\n2,b,a,S,\n")
	f.Add("~id,~label\na,A\n", "~from,~to,at:Date\na,a,2024-01-01\n")
	fuzzFolder(f, "neptune", "n.csv", "e.csv")
}

// FuzzNeo4j reads any text as two tables of a folder of Neo4j's importer, of which one may be the header of the other.
func FuzzNeo4j(f *testing.F) {
	f.Add("a:ID(A),x:int,t:string[],:LABEL\n1,2,u;v,A;B\n", ":START_ID(A),:END_ID(A),:TYPE,w:double\n1,1,R,.5\n")
	f.Add(":ID{label:A},x\n", "1,2\n")
	fuzzFolder(f, "neo4j", "n-header.csv", "n.csv")
}

// FuzzAPOCCSV reads any text as the export of APOC.
func FuzzAPOCCSV(f *testing.F) {
	f.Add("_id,_labels,x,_start,_end,_type,w\n0,:A:B,1,,,,\n1,,,,,,\n,,,0,1,R,.5\n", "")
	fuzzFolder(f, "apoc-csv", "a.csv", "b.txt")
}

// FuzzKuzu reads any text as the schema and as the list of the files of a folder of Kùzu.
func FuzzKuzu(f *testing.F) {
	f.Add("CREATE NODE TABLE `A` (`id` INT64, x FLOAT[3] DEFAULT 1, PRIMARY KEY(`id`));\nCREATE REL TABLE R (FROM A TO A, w INT8[][2], MANY_ONE);", "COPY A (id,x) FROM \"copy.cypher\" (header=true);\nCOPY R FROM 'schema.cypher' (from='A', to='A', delim='|');")
	f.Add("CREATE REL TABLE IF NOT EXISTS R (FROM A TO A); // x\n", "")
	fuzzFolder(f, "kuzu", "schema.cypher", "copy.cypher")
}

// FuzzArangoDB reads any text as two collections of ArangoDB.
func FuzzArangoDB(f *testing.F) {
	f.Add("{\"_key\":\"1\",\"x\":[1,2],\"y\":\"2024-01-01\"}\n{\"type\":2300,\"data\":{\"_id\":\"p/2\"}}", "[{\"_from\":\"p/1\",\"_to\":\"p/2\",\"w\":0.5}]")
	fuzzFolder(f, "arangodb", "p.jsonl", "e_0123456789abcdef0123456789abcdef.data.json")
}

// FuzzGraphAr reads any text as the vertices and the edges of a graph of GraphAr.
func FuzzGraphAr(f *testing.F) {
	f.Add("type: a\nchunk_size: 2\nprefix: v/\nproperty_groups: [{file_type: csv, properties: [{name: x, data_type: int64}]}]\n", "src_type: a\nedge_type: r\ndst_type: a\nadj_lists: [{ordered: true, aligned_by: dst, file_type: csv}]\n")
	dir := f.TempDir()
	for name, text := range map[string]string{"g.graph.yml": "vertices: [a.yml]\nedges: [e.yml]\n", "v/x/chunk0": "x\n1\n2\n", "a_r_a/ordered_by_dest/adj_list/part0/chunk0": "_graphArSrcIndex,_graphArDstIndex\n0,1\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	fuzzFilesIn(f, dir, "graphar", "a.yml", "e.yml")
}

// fuzzFolder reads any texts as two files of a folder of a format.
func fuzzFolder(f *testing.F, format, first, second string) {
	fuzzFilesIn(f, f.TempDir(), format, first, second)
}

// fuzzFilesIn is fuzzFolder in a folder that may have other files.
func fuzzFilesIn(f *testing.F, dir, format, first, second string) {
	f.Fuzz(func(t *testing.T, a, b string) {
		fuzzing.Check(t, len(a)+len(b), func() {
			for name, text := range map[string]string{first: a, second: b} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			s, err := Open(t.Context(), vfs.OS, dir, Options{Format: format})
			if err == nil {
				err = scanAll(s)
			}
			if err != nil && !errors.Is(err, ErrSource) && !errors.Is(err, table.ErrFormat) && !errors.Is(err, ErrUsage) {
				t.Fatalf("found %v (%T), expected an error about the source", err, err)
			}
		})
	})
}

// fuzzFiles are names whose format follows from them, or from the content, with an example.
var fuzzFiles = []struct{ name, example string }{
	{"a.txt", "# Directed graph: x.txt\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\tSign\n0\t1\t-1\n2\t0\t1\n"},
	{"a.csv", "src,dst,w\n1,0,.5\n"},
	{"a.graph", "3 2 011 1\n1 2 5\n1 1 5 3 1\n2 2 1\n"},
	{"a.nt", "<a> <b> <c> .\n_:x <b> \"l\"@en .\n"},
	{"a.adjlist", "a b c\nb c\n"},
	{"a.graphml", `<graphml><key id="w" for="edge" attr.name="w" attr.type="double"/><graph edgedefault="directed"><node id="a"/><edge source="a" target="a"><data key="w">1</data></edge></graph></graphml>`},
	{"a.json", `{"directed": true, "multigraph": false, "graph": {}, "nodes": [{"id": 0, "x": 1}], "links": [{"source": 0, "target": 0, "w": [1, 2]}]}`},
	{"a.jsonl", "{\"src\": 0, \"dst\": 1}\n"},
	{"graph.yaml", "nodes: {p: {count: 2}}\nedges: {\"p:e:p\": {table: graph.yaml}}\n"},
	{"a.pbtxt", "node_sets { key: 'a' value { metadata { cardinality: 3 } } }"},
	{"a.json", `{"graph": {"nodes": {"a": {"metadata": {"x": 1}}}, "edges": [{"source": "a", "target": "a", "directed": false}]}}`},
	{"a.cyjs", `{"elements": {"nodes": [{"data": {"id": "a"}}], "edges": [{"data": {"source": "a", "target": "a"}}]}}`},
	{"a.cx2", `[{"CXVersion": "2.0"}, {"nodes": [{"id": 0}]}, {"edges": [{"id": 0, "s": 0, "t": 0}]}]`},
	{"a.ncol", "a b 1\nb c 2.5\n"},
	{"a.lgl", "# a\nb 1\nc\n"},
	{"a.sif", "a pp b c\nd\n"},
	{"a.net", "*Vertices 2\n"},
	{"a.gr", "c x\np sp 2 1\na 1 2 3\n"},
	{"a.json", `[{"src": 0, "dst": 1}, {"src": 1, "dst": 0}]`},
	{"b.json", `{"type":"node","id":"0","labels":["A"],"properties":{"x":[1,2],"y":"2024-01-01"}}
{"type":"relationship","label":"R","properties":{"w":0.5},"start":{"id":"0","labels":["A"]},"end":{"id":"0","labels":["A"]}}`},
}

// FuzzFiles reads any text as a file of each name.
func FuzzFiles(f *testing.F) {
	for i, x := range fuzzFiles {
		f.Add(uint8(i), []byte(x.example))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		fuzzing.Check(t, len(b), func() {
			path := filepath.Join(dir, fuzzFiles[int(kind)%len(fuzzFiles)].name)
			opens(t, path, b, Options{})
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// FuzzLineTypes reads any text as a graph.yaml whose rows come as lines. Its types have what finds their rows.
func FuzzLineTypes(f *testing.F) {
	for _, text := range []string{
		"nodes: {p: {table: p.csv, id: id}, o: {table: o, id: {column: id, dtype: integer}, columns: {}}}\nedges: {\"p:e:p\": {table: e.jsonl.gz, src: a, dst: b, where: {k: 1}}, \"p:has:o\": {table: o, src: p}}\n",
		"nodes: {p: {}}\nedges: {\"p:e:p\": {table: e.csv, src: a, dst: b, missing_texts: ['-']}}\n",
	} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "graph.yaml")
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			types, err := LineTypes(vfs.OS, path, Options{NodesAlone: true})
			if err != nil {
				return
			}
			for _, x := range types {
				if x.Table == "" || x.Edge && (x.Src == "" || x.Dst == "" || x.ID != "") || !x.Edge && x.ID == "" {
					t.Fatalf("found the type %+v, expected a table and keys", x)
				}
			}
		})
	})
}
