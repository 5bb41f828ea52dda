package graphjson

import (
	"encoding/json"
	"io"
)

// ReadJGF reads a document of JSON Graph Format with one graph, as ReadNodeLink does. Nodes are a list, as in version 1, or an object by
// their ids, as in version 2. Nodes have their id in the value id, and edges their ends in source and target. The values of metadata are
// those of the node or edge.
func ReadJGF(in io.Reader, name string, fn func(*Item) error) (Header, error) {
	return readDocument(in, name, fn, (*reader).jgf)
}

// ReadJGFGraph is ReadJGF for the graph with a number, from 0, of a document with several.
func ReadJGFGraph(in io.Reader, name string, number int, fn func(*Item) error) (Header, error) {
	return readDocument(in, name, fn, func(r *reader) error {
		graphs := 0
		if err := r.jgfGraphs(func() error {
			if graphs++; graphs-1 != number {
				return r.skim()
			}
			return r.jgfGraph()
		}); err != nil {
			return err
		}
		if number >= graphs {
			return r.bad("found %d graphs, numbered from 0, expected one of the number %d; correct the number", graphs, number)
		}
		return nil
	})
}

func (r *reader) jgf() error {
	graphs := 0
	return r.jgfGraphs(func() error {
		if graphs++; graphs > 1 {
			return r.bad("found a second graph, expected one; name one by its number, from 0, as FILE@graph=0")
		}
		return r.jgfGraph()
	})
}

// jgfGraphs calls one for each graph, whose object is open.
func (r *reader) jgfGraphs(one func() error) error {
	if err := r.open('{', "an object with a graph"); err != nil {
		return err
	}
	graph := func() error {
		if err := r.open('{', "a graph"); err != nil {
			return err
		}
		return one()
	}
	return r.members(func(key string) error {
		switch key {
		case "graph":
			return graph()
		case "graphs":
			if err := r.open('[', "a list of graphs"); err != nil {
				return err
			}
			return r.elements(graph)
		}
		return r.skip()
	})
}

// skim reads the rest of the object that is open, which may be of any size.
func (r *reader) skim() error {
	for depth := 1; depth > 0; {
		t, err := r.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

// jgfGraph reads the graph whose object is open.
func (r *reader) jgfGraph() error {
	return r.members(func(key string) error {
		switch key {
		case "nodes":
			if r.Nodes {
				return r.bad("found nodes twice, expected them once")
			}
			return r.jgfNodes()
		case "edges":
			if r.Edges {
				return r.bad("found edges twice, expected one list of them")
			}
			return r.items(true, func(x *Item) error {
				if err := r.direction(x, "directed", "true", "false"); err != nil {
					return err
				}
				return r.merge(x, "metadata")
			})
		case "hyperedges":
			return r.bad("found hyperedges, expected edges of two ends; write a node for each hyperedge, and an edge to each of its nodes")
		case "directed":
			return r.directed()
		}
		return r.skip()
	})
}

// jgfNodes reads nodes: a list, or an object by their ids.
func (r *reader) jgfNodes() error {
	metadata := func(x *Item) error { return r.merge(x, "metadata") }
	t, err := r.token()
	if err != nil {
		return err
	}
	r.Nodes = true
	one := func(id string, keyed bool) error {
		x, err := r.item(false)
		if err != nil {
			return err
		}
		if keyed {
			if _, twice := x.Values["id"]; twice {
				return r.bad("found an id in the node %.40q, whose name in the object is its id, expected one of them; remove the id", id)
			}
			x.Values["id"] = Value{Kind: String, Text: []byte(id)}
		}
		if err := metadata(x); err != nil {
			return err
		}
		return r.fn(x)
	}
	switch t {
	case json.Delim('['):
		return r.elements(func() error { return one("", false) })
	case json.Delim('{'):
		return r.members(func(key string) error { return one(key, true) })
	}
	return r.bad("found nodes that are no list and no object, expected nodes")
}
