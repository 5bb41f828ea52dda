package graphjson

import (
	"encoding/json"
	"io"
)

// ReadCytoscape reads a document of Cytoscape.js, as ReadNodeLink does. Its elements are an object with the lists nodes and edges, or one
// list; they are a member of the document, or all of it. The values of data are those of the node or edge; positions, classes and styles
// are not read.
func ReadCytoscape(in io.Reader, name string, fn func(*Item) error) (Header, error) {
	return readDocument(in, name, fn, (*reader).cytoscape)
}

func (r *reader) cytoscape() error {
	t, err := r.token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('['):
		return r.mixedElements()
	case json.Delim('{'):
	default:
		return r.bad("found %.40q, expected an object with elements, or a list of them", t)
	}
	groups := map[string]bool{}
	return r.members(func(key string) error {
		switch key {
		case "elements":
			if r.Nodes || r.Edges {
				return r.bad("found elements twice, expected them once")
			}
			return r.cytoscapeElements()
		case "nodes", "edges":
			if len(groups) == 0 && (r.Nodes || r.Edges) {
				return r.bad("found elements twice, expected them once")
			}
			r.Nodes, r.Edges = true, true
			return r.cytoscapeGroup(key, groups)
		case "directed":
			return r.directed()
		}
		return r.skip()
	})
}

// cytoscapeElements reads elements in groups, or in one list.
func (r *reader) cytoscapeElements() error {
	t, err := r.token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('['):
		return r.mixedElements()
	case json.Delim('{'):
	default:
		return r.bad("found %.40q, expected an object with nodes and edges, or a list of elements", t)
	}
	r.Nodes, r.Edges = true, true // a graph without edges has no list of them
	seen := map[string]bool{}
	return r.members(func(key string) error {
		if key != "nodes" && key != "edges" {
			return r.skip()
		}
		return r.cytoscapeGroup(key, seen)
	})
}

// cytoscapeGroup reads the list of the nodes or edges, which seen does not have yet.
func (r *reader) cytoscapeGroup(group string, seen map[string]bool) error {
	if seen[group] {
		return r.bad("found %s twice, expected one list of them", group)
	}
	seen[group] = true
	if err := r.open('[', "a list of elements"); err != nil {
		return err
	}
	return r.elements(func() error { return r.element(group) })
}

// mixedElements reads the list of elements that is open.
func (r *reader) mixedElements() error {
	r.Nodes, r.Edges = true, true
	return r.elements(func() error { return r.element("") })
}

// element reads an element of a group: nodes or edges. Without a group, it says its own, or it is an edge if it has a source and a target.
func (r *reader) element(group string) error {
	x, err := r.item(group == "edges")
	if err != nil {
		return err
	}
	data := x.Values["data"]
	if data.Kind != Nested || data.raw[0] != '{' {
		return r.bad("found an element without data, expected an object data")
	}
	own := string(x.Values["group"].Text)
	if x.Values, err = r.object(data.raw); err != nil {
		return err
	}
	if group == "" {
		if group = own; group == "" {
			group = "nodes"
			if x.Values["source"].Kind&(String|Integer) != 0 && x.Values["target"].Kind&(String|Integer) != 0 {
				group = "edges"
			}
		}
	}
	if group != "nodes" && group != "edges" {
		return r.bad("found the group %.40q, expected nodes or edges", group)
	}
	x.Edge = group == "edges"
	return r.fn(x)
}
