package ingest

import (
	"fmt"
	"strings"
	"testing"
)

const graphMLHead = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="age" attr.type="int"/>
<key id="d1" for="edge" attr.name="weight" attr.type="double"><default>1.5</default></key>
<key id="d2" for="all" attr.name="kind" attr.type="string"/>
<key id="d3" for="node" yfiles.type="nodegraphics"/>
`

func TestGraphML(t *testing.T) {
	one := func(body string) map[string]string {
		return map[string]string{"g.graphml": graphMLHead + body + "\n</graphml>\n"}
	}
	node := `<node id="%s"><data key="d0">%d</data></node>` + "\n"
	ab := fmt.Sprintf(node+node, "a", 3, "b &amp; c", -4)
	bomb := `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><graphml><graph edgedefault="directed"><node id="&b;"/></graph></graphml>`
	runImports(t, []importCase{
		{name: "directed", files: one(`<graph id="G" edgedefault="directed">` + ab + `<edge source="b &amp; c" target="a"><data key="d1"> 2 </data><data key="d2">x&lt;</data></edge><edge id="e" source="a" target="a"/></graph>`), path: "g.graphml", want: `
_N 2: a age=3 kind="" b & c age=-4 kind=""
_N:_E:_N: 1>0 kind="x<" weight=2 0>0 kind="" weight=1.5`},
		{name: "a rule for a column of edges", files: one(`<graph edgedefault="directed">` + ab + `<edge source="a" target="a"><data key="d1">2</data></edge></graph>`), path: "g.graphml", opts: Options{Missing: []Missing{{"weight", "7"}}}, want: `
_N 2: a age=3 kind="" b & c age=-4 kind=""
_N:_E:_N: 0>0 kind="" weight=2`},
		{name: "undirected, edges first, drawings and descriptions", files: one(`<graph edgedefault="undirected"><desc>a <b>graph</b></desc><edge source="a" target="b &amp; c"/>` + ab + `<node id="z"><desc>d</desc><data key="d3"><y:Shape xmlns:y="y"><y:Fill/></y:Shape></data><data key="d0">7</data></node></graph>`), path: "g.graphml", want: `
_N 3: a age=3 kind="" b & c age=-4 kind="" z age=7 kind=""
_N:_E:_N: 1>0 kind="" weight=1.5 0>1 kind="" weight=1.5`},
		{name: "integer ids", files: one(`<graph edgedefault="directed"><node id="5"><data key="d0">1</data></node><edge source="5" target="5"/></graph>`), path: "g.graphml", opts: Options{IDs: idsInteger}, want: `
_N 1: 5 age=1 kind=""
_N:_E:_N: 0>0 kind="" weight=1.5`},
		{name: "keys of one name", files: map[string]string{"g.graphml": `<graphml><key id="a" for="node" attr.name="x" attr.type="long"/><key id="b" for="node" attr.name="x" attr.type="double"/><graph edgedefault="directed"><node id="n"><data key="a">1</data></node><node id="m"><data key="b">.5</data></node></graph></graphml>`}, path: "g.graphml", want: `
_N 2: n x=1 m x=0.5
_N:_E:_N:`},
		{name: "compressed", files: map[string]string{"g.graphml.gz": gzipped(`<graphml><graph edgedefault="directed"><node id="n"/></graph></graphml>`)}, path: "g.graphml.gz", want: "_N 1: n\n_N:_E:_N:"},
		{name: "entities", files: map[string]string{"g.graphml": bomb}, path: "g.graphml", want: "g.graphml:1: found a document type with declarations, expected none", fails: true},
		{name: "an unknown entity", files: one(`<graph edgedefault="directed"><node id="&x;"/></graph>`), path: "g.graphml", want: "g.graphml:7: found markup that is not XML (invalid character entity &x;)", fails: true},
		{name: "a missing value", files: one("<graph edgedefault=\"directed\">\n<node id=\"a\"/></graph>"), path: "g.graphml", want: `g.graphml:8: found "" in column "age", expected an integer from -2147483648 to 2147483647; fill the cell`, fails: true},
		{name: "a number out of range", files: one(`<graph edgedefault="directed">` + fmt.Sprintf(node, "a", 5_000_000_000) + `</graph>`), path: "g.graphml", want: `g.graphml:7: found "5000000000" in column "age"`, fails: true},
		{name: "a nested graph", files: one(`<graph edgedefault="directed"><node id="a"><graph edgedefault="directed"/></node></graph>`), path: "g.graphml", want: "g.graphml:7: found <graph>, expected one graph that is in no other", fails: true},
		{name: "two graphs", files: one(`<graph edgedefault="directed"></graph>` + "\n" + `<graph edgedefault="directed"></graph>`), path: "g.graphml", want: "g.graphml:8: found <graph>, expected one graph", fails: true},
		{name: "a hyperedge", files: one(`<graph edgedefault="directed"><hyperedge/></graph>`), path: "g.graphml", want: "found <hyperedge>, expected edges between two nodes", fails: true},
		{name: "a port", files: one(`<graph edgedefault="directed"><node id="a"><port name="p"/></node></graph>`), path: "g.graphml", want: "found <port>", fails: true},
		{name: "both kinds of edges", files: one(`<graph edgedefault="directed">` + ab + `<edge source="a" target="a" directed="false"/></graph>`), path: "g.graphml", want: "g.graphml:9: found an edge that is directed or not, unlike the others", fails: true},
		{name: "an edge to no node", files: one(`<graph edgedefault="directed">` + ab + `<edge source="a" target="q"/></graph>`), path: "g.graphml", want: `g.graphml:9: found destination "q", expected an id of node type _N`, fails: true},
		{name: "a node twice", files: one(`<graph edgedefault="directed">` + ab + ab + `</graph>`), path: "g.graphml", want: `found id "a"`, fails: true},
		{name: "no target", files: one(`<graph edgedefault="directed"><edge source="a"/></graph>`), path: "g.graphml", want: `g.graphml:7: found an edge from "a" to "", expected`, fails: true},
		{name: "an unknown key", files: one(`<graph edgedefault="directed"><node id="a"><data key="d9">1</data></node></graph>`), path: "g.graphml", want: `g.graphml:7: found data of the key "d9"`, fails: true},
		{name: "markup in a value", files: one(`<graph edgedefault="directed"><node id="a"><data key="d0"><b/></data></node></graph>`), path: "g.graphml", want: "found <b> in data, expected text", fails: true},
		{name: "no edgedefault", files: one(`<graph></graph>`), path: "g.graphml", want: `found edgedefault "", expected directed or undirected`, fails: true},
		{name: "cut", files: map[string]string{"g.graphml": graphMLHead + `<graph edgedefault="directed"><node id="a">`}, path: "g.graphml", want: "g.graphml:7: found markup that is not XML (unexpected EOF)", fails: true},
		{name: "no XML", files: map[string]string{"g.graphml": "hello"}, path: "g.graphml", want: "g.graphml:1: found the text \"hello\"", fails: true},
		{name: "another document", files: map[string]string{"g.graphml": "<gexf/>"}, path: "g.graphml", want: "g.graphml:1: found <gexf>, expected <graphml>", fails: true},
		{name: "too deep", files: one(`<graph edgedefault="directed"><desc>` + strings.Repeat("<a>", 100) + `</graph>`), path: "g.graphml", want: "more than 64 deep", fails: true},
		{name: "a long text", files: one(`<graph edgedefault="directed"><desc>` + strings.Repeat("x", 17<<20) + `</desc></graph>`), path: "g.graphml", want: "found more than 4194304 bytes in one piece of markup or text", fails: true},
		{name: "many attributes", files: one(`<graph edgedefault="directed"><node id="a" ` + strings.Repeat(`x="" `, 250_000) + `/></graph>`), path: "g.graphml", want: "found more than 1048576 bytes in one piece of markup or text", fails: true},
		{name: "many keys", files: one(manyKeys(10_001) + `<graph edgedefault="directed"></graph>`), path: "g.graphml", want: "found more than 10000 keys, expected fewer", fails: true},
	})
}

// manyKeys declares keys of nodes.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `<key id="k%d" for="node" attr.name="a%d" attr.type="int"/>`, i, i)
	}
	return b.String()
}
