package ingest

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/format/graphjson"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// jsonLook describes the first bytes of a file of JSON: the kind of the first value, and the members of the document with the kinds of their values.
type jsonLook struct {
	list bool // the document is a list; members are those of its first element
	// members are the first bytes of the values of the members; inner has the names of the members of the objects under graph, graphs and elements, and items of
	// those in the list nodes.
	members map[string]byte
	inner   map[string]bool
	items   map[string]bool
	first   string // name of the first member
}

// lookAtJSON reads the first bytes of a document, which may be cut.
func lookAtJSON(text []byte) jsonLook {
	l := jsonLook{members: map[string]byte{}, inner: map[string]bool{}, items: map[string]bool{}}
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return l
	}
	d := json.NewDecoder(bytes.NewReader(text))
	top := 1 // depth of the members
	if l.list = text[0] == '['; l.list {
		top = 2
	}
	// path has, for each open object and array, whether it is an object, and the name under which it is.
	type open struct {
		object bool
		name   string
	}
	var path []open
	key, elements := "", 0
	named := false // key has the name of the value that follows
	for {
		t, err := d.Token()
		if err != nil {
			return l
		}
		depth := len(path)
		isKey := depth > 0 && path[depth-1].object && !named
		delim, isDelim := t.(json.Delim)
		if isDelim && (delim == '}' || delim == ']') {
			if path = path[:depth-1]; len(path) == 1 && l.list || len(path) == 0 {
				return l // the first element says all
			}
			named = false
			continue
		}
		if isKey {
			key, named = t.(string), true
			if depth == top && l.first == "" {
				l.first = key
			}
			if within := depth > top && slices.Contains([]string{"graph", "graphs", "elements"}, path[top].name); within && (depth == top+1 || depth == top+2 && !path[top].object) {
				l.inner[key] = true
			} else if depth == top+2 && path[top].name == "nodes" && !path[top].object {
				l.items[key] = true
			}
			continue
		}
		if depth == top && named {
			l.members[key] = firstOfToken(t)
		}
		if isDelim {
			path = append(path, open{delim == '{', key})
			if len(path) == 2 && l.list {
				if elements++; delim != '{' {
					return l
				}
			}
		}
		named = false
	}
}

// firstOfToken is the first byte of a value: { and [, " for a text, and 0 for others.
func firstOfToken(t json.Token) byte {
	switch v := t.(type) {
	case json.Delim:
		return byte(v)
	case string:
		return '"'
	}
	return 0
}

// graphJSONOf returns the kind of JSON that a file is by its first bytes; nil: none of those with nodes and edges.
func graphJSONOf(fsys vfs.FS, path string) (*graphJSON, error) {
	text, err := head(fsys, path)
	if err != nil {
		return nil, err
	}
	l := lookAtJSON(text)
	is := func(name string, first byte) bool { return l.members[name] == first }
	switch {
	case l.list && l.first == "CXVersion":
		return cx2, nil
	case l.list && l.first == "numberVerification":
		return nil, notImported(path, firstCX, fromFirstCX)
	case l.list && is("data", '{') && (l.first == "data" || l.first == "group"):
		return cytoscapeJS, nil
	case l.list:
		return nil, nil
	case is("elements", '{'), is("elements", '[') && l.inner["data"], is("nodes", '[') && l.items["data"] && !l.items["id"]:
		return cytoscapeJS, nil
	case is("nodes", '['), is("links", '['):
		return nodeLink, nil
	case is("graph", '{') && (l.inner["nodes"] || l.inner["edges"] || l.inner["hyperedges"]), is("graphs", '['), l.first == "graph" && is("graph", '{'):
		return jgf, nil
	}
	return nil, nil
}

// graphSuffix names a graph of a document of JSON Graph Format by its number, from 0: FILE@graph=1.
const graphSuffix = "@graph="

// cutGraph cuts the number of a graph off the path of a file of JSON; -1: there is none.
func cutGraph(path string) (file string, number int, err error) {
	at := strings.LastIndex(path, graphSuffix)
	if at < 0 || !slices.Contains(graphJSONExtensions, table.Extension(path[:at])) {
		return path, -1, nil
	}
	text := path[at+len(graphSuffix):]
	if number, err = strconv.Atoi(text); err != nil || number < 0 {
		return path, -1, usagef("%s: found the graph %.40q, expected its number, from 0; correct it", path[:at], text)
	}
	return path[:at], number, nil
}

// jgfOf reads one of several graphs.
func jgfOf(number int) *graphJSON {
	k := *jgf
	k.read = func(in io.Reader, name string, fn func(*graphjson.Item) error) (graphjson.Header, error) {
		return graphjson.ReadJGFGraph(in, name, number, fn)
	}
	return &k
}
