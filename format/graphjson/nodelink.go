package graphjson

import "io"

// ReadNodeLink reads a document of networkx's node_link_data, of D3 or of graphology, and calls fn for each node and edge, in order.
// name is the name of the file, for errors. The error of fn ends it.
//
// The list of edges has the name links or edges. The values of an object attributes, as graphology writes it, are those of the node or
// edge.
func ReadNodeLink(in io.Reader, name string, fn func(*Item) error) (Header, error) {
	return readDocument(in, name, fn, (*reader).nodeLink)
}

func (r *reader) nodeLink() error {
	if err := r.open('{', "an object with nodes and links"); err != nil {
		return err
	}
	return r.members(func(key string) error {
		switch key {
		case "nodes":
			if r.Nodes {
				return r.bad("found nodes twice, expected one list of them")
			}
			return r.items(false, func(x *Item) error { return r.merge(x, "attributes") })
		case "links", "edges":
			if r.Edges {
				return r.bad("found links or edges twice, expected one list of them")
			}
			return r.items(true, func(x *Item) error {
				if err := r.direction(x, "undirected", "false", "true"); err != nil {
					return err
				}
				return r.merge(x, "attributes")
			})
		case "directed":
			return r.directed()
		case "options":
			return r.options()
		}
		return r.skip()
	})
}

// options reads the options of graphology, which say the type of the graph. Edges of a mixed one are directed unless they say otherwise.
func (r *reader) options() error {
	raw, err := r.value()
	if err != nil || raw[0] != '{' {
		return err
	}
	options, err := r.object(raw)
	if err != nil {
		return err
	}
	switch string(options["type"].Text) {
	case "undirected":
		r.Directed = "false"
	case "directed", "mixed":
		r.Directed = "true"
	}
	return nil
}
