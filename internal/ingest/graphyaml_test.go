package ingest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestGraphYAML(t *testing.T) {
	files := func(yaml string) map[string]string {
		return map[string]string{
			"graph.yaml":  yaml,
			"paper.csv":   "id,year,venue,topic\np1,2020,v1,0\np2,2021,,1\n",
			"rows.csv":    "id,year\n0,2020\n1,2021\n",
			"venue.csv":   "id,name\nv1,x\nv2,\n",
			"feat.npy":    "f4 2 16",
			"edges.csv":   "src,dst,rel,w\np1,p2,0,.5\np2,p1,1,1\n",
			"writes.csv":  "author,paper,pos\n3,p1,1\n4,p2,2\n",
			"pairs.npy":   "i4 2 2",
			"w.npy":       "f8 2",
			"indptr.npy":  "i8 3",
			"indices.npy": "i8 0",
			"e.txt":       "0 1\n1 0\n",
			"f.csv":       "1,0.5\n2,1\n",
			"y.txt":       "1\n2\n",
			"none.txt":    "",
			"text.npy":    "u1 0",
			"ends.npy":    "i8 3",
			"begin.npy":   "i8 1",
			"floats.npy":  "f8 0",
			"to.npy":      "i8 2",
		}
	}
	ok := func(name, yaml, want string) sourceCase {
		return sourceCase{name: name, files: files(yaml), want: want}
	}
	bad := func(name, yaml, want string) sourceCase {
		return sourceCase{name: name, files: files(yaml), want: want, err: ErrSource}
	}
	run(t, []sourceCase{
		ok("all of it", `
nodes:
  paper: {table: paper.csv, id: id, columns: {year: int64, feat: feat.npy}}
  venue: {table: venue.csv}
  author: {count: 100}
  topic: {}
edges:
  "author:writes:paper": {table: writes.csv, src: author, dst: paper, reverse: written_by, columns: [pos]}
  "paper:cites:paper": {table: edges.csv, where: {rel: 0}}
  "paper:in:venue": {table: paper.csv, dst: venue, reverse: has}
  "paper:about:topic": {table: paper.csv, dst: topic}
`, `
paper paper.csv+feat.npy id:string year:int64 feat:float32[16]
venue venue.csv id:string name:string
author - :uint64 count 100
topic - :uint64
author:writes:paper writes.csv author:uint64>paper:string pos:int64
paper:written_by:author writes.csv paper:string>author:uint64 pos:int64
paper:cites:paper edges.csv src:string>dst:string where rel=0 w:float32
paper:in:venue paper.csv :string>venue:string?
venue:has:paper paper.csv venue:string?>:string
paper:about:topic paper.csv :string>topic:uint64?`),
		ok("row numbers as ids", "nodes: {p: {table: rows.csv}}\nedges: {\"p:e:p\": {table: e.txt, names: [src, dst], symmetrise: true}}", `
p rows.csv id:uint64 year:int64
p:e:p e.txt src:uint64>dst:uint64 symmetrise`),
		ok("no column has the ids", "nodes: {p: {table: rows.csv, id: null}}\nedges: {\"p:e:p\": {table: e.txt, names: [src, dst]}}", `
p rows.csv :uint64 id:int64 year:int64
p:e:p e.txt src:uint64>dst:uint64`),
		ok("keys of foreign columns are no features", "nodes: {p: {table: paper.csv}, v: {}}\nedges: {\"p:e:v\": {table: paper.csv, dst: venue}}", `
p paper.csv id:string year:int64 topic:int64
v - :string
p:e:v paper.csv :string>venue:string?`),
		ok("arrays alone", "nodes: {p: {columns: {feat: {file: feat.npy, dtype: float16}}}}\nedges:\n  \"p:e:p\":\n    table: pairs.npy\n    columns: {w: w.npy}\n  \"p:m:p\": {indptr: indptr.npy, indices: indices.npy}", `
p feat.npy :uint64 feat:float16[16]
p:e:p pairs.npy+w.npy src:uint64>dst:uint64 w:float64
p:m:p indptr.npy+indices.npy src:uint64>dst:uint64`),
		ok("ids, ends, strings and lists in arrays", `
nodes:
  p:
    id: {column: key, dtype: string}
    columns:
      key: {file: text.npy, dtype: string, string_offsets: ends.npy}
      tags: {file: floats.npy, dtype: "float32[]", row_offsets: [ends.npy]}
      words: {file: text.npy, dtype: "string[]", row_offsets: ends.npy, string_offsets: begin.npy}
edges:
  "p:e:p":
    src: from
    dst: to
    columns:
      from: {file: text.npy, dtype: string, string_offsets: ends.npy}
      to: to.npy
      w: w.npy
`, `
p text.npy+ends.npy+floats.npy+begin.npy key:string tags:float32[-1] words:string[-1]
p:e:p text.npy+ends.npy+to.npy+w.npy from:string>to:string w:float64`),
		ok("text without a header", "nodes: {p: {columns: {feat: f.csv, year: {file: y.txt, dtype: int16, empty: 7}}}, q: {table: rows.csv, columns: {year: y.txt}}}\nedges: {\"p:e:p\": {table: e.txt, names: [src, dst], columns: {w: w.npy, feat: f.csv}}}", `
p f.csv+y.txt :uint64 feat:float32[2] year:int16=7!
q y.txt+rows.csv id:uint64 year:int64
p:e:p f.csv+e.txt+w.npy src:uint64>dst:uint64 w:float64 feat:float32[2]`),
		ok("ids as told, fill", "nodes: {v: {table: venue.csv, id: {column: id, dtype: string}, columns: {name: {dtype: string, empty: none}}}, w: {id: {dtype: string}}}\nedges: {\"w:e:w\": {table: pairs.npy}}", `
v venue.csv id:string name:string=none!
w - :string
w:e:w pairs.npy src:string>dst:string`),
		{name: "symmetrise", files: files("nodes: {a: {}, b: {}}\nedges: {\"a:e:b\": {table: e.txt, names: [src, dst]}, \"a:f:a\": {table: pairs.npy}}"), opts: Options{Symmetrise: true}, want: `
a - :uint64
b - :uint64
a:e:b e.txt src:uint64>dst:uint64
a:f:a pairs.npy src:uint64>dst:uint64 symmetrise
b:rev_e:a e.txt dst:uint64>src:uint64`},
		bad("query where none is carried out", "source: sqlite:a.db\nnodes: {p: {query: SELECT 1 AS id}}\nedges: {\"p:e:p\": {table: edges.csv}}", "graph.yaml:2:13: found a query, expected tables of files on a cluster"),
		bad("unknown key", "nodes: {p: {tabel: rows.csv}}", `graph.yaml:1:13: found the key "tabel", expected one of id, count, table, source, query, mark, columns, names, delimiter, header, missing_texts, features; did you mean "table"?`),
		bad("unknown section", "node: {}", `graph.yaml:1:1: found the key "node", expected one of nodes, edges, graphs, missing, dangling_edges, duplicate_nodes, transforms, source, fit, marks; did you mean "nodes"?`),
		bad("key twice", "nodes:\n  p: {}\n  p: {}", "graph.yaml:3:3:"),
		bad("no edges", "nodes: {p: {}}", "found no edges"),
		bad("empty", "", "found no keys, expected nodes and edges"),
		bad("bad YAML", "nodes: {p", "graph.yaml:1:"),
		bad("alias", "nodes: &x {p: {}}\nedges: *x", "found an anchor, alias"),
		bad("missing texts of an array", "nodes: {p: {}}\nedges: {\"p:e:p\": {table: pairs.npy, missing_texts: [NA]}}", "graph.yaml:2:9: found missing_texts of p:e:p without a table of text"),
		bad("missing texts of no table", "nodes: {p: {count: 3, missing_texts: [NA]}}\nedges: {\"p:e:p\": {table: edges.csv}}", "found missing_texts of p without a table of text"),
		bad("missing texts of a query", "source: sqlite:a.db\nnodes: {p: {query: SELECT 1 AS id, missing_texts: [NA]}}\nedges: {\"p:e:p\": {table: edges.csv}}", "write NULLIF(column, 'text') in the query"),
		bad("no missing texts", "nodes: {p: {table: paper.csv, missing_texts: []}}\nedges: {\"p:e:p\": {table: edges.csv}}", "found an empty list"),
		bad("null as a missing text", "nodes: {p: {table: paper.csv, missing_texts: [null]}}\nedges: {\"p:e:p\": {table: edges.csv}}", "write null in quotes"),
		bad("blanks of a missing text", "nodes: {p: {table: paper.csv, missing_texts: [\" -\"]}}\nedges: {\"p:e:p\": {table: edges.csv}}", `found the text " -" in missing_texts, expected one without blanks`),
		bad("a filter for a missing text", "nodes: {p: {}}\nedges: {\"p:e:p\": {table: edges.csv, where: {rel: 0}, missing_texts: [0]}}", `found the value "0" of where among missing_texts`),
		bad("bad edge type", "nodes: {p: {}}\nedges: {cites: {table: edges.csv}}", `graph.yaml:2:9: found edge type "cites", expected src:rel:dst`),
		bad("unknown node type", "nodes: {paper: {}}\nedges: {\"papers:e:paper\": {table: edges.csv}}", `did you mean "paper"?`),
		bad("unknown column", "nodes: {paper: {}}\nedges: {\"paper:e:paper\": {table: edges.csv, columns: {ww: int8}}}", `graph.yaml:2:55: found the column "ww", expected one of src, dst, rel, w; did you mean "w"?`),
		bad("unknown id", "nodes: {p: {table: paper.csv, id: key}}\nedges: {\"p:e:p\": {table: edges.csv}}", `expected "key" among them`),
		bad("unknown filter", "nodes: {p: {}}\nedges: {\"p:e:p\": {table: edges.csv, where: {relation: 0}}}", `found the column "relation" in where`),
		bad("two filters", "nodes: {p: {}}\nedges: {\"p:e:p\": {table: edges.csv, where: {rel: 0, w: 1}}}", "found 2 columns in where"),
		bad("bad dtype", "nodes: {p: {table: paper.csv, columns: {year: int63}}}\nedges: {\"p:e:p\": {table: edges.csv}}", `graph.yaml:1:47: column "year": found dtype "int63"`),
		bad("no table", "nodes: {p: {}}\nedges: {\"p:e:p\": {}}", "found no table of p:e:p"),
		bad("one end", "nodes: {p: {}}\nedges: {\"p:e:p\": {src: w, columns: {w: w.npy}}}", "expected one, or arrays for src and dst among its columns"),
		bad("ids of nothing", "nodes: {p: {id: key, columns: {feat: feat.npy}}}\nedges: {\"p:e:p\": {table: pairs.npy}}", `found an id column of "p", expected a table or an array that has it`),
		bad("offsets without a dtype", "nodes: {p: {columns: {s: {file: text.npy, string_offsets: ends.npy}}}}\nedges: {\"p:e:p\": {table: pairs.npy}}", `found offsets of column "s", expected also its dtype with its shape`),
		bad("offsets of text", "nodes: {p: {columns: {s: {file: y.txt, dtype: \"int64[]\", row_offsets: ends.npy}}}}\nedges: {\"p:e:p\": {table: pairs.npy}}", "and an .npy array as its file"),
		bad("offsets elsewhere", "nodes: {p: {columns: {s: {file: text.npy, dtype: string, string_offsets: ../ends.npy}}}}\nedges: {\"p:e:p\": {table: pairs.npy}}", ".."),
		bad("text of strings", "nodes: {p: {columns: {a: venue.csv}}}\nedges: {\"p:e:p\": {table: pairs.npy}}", `venue.csv: found strings for column "a", expected numbers without a header; put strings into the table`),
		bad("text as strings", "nodes: {p: {columns: {a: {file: y.txt, dtype: string}}}}\nedges: {\"p:e:p\": {table: pairs.npy}}", `y.txt: found strings for column "a"`),
		bad("text of nothing", "nodes: {p: {columns: {a: none.txt}}}\nedges: {\"p:e:p\": {table: pairs.npy}}", "none.txt: found no lines, expected one per row"),
		bad("a file of no column", "nodes: {p: {columns: {a: {file: a.parquet}}}}\nedges: {\"p:e:p\": {table: pairs.npy}}", `found the file "a.parquet", expected an .npy array, an archive .npz with the key array, or numbers as .csv, .tsv or .txt without a header`),
		bad("missing table", "nodes: {p: {}}\nedges: {\"p:e:p\": {table: none.csv}}", "none.csv"),
		bad("out of the folder", "nodes: {p: {}}\nedges: {\"p:e:p\": {table: ../e.csv}}", ".."),
		bad("absolute", "nodes: {p: {}}\nedges: {\"p:e:p\": {table: /etc/e.csv}}", "absolute"),
		bad("symmetrise of two types", "nodes: {p: {}, q: {}}\nedges: {\"p:e:q\": {table: edges.csv, symmetrise: true}}", "found symmetrise between p and q"),
		bad("count and table", "nodes: {p: {table: paper.csv, count: 3}}", "found a count together with a table"),
		bad("reverse twice", "nodes: {p: {}}\nedges: {\"p:e:p\": {table: edges.csv, reverse: e}}", "found edge type p:e:p twice"),
		{name: "rows of arrays", files: files("nodes: {p: {table: venue.csv, columns: {feat: indptr.npy}}}\nedges: {\"p:e:p\": {table: e.txt, names: [src, dst]}}"), want: "indptr.npy: found 3 rows, expected 2, as in", err: table.ErrFormat},
	})
}

// FuzzYAML: any text gives an error or a mapping, never a panic.
func FuzzYAML(f *testing.F) {
	f.Add("nodes: {p: {table: a.csv, missing_texts: [-, \"?\", 0]}}\nedges:\n  \"p:e:p\": {table: e.csv, missing_texts: NA}\n")
	f.Add("nodes: {p: {table: [a.csv, b.csv], id: {column: x, dtype: string}}}\nedges:\n  \"p:e:p\": {table: e.csv, where: {rel: 0}, columns: [w]}\n")
	f.Add("nodes:\n  a: &x\n  b: *x\n? [1, 2]\n: !!str x\n<<: {}\n")
	f.Add("edges: {\"a:b:c\": {columns: {x: {dtype: 'float32[2,3]', empty: .inf, file: |\n  x.npy\n}}}}")
	f.Add("fit: {before: 2024-04-01, by: at}\nnodes: {a: {features: {x: [b, {from: c, clip: [0, 1], encode: hash, dim: 4, words: [1, 2]}], y: {dtype: float16, norm: l2, parts: [{from: d, encode: buckets, edges: [1, 2]}]}, z: {from: e, encode: age, at: 1970-01-01}}}}\nedges: {\"a:e:a\": {table: e.csv}}")
	f.Add("graphs: {}\nnodes: {a: {graph_ptr: p.npy}}\nedges: {\"a:e:a\": {parent: x.npy, ends: local, reverse: up}}")
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			y := yamlfile.File{Path: "graph.yaml", Kind: ErrSource}
			body, err := y.Parse([]byte(text))
			if err != nil {
				return
			}
			top, err := readSections(y, body)
			if err != nil {
				return
			}
			l := &lister{y: y, p: newOpener(vfs.OS, "graph.yaml", Options{}), m: &maker{gaps: newGaps(Options{})}}
			if top, err = l.readMissing(top); err != nil {
				return
			}
			if slices.ContainsFunc(top, func(e yamlfile.Entry) bool { return e.Key == "graphs" }) {
				c := &collectionLister{lister: l}
				if err := c.read(t.Context(), top); err == nil && (len(c.out.Nodes) == 0 || len(c.out.Edges) == 0) {
					t.Fatalf("accepted a collection without nodes or edges: %q", text)
				}
			} else if err := l.read(body, top); err == nil && len(l.edges) == 0 {
				t.Fatalf("accepted a graph without edges: %q", text)
			}
		})
	})
}

// The example of the format's documentation page is read as it is.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/graph-yaml.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n")
	text, _, ok := strings.Cut(text, "```")
	y := yamlfile.File{Path: "graph-yaml.md", Kind: ErrSource}
	body, err := y.Parse([]byte(text))
	l := &lister{y: y}
	if err == nil {
		var top []yamlfile.Entry
		if top, err = readSections(y, body); err == nil {
			err = l.read(body, top)
		}
	}
	if !ok || err != nil || len(l.nodes) != 4 || len(l.edges) != 4 || l.edges[1].where == nil {
		t.Fatalf("%d nodes, %d edges, error %v", len(l.nodes), len(l.edges), err)
	}
}
