package graphjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// readFunc is a function that reads a kind of document.
type readFunc func(in io.Reader, name string, fn func(*Item) error) (Header, error)

// dump reads a document into lines.
func dump(read readFunc, text string, small bool) (lines []string, h Header, err error) {
	in := strings.NewReader(text)
	add := func(x *Item) error {
		var values []string
		for name, v := range x.Values {
			values = append(values, fmt.Sprintf("%s:%d:%s", name, v.Kind, v.Text))
		}
		slices.Sort(values)
		lines = append(lines, strings.TrimSuffix(fmt.Sprint(x.Line, x.Edge, values, x.Directed), " "))
		return nil
	}
	if small {
		h, err = read(iotest.OneByteReader(in), "g.json", add)
	} else {
		h, err = read(in, "g.json", add)
	}
	return lines, h, err
}

func TestRead(t *testing.T) {
	text := "{\"x\": [[1]], \"directed\": true,\n\"nodes\": [\n{\"id\": \"a\\u00e9\", \"n\": null},\n\n{\"id\": -1.5e3, \"l\": []}],\n\"edges\": [{\"source\": 1, \"target\": 2, \"b\": false}]}\n"
	want := []string{"3 false [id:16:aé n:1:]", "5 false [id:8:-1.5e3 l:32:]", "6 true [b:2:false source:4:1 target:4:2]"}
	for _, small := range []bool{false, true} {
		got, h, err := dump(ReadNodeLink, text, small)
		if err != nil || !slices.Equal(got, want) || h != (Header{"true", true, true}) {
			t.Errorf("found %q, %+v, %v, expected %q", got, h, err, want)
		}
	}
	stop := errors.New("stop")
	if _, err := ReadNodeLink(strings.NewReader(text), "g", func(*Item) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("found %v, expected the error of the function", err)
	}
	if _, err := ReadNodeLink(iotest.ErrReader(stop), "g", nil); !errors.Is(err, stop) || errors.Is(err, ErrFormat) {
		t.Errorf("found %v, expected the error of the file", err)
	}
}

// Text that the decoder would change is an error with its line: a byte that is not UTF-8, and half a surrogate pair.
func TestEncoding(t *testing.T) {
	item := func(id string) string {
		return "{\"a\": 1,\n\"nodes\": [{\"id\": \"é\"},\n{\"id\": \"" + id + "\"}],\n\"links\": []}"
	}
	for _, c := range []struct{ text, want string }{
		{item("a\xff"), "g.json:3: found the byte 0xff, expected UTF-8; convert the file, for example with iconv -f latin1 -t utf8 FILE"},
		{item("\xe4\xb8"), "g.json:3: found the byte 0xe4"},
		{item("\xed\xa0\x80"), "g.json:3: found the byte 0xed"},
		{item(`\ud800`), "g.json:3: found an escape that is half a character"},
		{item(`\udc00\ud800`), "g.json:3: found an escape that is half a character"},
		{item(`\ud83d\ude00\\ud800 \ufffd�`), ""},
		{"{\"nodes\": [], \"links\": [], \"\xc3", "g.json:1: found the byte 0xc3"},
		{"{\"nodes\": [], \"links\": [], \"graph\":\n {\"name\": \"\xff\"}}", "g.json:2: found the byte 0xff"},
	} {
		for _, small := range []bool{false, true} {
			_, _, err := dump(ReadNodeLink, c.text, small)
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), c.want)) {
				t.Errorf("%q: found %v, expected %q", c.text, err, c.want)
			}
		}
	}
}

// fuzzRead checks that no text makes a reader panic, and that what is read does not depend on how the bytes come.
func fuzzRead(f *testing.F, read readFunc, examples ...string) {
	for _, text := range examples {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			a, h, err := dump(read, text, false)
			b, k, again := dump(read, text, true)
			if !slices.Equal(a, b) || err == nil && h != k || (err == nil) != (again == nil) || err != nil && !errors.Is(err, ErrFormat) {
				t.Errorf("found %q, %+v, %v, and byte by byte %q, %+v, %v", a, h, err, b, k, again)
			}
		})
	})
}

func FuzzNodeLink(f *testing.F) {
	fuzzRead(f, ReadNodeLink,
		`{"directed": true, "nodes": [{"id": "a", "x": 1.5}], "links": [{"source": "a", "target": "a", "l": [{}]}]}`,
		"{\"nodes\": [\n{\"id\": 1},\n{\"id\": null}], \"edges\": [",
		`{"nodes": {}}`, `{"nodes": [null]}`, `[]`,
		"{\"nodes\": [{\"id\": \"a\xff\"}, {\"id\": \"\\ud800\"}], \"links\": []}",
		`{"options": {"type": "mixed"}, "nodes": [{"key": "a", "attributes": {"x": 1}}], "edges": [{"source": "a", "target": "a", "undirected": true}]}`)
}

// The members of an object are those that encoding/json finds, each as often as it is there.
func TestEachMember(t *testing.T) {
	for _, text := range []string{
		`{}`, "{ \n}", `{"a":1}`, "{\t\"a\" :\r\n -1.5e3 ,\"b\":[1, {\"c\": \"]\\\"}\"}] , \"\\u00e9\\\\\" :null,\"\":true\n}", `{"a": {"b": {}}, "c": "", "d": "x\\"}`,
	} {
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		got := map[string]json.RawMessage{}
		if err := eachMember([]byte(text), func(name string, value json.RawMessage) error {
			got[name] = value
			return nil
		}); err != nil || !maps.EqualFunc(got, want, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Errorf("%s: found %s, %v, expected %s", text, got, err, want)
		}
	}
}

func FuzzJGF(f *testing.F) {
	fuzzRead(f, ReadJGF,
		`{"graph": {"directed": false, "nodes": {"a": {"label": "A", "metadata": {"x": 1}}}, "edges": [{"source": "a", "target": "a", "relation": "r", "directed": true}]}}`,
		`{"graphs": [{"nodes": [{"id": "a", "metadata": null}], "edges": []}, {}]}`,
		`{"graph": {"hyperedges": []}}`, `{"graph": {"nodes": {"\ud800": {}}}}`)
}

func FuzzJGFGraph(f *testing.F) {
	fuzzRead(f, func(in io.Reader, name string, fn func(*Item) error) (Header, error) {
		return ReadJGFGraph(in, name, 1, fn)
	},
		`{"graphs": [{"nodes": [{"id": "b"}], "x": [{}, [1]]}, {"nodes": [{"id": "a"}], "edges": []}, {}]}`, `{"graph": {}, "graphs": [{"nodes": {}}]}`, `{"graphs": [{"a": [}]}`)
}

func FuzzCytoscape(f *testing.F) {
	fuzzRead(f, ReadCytoscape,
		`{"elements": {"nodes": [{"data": {"id": "a", "x": 1}, "position": {"x": 0}}], "edges": [{"data": {"source": "a", "target": "a"}}]}, "directed": false}`,
		`[{"group": "nodes", "data": {"id": 1}}, {"data": {"source": 1, "target": 1}}]`, `{"elements": [{}]}`)
}

func FuzzCX2(f *testing.F) {
	fuzzRead(f, ReadCX2,
		`[{"CXVersion": "2.0"}, {"attributeDeclarations": [{"nodes": {"name": {"d": "string", "a": "n", "v": "?"}, "w": {"d": "double"}}}]}, {"nodes": [{"id": 0, "x": 1, "v": {"n": "a", "w": 1}}]}, {"edges": [{"id": 0, "s": 0, "t": 0}]}, {"status": [{"success": true}]}]`,
		`[{"CXVersion": "2.0"}, {"nodes": [{}]}, {"status": [{"success": false, "error": "x"}]}]`)
}

// No text makes the reader panic.
func FuzzLists(f *testing.F) {
	f.Add(`{"0": [1, 2], "a": ["b"], "c": []}`)
	f.Add(`{"0": [[1]], "1": 2}`)
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			if err := ReadLists(strings.NewReader(text), "g.json", func(int, string, []Value) error { return nil }); err != nil && !errors.Is(err, ErrFormat) {
				t.Errorf("found %v", err)
			}
		})
	})
}

// The relatives of node-link JSON have their ids and ends under the names of node-link JSON, and the values of inner objects beside them.
func TestRelatives(t *testing.T) {
	for _, c := range []struct {
		name string
		read readFunc
		text string
		want string // lines and the header, or the error
	}{
		{"graphology", ReadNodeLink, `{"options": {"type": "mixed"}, "nodes": [{"key": "1", "attributes": {"v": 10.0}}], "edges": [{"source": "1", "target": "1", "undirected": true, "attributes": {"w": 2}}, {"source": "1", "target": "1"}]}`,
			"[1 false [key:16:1 v:8:10.0] 1 true [source:16:1 target:16:1 w:4:2]false 1 true [source:16:1 target:16:1]] {true true true}"},
		{"a name twice", ReadNodeLink, `{"nodes": [{"id": 1, "a": {"x": 1, "x:": 2}, "id": 2}], "links": []}`, `g.json:1: found the name "id" twice in the object`},
		{"JGF 2", ReadJGF, "{\"graph\": {\"directed\": false, \"nodes\": {\n\"a\": {\"label\": \"A\", \"metadata\": {\"x\": 1}},\n\"b\": {}}, \"edges\": [{\"source\": \"a\", \"target\": \"b\", \"relation\": \"r\", \"directed\": true, \"metadata\": {\"w\": 0.5}}]}}",
			"[2 false [id:16:a label:16:A x:4:1] 3 false [id:16:b] 3 true [relation:16:r source:16:a target:16:b w:8:0.5]true] {false true true}"},
		{"JGF 1", ReadJGF, `{"graphs": [{"label": "x", "nodes": [{"id": "a", "metadata": null}], "edges": []}]}`, "[1 false [id:16:a]] { true true}"},
		{"graphs", ReadJGF, `{"graphs": [{"nodes": []}, {"nodes": []}]}`, "g.json:1: found a second graph, expected one; name one by its number, from 0, as FILE@graph=0"},
		{"hyperedges", ReadJGF, `{"graph": {"nodes": {}, "hyperedges": []}}`, "g.json:1: found hyperedges"},
		{"a label twice", ReadJGF, `{"graph": {"nodes": {"a": {"label": "A", "metadata": {"label": "B"}}}}}`, `g.json:1: found "label" in metadata and beside it`},
		{"an id in a node of an object", ReadJGF, `{"graph": {"nodes": {"a": {"id": "A"}}}}`, `found an id in the node "a"`},
		{"half a character in a name", ReadJGF, `{"graph": {"nodes": {"\ud800": {}}}}`, "with U+FFFD"},
		{"nodes that are a text", ReadJGF, `{"graph": {"nodes": "x"}}`, "found nodes that are no list and no object"},
		{"Cytoscape.js in groups", ReadCytoscape, `{"data": {"name": "x"}, "directed": false, "elements": {"nodes": [{"data": {"id": "a", "x": 1}, "position": {"x": 5}}], "edges": [{"data": {"id": "e", "source": "a", "target": "a"}}]}}`,
			"[1 false [id:16:a x:4:1] 1 true [id:16:e source:16:a target:16:a]] {false true true}"},
		{"Cytoscape.js as a list", ReadCytoscape, `[{"group": "nodes", "data": {"id": "a", "source": "b"}}, {"data": {"source": "a", "target": "a"}}, {"data": {"id": "b", "source": null}}]`,
			"[1 false [id:16:a source:16:b] 1 true [source:16:a target:16:a] 1 false [id:16:b source:1:]] { true true}"},
		{"elements as a list", ReadCytoscape, `{"elements": [{"data": {"id": "a"}}]}`, "[1 false [id:16:a]] { true true}"},
		{"no data", ReadCytoscape, `{"elements": {"nodes": [{"id": "a"}]}}`, "found an element without data"},
		{"an unknown group", ReadCytoscape, `[{"group": "x", "data": {}}]`, `found the group "x"`},
		{"CX2", ReadCX2, `[{"CXVersion": "2.0", "hasFragments": true}, {"metaData": []}, {"attributeDeclarations": [{"nodes": {"name": {"d": "string", "a": "n"}, "w": {"d": "double", "v": 7}, "c": {}}, "edges": {"i": {"v": "is", "a": "x"}}}]},
{"nodes": [{"id": 0, "x": 1.5, "v": {"n": "a", "w": 1}}]}, {"edges": [{"id": 9, "s": 0, "t": 1, "v": {"x": "has"}}, {"id": 8, "s": 1, "t": 0}]}, {"nodes": [{"id": 1, "v": {"n": "b", "c": true}}]}, {"visualProperties": []}, {"status": [{"success": true}]}]`,
			"[2 false [id:4:0 name:16:a w:8:1] 2 true [i:16:has source:4:0 target:4:1] 2 true [i:16:is source:4:1 target:4:0] 2 false [c:2:true id:4:1 name:16:b w:8:7]] { true true}"},
		{"CX2 that failed", ReadCX2, `[{"CXVersion": "2.0"}, {"nodes": []}, {"status": [{"success": false, "error": "disk"}]}]`, "found the status of a file that was not written to its end (disk)"},
		{"another version of CX", ReadCX2, `[{"CXVersion": "3.0"}]`, `found the version "3.0", expected "2.0"`},
		{"declarations too late", ReadCX2, `[{"CXVersion": "2.0"}, {"nodes": []}, {"attributeDeclarations": []}]`, "found attributeDeclarations after nodes or edges"},
		{"an attribute with the name of an id", ReadCX2, `[{"CXVersion": "2.0"}, {"nodes": [{"id": 1, "v": {"id": 2}}]}]`, `found an attribute with the name "id" twice, or the name of an id`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, small := range []bool{false, true} {
				lines, h, err := dump(c.read, c.text, small)
				got := fmt.Sprintf("%v %v", lines, h)
				if err != nil {
					got = err.Error()
				}
				if got != c.want && (err == nil || !errors.Is(err, ErrFormat) || !strings.Contains(got, c.want)) {
					t.Errorf("found\n%s\nexpected\n%s", got, c.want)
				}
			}
		})
	}
}

// An error of the input ends the reading, also where the bytes that came with it are a whole document.
func TestErrorWithBytes(t *testing.T) {
	failure := errors.New("input/output error")
	in := fuzzing.FailOnce(strings.NewReader(`{"nodes": [{"id": 1}], "links": []}`), failure)
	if _, err := ReadNodeLink(in, "g.json", func(*Item) error { return nil }); !errors.Is(err, failure) {
		t.Errorf("found %v, expected %v", err, failure)
	}
}

// FuzzRecords reads any text as nodes and relationships. Records that are read from a part of the lines are also read from all lines.
func FuzzRecords(f *testing.F) {
	f.Add(`{"type":"node","id":"0","labels":["A"],"properties":{"x":[1,"a"],"y":null}}
{"type":"relationship","label":"R","start":{"id":"0","labels":["A"]},"end":{"id":1}}`)
	f.Add(`[{"type":"node","id":0},{"type":"relationship","label":"R","start":0,"end":0,"properties":{"w":1.5}}]`)
	f.Add(`{"nodes":[{"type":"node","id":0}],"rels":[]}`)
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			err := ReadRecords(strings.NewReader(text), "x.json", func(x *Record) error {
				for _, v := range x.Values {
					for _, e := range v.Elements() {
						_ = e.Elements()
					}
				}
				return nil
			})
			if err != nil && !errors.Is(err, ErrFormat) {
				t.Fatalf("found %v, expected an error about the document", err)
			}
		})
	})
}
