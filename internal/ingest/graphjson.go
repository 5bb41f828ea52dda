package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/format/graphjson"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/vfs"
)

// graphJSON is a kind of JSON with nodes and edges. It gives a homogeneous graph.
type graphJSON struct {
	kind, files string
	read        func(in io.Reader, name string, fn func(*graphjson.Item) error) (graphjson.Header, error)
	places      bool   // ends of edges can be places in the list of nodes
	whole       string // what to do with a file without nodes or without edges
}

var (
	nodeLink    = &graphJSON{"node-link", ".json with nodes and links or edges, as networkx, D3 and graphology write it", graphjson.ReadNodeLink, true, "write the file with networkx.node_link_data"}
	jgf         = &graphJSON{"jgf", ".json or .jgf of JSON Graph Format with one graph, or FILE@graph=N of several", graphjson.ReadJGF, false, "write both in the graph"}
	cytoscapeJS = &graphJSON{"cytoscape-js", ".json or .cyjs with elements, as Cytoscape.js and Cytoscape write it", graphjson.ReadCytoscape, false, "write them as elements"}
	cx2         = &graphJSON{"cx2", ".cx2 of Cytoscape and NDEx", graphjson.ReadCX2, false, "export the file again"}
)

// graphJSONExtensions are the extensions of files whose content says which kind of JSON they are.
var graphJSONExtensions = []string{".json", ".jgf", ".cyjs", ".cx2"}

func (k *graphJSON) name() string  { return k.kind }
func (k *graphJSON) about() string { return k.files + "; plain or as .gz or .zst" }
func (k *graphJSON) becomes() string {
	return "a graph of one type; numbers, strings and booleans become columns of nodes and edges"
}
func (k *graphJSON) detect(path string, names []string) bool {
	return names == nil && slices.Contains(graphJSONExtensions, table.Extension(path))
}

// sniff looks at the first members of the document.
func (k *graphJSON) sniff(fsys vfs.FS, path string, _ []string) (bool, error) {
	found, err := graphJSONOf(fsys, path)
	return found == k, err
}

// linkNames are the values that nodes or edges have, by name, and their kinds.
type linkNames struct {
	kinds map[string]graphjson.Kind
	keys  graphjson.Kind // kinds of the ids or ends
	rows  int
}

// add notes the values of an item. Those under the names of keys are ids or ends.
func (n *linkNames) add(x *graphjson.Item, path string, keys ...string) error {
	n.rows++
	for _, k := range keys {
		v := x.Values[k]
		if v.Kind != graphjson.String && v.Kind != graphjson.Integer {
			return sourcef("%s:%d: found no %q that is a string or an integer, expected one; give each node an id, and each edge both ends", path, x.Line, k)
		}
		if n.keys |= v.Kind; v.Kind == graphjson.Integer && v.Text[0] == '-' {
			n.keys |= graphjson.String
		}
	}
	for name, v := range x.Values {
		if slices.Contains(keys, name) {
			continue
		}
		if n.kinds[name] |= v.Kind; len(n.kinds) > limits.Names {
			return sourcef("%s:%d: found more than %d names of values, expected fewer; write rare values as one list or text", path, x.Line, limits.Names)
		}
	}
	return nil
}

// fields returns the fields of a table, after the fields of keys, and the names of values that are lists or objects.
func (n *linkNames) fields(keys ...string) (fields []table.Field, nested []string) {
	for _, k := range keys {
		fields = append(fields, table.Field{Name: k})
	}
	for _, name := range slices.Sorted(maps.Keys(n.kinds)) {
		f := table.Field{Name: name, DType: graph.String}
		switch kinds := n.kinds[name] &^ graphjson.Null; {
		case kinds == 0:
			continue // null alone
		case kinds&graphjson.Nested != 0:
			nested = append(nested, name)
			continue
		case kinds == graphjson.Bool:
			f.DType = graph.Bool
		case kinds == graphjson.Integer:
			f.DType = graph.Int64
		case kinds&^(graphjson.Integer|graphjson.Number) == 0:
			f.DType = graph.Float64
		}
		fields = append(fields, f)
	}
	return fields, nested
}

// linkSurvey collects the kinds of ids, ends and values in a first pass over a document.
type linkSurvey struct {
	path  string
	nodes struct {
		linkNames
		key  string // under which nodes have ids; empty: they have none, and are places
		name bool   // each has a text under "name"
		// ordered says that the ids are the places of the nodes, 0, 1 and so on, and numbers that some id is a whole number.
		ordered, numbers bool
	}
	edges struct {
		linkNames
		ends    [2]string // under which edges have their ends
		largest uint64    // end that is a whole number
		said    map[string]int
	}
}

// The keys under which nodes have ids, of which the first node says which it is, and the ends of edges.
var (
	linkIDs  = []string{"id", "key"}
	linkEnds = [][2]string{{"source", "target"}, {"from", "to"}}
)

func (s *linkSurvey) add(x *graphjson.Item) error {
	if !x.Edge {
		return s.addNode(x)
	}
	e := &s.edges
	if e.rows == 0 {
		if _, ok := x.Values[e.ends[0]]; !ok && x.Values[linkEnds[1][0]].Kind != 0 {
			e.ends = linkEnds[1]
		}
	}
	e.said[x.Directed]++
	if err := e.linkNames.add(x, s.path, e.ends[:]...); err != nil {
		return err
	}
	for _, k := range e.ends {
		if v := x.Values[k]; v.Kind == graphjson.Integer {
			n, err := strconv.ParseUint(string(v.Text), 10, 64)
			if err != nil {
				n = 1<<64 - 1
			}
			e.largest = max(e.largest, n)
		}
	}
	return nil
}

func (s *linkSurvey) addNode(x *graphjson.Item) error {
	n := &s.nodes
	if n.rows == 0 {
		n.ordered, n.name = true, true
		for _, k := range linkIDs {
			if _, ok := x.Values[k]; ok && n.key == "" {
				n.key = k
			}
		}
	}
	n.name = n.name && x.Values[linkName].Kind == graphjson.String
	if n.key == "" {
		for _, k := range linkIDs {
			if _, ok := x.Values[k]; ok {
				return sourcef("%s:%d: found a node with an %s after nodes without one, expected all with one, or none; give each node an id", s.path, x.Line, k)
			}
		}
		return n.add(x, s.path)
	}
	id := x.Values[n.key]
	_, err := strconv.ParseUint(string(id.Text), 10, 64)
	n.numbers = n.numbers || err == nil
	n.ordered = n.ordered && string(id.Text) == strconv.Itoa(n.rows)
	return n.add(x, s.path, n.key)
}

// linkName is the member of nodes without ids that the ends of edges refer to where these are texts.
const linkName = "name"

// resolve decides what the ends of edges are: ids of nodes, or places in the list of nodes (places). It can return a warning. Where
// both are possible, they are ids.
func (s *linkSurvey) resolve() (places bool, note string, err error) {
	n, e := &s.nodes, &s.edges
	numbers := e.keys == graphjson.Integer
	within := numbers && e.largest < uint64(n.rows)
	switch {
	case n.key != "" && !numbers, n.key != "" && n.ordered, n.rows == 0:
		return false, "", nil
	case n.key != "" && !n.numbers && within:
		return true, fmt.Sprintf("%s: found numbers as ends of edges, and texts as ids of nodes: the numbers are read as places in the list of nodes, from 0", s.path), nil
	case n.key != "" && within:
		return false, fmt.Sprintf("%s: found numbers as ends of edges that are less than the number of nodes, and ids that are not the places of the nodes: the numbers are read as ids, and not as places in the list of nodes, from 0", s.path), nil
	case n.key != "":
		return false, "", nil
	case e.rows == 0:
		return true, "", nil
	case numbers && n.kinds[linkName] == graphjson.Integer:
		return false, "", sourcef("%s: found nodes without an id whose names are numbers, and edges whose ends are numbers, which can be names or places in the list of nodes; give each node an id", s.path)
	case numbers:
		return true, "", nil
	case e.keys == graphjson.String && n.name:
		n.key = linkName
		delete(n.kinds, linkName)
		n.keys = graphjson.String
		return false, "", nil
	}
	return false, "", sourcef("%s: found nodes without an id, and edges whose ends are texts that are no names of nodes, expected ids; give each node an id", s.path)
}

// undirected says whether the edges are undirected. Edges that do not say it are as the document says, or directed.
func (s *linkSurvey) undirected(h graphjson.Header) (bool, error) {
	said := maps.Clone(s.edges.said)
	if h.Directed != "false" {
		h.Directed = "true"
	}
	said[h.Directed] += said[""]
	if said["true"] > 0 && said["false"] > 0 {
		return false, sourcef("%s: found %d directed and %d undirected edges, expected edges of one kind; write each undirected edge as two directed ones", s.path, said["true"], said["false"])
	}
	return said["false"] > 0, nil
}

// hasRels says whether the head of a file has the list of relationships of APOC's jsonFormat JSON.
func hasRels(fsys vfs.FS, path string) bool {
	text, err := head(fsys, path)
	return err == nil && bytes.Contains(text, []byte(`"rels"`))
}

func (k *graphJSON) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with %s, expected the nodes of that file", path)
	}
	survey := &linkSurvey{path: path}
	survey.nodes.kinds, survey.edges.kinds, survey.edges.said = map[string]graphjson.Kind{}, map[string]graphjson.Kind{}, map[string]int{}
	survey.edges.ends = linkEnds[0]
	var h graphjson.Header
	items := 0
	err := textfiles.ReadStream(fsys, path, func(in io.Reader) (err error) {
		h, err = k.read(in, path, func(x *graphjson.Item) error {
			if items++; items%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			return survey.add(x)
		})
		return err
	})
	switch {
	case err != nil:
		return nil, graphJSONError(err)
	case h.Nodes && !h.Edges && hasRels(fsys, path):
		return nil, sourcef("%s: found the lists nodes and rels of APOC, expected a record on each line; export it as JSON lines", path)
	case !h.Nodes || !h.Edges:
		return nil, sourcef("%s: found no list of nodes, or none of links or edges, expected both; %s", path, k.whole)
	}
	places, note := false, ""
	if k.places {
		if places, note, err = survey.resolve(); err != nil {
			return nil, err
		}
	}
	s := &Source{Primary: graph.In, Files: []string{path}}
	if note != "" {
		s.Warnings = append(s.Warnings, note)
	}
	e := assemble.Edges{Type: graph.HomogeneousEdge}
	if e.Symmetrise, err = survey.undirected(h); err != nil {
		return nil, err
	}
	integer := survey.nodes.keys|survey.edges.keys == graphjson.Integer
	if o.IDs != idsAuto {
		integer = o.IDs == idsInteger
	}
	n := assemble.Nodes{Type: graph.HomogeneousNode}
	var keys []string
	if survey.nodes.key != "" && !places {
		keys, n.ID = []string{survey.nodes.key}, keyColumn(survey.nodes.key, integer)
	} else {
		if o.IDs == idsString {
			return nil, usagef("found string ids with %s, expected integer ids: the ends of its edges are places in the list of nodes", path)
		}
		if survey.nodes.key != "" {
			survey.nodes.kinds[survey.nodes.key] |= survey.nodes.keys
		}
		integer, n.ID = true, table.Column{DType: graph.Uint64}
	}
	nodeFields, left := survey.nodes.fields(keys...)
	edgeFields, more := survey.edges.fields(survey.edges.ends[:]...)
	if left = append(left, more...); len(left) > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s: lists and objects are left out: %s", path, strings.Join(left, ", ")))
	}
	if n.Table, err = k.table(fsys, path, nodeFields, false); err != nil {
		return nil, err
	}
	m := &maker{gaps: newGaps(o)}
	if n.Columns, err = m.featuresOf(ctx, n.Table, declared(nodeFields[len(keys):])); err != nil {
		return nil, err
	}
	e.Src, e.Dst = keyColumn(survey.edges.ends[0], integer), keyColumn(survey.edges.ends[1], integer)
	if e.Table, err = k.table(fsys, path, edgeFields, true); err != nil {
		return nil, err
	}
	if e.Columns, err = m.featuresOf(ctx, e.Table, declared(edgeFields[2:])); err != nil {
		return nil, err
	}
	s.Input = assemble.Input{Nodes: []assemble.Nodes{n}, Edges: []assemble.Edges{e}}
	return s, m.check()
}

// table opens the nodes or the edges of a file.
func (k *graphJSON) table(fsys vfs.FS, path string, fields []table.Field, edges bool) (table.Table, error) {
	return textfiles.OpenStream(fsys, path, fields, func(in io.Reader, row func(line int, cells [][]byte) error) error {
		cells := make([][]byte, len(fields))
		_, err := k.read(in, path, func(x *graphjson.Item) error {
			if x.Edge != edges {
				return nil
			}
			for i, f := range fields {
				cells[i] = x.Values[f.Name].Text
			}
			return row(x.Line, cells)
		})
		return graphJSONError(err)
	})
}

// graphJSONError makes an error about the content of a document one about a source.
func graphJSONError(err error) error {
	if errors.Is(err, graphjson.ErrFormat) {
		return sourcef("%w", err)
	}
	return err
}
