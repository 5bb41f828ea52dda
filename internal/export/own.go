package export

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// own is the source that takes all content from the collection itself.
type own struct {
	c     *graph.Collection
	codec *example.Codec
	kept  *tfgnnpb.GraphSchema
	form  []byte // forms of all graphs; nil: none
	width int    // bytes of a form
	one   []byte // form of a graph of a collection without forms
	ctx   []*graph.Column
	nodes []ownSet
	edges []ownSet
}

// ownSet is a set of the schema and its place in the collection.
type ownSet struct {
	name    string // name of the set
	number  int    // index of the type
	columns []*graph.Column
}

// newOwn reads or makes the schema and finds its sets in the collection. It adds to r what is left out.
func newOwn(fsys vfs.FS, s *store.Store, r *Result) (*own, error) {
	o := &own{c: s.Collection}
	var nodeSets, edgeSets map[string]int
	if s.Meta.Schema == "" {
		var err error
		if o.kept, nodeSets, edgeSets, err = newSchema(o.c); err != nil {
			return nil, err
		}
	} else {
		var err error
		if o.kept, _, _, err = tfgnnfiles.ReadSchema(fsys, filepath.Join(s.Dir, filepath.FromSlash(s.Meta.Schema))); err != nil {
			return nil, err
		}
		if nodeSets, edgeSets, err = findSetTypes(o.kept, o.c); err != nil {
			return nil, err
		}
	}
	var err error
	if o.codec, err = example.NewCodec(o.kept); err != nil {
		return nil, err
	}
	o.width = o.codec.FormSize()
	o.one = make([]byte, o.width)
	if f := o.c.ExampleForm; f != nil {
		if f.Shape[0] != o.width {
			return nil, fmt.Errorf("example_form: found %d bytes per graph, expected %d for the %d keys of the schema", f.Shape[0], o.width, len(o.codec.Keys()))
		}
		o.form = f.Values
	}
	if o.ctx, err = pick("context", o.kept.GetContext().GetFeatures(), o.c.Context, r); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(o.kept.NodeSets)) {
		n := o.c.Nodes[nodeSets[name]]
		cols, err := pick(n.Type, o.kept.NodeSets[name].GetFeatures(), n.Columns, r)
		if err != nil {
			return nil, err
		}
		o.nodes = append(o.nodes, ownSet{name, nodeSets[name], cols})
	}
	for _, name := range slices.Sorted(maps.Keys(o.kept.EdgeSets)) {
		e := o.c.Edges[edgeSets[name]]
		cols, err := pick(e.Type.String(), o.kept.EdgeSets[name].GetFeatures(), e.Columns, r)
		if err != nil {
			return nil, err
		}
		o.edges = append(o.edges, ownSet{name, edgeSets[name], cols})
	}
	o.left(s.Meta, r)
	return o, nil
}

// left names the content of a collection that Examples cannot hold.
func (o *own) left(meta *store.Meta, r *Result) {
	take := func(what string, arrays map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(arrays)) {
			if !slices.Contains([]string{"graph_ptr", "component_ptr", "src", "dst", "example_form"}, name) {
				r.Left = append(r.Left, what+": "+name)
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(meta.Nodes)) {
		take(n, meta.Nodes[n].Arrays)
	}
	for _, e := range slices.Sorted(maps.Keys(meta.Edges)) {
		take(e, meta.Edges[e].Arrays)
	}
	take("context", meta.Context.Arrays)
}

// findSetTypes returns the indices of the types that the sets of a kept schema became.
func findSetTypes(schema *tfgnnpb.GraphSchema, c *graph.Collection) (nodes, edges map[string]int, err error) {
	nodes, edges = map[string]int{}, map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(schema.NodeSets)) {
		t := examplecolumns.TypeName(name)
		if nodes[name] = slices.IndexFunc(c.Nodes, func(n *graph.CollectionNodes) bool { return n.Type == t }); nodes[name] < 0 {
			return nil, nil, fmt.Errorf("found no node type %q, expected one for the node set of the schema; leave the node set out of the schema, or import it", t)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(schema.EdgeSets)) {
		t := examplecolumns.EdgeType(name, schema.EdgeSets[name])
		if edges[name] = slices.IndexFunc(c.Edges, func(e *graph.CollectionEdges) bool { return e.Type == t }); edges[name] < 0 {
			return nil, nil, fmt.Errorf("found no edge type %q, expected one for the edge set of the schema; leave the edge set out of the schema, or import it", t)
		}
	}
	return nodes, edges, nil
}

// pick returns the columns of features, sorted by name. Other columns are left out and added to r.
func pick(what string, features map[string]*tfgnnpb.Feature, columns []*graph.Column, r *Result) ([]*graph.Column, error) {
	var picked []*graph.Column
	for _, name := range slices.Sorted(maps.Keys(features)) {
		f := features[name]
		c := graph.FindColumn(columns, name)
		if c == nil {
			return nil, fmt.Errorf("%s: found no column %q, expected one for the feature of the schema; leave the feature out of the schema, or import the column", what, name)
		}
		if want := examplecolumns.DType(f.GetDtype()); c.DType != want || !slices.Equal(c.Shape, examplecolumns.Shape(f)) {
			return nil, fmt.Errorf("%s: column %q: found %s %v, expected %s %v of the schema; change the schema, or import the column with that dtype and shape", what, name, c.DType, c.Shape, want, examplecolumns.Shape(f))
		}
		picked = append(picked, c)
		if examplecolumns.Rounds(c) {
			r.Rounded = append(r.Rounded, what+": column "+name)
		}
	}
	for _, c := range columns {
		if features[c.Name] == nil {
			r.Left = append(r.Left, what+": column "+c.Name)
		}
	}
	return picked, nil
}

// newSchema makes the schema of a collection that has none, and returns the index of the type of each of its sets.
func newSchema(c *graph.Collection) (schema *tfgnnpb.GraphSchema, nodes, edges map[string]int, err error) {
	schema = &tfgnnpb.GraphSchema{NodeSets: map[string]*tfgnnpb.NodeSet{}, EdgeSets: map[string]*tfgnnpb.EdgeSet{}}
	nodes, edges = map[string]int{}, map[string]int{}
	features := func(columns []*graph.Column) map[string]*tfgnnpb.Feature {
		m := map[string]*tfgnnpb.Feature{}
		for _, c := range columns {
			m[c.Name] = examplecolumns.Proto(c)
		}
		return m
	}
	if len(c.Context) > 0 {
		schema.Context = &tfgnnpb.Context{Features: features(c.Context)}
	}
	for i, n := range c.Nodes {
		name := examplecolumns.NodeSet(n.Type)
		schema.NodeSets[name], nodes[name] = &tfgnnpb.NodeSet{Features: features(n.Columns)}, i
	}
	types := make([]graph.EdgeType, len(c.Edges))
	for i, e := range c.Edges {
		types[i] = e.Type
	}
	for i, name := range examplecolumns.EdgeSets(types) {
		e := c.Edges[i]
		source, target := examplecolumns.NodeSet(e.Type.Src), examplecolumns.NodeSet(e.Type.Dst)
		schema.EdgeSets[name], edges[name] = &tfgnnpb.EdgeSet{Source: &source, Target: &target, Features: features(e.Columns)}, i
	}
	if len(nodes) < len(c.Nodes) || len(edges) < len(c.Edges) {
		return nil, nil, nil, errors.New("found two types whose sets would have the same name, expected different names; rename one of them")
	}
	return schema, nodes, edges, nil
}

func (o *own) schema() *tfgnnpb.GraphSchema { return o.kept }
