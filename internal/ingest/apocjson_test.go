package ingest

import "testing"

const apocLines = `{"type":"node","id":"0","labels":["User","Admin"],"properties":{"born":"2015-07-04T19:32:24","name":"Adam","kids":["Sam","Anna \"x\"","it's"],"age":42,"male":true,"place":{"crs":"wgs-84"}}}
{"type":"node","id":"1","labels":["User"],"properties":{"name":"Jim","age":42}}
{"type":"node","id":"2","labels":["User"],"properties":{"age":12,"name":"é"}}
{"id":"0","type":"relationship","label":"KNOWS","properties":{"since":1993,"w":0.5},"start":{"id":"0","labels":["User","Admin"]},"end":{"id":"1","labels":["User"]}}
{"id":"1","type":"relationship","label":"KNOWS","properties":{"since":1994},"start":{"id":"2","labels":["User"]},"end":{"id":"1","labels":["User"]}}
`

const apocStore = `
Admin;User 1: 0 age=42 born=1.436038344e+09 kids="Sam","Anna \"x\"","it's" male=1 name="Adam"
User 2: 1 age=42 name="Jim" 2 age=12 name="é"
Admin;User:KNOWS:User: 0>0 since=1993 w=0.5
User:KNOWS:User: 1>0 since=1994
warning: x.json: objects and lists of several kinds are left out: place
`

// TestAPOCJSON checks the forms of APOC's and Memgraph's JSON.
func TestAPOCJSON(t *testing.T) {
	runImports(t, []importCase{
		{name: "lines", path: "x.json", files: map[string]string{"x.json": apocLines}, want: apocStore},
		{name: "list", path: "x.json", files: map[string]string{"x.json": `[
{"id": 114, "labels": ["Person"], "properties": {"name": "Anna"}, "type": "node"},
{"id": 115, "labels": ["Dog"], "properties": {"name": "Rex"}, "type": "node"},
{"end": 115, "id": 21, "label": "LOVES", "properties": {}, "start": 114, "type": "relationship"},
{"end": 114, "id": 22, "label": "LOVES", "properties": {"x": 1.5}, "start": 115, "type": "relationship"}]
`}, want: `
Dog 1: 115 name="Rex"
Person 1: 114 name="Anna"
Dog:LOVES:Person: 0>0 x=1.5
Person:LOVES:Dog: 0>0`},
		{name: "no end", path: "x.json", files: map[string]string{"x.json": `{"type":"node","id":"0","labels":["A"]}
{"type":"node","id":"1","labels":["B"]}
{"type":"relationship","label":"X","start":{"id":"0"},"end":{"id":"2"}}
`}, fails: true, want: `x.json:3: found destination "2"`},
		{name: "two types", path: "x.json", files: map[string]string{"x.json": `{"type":"node","id":"0","labels":["A"]}
{"type":"node","id":"0","labels":["B"]}
{"type":"relationship","label":"X","start":{"id":"0"},"end":{"id":"2"}}
`}, fails: true, want: `x.json:2: found the id "0" of the labels B, and of A in another row`},
		{name: "relationships alone", path: "x.json", files: map[string]string{"x.json": `{"type":"relationship","label":"X","start":{"id":"5","labels":["A"]},"end":{"id":"2","labels":["B"]}}
`}, want: `
A 1: 5
B 1: 2
A:X:B: 0>0
warning: x.json: found no node with the labels A: its nodes are those that edges have
warning: x.json: found no node with the labels B: its nodes are those that edges have`},
		{name: "two sets of labels", path: "x.json", files: map[string]string{"x.json": `{"type":"node","id":"0","labels":["U"]}
{"type":"node","id":"0","labels":["V"]}
{"type":"relationship","label":"K","start":{"id":"0","labels":["V"]},"end":{"id":"0","labels":["U"]}}
`}, fails: true, want: `x.json:2: found the id "0" of the labels V, and of U in another row`},
		{name: "an end with other labels", path: "x.json", files: map[string]string{"x.json": `{"type":"node","id":"0","labels":["U"]}
{"type":"relationship","label":"K","start":{"id":"0","labels":["U"]},"end":{"id":"0","labels":["V"]}}
`}, fails: true, want: `x.json:2: found the id "0" of the labels V, and of U in another row`},
		{name: "a label of several", path: "x.json", files: map[string]string{"x.json": `{"type":"node","id":"0","labels":["A;B"]}
`}, fails: true, want: `x.json:1: found the label "A;B", expected one without ';'`},
		{name: "the label of none", path: "x.json", files: map[string]string{"x.json": `{"type":"relationship","label":"K","start":{"id":"0","labels":["U"]},"end":{"id":"0","labels":["_N"]}}
`}, fails: true, want: `x.json:1: found the label "_N", which is the node type of nodes without labels`},
		{name: "a property without a name", path: "x.json", files: map[string]string{"x.json": `{"type":"node","id":"0","labels":["U"],"properties":{"":1}}
`}, fails: true, want: "x.json:1: found a property without a name"},
		{name: "one document", path: "x.json", files: map[string]string{"x.json": `{"nodes":[{"type":"node","id":"0","labels":["U"]}],"rels":[]}
`}, fails: true, want: "x.json: found the lists nodes and rels of APOC, expected a record on each line; export it as JSON lines"},
		{name: "cut", path: "x.json", files: map[string]string{"x.json": apocLines[:len(apocLines)-20]}, fails: true, want: "x.json:5: found the end of the file within the document"},
	})
}
