package picked

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"

	"github.com/graphmill/graphmill/graph"
)

// graphMLTypes are the types of GraphML that hold the values of a dtype.
var graphMLTypes = map[graph.DType]string{
	graph.Bool: "boolean", graph.Int8: "int", graph.Int16: "int", graph.Int32: "int", graph.Int64: "long", graph.Uint8: "int", graph.Uint16: "int", graph.Uint32: "long",
	graph.Uint64: "long", graph.Float16: "float", graph.BFloat16: "float", graph.Float32: "float", graph.Float64: "double", graph.String: "string",
}

// The first bytes of the files.
const (
	GraphMLHead  = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">`
	NodeLinkHead = `{"directed": true, "multigraph": true, "graph": {},`
)

// GraphML is the graph as a document of GraphML. Columns of several values per row are left out, and characters that XML cannot have are U+FFFD.
func (x *Graph) GraphML() []byte {
	var b bytes.Buffer
	b.WriteString(GraphMLHead + "\n")
	nodes, edges := x.attributes().nodes, x.attributes().edges
	for _, of := range []struct {
		kind string
		list []attribute
	}{{"node", nodes}, {"edge", edges}} {
		for k, a := range of.list {
			fmt.Fprintf(&b, `  <key id="%s%d" for="%s" attr.name="%s" attr.type="%s"/>`+"\n", of.kind[:1], k, of.kind, escaped(a.name), graphMLTypes[a.dtype])
		}
	}
	b.WriteString("  <graph edgedefault=\"directed\">\n")
	ids := x.fileIDs()
	write := func(kind string, list []attribute, i, of, row int) {
		for k := range list {
			v := list[k].valueAt(i, of, row)
			if v.Kind == Missing {
				continue
			}
			s := v.Text
			if v.Kind == Number && math.IsInf(v.Of, 0) { // XML Schema has other words than Go
				s = map[bool]string{true: "INF", false: "-INF"}[v.Of > 0]
			}
			fmt.Fprintf(&b, `      <data key="%s%d">%s</data>`+"\n", kind, k, escaped(s))
		}
	}
	for i := range x.Nodes {
		fmt.Fprintf(&b, "    <node id=\"%s\">\n", escaped(ids[i]))
		write("n", nodes, i, x.Nodes[i].Type, x.Nodes[i].Row)
		b.WriteString("    </node>\n")
	}
	for i := range x.Edges {
		e := &x.Edges[i]
		fmt.Fprintf(&b, "    <edge source=\"%s\" target=\"%s\">\n", escaped(ids[e.Source]), escaped(ids[e.Target]))
		write("e", edges, i, e.Type, e.Row)
		b.WriteString("    </edge>\n")
	}
	b.WriteString("  </graph>\n</graphml>\n")
	return b.Bytes()
}

// escaped is a text in XML.
func escaped(s string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(err) // a Buffer takes all bytes
	}
	return b.String()
}

// NodeLink is the graph as JSON of networkx's node_link_data, which D3 draws. Columns of several values per row are left out, and so are missing values, NaN and infinities,
// which JSON cannot have.
func (x *Graph) NodeLink() ([]byte, error) {
	b := []byte(NodeLinkHead + "\n\"nodes\": [")
	ids := x.fileIDs()
	var err error
	add := func(list []attribute, i, of, row int) {
		for k := range list {
			v := list[k].valueAt(i, of, row)
			if v.Kind == Missing || v.Kind == Number && (math.IsNaN(v.Of) || math.IsInf(v.Of, 0)) {
				continue
			}
			b = append(appendText(append(b, ", "...), list[k].name, &err), ": "...)
			if v.Kind == Text {
				b = appendText(b, v.Text, &err)
			} else {
				b = append(b, jsonNumber(v)...)
			}
		}
		b = append(b, '}')
	}
	for i := range x.Nodes {
		b = append(b, separator(i)+`{"id": `...)
		b = appendText(b, ids[i], &err)
		add(x.attributes().nodes, i, x.Nodes[i].Type, x.Nodes[i].Row)
	}
	b = append(b, "],\n\"links\": ["...)
	between := map[[2]int]int{} // the number of edges between two nodes so far, which is networkx's key
	for i := range x.Edges {
		e := &x.Edges[i]
		b = append(b, separator(i)+`{"source": `...)
		b = append(appendText(b, ids[e.Source], &err), `, "target": `...)
		b = appendText(b, ids[e.Target], &err)
		ends := [2]int{e.Source, e.Target}
		b = strconv.AppendInt(append(b, `, "key": `...), int64(between[ends]), 10)
		between[ends]++
		add(x.attributes().edges, i, e.Type, e.Row)
	}
	return append(b, "]}\n"...), err
}

func separator(i int) string {
	if i == 0 {
		return "\n"
	}
	return ",\n"
}

// appendText appends a text in JSON.
func appendText(b []byte, s string, err *error) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if bad := enc.Encode(s); bad != nil {
		*err = bad
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// jsonNumber is a number or bool in JSON: a float has a point or an exponent, so that it stays one.
func jsonNumber(v Value) string {
	if v.Kind == Number && v.Of == math.Trunc(v.Of) && !bytes.ContainsAny([]byte(v.Text), ".e") {
		return v.Text + ".0"
	}
	return v.Text
}

// attributes are the attributes of nodes and edges, made once.
type attributes struct{ nodes, edges []attribute }

func (x *Graph) attributes() *attributes {
	if x.made == nil {
		x.made = &attributes{x.nodeAttributes(), x.edgeAttributes()}
	}
	return x.made
}
