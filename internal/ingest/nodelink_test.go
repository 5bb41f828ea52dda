package ingest

import (
	"strings"
	"testing"
)

func TestNodeLink(t *testing.T) {
	one := func(text string) map[string]string { return map[string]string{"g.json": text} }
	runImports(t, []importCase{
		{name: "networkx", files: one(`{"directed": false, "graph": {"nodes": [1]}, "nodes": [{"id": "a", "x": 1, "t": ""}, {"x": 2.5, "id": "b", "t": "q"}], "edges": [{"source": "a", "target": "b", "ok": true}]}`), path: "g.json", want: `
_N 2: a t="" x=1 b t="q" x=2.5
_N:_E:_N: 1>0 ok=1 0>1 ok=1`},
		{name: "D3", files: one(`{"links": [{"source": 7, "target": 3, "value": 1}], "nodes": [{"id": 3}, {"id": 7, "pos": [1, 2], "gone": null}]}`), path: "g.json", want: `
_N 2: 3 7
_N:_E:_N: 1>0 value=1
warning: g.json: lists and objects are left out: pos`},
		{name: "ids of both kinds", files: one(`{"nodes": [{"id": 3}, {"id": "x"}], "links": [{"source": "x", "target": 3}]}`), path: "g.json", want: `
_N 2: 3 x
_N:_E:_N: 1>0`},
		{name: "values of both kinds", files: one(`{"nodes": [{"id": "a", "v": 1}, {"id": "b", "v": "x"}], "links": []}`), path: "g.json", want: `
_N 2: a v="1" b v="x"
_N:_E:_N:`},
		{name: "compressed", files: map[string]string{"g.json.gz": gzipped(`{"nodes": [{"id": 0}], "links": [{"source": 0, "target": 0}]}`)}, path: "g.json.gz", want: "_N 1:\n_N:_E:_N: 0>0"},
		{name: "a missing value", files: one("{\"nodes\": [{\"id\": 0, \"x\": 1},\n{\"id\": 1}], \"links\": []}"), path: "g.json", want: `g.json:2: found "" in column "x", expected an integer`, fails: true},
		{name: "no id", files: one("{\"nodes\": [\n{\"name\": 0}], \"links\": []}"), path: "g.json", want: `g.json:2: found no "id" that is a string or an integer`, fails: true},
		{name: "an end that is no value", files: one(`{"nodes": [{"id": 0}], "links": [{"source": {}, "target": 0}]}`), path: "g.json", want: `g.json:1: found no "source"`, fails: true},
		{name: "an edge to no node", files: one(`{"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "b"}]}`), path: "g.json", want: `g.json:1: found destination "b", expected an id`, fails: true},
		{name: "no links", files: one(`{"nodes": []}`), path: "g.json", want: "found no list of nodes, or none of links or edges", fails: true},
		{name: "nodes twice", files: one(`{"nodes": [], "nodes": [], "links": []}`), path: "g.json", want: "found nodes twice", fails: true},
		{name: "a number in the list", files: one(`{"nodes": [1], "links": []}`), path: "g.json", want: `g.json:1: found "1", expected an object`, fails: true},
		{name: "NaN", files: one("{\"nodes\": [\n{\"id\": 1, \"x\": NaN}], \"links\": []}"), path: "g.json", want: "g.json:2: found text that is not JSON (invalid character 'N'", fails: true},
		{name: "cut", files: one(`{"nodes": [{"id": 1}`), path: "g.json", want: "found the end of the file within the document", fails: true},
		{name: "more after it", files: one(`{"nodes": [], "links": []} x`), path: "g.json", want: "found text after the document", fails: true},
		{name: "directed", files: one(`{"nodes": [], "directed": 1, "links": []}`), path: "g.json", want: `found directed "1", expected true or false`, fails: true},
		{name: "a long value", files: one(`{"nodes": [{"id": "` + strings.Repeat("x", 17<<20) + `"}], "links": []}`), path: "g.json", want: "found more than 16777216 bytes in one value", fails: true},
		{name: "other JSON", files: one(`{"a": 1}`), path: "g.json", want: "found the columns a, expected one of", fails: true},
		{name: "a list", files: one(`[{"nodes": []}]`), path: "g.json", want: "found a file of no known format", fails: true},
	})
}

func TestAdjacencyList(t *testing.T) {
	one := func(text string) map[string]string { return map[string]string{"g.adjlist": text} }
	runImports(t, []importCase{
		{name: "names", files: one("# networkx\n# GMT\n\na b  c\nb\tc # and so on\nc\nd\n"), path: "g.adjlist", want: `
_N 4: a b c d
_N:_E:_N: 0>1 0>2 1>2`},
		{name: "symmetrised", files: one("a b\nb b\n"), path: "g.adjlist", opts: Options{Symmetrise: true}, want: `
_N 2: a b
_N:_E:_N: 1>0 0>1 1>1`},
		{name: "a neighbour without a line", files: one("a b\n"), path: "g.adjlist", want: `g.adjlist:1: found destination "b", expected an id of node type _N; add the node, or give`, fails: true},
		{name: "a node twice", files: one("a b\nb\na\n"), path: "g.adjlist", want: `g.adjlist:3: found id "a"`, fails: true},
		{name: "integer ids", files: one("0\n"), path: "g.adjlist", opts: Options{IDs: idsInteger}, want: "the file lists its nodes by name", fails: true},
	})
}
