package picked

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/blank"
)

// attribute is a name that nodes or edges have a value under, as files have it.
type attribute struct {
	name  string
	dtype graph.DType // of all values; strings if types have others
	// own is a value of ours; nil takes the columns, by type.
	own     func(i int) Value
	columns []*Series
}

// Left are the columns that files leave out, as "TYPE.NAME": those with several values per row.
func (x *Graph) Left() (left []string) {
	for _, t := range x.NodeTypes {
		for _, c := range t.Columns {
			if !Single(c) {
				left = append(left, t.Type+"."+c.Name)
			}
		}
	}
	for _, t := range x.EdgeTypes {
		for _, c := range t.Columns {
			if !Single(c) {
				left = append(left, t.Type.String()+"."+c.Name)
			}
		}
	}
	return left
}

func text(s string) Value { return Value{Kind: Text, Text: s} }

func integer[T int | uint64](v T) Value {
	return Value{Kind: Integer, Text: strconv.FormatInt(int64(v), 10), Of: float64(v)}
}

// nodeAttributes lists the attributes of nodes, without their ids.
func (x *Graph) nodeAttributes() []attribute {
	columns := make([][]*graph.Column, len(x.NodeTypes))
	hasIDs := false
	for t := range x.NodeTypes {
		columns[t] = x.NodeTypes[t].Columns
		hasIDs = hasIDs || x.NodeTypes[t].IDs != nil
	}
	own := []attribute{
		{name: "type", dtype: graph.String, own: func(i int) Value { return text(x.NodeTypes[x.Nodes[i].Type].Type) }},
		{name: "number", dtype: graph.Int64, own: func(i int) Value { return integer(x.Nodes[i].Number) }},
	}
	if hasIDs {
		own = append(own, attribute{name: "original_id", dtype: graph.String, own: func(i int) Value { return text(x.ID(&x.Nodes[i]).Text) }})
	}
	if x.Collection {
		own = append(own, attribute{name: "subgraph", dtype: graph.Int64, own: func(i int) Value { return integer(x.Nodes[i].Subgraph) }})
	}
	if x.Sampled {
		own = append(own, attribute{name: "seed", dtype: graph.Bool, own: func(i int) Value {
			return Value{Kind: Bool, Text: strconv.FormatBool(x.Nodes[i].Seed)}
		}})
		if !slices.ContainsFunc(x.Nodes, func(n Node) bool { return n.Hop < 0 }) {
			own = append(own, attribute{name: "hop", dtype: graph.Int64, own: func(i int) Value { return integer(x.Nodes[i].Hop) }})
		}
	}
	rows := make([][]int, len(x.NodeTypes))
	for i := range x.Nodes {
		rows[x.Nodes[i].Type] = append(rows[x.Nodes[i].Type], x.Nodes[i].Row)
	}
	return join(own, columns, rows, "id")
}

// edgeAttributes lists the attributes of edges, without their ends.
func (x *Graph) edgeAttributes() []attribute {
	columns := make([][]*graph.Column, len(x.EdgeTypes))
	for t := range x.EdgeTypes {
		columns[t] = x.EdgeTypes[t].Columns
	}
	rows := make([][]int, len(x.EdgeTypes))
	for i := range x.Edges {
		rows[x.Edges[i].Type] = append(rows[x.Edges[i].Type], x.Edges[i].Row)
	}
	return join([]attribute{
		{name: "type", dtype: graph.String, own: func(i int) Value { return text(x.EdgeTypes[x.Edges[i].Type].Type.String()) }},
		{name: "number", dtype: graph.Int64, own: func(i int) Value { return integer(x.Edges[i].Number) }},
	}, columns, rows, "id", "source", "target", "key")
}

// join puts the columns of all types after own, each name once. A name of ours has "_" at its end where a column has it, and so has a column with a
// reserved name. Columns that only mark missing values, which the files leave out, are no attributes. rows are those that are written, by type.
func join(own []attribute, columns [][]*graph.Column, rows [][]int, reserved ...string) []attribute {
	taken := map[string]bool{}
	for _, name := range reserved {
		taken[name] = true
	}
	var all []attribute
	at := map[string]int{}
	for t, list := range columns {
		for _, c := range list {
			if !Single(c) || blank.Told(c, list, slices.Values(rows[t])) {
				continue
			}
			i, seen := at[c.Name]
			if !seen {
				i = len(all)
				at[c.Name] = i
				all = append(all, attribute{dtype: dtypeOf(c), columns: make([]*Series, len(columns))})
			}
			all[i].columns[t] = SeriesOf(c, list)
			if all[i].dtype != dtypeOf(c) {
				all[i].dtype = graph.String
			}
		}
	}
	free := func(name string) string {
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		return name
	}
	names := make([]string, 0, len(at))
	for name := range at {
		names = append(names, name)
	}
	slices.Sort(names)
	sorted := make([]attribute, 0, len(all))
	for _, name := range names {
		a := all[at[name]]
		a.name = free(name)
		sorted = append(sorted, a)
	}
	for i := range own {
		own[i].name = free(own[i].name)
	}
	return append(own, sorted...)
}

// dtypeOf is the dtype of the values of a column in a file.
func dtypeOf(c *graph.Column) graph.DType {
	switch {
	case c.Categories != nil || c.Unit != "":
		return graph.String
	case c.DType == graph.Uint64:
		if slices.ContainsFunc(graph.View[uint64](c.Values), func(v uint64) bool { return v > math.MaxInt64 }) {
			return graph.String
		}
	}
	return c.DType
}

// valueAt is the value of a node or edge: its number, its type and its row.
func (a *attribute) valueAt(i, kind, row int) Value {
	if a.own != nil {
		return a.own(i)
	}
	c := a.columns[kind]
	if c == nil {
		return Value{}
	}
	v := c.At(row)
	if v.Kind != Missing && c.Unit != "" {
		return text(c.Text(row))
	}
	if v.Kind != Missing && a.dtype == graph.String {
		v.Kind = Text
	}
	return v
}

// Gaps are the names of numbers and bools that some nodes or edges have no value of: an import has to know what these mean.
func (x *Graph) Gaps() (names []string) {
	add := func(list []attribute, n int, at func(i int) (kind, row int)) {
		for k := range list {
			if list[k].dtype == graph.String || slices.Contains(names, list[k].name) {
				continue
			}
			for i := range n {
				kind, row := at(i)
				if list[k].valueAt(i, kind, row).Kind == Missing {
					names = append(names, list[k].name)
					break
				}
			}
		}
	}
	add(x.attributes().nodes, len(x.Nodes), func(i int) (int, int) { return x.Nodes[i].Type, x.Nodes[i].Row })
	add(x.attributes().edges, len(x.Edges), func(i int) (int, int) { return x.Edges[i].Type, x.Edges[i].Row })
	return names
}

// fileIDs are the ids of nodes in a file: the original ids where these tell nodes apart, else with the type, and the subgraph if there are several, before them.
func (x *Graph) fileIDs() []string {
	ids := make([]string, len(x.Nodes))
	several := slices.ContainsFunc(x.Nodes, func(n Node) bool { return n.Subgraph != x.Nodes[0].Subgraph })
	seen := map[string]bool{}
	unique := true
	for i := range x.Nodes {
		ids[i] = strings.ToValidUTF8(x.ID(&x.Nodes[i]).Text, "\uFFFD")
		unique = unique && ids[i] != "" && !seen[ids[i]]
		seen[ids[i]] = true
	}
	if unique {
		return ids
	}
	clear(seen)
	for i := range x.Nodes {
		n := &x.Nodes[i]
		ids[i] = x.NodeTypes[n.Type].Type + ":" + ids[i]
		if several {
			ids[i] = strconv.Itoa(n.Subgraph) + ":" + ids[i]
		}
		if seen[ids[i]] { // texts that differ in bytes that are no UTF-8
			ids[i] += "#" + strconv.Itoa(i)
		}
		seen[ids[i]] = true
	}
	return ids
}
