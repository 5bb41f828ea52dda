package sampling

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/option"
)

// wideFeatures are the features of a store that are made of several columns, by type and name.
type wideFeatures map[string]map[string][]widening.Part

// wideFeaturesOf returns those that a store was made with; nil for none.
func wideFeaturesOf(f *features.File) (wideFeatures, error) {
	if f == nil {
		return nil, nil
	}
	wide := wideFeatures{}
	for _, types := range []map[string]*features.Type{f.Nodes, f.Edges} {
		for typ, t := range types {
			wide[typ] = map[string][]widening.Part{}
			for name, x := range t.Features {
				parts, err := widening.Parts(name, x)
				if err != nil {
					return nil, err
				}
				if parts != nil {
					wide[typ][name] = parts
				}
			}
		}
	}
	return wide, nil
}

// parts are the columns of a feature, or a column of the name itself.
func (w wideFeatures) parts(typ, name string) []widening.Part {
	if parts := w[typ][name]; parts != nil {
		return parts
	}
	return []widening.Part{{Column: name}}
}

// joinedColumns returns the columns that are made of several ones: the features, and the ones of Joined in the order of their names.
func (o *request) joinedColumns(g *graph.Graph, wide wideFeatures, nodes, edges map[string][]string, features []feed.Joined) ([]feed.Joined, error) {
	out := features
	for _, key := range slices.Sorted(maps.Keys(o.Joined)) {
		at := strings.LastIndex(key, "/")
		if at < 0 {
			return nil, operation.Usagef("`Joined`: found %q, expected TYPE/NAME; write it as in user/score", key)
		}
		j := feed.Joined{Type: key[:at], Name: key[at+1:]}
		for _, name := range o.Joined[key] {
			j.Columns = append(j.Columns, wide.parts(j.Type, name)...)
		}
		if t, err := g.EdgeType(j.Type); g.NodeType(j.Type) < 0 && (err != nil || g.Edges[t].Type.String() != j.Type) {
			return nil, operation.Usagef("`Joined`: found %q, expected a node type, or an edge type by its three names", j.Type)
		}
		taken := slices.ContainsFunc(features, func(f feed.Joined) bool { return f.Type == j.Type && f.Name == j.Name })
		if j.Name == "" || taken || slices.Contains(nodes[j.Type], j.Name) || slices.Contains(edges[j.Type], j.Name) {
			return nil, operation.Usagef("`Joined`: found the name %q, expected one that no column of the batch has; give the joined column another name", key)
		}
		out = append(out, j)
	}
	return out, nil
}

// columnBytes returns the size of the columns that batches read: those listed by type, those that are joined or have the times of ages,
// and the positions of edges.
func columnBytes(g *graph.Graph, f *feed.Features) (n int64) {
	add := func(columns []*graph.Column, names ...string) {
		for _, name := range names {
			if c := graph.FindColumn(columns, name); c != nil {
				n += int64(len(c.Values))
			}
		}
	}
	of := func(typ string, names ...string) {
		if t := g.NodeType(typ); t >= 0 {
			add(g.Nodes[t].Columns, names...)
		} else if t, err := g.EdgeType(typ); err == nil {
			add(g.Edges[t].Columns, names...)
		}
	}
	for _, j := range f.Joined {
		of(j.Type, j.Names()...)
	}
	for _, a := range f.Ages {
		of(a.Type, a.Column)
	}
	for _, t := range g.Nodes {
		add(t.Columns, f.Nodes[t.Type]...)
	}
	for _, e := range g.Edges {
		if !f.NoEdgeIDs {
			add(e.Columns, graph.PositionColumn)
		}
		add(e.Columns, f.Edges[e.Type.String()]...)
	}
	return n
}

// features returns the columns of nodes and edges that batches have, by type, and the features that are made of several columns.
func (o *request) features(g *graph.Graph, wide wideFeatures) (nodes, edges map[string][]string, joined []feed.Joined, err error) {
	nodeTypes, edgeTypes := map[string][]*graph.Column{}, map[string][]*graph.Column{}
	for _, n := range g.Nodes {
		nodeTypes[n.Type] = n.Columns
	}
	for _, e := range g.Edges {
		edgeTypes[e.Type.String()] = e.Columns
	}
	names := o.Features
	if names == nil {
		names = []string{"all"}
	}
	nodes, ofNodes, errNodes := namedColumns("Features", names, nodeTypes, wide)
	edges, ofEdges, errEdges := namedColumns("EdgeFeatures", o.EdgeFeatures, edgeTypes, wide)
	return nodes, edges, append(ofNodes, ofEdges...), errors.Join(errNodes, errEdges)
}

// texts returns the columns of texts of nodes that batches have, by type. A name without a type stands for the column of every type that has it; #id is the original ids of a type,
// or of all.
func (o *request) texts(g *graph.Graph) (map[string][]string, error) {
	out := map[string][]string{}
	for _, item := range o.Texts {
		found := false
		for _, n := range g.Nodes {
			name, typed := strings.CutPrefix(item, n.Type+"/")
			c := graph.FindColumn(n.Columns, name)
			switch {
			case name != feed.IDColumn && c == nil:
				continue
			case c != nil && !feed.HasTexts(c) && typed:
				return nil, operation.Usagef("`Texts`: found %s, a column of %s, expected one of texts; name it in `Features`", item, c.DType)
			case c != nil && !feed.HasTexts(c):
				continue
			}
			found = true
			if !slices.Contains(out[n.Type], name) {
				out[n.Type] = append(out[n.Type], name)
			}
		}
		if !found {
			return nil, operation.Usagef("`Texts`: found no texts %q, expected COLUMN or TYPE/COLUMN of nodes, or #id; graphmill info lists the columns", item)
		}
	}
	if len(out) > 0 && o.Executor == option.ExecutorStream {
		return nil, operation.Usagef("found `Texts` with `Executor` stream, expected memory, whose batches can have texts")
	}
	return out, nil
}

// leftOut names the columns that "all" would list if batches could have them.
func (o *request) leftOut(g *graph.Graph, made *features.File, links []*widening.Column) []string {
	all := func(names []string) bool { return len(names) == 1 && names[0] == "all" }
	asked := &graph.Graph{}
	if o.Features == nil || all(o.Features) {
		asked.Nodes = g.Nodes
	}
	if all(o.EdgeFeatures) {
		asked.Edges = g.Edges
	}
	names := operation.NotInBatches(asked, made)
	for _, c := range links {
		if !operation.InBatches(c.Column) {
			names = append(names, "links/"+c.Name)
		}
	}
	return names
}

// namedColumns returns the listed columns by type, and the features that are made of several columns; "all" lists every column of numbers with a fixed shape, and
// every feature. A name without a type stands for the column of every type that has it.
func namedColumns(field string, names []string, types map[string][]*graph.Column, wide wideFeatures) (map[string][]string, []feed.Joined, error) {
	out := map[string][]string{}
	var joined []feed.Joined
	all := len(names) == 1 && names[0] == "all"
	for _, t := range slices.Sorted(maps.Keys(types)) {
		for _, name := range slices.Sorted(maps.Keys(wide[t])) {
			if all || slices.Contains(names, name) || slices.Contains(names, t+"/"+name) {
				joined = append(joined, feed.Joined{Type: t, Name: name, Columns: wide[t][name]})
			}
		}
		for _, c := range types[t] {
			if all && operation.InBatches(c) && !strings.HasPrefix(c.Name, "#") {
				out[t] = append(out[t], c.Name)
			}
		}
	}
	if all {
		return out, joined, nil
	}
	for _, item := range names {
		found := slices.ContainsFunc(joined, func(j feed.Joined) bool { return item == j.Name || item == j.Type+"/"+j.Name })
		for t, columns := range types {
			for _, c := range columns {
				if item == c.Name || item == t+"/"+c.Name {
					out[t] = append(out[t], c.Name)
					found = true
				}
			}
		}
		if !found {
			return nil, nil, operation.Usagef("`%s`: found no column %q, expected COLUMN or TYPE/COLUMN of the store; graphmill info lists them", field, item)
		}
	}
	return out, joined, nil
}
