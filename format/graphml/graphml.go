package graphml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/tagged"
)

const (
	maxToken = 16 << 20 // bytes of a text
	// Bytes of a piece of markup, and of a piece of what is passed over. An attribute takes ten times its bytes.
	maxMarkup  = 1 << 20
	maxSkipped = 4 << 20
	maxDepth   = 64 // of elements within each other
)

// ErrFormat is the kind of errors about the content of a document.
var ErrFormat = errors.New("bad GraphML")

// Key declares a value of nodes or edges.
type Key struct {
	ID         string
	Node, Edge bool   // what has the value
	Name       string // attr.name
	Type       string // attr.type: boolean, int, long, float, double or string
	// Default is the value of nodes and edges without one. It is nil if there is none.
	Default []byte
}

// types are the values of attr.type.
var types = []string{"boolean", "int", "long", "float", "double", "string"}

// Header is what comes before the nodes and edges.
type Header struct {
	Keys     []Key
	Directed bool // the default of edges
}

// Item is a node or an edge. It is valid until the next call of Next.
type Item struct {
	Line           int
	Edge           bool
	ID             string // of a node
	Source, Target string // of an edge
	Directed       bool
	// Values has the value for each key of the header: the default, or nil, for those that the item lacks.
	Values [][]byte
}

// Reader reads a document.
type Reader struct {
	Header
	name string
	in   *bounded
	xml  *xml.Decoder
	// index has the keys of nodes and the keys of edges by their ids, as a key of nodes and a key of edges can have the same id; -1: without a name.
	index [2]map[string]int
	other map[string]bool // ids of the keys of neither
	keys  int
	depth int
	item  Item
}

// bounded is an input that ends with an error after too many bytes for one token.
type bounded struct {
	io.Reader
	left   int
	failed error // of the input
}

var errLong = errors.New("found more bytes in one piece of markup or text than are read")

func (b *bounded) Read(p []byte) (int, error) {
	switch {
	case b.failed != nil: // the decoder forgets an error that came with enough bytes
		return 0, b.failed
	case b.left <= 0:
		return 0, errLong
	}
	n, err := b.Reader.Read(p[:min(len(p), b.left)])
	b.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		b.failed = err
	}
	return n, err
}

// NewReader reads a document up to the start of its graph. name is the name of the file, for errors.
func NewReader(in io.Reader, name string) (*Reader, error) {
	r := &Reader{name: name, in: &bounded{Reader: in, left: maxToken}, index: [2]map[string]int{{}, {}}, other: map[string]bool{}}
	r.xml = xml.NewDecoder(r.in)
	r.xml.CharsetReader = charset
	root, err := r.start("graphml")
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, r.bad("found no element, expected <graphml>")
	}
	for {
		e, err := r.start("key", "graph", "desc", "data")
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, r.bad("found the end of the document, expected a <graph>")
		}
		switch e.Name.Local {
		case "key":
			if err := r.key(e); err != nil {
				return nil, err
			}
		case "desc", "data": // of the document
			if err := r.skip(); err != nil {
				return nil, err
			}
		default:
			switch d := attribute(e, "edgedefault"); d {
			case "directed", "undirected":
				r.Directed = d == "directed"
			default:
				return nil, r.bad("found edgedefault %q, expected directed or undirected", d)
			}
			return r, nil
		}
	}
}

// bad makes an error at the current line.
func (r *Reader) bad(format string, a ...any) error {
	line, _ := r.xml.InputPos()
	return r.badAt(line, format, a...)
}

func (r *Reader) badAt(line int, format string, a ...any) error {
	return tagged.Errorf(ErrFormat, "%s:%d: "+format, append([]any{r.name, line}, a...)...)
}

// long is the error of a token of more than most bytes.
func (r *Reader) long(most int) error {
	return r.bad("found more than %d bytes in one piece of markup or text, expected fewer", most)
}

// token returns the next token, of at most some bytes, or nil at the end of the document.
func (r *Reader) token(most int) (xml.Token, error) {
	r.in.left = most
	t, err := r.xml.Token()
	syntax := (*xml.SyntaxError)(nil)
	switch {
	case errors.Is(err, io.EOF) && r.depth == 0:
		return nil, nil
	case errors.Is(err, errLong):
		return nil, r.long(most)
	case errors.As(err, &syntax):
		return nil, r.badAt(syntax.Line, "found markup that is not XML (%s), expected a whole GraphML document", syntax.Msg)
	case err != nil && r.in.failed != nil:
		return nil, fmt.Errorf("%s: %w", r.name, err)
	case err != nil:
		return nil, r.bad("found markup that is not read (%w), expected XML in UTF-8, ISO-8859-1 or US-ASCII", err)
	}
	switch t := t.(type) {
	case xml.StartElement:
		if r.depth++; r.depth > maxDepth {
			return nil, r.bad("found elements within each other more than %d deep, expected fewer", maxDepth)
		}
	case xml.EndElement:
		r.depth--
	case xml.Directive:
		if bytes.Contains(t, []byte("[")) {
			return nil, r.bad("found a document type with declarations, expected none: entities are not read")
		}
	}
	return t, nil
}

// start returns the next start of an element, which must have one of the given names, or nil at the end of the element
// around it. Text before it must be blank.
func (r *Reader) start(names ...string) (*xml.StartElement, error) {
	for {
		t, err := r.token(maxMarkup)
		if t == nil || err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if !slices.Contains(names, t.Name.Local) {
				what := "expected <" + strings.Join(names, ">, <") + ">"
				switch t.Name.Local {
				case "graph":
					what = "expected one graph that is in no other"
				case "hyperedge", "port":
					what = "expected edges between two nodes"
				case "key":
					what = "expected the keys before the graph"
				}
				return nil, r.bad("found <%s>, %s", t.Name.Local, what)
			}
			return &t, nil
		case xml.EndElement:
			return nil, nil
		case xml.CharData:
			if text := bytes.TrimSpace(t); len(text) > 0 {
				return nil, r.bad("found the text %.40q, expected <%s>", text, strings.Join(names, ">, <"))
			}
		}
	}
}

// skip passes the rest of an element.
func (r *Reader) skip() error {
	for depth := r.depth; r.depth >= depth; {
		t, err := r.token(maxSkipped)
		if err != nil {
			return err
		}
		if t == nil {
			return nil
		}
	}
	return nil
}

// text reads the rest of an element that holds text alone, and appends it to b.
func (r *Reader) text(b []byte, of string) ([]byte, error) {
	for {
		t, err := r.token(maxToken)
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return nil, r.bad("found <%s> in %s, expected text", t.Name.Local, of)
		case xml.EndElement:
			return b, nil
		case xml.CharData:
			if b = append(b, t...); len(b) > maxToken {
				return nil, r.long(maxToken)
			}
		}
	}
}

func attribute(e *xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// key reads a key.
func (r *Reader) key(e *xml.StartElement) error {
	k := Key{ID: attribute(e, "id"), Name: attribute(e, "attr.name"), Type: attribute(e, "attr.type")}
	if r.keys++; r.keys > limits.Names {
		return r.bad("found more than %d keys, expected fewer; write lists of numbers as one string", limits.Names)
	}
	switch of := attribute(e, "for"); of {
	case "node":
		k.Node = true
	case "edge":
		k.Edge = true
	case "all", "":
		k.Node, k.Edge = true, true
	}
	if k.Type == "" {
		k.Type = "string"
	}
	twice := r.other[k.ID] && !k.Node && !k.Edge
	for i, has := range []bool{k.Node, k.Edge} {
		_, known := r.index[i][k.ID]
		twice = twice || has && known
	}
	if k.ID == "" || twice {
		return r.bad("found a key with the id %q, expected an id that no other has", k.ID)
	}
	if !k.Node && !k.Edge {
		r.other[k.ID] = true
		return r.skip()
	}
	if k.Name == "" {
		r.list(&k, -1)
		return r.skip()
	}
	if !slices.Contains(types, k.Type) {
		return r.bad("found the type %q of key %s, expected one of %s", k.Type, k.Name, strings.Join(types, ", "))
	}
	for {
		e, err := r.start("default", "desc")
		if err != nil {
			return err
		}
		if e == nil {
			r.list(&k, len(r.Keys))
			r.Keys = append(r.Keys, k)
			return nil
		}
		if e.Name.Local == "desc" {
			if err := r.skip(); err != nil {
				return err
			}
			continue
		}
		if k.Default, err = r.text([]byte{}, "a default"); err != nil {
			return err
		}
	}
}

// list enters the place of a key in the indexes of what has it.
func (r *Reader) list(k *Key, at int) {
	for i, has := range []bool{k.Node, k.Edge} {
		if has {
			r.index[i][k.ID] = at
		}
	}
}

// Next returns the next node or edge, or nil at the end of the document.
func (r *Reader) Next() (*Item, error) {
	for {
		e, err := r.start("node", "edge", "data", "desc")
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, r.end()
		}
		line, _ := r.xml.InputPos()
		switch e.Name.Local {
		case "data", "desc": // of the graph
			if err := r.skip(); err != nil {
				return nil, err
			}
			continue
		}
		x := &r.item
		*x = Item{Line: line, Edge: e.Name.Local == "edge", ID: attribute(e, "id"), Source: attribute(e, "source"), Target: attribute(e, "target"), Directed: r.Directed, Values: x.Values[:0]}
		switch d := attribute(e, "directed"); {
		case x.Edge && (x.Source == "" || x.Target == ""):
			return nil, r.bad("found an edge from %q to %q, expected a source and a target", x.Source, x.Target)
		case !x.Edge && x.ID == "":
			return nil, r.bad("found a node without an id, expected one")
		case d == "true" || d == "false":
			x.Directed = d == "true"
		case d != "":
			return nil, r.bad("found directed %q, expected true or false", d)
		}
		for range r.Keys {
			x.Values = append(x.Values, nil)
		}
		if err := r.data(x); err != nil {
			return nil, err
		}
		for i, k := range r.Keys {
			if x.Values[i] == nil && (k.Edge && x.Edge || k.Node && !x.Edge) {
				x.Values[i] = k.Default
			}
		}
		return x, nil
	}
}

// data reads the values of an item.
func (r *Reader) data(x *Item) error {
	index, of, what := r.index[0], r.index[1], "a node"
	if x.Edge {
		index, of, what = of, index, "an edge"
	}
	for {
		e, err := r.start("data", "desc")
		if err != nil || e == nil {
			return err
		}
		id := attribute(e, "key")
		i, known := index[id]
		_, foreign := of[id]
		if e.Name.Local == "desc" || known && i < 0 || !known && !foreign && r.other[id] {
			if err := r.skip(); err != nil {
				return err
			}
			continue
		}
		if !known && foreign {
			return r.bad("found data of the key %q in %s, expected a key that is declared for it, or for all", id, what)
		}
		if !known {
			return r.bad("found data of the key %q, expected one of the keys before the graph", id)
		}
		if x.Values[i] != nil {
			return r.bad("found data of the key %q twice, expected one", r.Keys[i].Name)
		}
		if x.Values[i], err = r.text([]byte{}, "data"); err != nil {
			return err
		}
	}
}

// end reads the rest of the document after the graph.
func (r *Reader) end() error {
	for {
		e, err := r.start("data", "desc")
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		if err := r.skip(); err != nil {
			return err
		}
	}
	for { // to the end of the file, because an error of the disk may come there
		t, err := r.token(maxSkipped)
		if t == nil || err != nil {
			return err
		}
		text, is := t.(xml.CharData)
		if _, element := t.(xml.StartElement); element || is && len(bytes.TrimSpace(text)) > 0 {
			return r.bad("found content after </graphml>, expected the end of the document")
		}
	}
}
