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
		{name: "an id that is no value", files: one("{\"nodes\": [\n{\"id\": 0.5}], \"links\": []}"), path: "g.json", want: `g.json:2: found no "id" that is a string or an integer`, fails: true},
		{name: "a node without an id", files: one("{\"nodes\": [\n{\"id\": 0},\n{\"name\": \"a\"}], \"links\": []}"), path: "g.json", want: `g.json:3: found no "id" that is a string or an integer`, fails: true},
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
		{name: "a list", files: one(`[1, 2]`), path: "g.json", want: "found a file of no known format", fails: true},
		{name: "a name twice", files: one(`{"nodes": [{"id": 0, "id": 1}], "links": []}`), path: "g.json", want: `g.json:1: found the name "id" twice in the object`, fails: true},
		{name: "graphology", files: one(`{"options": {"type": "undirected", "multi": false}, "attributes": {}, "nodes": [{"key": "x", "attributes": {"v": 1.0}}, {"key": "y", "attributes": {"v": 2}}], "edges": [{"key": "e", "source": "x", "target": "y", "attributes": {"weight": 0.5}}]}`), path: "g.json", want: `
_N 2: x v=1 y v=2
_N:_E:_N: 1>0 key="e" weight=0.5 0>1 key="e" weight=0.5`},
		{name: "edges of both kinds", files: one(`{"options": {"type": "mixed"}, "nodes": [{"key": "x"}], "edges": [{"source": "x", "target": "x"}, {"source": "x", "target": "x", "undirected": true}]}`), path: "g.json", want: "g.json: found 1 directed and 1 undirected edges, expected edges of one kind", fails: true},
		{name: "vis.js", files: one(`{"nodes": [{"id": 7, "label": "a"}, {"id": 9, "label": "b"}], "edges": [{"from": 9, "to": 7}]}`), path: "g.json", want: `
_N 2: 7 label="a" 9 label="b"
_N:_E:_N: 1>0`},
	})
}

// What the ends of edges are, where nodes have no ids, or where ends can be ids and places in the list of nodes.
func TestLinkEnds(t *testing.T) {
	const (
		noted  = "warning: g.json: found numbers as ends of edges that are less than the number of nodes, and ids that are not the places of the nodes: the numbers are read as ids, and not as places in the list of nodes, from 0"
		placed = "warning: g.json: found numbers as ends of edges, and texts as ids of nodes: the numbers are read as places in the list of nodes, from 0"
	)
	var cases []importCase
	for _, c := range []struct{ name, nodes, links, want string }{
		{"places", `{"name": "a", "group": 1}, {"name": "b", "group": 2}`, `{"source": 1, "target": 0, "value": 3}`, "_N 2: group=1 name=\"a\" group=2 name=\"b\"\n_N:_E:_N: 1>0 value=3"},
		{"places without links", `{"x": 1}, {"x": 2}`, ``, "_N 2: x=1 x=2\n_N:_E:_N:"},
		{"nodes without values", `{}, {}`, `{"source": 1, "target": 0}`, "_N 2:\n_N:_E:_N: 1>0"},
		{"no nodes", ``, ``, "_N 0:\n_N:_E:_N:"},
		{"names", `{"name": "a", "x": 1}, {"name": "b", "x": 2}`, `{"source": "b", "target": "a"}`, "_N 2: a x=1 b x=2\n_N:_E:_N: 1>0"},
		{"texts as ids and places as ends, as in networkx 1", `{"id": "a"}, {"id": "b"}`, `{"source": 1, "target": 0}`, "_N 2: id=\"a\" id=\"b\"\n_N:_E:_N: 1>0\n" + placed},
		{"ids that are the places", `{"id": 0}, {"id": 1}`, `{"source": 1, "target": 0}`, "_N 2:\n_N:_E:_N: 1>0"},
		{"ids that could be places", `{"id": 1}, {"id": 0}`, `{"source": 1, "target": 0}`, "_N 2: 1 0\n_N:_E:_N: 0>1\n" + noted},
		{"texts of numbers that could be places", `{"id": "1"}, {"id": "0"}`, `{"source": 1, "target": 0}`, "_N 2: 1 0\n_N:_E:_N: 0>1\n" + noted},
		{"numbers that are no places", `{"id": 7}, {"id": 3}`, `{"source": 7, "target": 3}`, "_N 2: 7 3\n_N:_E:_N: 0>1"},
		{"a place after the last", `{"name": "a"}`, `{"source": 0, "target": 1}`, "error: found destination 1, expected"},
		{"a negative place", `{"name": "a"}`, `{"source": 0, "target": -1}`, "error: expected ids; give each node an id"},
		{"a place after the last, and texts as ids", `{"id": "a"}`, `{"source": 0, "target": 1}`, `error: found source "0", expected an id`},
		{"names that are numbers", `{"name": 1}, {"name": 0}`, `{"source": 1, "target": 0}`, "error: which can be names or places in the list of nodes; give each node an id"},
		{"texts that are no names", `{"label": "a"}`, `{"source": "a", "target": "a"}`, "error: edges whose ends are texts that are no names of nodes"},
		{"ends of both kinds", `{"name": "a"}, {"name": "b"}`, `{"source": "a", "target": 1}`, "error: edges whose ends are texts"},
		{"an id after none", `{"name": "a"}, {"id": "b"}`, ``, "error: g.json:1: found a node with an id after nodes without one"},
		{"links first", ``, `{"source": 0, "target": 0}], "more": [], "nodes": [{"name": "a"}`, "error: found nodes twice"},
	} {
		want, fails := strings.CutPrefix(c.want, "error: ")
		cases = append(cases, importCase{name: c.name, files: map[string]string{"g.json": `{"nodes": [` + c.nodes + `], "links": [` + c.links + "]}"}, path: "g.json", want: want, fails: fails})
	}
	cases = append(cases,
		importCase{name: "string ids and places", files: map[string]string{"g.json": `{"links": [{"source": 0, "target": 0}], "nodes": [{"name": "a"}]}`}, path: "g.json", opts: Options{IDs: idsString}, want: "the ends of its edges are places in the list of nodes", fails: true},
		importCase{name: "links before nodes", files: map[string]string{"g.json": `{"links": [{"source": 0, "target": 0}], "nodes": [{"name": "a"}]}`}, path: "g.json", want: "_N 1: name=\"a\"\n_N:_E:_N: 0>0"})
	runImports(t, cases)
}

// The kinds of JSON with nodes and edges are told apart by their first members, whatever the name of the file is.
func TestGraphJSONKinds(t *testing.T) {
	const (
		jgfText   = `{"graph": {"directed": true, "label": "x", "nodes": {"a": {"label": "A", "metadata": {"x": 1}}, "b": {"label": "B", "metadata": {"x": 2}}}, "edges": [{"source": "b", "target": "a", "relation": "knows", "metadata": {"w": 0.5}}]}}`
		elements  = `"elements": {"nodes": [{"data": {"id": "a", "x": 1}, "position": {"x": 3, "y": 4}}, {"data": {"id": "b", "x": 2}}], "edges": [{"data": {"id": "e", "source": "b", "target": "a"}}]}`
		aspects   = `[{"CXVersion": "2.0"}, {"attributeDeclarations": [{"nodes": {"name": {"d": "string", "a": "n"}}}]}, {"nodes": [{"id": 5, "v": {"n": "a"}}, {"id": 3, "v": {"n": "b"}}]}, {"edges": [{"id": 0, "s": 3, "t": 5}]}, {"status": [{"success": true}]}]`
		asJGF     = "_N 2: a label=\"A\" x=1 b label=\"B\" x=2\n_N:_E:_N: 1>0 relation=\"knows\" w=0.5"
		asElement = "_N 2: a x=1 b x=2\n_N:_E:_N: 1>0 id=\"e\""
		asAspect  = "_N 2: 5 name=\"a\" 3 name=\"b\"\n_N:_E:_N: 1>0"
	)
	one := func(text string) map[string]string { return map[string]string{"g.json": text} }
	runImports(t, []importCase{
		{name: "JGF", files: one(jgfText), path: "g.json", want: asJGF},
		{name: "JGF by its name", files: map[string]string{"g.jgf": jgfText}, path: "g.jgf", want: asJGF},
		{name: "JGF, compressed", files: map[string]string{"g.json.gz": gzipped(jgfText)}, path: "g.json.gz", want: asJGF},
		{name: "a list of one graph", files: one(`{"graphs": [{"nodes": [{"id": "a"}], "edges": [{"source": "a", "target": "a", "directed": false}]}]}`), path: "g.json", want: "_N 1: a\n_N:_E:_N: 0>0"},
		{name: "one of several graphs", files: map[string]string{"g.json": `{"graphs": [{"directed": false, "nodes": {"b": {"x": 1}}, "edges": []}, {"nodes": [{"id": "a"}], "edges": [{"source": "a", "target": "a"}]}]}`}, path: "g.json@graph=1", want: "_N 1: a\n_N:_E:_N: 0>0"},
		{name: "a graph less", files: one(`{"graphs": [{"nodes": {}, "edges": []}]}`), path: "g.json@graph=1", want: "g.json:1: found 1 graphs, numbered from 0, expected one of the number 1", fails: true},
		{name: "no number", files: one(`{"graphs": [{"nodes": {}, "edges": []}]}`), path: "g.json@graph=-1", want: `g.json: found the graph "-1", expected its number, from 0`, fails: true},
		{name: "a number with another kind", files: one(`{"nodes": [], "links": []}`), path: "g.json@graph=0", want: "found the number of a graph with a source of format node-link", fails: true},
		{name: "an undirected graph with a directed edge", files: one(`{"graph": {"directed": false, "nodes": {"a": {}}, "edges": [{"source": "a", "target": "a", "directed": true}, {"source": "a", "target": "a"}]}}`), path: "g.json", want: "found 1 directed and 1 undirected edges", fails: true},
		{name: "numbers of JGF are no places", files: one(`{"graph": {"nodes": {"a": {}, "b": {}}, "edges": [{"source": 1, "target": 0}]}}`), path: "g.json", want: `found source "1", expected an id`, fails: true},
		{name: "hyperedges", files: one(`{"graph": {"nodes": {"a": {}}, "hyperedges": [{"nodes": ["a"]}]}}`), path: "g.json", want: "g.json:1: found hyperedges, expected edges of two ends", fails: true},
		{name: "JGF without edges", files: one(`{"graph": {"nodes": {"a": {}}}}`), path: "g.json", want: "found no list of nodes, or none of links or edges", fails: true},
		{name: "Cytoscape.js", files: one("{" + elements + "}"), path: "g.json", want: asElement},
		{name: "Cytoscape", files: map[string]string{"g.cyjs": `{"format_version": "1.0", "data": {"name": "x"}, ` + elements + "}"}, path: "g.cyjs", want: asElement},
		{name: "Cytoscape.js of networkx", files: one(`{"data": [], "directed": false, "multigraph": false, ` + elements + "}"), path: "g.json", want: "_N 2: a x=1 b x=2\n_N:_E:_N: 1>0 id=\"e\" 0>1 id=\"e\""},
		{name: "a list of elements", files: one(`[{"data": {"id": "a"}}, {"data": {"id": "e", "source": "a", "target": "a"}}]`), path: "g.json", want: "_N 1: a\n_N:_E:_N: 0>0 id=\"e\""},
		{name: "elements as a list", files: one(`{"style": [], "elements": [{"group": "nodes", "data": {"id": "a"}}]}`), path: "g.json", want: "_N 1: a\n_N:_E:_N:"},
		{name: "elements without a name", files: one(`{"nodes": [{"data": {"id": "a"}}], "edges": [{"data": {"id": "e", "source": "a", "target": "a"}}]}`), path: "g.json", want: "_N 1: a\n_N:_E:_N: 0>0 id=\"e\""},
		{name: "elements twice", files: one(`{"nodes": [{"data": {"id": "a"}}], "elements": {"nodes": []}}`), path: "g.json", opts: Options{Format: "cytoscape-js"}, want: "g.json:1: found elements twice, expected them once", fails: true},
		{name: "nodes twice", files: one(`{"nodes": [{"data": {"id": "a"}}], "nodes": []}`), path: "g.json", want: "twice", fails: true},
		{name: "node-link JSON with data", files: one(`{"nodes": [{"id": "a", "data": {"x": 1}}], "links": []}`), path: "g.json", want: "_N 1: a\n_N:_E:_N:\nwarning: g.json: lists and objects are left out: data"},
		{name: "a rule for a column of edges", files: one(`{"nodes": [{"id": "a", "x": 1}], "links": [{"source": "a", "target": "a"}, {"source": "a", "target": "a", "w": 2}]}`), path: "g.json", opts: Options{Missing: []Missing{{"w", "7"}}}, want: "_N 1: a x=1\n_N:_E:_N: 0>0 w=7 0>0 w=2"},
		{name: "CX2", files: map[string]string{"g.cx2": aspects}, path: "g.cx2", want: asAspect},
		{name: "CX2 by its content", files: one(aspects), path: "g.json", want: asAspect},
		{name: "CX", files: map[string]string{"g.cx.json": `[{"numberVerification": [{"longNumber": 281474976710655}]}]`}, path: "g.cx.json", want: "a network of the first version of Cytoscape Exchange (CX), expected a format of graphs or tables; convert it in Python", fails: true},
		{name: "CX by its name", files: map[string]string{"g.cx": `[{"metaData": []}]`}, path: "g.cx", want: "a network of the first version of Cytoscape Exchange (CX), expected a format of graphs or tables; convert it in Python", fails: true},
		{name: "node-link JSON that begins like JGF", files: one(`{"graph": {"nodes": 1, "edges": []}, "nodes": [{"id": "a"}], "links": []}`), path: "g.json", want: "_N 1: a\n_N:_E:_N:"},
		{name: "records with a graph", files: one(`{"src": 0, "dst": 1, "elements": [1, 2]}`), path: "g.json", want: "_N 2:\n_N:_E:_N: 0>1 elements=1,2"},
		{name: "the wrong kind", files: one(aspects), path: "g.json", opts: Options{Format: "jgf"}, want: `g.json:1: found "[", expected "{": an object with a graph`, fails: true},
	})
}

// Lists of records are tables like lines of JSON. An error names the line on which its record starts.
func TestRecords(t *testing.T) {
	one := func(text string) map[string]string { return map[string]string{"g.json": text} }
	runImports(t, []importCase{
		{name: "an array", files: one(`[{"src": 0, "dst": 1, "w": 0.5, "v": [1, 2]}, {"src": 2, "dst": 0, "w": 1, "v": [3, 4]}]`), path: "g.json", want: "_N 3:\n_N:_E:_N: 0>1 v=1,2 w=0.5 2>0 v=3,4 w=1"},
		{name: "texts", files: one("[\n {\"src\": \"a,}\\\"]\", \"dst\": \"b\"\n },\r\n {\"src\": \"b\",\n \"dst\": \"b\"}\n]\n"), path: "g.json", want: "_N 2: a,}\"] b\n_N:_E:_N: 0>1 1>1"},
		{name: "compressed", files: map[string]string{"g.json.gz": gzipped(`[{"src": 0, "dst": 1}]`)}, path: "g.json.gz", want: "_N 2:\n_N:_E:_N: 0>1"},
		{name: "under the name of lines", files: map[string]string{"g.jsonl": ` [ {"src": 0, "dst": 1} ] `}, path: "g.jsonl", want: "_N 2:\n_N:_E:_N: 0>1"},
		{name: "a bad value", files: one("[\n {\"src\": 0,\n  \"dst\": 1},\n\n {\"src\": 0,\n  \"dst\": -1}\n]"), path: "g.json", opts: Options{IDs: idsInteger}, want: `g.json:5:21: found "-1}" in column "dst"`, fails: true},
		{name: "a key twice", files: one(`[{"src": 0, "src": 1}]`), path: "g.json", want: `g.json:1:12: found the key "src" twice`, fails: true},
		{name: "half a character", files: one("[\n{\"src\": \"\\ud800\", \"dst\": \"a\"}]"), path: "g.json", want: "g.json:2:10: found an escape that is no character", fails: true},
		{name: "not UTF-8", files: one("[{\"src\": \"\xff\", \"dst\": \"a\"}]"), path: "g.json", want: "g.json:1:", fails: true},
		{name: "cut", files: one("[{\"src\": 0, \"dst\": 1},\n"), path: "g.json", want: "g.json:2: found the end of the file within a list of records, expected a whole one", fails: true},
		{name: "cut in a record", files: one(`[{"src": 0, "dst": "`), path: "g.json", want: "found the end of the file within a list of records", fails: true},
		{name: "no comma", files: one("[{\"src\": 0, \"dst\": 1}\n{}]"), path: "g.json", want: "g.json:2: found '{', expected a comma, or the end of the list of records", fails: true},
		{name: "a number among them", files: one(`[{"src": 0, "dst": 1}, 2]`), path: "g.json", want: "g.json:1: found '2', expected an object", fails: true},
		{name: "a comma at the end", files: one(`[{"src": 0, "dst": 1},]`), path: "g.json", want: "g.json:1: found ']', expected an object", fails: true},
		{name: "more after it", files: one(`[{"src": 0, "dst": 1}] [`), path: "g.json", want: "found '[' after the list of records, expected the end of the file", fails: true},
		{name: "brackets that do not fit", files: one(`[{"src": 0, "dst": [1}}]`), path: "g.json", want: "g.json:1:21: found", fails: true},
	})
}

// An object of lists by numbers is a table for a graph.yaml, and a graph if the format is named: nothing tells neighbours from features.
func TestListsByNumbers(t *testing.T) {
	one := func(text string) map[string]string { return map[string]string{"g.json": text} }
	lists := `{"0": [5, 7], "1": [2, 3], "12": [7, 5]}`
	runImports(t, []importCase{
		{name: "unnamed", files: one(lists), path: "g.json", want: "g.json: found an object of lists by the numbers of nodes, which can be neighbours or features; give `Format` adjacency-json for neighbours, or name the file in a graph.yaml as a table with the columns id and values", fails: true},
		{name: "features", files: map[string]string{"f.json": lists, "e.csv": "src,dst\n12,0\n", "graph.yaml": "nodes:\n  n: {table: f.json}\nedges:\n  \"n:e:n\": {table: e.csv}\n"}, path: "graph.yaml", want: "n 3: 0 values=5,7 1 values=2,3 12 values=7,5\nn:e:n: 2>0"},
		{name: "neighbours", files: one("{\"0\": [2, 1], \"1\": [],\n\"2\": [0]}"), path: "g.json", opts: Options{Format: "adjacency-json"}, want: "_N 3:\n_N:_E:_N: 0>2 0>1 2>0"},
		{name: "names", files: one(`{"a": ["b", "a"], "b": []}`), path: "g.json", opts: Options{Format: "adjacency-json"}, want: "_N 2: a b\n_N:_E:_N: 0>1 0>0"},
		{name: "a neighbour that is no node", files: one("{\"0\": [0],\n\"1\": [2]}"), path: "g.json", opts: Options{Format: "adjacency-json"}, want: "g.json:2: found destination 2, expected an id", fails: true},
		{name: "a node twice", files: one(`{"0": [], "0": []}`), path: "g.json", opts: Options{Format: "adjacency-json"}, want: "g.json:1: found id 0", fails: true},
		{name: "a neighbour that is no name", files: one(`{"0": [0.5]}`), path: "g.json", opts: Options{Format: "adjacency-json"}, want: `g.json:1: found a neighbour of "0" that is no text and no whole number`, fails: true},
		{name: "no list", files: one(`{"0": 1}`), path: "g.json", opts: Options{Format: "adjacency-json"}, want: `g.json:1: found "1", expected a list`, fails: true},
		{name: "an array", files: one(`[[0]]`), path: "g.json", opts: Options{Format: "adjacency-json"}, want: `g.json:1: found "[", expected "{"`, fails: true},
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
