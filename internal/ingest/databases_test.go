package ingest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// stranger is a file or folder of testdata/strangers.
func stranger(name string) string { return filepath.Join("testdata", "strangers", name) }

// counted returns the counts of an import: a line for each type.
func counted(t *testing.T, path string, o Options, dangling assemble.Policy) (string, error) {
	t.Helper()
	src, err := Open(t.Context(), vfs.OS, path, o)
	if err != nil {
		return "", err
	}
	w, err := store.Create(vfs.Unsynced{FS: vfs.OS}, filepath.Join(t.TempDir(), "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := assemble.Build(t.Context(), vfs.OS, w, src.Input, assemble.Options{Primary: src.Primary, Threads: 2, DanglingEdges: dangling})
	if failed := w.Abort(); failed != nil {
		t.Fatal(failed)
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s", src.Format)
	for _, n := range r.Nodes {
		fmt.Fprintf(&b, "\n%s %d", n.Type, n.Count)
	}
	for _, e := range r.Edges {
		fmt.Fprintf(&b, "\n%s %d", e.Type, e.Count)
	}
	return b.String(), src.Close()
}

// TestStrangersOfDatabases imports what databases and their users have written. MANIFEST.md beside the files says who.
func TestStrangersOfDatabases(t *testing.T) {
	for _, x := range []struct {
		name, want string
		missing    []Missing
		drop       bool
	}{
		{name: "neptune", drop: true, want: "neptune\nnode 499\nroot 1\nnode:left:node 246\nnode:right:node 250\nroot:left:node 1\nroot:right:node 1"},
		{name: "apoc/all_withoutNodeProps_withRelProps.json", want: "apoc-json\nUser 3\nUser:KNOWS:User 1"},
		{name: "apoc/all_withNodeProps_withoutRelProps.json", missing: []Missing{{"bool", "column"}}, want: "apoc-json\nUser 3\nUser:KNOWS:User 1"},
		{name: "apoc/export.csv", missing: []Missing{{"int", "0"}}, want: "apoc-csv\nAddress 2\nAddress;Address1 1\nESCAPING 4\nUser 2\nUser;User1 1\nAddress;Address1:NEXT_DELIVERY:Address 1\nESCAPING:REL:ESCAPING 1\nUser;User1:KNOWS:User 1"},
		{name: "arangodb", missing: []Missing{{"int", "column"}}, want: "arangodb\nCharacters 43\nTraits 18\nCharacters:ChildOf:Characters 14"},
		{name: "graphar/ldbc_sample/parquet", want: "graphar\nperson 903\nperson:knows:person 6626"},
		{name: "neo4j", want: "neo4j\nAddress 2\nAddress;Address1 1\nTypes 1\nUser 2\nUser;User1 1\nAddress;Address1:NEXT_DELIVERY:Address 1\nUser;User1:KNOWS:User 1"},
	} {
		t.Run(x.name, func(t *testing.T) {
			policy := assemble.Error
			if x.drop {
				policy = assemble.Drop
			}
			got, err := counted(t, stranger(x.name), Options{Missing: x.missing}, policy)
			if err != nil {
				t.Fatal(err)
			}
			if got != x.want {
				t.Errorf("found\n%s\nexpected\n%s", got, x.want)
			}
		})
	}
}

// TestStrangersManifest checks that each file of databases is the one that MANIFEST.md names.
func TestStrangersManifest(t *testing.T) {
	text, err := os.ReadFile(stranger("MANIFEST.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		cell := strings.Split(line, "|")
		if len(cell) < 4 || len(strings.TrimSpace(cell[2])) != 16 {
			continue
		}
		b, err := os.ReadFile(stranger(strings.Trim(cell[1], " `")))
		if err != nil {
			t.Error(err)
			continue
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(b))[:16]; sum != strings.TrimSpace(cell[2]) {
			t.Errorf("%s: found the checksum %s, expected that of the list, %s", cell[1], sum, cell[2])
		}
	}
}

// TestKuzu checks every value that Kùzu and LadybugDB export, as Parquet and as CSV.
func TestKuzu(t *testing.T) {
	const (
		users = `User 3: Adam age=30 born=6.312384e+08 emb=1,2,3 height=1.5 ok=1 seen=1.704164645e+15 tags="a","b" Karis "q", é age=40 born=3.156192e+08 emb=1.5,2.5,3.5 height=1.75 ok=0 seen=1.704164646e+15 tags= Zhang age=50 born=86400 emb=0.5,0.25,0.125 height=2 ok=1 seen=1.704164647e+15 tags="z"`
		rest  = `
Nobody:Nothing:City:
User:Follows:User: 0>2 since=2020 2>0 since=2021
`
		knows = `User:Knows:City: 2>0 w=0.5
User:Knows:User: 2>0 w=1.5
`
		lives = `User:LivesIn:City: 0>1 2>0
`
	)
	keys := "City 2: 7 name=\"Waterloo\" population=150000 5 name=\"Guelph\" population=75000\nNobody 0:\n"
	serial := "City 2: 0 name=\"Waterloo\" population=150000 1 name=\"Guelph\" population=75000\nNobody 0:\n"
	for name, want := range map[string]string{
		"parquet": keys + users + rest + knows + lives,
		"csv":     serial + users + rest + knows + lives,
		"plain":   serial + users + rest + knows + lives,
		"ladybug": keys + users + rest + "User:LivesIn:City: 2>0 0>1\n",
	} {
		got, err := imported(t, stranger("kuzu/"+name), Options{})
		if err != nil {
			t.Error(err)
		} else if got != want {
			t.Errorf("%s: found\n%s\nexpected\n%s", name, got, want)
		}
	}
}

// TestKuzuNulls checks that a null in a list of a fixed length, in Parquet, is an empty cell.
func TestKuzuNulls(t *testing.T) {
	_, err := imported(t, stranger("kuzu/nulls"), Options{})
	if want := `found an empty cell in column "a.emb", expected 3 values`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("found %v, expected %s", err, want)
	}
	got, err := imported(t, stranger("kuzu/nulls"), Options{Missing: []Missing{{"float", "0"}}})
	if want := "emb=0,0,0"; err != nil || !strings.Contains(got, want) {
		t.Errorf("found %s%v, expected %s", got, err, want)
	}
}

// TestKuzuUUIDs checks that UUIDs, which Kùzu and LadybugDB write as 16 bytes in Parquet, are texts, as ids, properties and in lists.
func TestKuzuUUIDs(t *testing.T) {
	const want = `P 3: 00112233-4455-6677-8899-aabbccddeeff n="a" u="ffffffff-ffff-ffff-ffff-ffffffffffff" us="00000000-0000-0000-0000-000000000001"` +
		` 80000000-0000-4000-8000-000000000001 n="b" u="" us= 7fffffff-0000-4000-8000-000000000002 n="c" u="00000000-0000-0000-0000-000000000000" us=` +
		"\nP:K:P: 0>1 u=\"12345678-9abc-def0-1234-56789abcdef0\" w=1 1>2 u=\"\" w=2\n"
	for _, name := range []string{"uuid", "uuid-ladybug"} {
		if got, err := imported(t, stranger("kuzu/"+name), Options{}); err != nil || got != want {
			t.Errorf("%s: found\n%s%v\nexpected\n%s", name, got, err, want)
		}
	}
}

// TestKuzuErrors checks schemas that are cut or wrong.
func TestKuzuErrors(t *testing.T) {
	schema := "CREATE NODE TABLE A (`id` INT64, s STRUCT(x INT64, y STRING), PRIMARY KEY(`id`));\nCREATE REL TABLE R (FROM A TO A, MANY_MANY);\n"
	files := func(changed ...string) map[string]string {
		m := map[string]string{"db/schema.cypher": schema, "db/copy.cypher": "COPY A (id,s) FROM \"A.csv\" ();\nCOPY R FROM \"R.csv\" (from='A', to='A');\n", "db/A.csv": "1,\"{x: 1, y: a}\"\n", "db/R.csv": "1,1\n"}
		for i := 0; i < len(changed); i += 2 {
			m[changed[i]] = changed[i+1]
		}
		return m
	}
	bad := func(name, want string, changed ...string) importCase {
		return importCase{name: name, path: "db", files: files(changed...), fails: true, want: want}
	}
	runImports(t, []importCase{
		{name: "struct", path: "db", files: files(), want: "A 1: 1\nA:R:A: 0>0\nwarning: schema.cypher: columns of these types are left out: A.s (STRUCT(XINT64,YSTRING))"},
		bad("no key", "schema.cypher:1: found a statement that is not read", "db/schema.cypher", "CREATE NODE TABLE A (id INT64);"),
		bad("cut", "schema.cypher:1: found a quote without an end", "db/schema.cypher", "CREATE NODE TABLE `A"),
		bad("no table", "copy.cypher:1: found a statement that is not read", "db/copy.cypher", "COPY B FROM \"A.csv\";"),
		bad("outside", "found the file \"../B.csv\", expected one in the folder", "db/copy.cypher", "COPY A FROM \"../B.csv\";", "B.csv", "1,\"{x: 1, y: a}\"\n"),
		bad("no semicolon", "copy.cypher:2: found COPY within the statement of line 1, expected a semicolon before it", "db/copy.cypher", "COPY A FROM \"A.csv\"\nCOPY R FROM \"R.csv\";"),
		{name: "written elsewhere, with a header that no statement names", path: "db", want: "A 1: 1\nA:R:A: 0>0 w=7", files: files("db/schema.cypher", "CREATE NODE TABLE A (id INT64, PRIMARY KEY(id));\nCREATE REL TABLE R (FROM A TO A, w INT64);\n",
			"db/copy.cypher", "COPY A FROM \"/tmp/there/A.csv\";\nCOPY R FROM 'there/R.csv';\n", "db/A.csv", "ID\n1\n", "db/R.csv", "from,to,w\n1,1,7\n")},
		bad("no file", "found no file B.csv of the table A", "db/copy.cypher", "COPY A FROM \"B.csv\";"),
		bad("no pair", "has no pair from \"A\" to \"B\"", "db/copy.cypher", "COPY A FROM \"A.csv\";\nCOPY R FROM \"R.csv\" (from='A', to='B');"),
		bad("dangling", "R.csv:2:3: found destination \"2\", expected an id of node type A", "db/R.csv", "1,1\n1,2\n"),
	})
}

// TestGraphAr checks the values of the sample of Apache TinkerPop in GraphAr, and folders that are not whole.
func TestGraphAr(t *testing.T) {
	got, err := imported(t, stranger("graphar/modern_graph"), Options{})
	const want = `person 4: age=27 id=2 name="vadas" age=35 id=6 name="peter" age=32 id=4 name="josh" age=29 id=1 name="marko"
software 2: id=3 lang="java" name="lop" id=5 lang="java" name="ripple"
person:created:software: 1>0 weight=0.2 2>1 weight=1 2>0 weight=0.4 3>0 weight=0.4
person:knows:person: 3>0 weight=0.5 3>2 weight=1
`
	if err != nil || got != want {
		t.Errorf("found\n%s%v\nexpected\n%s", got, err, want)
	}
	graph := "name: g\nvertices: [a.yml]\nedges: [e.yml]\n"
	vertex := "type: a\nchunk_size: 2\nprefix: v/\nproperty_groups:\n- file_type: csv\n  properties: [{name: x, data_type: int64}]\n"
	edge := "src_type: a\nedge_type: r\ndst_type: a\nchunk_size: 9\nsrc_chunk_size: 2\ndst_chunk_size: 2\ndirected: false\nprefix: e/\nadj_lists: [{ordered: true, aligned_by: dst, file_type: csv}]\n"
	files := func(changed ...string) map[string]string {
		m := map[string]string{"g/g.graph.yml": graph, "g/a.yml": vertex, "g/e.yml": edge, "g/v/x/chunk0": "x\n7\n8\n", "g/v/x/chunk1": "x\n9\n",
			"g/v/vertex_count": "\x03\x00\x00\x00\x00\x00\x00\x00", "g/e/ordered_by_dest/adj_list/part0/chunk0": "_graphArSrcIndex,_graphArDstIndex\n2,0\n0,1\n"}
		for i := 0; i < len(changed); i += 2 {
			m[changed[i]] = changed[i+1]
		}
		return m
	}
	bad := func(name, want string, changed ...string) importCase {
		return importCase{name: name, path: "g", files: files(changed...), fails: true, want: want}
	}
	runImports(t, []importCase{
		{name: "whole", path: "g/g.graph.yml", files: files(), want: "a 3: x=7 x=8 x=9\na:r:a: 2>0 0>1\nwarning: e.yml: the edges are undirected, and are imported in the one direction that the chunks have; give `Symmetrise` for both"},
		bad("a chunk less", "found 2 chunks in x, expected 3 for 5 vertices", "g/v/vertex_count", "\x05\x00\x00\x00\x00\x00\x00\x00"),
		bad("a row less", "found 3 rows in the chunks, expected 4", "g/v/vertex_count", "\x04\x00\x00\x00\x00\x00\x00\x00"),
		bad("an edge less", "found 2 rows in the chunks, expected 4", "g/e/ordered_by_dest/edge_count0", "\x04\x00\x00\x00\x00\x00\x00\x00"),
		bad("outside", "found the file \"../a.yml\", expected one within the folder", "g/g.graph.yml", "vertices: [../a.yml]\nedges: []\n"),
		bad("prefix outside", "expected one within the folder", "g/a.yml", strings.Replace(vertex, "v/", "../../v/", 1)),
		bad("orc", "found chunks of the type \"orc\", expected parquet or csv; convert each chunk with pyarrow", "g/a.yml", strings.Replace(vertex, "csv", "orc", 1)),
		bad("no list", "found no chunks of any of the 1 lists of edges", "g/e.yml", strings.Replace(edge, "dst, f", "src, f", 1)),
		bad("no type", "expected one that the graph lists", "g/e.yml", strings.Replace(edge, "src_type: a", "src_type: b", 1)),
		bad("dangling", "expected", "g/e/ordered_by_dest/adj_list/part0/chunk0", "_graphArSrcIndex,_graphArDstIndex\n3,0\n"),
	})
}

// TestGraphArLabels checks the labels, the lists and a graph without edges of GraphAr's test data, against the CSV from which its library wrote them: organisation_0_0.csv has 7,955
// rows with 6,380, 1,575 and 10 labels, and person_0_0.csv 1,528 rows with 3,310 addresses.
func TestGraphArLabels(t *testing.T) {
	got, err := imported(t, stranger("graphar/ldbc"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]int{
		"organisation 7955:": 1, "labels.university=1": 6380, "labels.company=1": 1575, "labels.public=1": 10, "labels.public=0": 7945,
		"organisation 7955: labels.company=1 labels.public=1 labels.university=0 labels.company=1 labels.public=0 labels.university=0": 1,
		"person 1528:": 1, `emails="Mahinda933@boarderzone.com","Mahinda933@hotmail.com","Mahinda933@yahoo.com","Mahinda933@zoho.com" emails="Carmen1129@gmail.com","Carmen1129@yahoo.com"`: 1,
		"@": 3310, ` emails="Bruno32985348834100@hotmail.com","Bruno32985348834100@yahoo.com"` + "\n": 1,
	} {
		if n := strings.Count(got, part); n != want {
			t.Errorf("found %d times %q, expected %d", n, part, want)
		}
	}
	read := func(name string) string {
		b, err := os.ReadFile(stranger("graphar/ldbc/vertex/organisation/" + name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	vectors := map[string]string{"g/g.graph.yml": "vertices: [a.yml]\n", "g/a.yml": "type: a\nchunk_size: 9\nprefix: v/\nproperty_groups: [{prefix: p, file_type: parquet, properties: [{name: a.emb, data_type: float, cardinality: list}]}]\n", "g/v/p/chunk0": read("../../../../kuzu/nulls/P.parquet")}
	files := func(changed ...string) map[string]string {
		m := map[string]string{"g/g.graph.yml": "vertices: [a.yml]\nedges:\n", "g/a.yml": "type: a\nchunk_size: 4096\nprefix: v/\nlabels: [company]\n",
			"g/v/labels/chunk0": read("labels/chunk0"), "g/v/labels/chunk1": read("labels/chunk1"), "g/v/vertex_count": read("vertex_count")}
		for i := 0; i < len(changed); i += 2 {
			if m[changed[i]] = changed[i+1]; changed[i+1] == "" {
				delete(m, changed[i])
			}
		}
		return m
	}
	runImports(t, []importCase{
		{name: "vectors with a null", path: "g", files: vectors, opts: Options{Missing: []Missing{{"float", "0"}}}, want: "a 3: a.emb=1,2,3 a.emb=0,0,0 a.emb=0,0,0"},
		{name: "vectors with a null, unsaid", path: "g", files: vectors, fails: true, want: `found an empty cell in column "a.emb", expected 3 values`},
		{name: "no chunks of labels", path: "g", files: files("g/v/labels/chunk0", "", "g/v/labels/chunk1", "", "g/v/vertex_count", "\x02\x00\x00\x00\x00\x00\x00\x00"), want: "a 2:\nwarning: a.yml: found no chunks of the labels company, which are left out"},
		{name: "no labels", path: "g", files: files("g/a.yml", "type: a\nchunk_size: 4096\nprefix: v/\nlabels: []\n", "g/v/vertex_count", "\x02\x00\x00\x00\x00\x00\x00\x00"), want: "a 2:"},
		{name: "a chunk less", path: "g", files: files("g/v/labels/chunk1", ""), fails: true, want: "a.yml: found 1 chunks in labels, expected 2 for 7955 vertices; copy the whole graph"},
		{name: "a label less", path: "g", files: files("g/a.yml", "type: a\nchunk_size: 4096\nprefix: v/\nlabels: [company, no]\n"), fails: true, want: `chunk0: found the columns university, company, public, expected the label "no" among them`},
		{name: "nothing", path: "g", files: files("g/g.graph.yml", "vertices: []\n"), fails: true, want: "g.graph.yml: found no vertices, expected at least one type of them"},
	})
}
