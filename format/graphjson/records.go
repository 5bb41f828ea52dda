package graphjson

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// Record is a node or a relationship of a labelled property graph, as APOC of Neo4j and Memgraph write them.
type Record struct {
	Line int
	Edge bool
	// ID is the id of a node; Start and End are the ids of the ends of a relationship.
	ID, Start, End Value
	// Labels are those of a node. StartLabels and EndLabels are those of the ends, and nil where the relationship does not say them: HasLabels.
	Labels, StartLabels, EndLabels []string
	HasLabels                      bool
	// Type is the type of a relationship.
	Type string
	// Values are the properties.
	Values map[string]Value
}

// Elements are the values of a list, and nil for an object and for other values.
func (v Value) Elements() (list []Value) {
	if v.Kind != Nested || v.raw[0] != '[' {
		return nil
	}
	list = []Value{}
	for at := skipBlanks(v.raw, 1); v.raw[at] != ']'; {
		end := endOfValue(v.raw, at)
		x, err := parse(v.raw[at:end:end])
		if err != nil {
			return nil
		}
		list = append(list, x)
		if at = skipBlanks(v.raw, end); v.raw[at] == ',' {
			at = skipBlanks(v.raw, at+1)
		}
	}
	return list
}

// ReadRecords calls fn for each node and relationship of a file of JSON lines, of a list of records, or of a document with the lists nodes and rels, in
// order:
//
//	{"type": "node", "id": "0", "labels": ["User"], "properties": {"age": 42}}
//	{"type": "relationship", "id": "0", "label": "KNOWS", "properties": {}, "start": {"id": "0", "labels": ["User"]}, "end": {"id": "1"}}
//
// Ends can also be ids alone, as Memgraph writes them. fn must not keep the record.
func ReadRecords(in io.Reader, name string, fn func(*Record) error) error {
	r := &recordReader{fn: fn}
	_, err := readDocument(in, name, nil, func(x *reader) error {
		r.reader = x
		return r.documents()
	})
	return err
}

// ReadDocuments calls fn for each document of a collection of ArangoDB, of JSON lines or a list, in order: plain ones, or within {"type": 2300, "data": {}} as arangodump writes
// them. A document with _from and _to is an edge, whose ends have the name of their collection as label. The id is the _key; Labels is nil where the document does not say
// its collection in _id.
func ReadDocuments(in io.Reader, name string, fn func(*Record) error) error {
	r := &recordReader{fn: fn, arango: true}
	_, err := readDocument(in, name, nil, func(x *reader) error {
		r.reader = x
		return r.documents()
	})
	return err
}

type recordReader struct {
	*reader
	fn     func(*Record) error
	arango bool
}

// The types of lines of arangodump.
const (
	arangoDocument = "2300"
	arangoEdge     = "2301"
)

// document reads a document of ArangoDB.
func (r *recordReader) document(x *Record, members map[string]Value) error {
	if data, ok := members["data"]; ok && members["type"].Kind == Integer && data.Kind == Nested && data.raw[0] == '{' {
		if t := string(members["type"].Text); t != arangoDocument && t != arangoEdge {
			return r.bad("found a line of the type %.40q, expected 2300 or 2301, a document; dump the collection again", t)
		}
		var err error
		if members, err = r.object(data.raw); err != nil {
			return err
		}
	}
	_, from := members["_from"]
	_, to := members["_to"]
	x.Edge = from && to
	var err error
	if x.Edge {
		x.HasLabels = true
		if x.Start, x.StartLabels, err = r.handle(members["_from"], "_from"); err != nil {
			return err
		}
		if x.End, x.EndLabels, err = r.handle(members["_to"], "_to"); err != nil {
			return err
		}
	} else if v, ok := members["_id"]; ok {
		if x.ID, x.Labels, err = r.handle(v, "_id"); err != nil {
			return err
		}
	} else if x.ID = members["_key"]; x.ID.Kind != String {
		return r.bad("found a document without a _key or _id that is a text, expected one")
	}
	for _, name := range []string{"_id", "_key", "_rev", "_from", "_to"} {
		delete(members, name)
	}
	if x.Values, err = r.named(members); err != nil {
		return err
	}
	return r.fn(x)
}

// handle cuts "collection/key".
func (r *recordReader) handle(v Value, name string) (key Value, labels []string, err error) {
	at := bytes.IndexByte(v.Text, '/')
	if v.Kind != String || at <= 0 || at == len(v.Text)-1 {
		return v, nil, r.bad("found %.40q in %s, expected a collection and a key, as in persons/1", v.Text, name)
	}
	labels = []string{string(v.Text[:at])}
	v.Text = v.Text[at+1:]
	return v, labels, nil
}

// documents reads one document after the other.
func (r *recordReader) documents() error {
	for r.more() {
		raw, whole, err := r.start()
		if err != nil {
			return err
		}
		if !whole {
			continue
		}
		if err := r.record(raw, ""); err != nil {
			return err
		}
	}
	return nil
}

// start reads a list of records, or returns an object: a record.
func (r *recordReader) start() (raw json.RawMessage, whole bool, err error) {
	rest, err := r.peek()
	if err != nil {
		return nil, false, err
	}
	switch {
	case rest == '[':
		if _, err := r.token(); err != nil {
			return nil, false, err
		}
		return nil, false, r.elements(func() error { return r.next("") })
	case rest != '{':
		return nil, false, r.bad("found a value that is no object, expected nodes and relationships")
	}
	raw, err = r.value()
	return raw, true, err
}

// peek is the first byte of the next value; 0: there is none.
func (r *recordReader) peek() (byte, error) {
	b := []byte{0}
	if r.more() { // which passes over blanks
		if _, err := r.json.Buffered().Read(b); err != nil {
			return 0, r.failed(err)
		}
	}
	return b[0], nil
}

// next reads a record.
func (r *recordReader) next(kind string) error {
	raw, err := r.value()
	if err != nil {
		return err
	}
	return r.record(raw, kind)
}

// record reads an object. kind is "node" or "relationship", or empty if the object says it.
func (r *recordReader) record(raw json.RawMessage, kind string) error {
	if surrogate(raw) {
		return r.bad(`found an escape that is half a character (\ud800 to \udfff without the other half), expected whole ones`)
	}
	if bytes.TrimSpace(raw)[0] != '{' {
		return r.bad("found %.40q, expected a node or a relationship", raw)
	}
	x := &Record{Line: r.in.at(r.json.InputOffset())}
	members, err := r.object(raw)
	if err != nil {
		return err
	}
	if r.arango {
		return r.document(x, members)
	}
	if v, ok := members["type"]; ok && kind == "" {
		kind = string(v.Text)
	}
	switch kind {
	case "node":
		err = r.node(x, members)
	case "relationship":
		x.Edge = true
		err = r.relationship(x, members)
	default:
		_, nodes := members["nodes"]
		if _, rels := members["rels"]; nodes && rels {
			return r.lists(members)
		}
		return r.bad("found an object of the type %.40q, expected node or relationship", kind)
	}
	if err != nil {
		return err
	}
	return r.fn(x)
}

// lists reads the lists of a document.
func (r *recordReader) lists(members map[string]Value) error {
	for _, list := range []struct{ name, kind string }{{"nodes", "node"}, {"rels", "relationship"}} {
		v := members[list.name]
		if v.Kind != Nested || v.raw[0] != '[' {
			return r.bad("found no list of %s, expected one", list.name)
		}
		var elements []json.RawMessage
		if err := json.Unmarshal(v.raw, &elements); err != nil {
			return r.bad("found %s that are not read (%w), expected a list", list.name, err)
		}
		for _, e := range elements {
			if err := r.record(e, list.kind); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *recordReader) node(x *Record, members map[string]Value) (err error) {
	if x.ID, err = r.id(members["id"], "a node"); err != nil {
		return err
	}
	if x.Labels, err = r.labels(members["labels"]); err != nil {
		return err
	}
	x.Values, err = r.properties(members["properties"])
	return err
}

func (r *recordReader) relationship(x *Record, members map[string]Value) (err error) {
	x.HasLabels = true
	for _, end := range []struct {
		name   string
		id     *Value
		labels *[]string
	}{{"start", &x.Start, &x.StartLabels}, {"end", &x.End, &x.EndLabels}} {
		v := members[end.name]
		if v.Kind == Nested && v.raw[0] == '{' {
			inner, err := r.object(v.raw)
			if err != nil {
				return err
			}
			if *end.labels, err = r.labels(inner["labels"]); err != nil {
				return err
			}
			_, said := inner["labels"]
			x.HasLabels = x.HasLabels && said
			v = inner["id"]
		} else {
			x.HasLabels = false
		}
		if *end.id, err = r.id(v, "the "+end.name+" of a relationship"); err != nil {
			return err
		}
	}
	v := members["label"]
	if v.Kind != String {
		return r.bad("found a relationship without a label that is a text, expected its type there")
	}
	x.Type = string(v.Text)
	x.Values, err = r.properties(members["properties"])
	return err
}

// id checks an id.
func (r *recordReader) id(v Value, of string) (Value, error) {
	if v.Kind != String && v.Kind != Integer {
		return v, r.bad("found no id of %s that is a text or an integer, expected one", of)
	}
	return v, nil
}

// labels reads a list of texts. Nodes without labels have none.
func (r *recordReader) labels(v Value) (list []string, err error) {
	switch {
	case v.Kind == 0 || v.Kind == Null:
		return nil, nil
	case v.Kind != Nested || v.raw[0] != '[':
		return nil, r.bad("found labels %.40q, expected a list of texts", v.Text)
	}
	if json.Unmarshal(v.raw, &list) != nil {
		return nil, r.bad("found labels %.40q, expected a list of texts", v.raw)
	}
	return list, nil
}

// properties reads an object.
func (r *recordReader) properties(v Value) (map[string]Value, error) {
	switch {
	case v.Kind == 0 || v.Kind == Null:
		return nil, nil
	case v.Kind != Nested || v.raw[0] != '{':
		return nil, r.bad("found properties %.40q, expected an object", v.Text)
	}
	values, err := r.object(v.raw)
	if err != nil {
		return nil, err
	}
	return r.named(values)
}

// named refuses names with control characters.
func (r *recordReader) named(values map[string]Value) (map[string]Value, error) {
	for name := range values {
		if strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			return nil, r.bad("found the name %.40q of a property with a control character, expected none", name)
		}
	}
	return values, nil
}
