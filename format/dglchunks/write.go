package dglchunks

import (
	"bytes"
	"encoding/json"
)

// JSON returns the text of metadata.json, with both ways to give the counts. Every type must have its Chunks. The
// keys are in the order of DGL's guide; types and features are in the order of the metadata.
func (m *Metadata) JSON() ([]byte, error) {
	w := &writer{}
	w.open('{')
	w.value("graph_name", m.GraphName)
	var names []string
	var totals []uint64
	var chunks [][]uint64
	list := func(what string) {
		w.value(what+"_type", orEmpty(names))
		w.value("num_"+what+"s_per_chunk", orEmpty(chunks))
		w.value("num_"+what+"s_per_type", orEmpty(totals))
		names, totals, chunks = nil, nil, nil
	}
	add := func(name string, c Counts) {
		names, totals, chunks = append(names, name), append(totals, c.Total), append(chunks, orEmpty(c.Chunks))
	}
	for _, n := range m.Nodes {
		add(n.Type, n.Counts)
	}
	list("node")
	for _, e := range m.Edges {
		add(e.Type, e.Counts)
	}
	list("edge")
	w.key("edges")
	w.open('{')
	for _, e := range m.Edges {
		w.value(e.Type, e.Files.spec())
	}
	w.close('}')
	w.key("node_data")
	w.open('{')
	for _, n := range m.Nodes {
		w.features(n.Type, n.Data)
	}
	w.close('}')
	w.key("edge_data")
	w.open('{')
	for _, e := range m.Edges {
		w.features(e.Type, e.Data)
	}
	w.close('}')
	w.close('}')
	if w.err != nil {
		return nil, w.err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, w.b.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func (f *Files) spec() fileSpec {
	s := fileSpec{Data: orEmpty(f.Paths)}
	s.Format.Name = f.Format
	if f.Delimiter != "" {
		s.Format.Delimiter = &f.Delimiter
	}
	return s
}

// orEmpty replaces nil by an empty list, so that JSON has a list and not null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// writer writes JSON whose objects keep an order.
type writer struct {
	b     bytes.Buffer
	comma bool
	err   error
}

func (w *writer) open(c byte) { w.b.WriteByte(c); w.comma = false }

func (w *writer) close(c byte) { w.b.WriteByte(c); w.comma = true }

func (w *writer) put(v any) {
	e := json.NewEncoder(&w.b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *writer) key(k string) {
	if w.comma {
		w.b.WriteByte(',')
	}
	w.put(k)
	w.b.WriteByte(':')
}

func (w *writer) value(k string, v any) {
	w.key(k)
	w.put(v)
	w.comma = true
}

// features writes the features of a type that has some.
func (w *writer) features(of string, data []Data) {
	if len(data) == 0 {
		return
	}
	w.key(of)
	w.open('{')
	for _, d := range data {
		w.value(d.Name, d.Files.spec())
	}
	w.close('}')
}
