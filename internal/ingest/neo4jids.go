package ingest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
)

// neo4jTable is a table of nodes or of edges, with the columns of its ids in their order. The id of a node can have several columns (of Neo4j 5.3 and later), and its parts one
// after the other are the id. Edges name such a node by one column with this text, or (from Neo4j 2025.07 on) by a column for each part. All edges with ends of an id space
// do it in one way. In the second one, two nodes whose parts give the same text are two nodes.
type neo4jTable struct {
	table.Table
	file     *neo4jFile
	ids      []string // of a table of edges, those of the edges
	src, dst []string // none: of nodes
}

// neo4jBetween joins the parts of ids that edges name by as many columns.
const neo4jBetween = ";"

// openNeo4j finds the columns of a table.
func openNeo4j(t table.Table, g *neo4jFile) (*neo4jTable, error) {
	x := &neo4jTable{Table: t, file: g}
	for _, of := range []struct {
		usual string
		to    *[]string
	}{{":ID", &x.ids}, {":START_ID", &x.src}, {":END_ID", &x.dst}} {
		for _, name := range namesOf(t.Fields()) {
			if !means(name, of.usual, false) || !strings.Contains(name, ":") {
				continue
			}
			if *of.to = append(*of.to, name); space(name, of.usual) != space((*of.to)[0], of.usual) {
				return nil, sourcef("%s: found the columns %q and %q of two id spaces, expected those of one; correct the header", g.name, (*of.to)[0], name)
			}
		}
	}
	missing := ""
	switch {
	case x.src != nil && x.dst == nil:
		missing = ":END_ID"
	case x.src == nil && x.ids == nil:
		missing = ":ID"
	default:
		return x, nil
	}
	return nil, sourcef("%s: found the columns %s, expected %s among them; add it to the header", g.name, table.List(some(namesOf(t.Fields()))), missing)
}

// neo4jParts are the numbers of columns by which the edges of tables name a node, by id space.
func neo4jParts(tables []*neo4jTable) (map[string]int, error) {
	parts, first := map[string]int{}, map[string]string{}
	for _, x := range tables {
		if x.src == nil {
			continue
		}
		for k, names := range [][]string{x.src, x.dst} {
			in := space(names[0], []string{":START_ID", ":END_ID"}[k])
			if n := parts[in]; n > 0 && n != len(names) {
				return nil, sourcef("%s: found ends of %d and of %d columns, as in %s, of the same id space, expected as many in all files; name each node by one column, or by a column for each part of its id", x.file.name, min(n, len(names)), max(n, len(names)), first[in])
			}
			parts[in], first[in] = len(names), cmp.Or(first[in], x.file.name)
		}
	}
	for _, x := range tables {
		if x.src != nil {
			continue
		}
		if n, in := parts[space(x.ids[0], ":ID")], space(x.ids[0], ":ID"); n > 1 && n != len(x.ids) {
			return nil, sourcef("%s: found %d columns :ID, expected %d, as %s names a node by; correct one of the headers", x.file.name, len(x.ids), n, first[in])
		}
	}
	return parts, nil
}

// neo4jOption finds an option in a header: "id:ID(Person){label:Person, id-type:int}".
var neo4jOption = regexp.MustCompile(`(?i)[{,]\s*label\s*:\s*([^,}]+)`)

// The names that columns of labels and of types have, and those of ids of several columns.
const (
	neo4jLabels = "LABEL"
	neo4jType   = "TYPE"
	neo4jID     = "\x02id"
	neo4jSrc    = "\x02src"
	neo4jDst    = "\x02dst"
)

// addNeo4j adds tables of nodes and of edges.
func (l *labelled) addNeo4j(tables []*neo4jTable) error {
	parts, err := neo4jParts(tables)
	if err != nil {
		return err
	}
	for _, x := range tables {
		if len(x.ids) > 1 && x.src == nil && l.o.IDs == idsInteger {
			return usagef("%s: found integer ids with %d columns :ID, expected string ids, as the parts of an id are texts one after the other; leave `IDs` out", x.file.name, len(x.ids))
		}
		if x.src != nil {
			l.addNeo4jEdges(x)
		} else if err := l.addNeo4jNodes(x, parts); err != nil {
			return err
		}
	}
	return nil
}

// joinIDs returns the name of the column of ids; where the header has several, they are joined to a column with the name given.
func (x *neo4jTable) joinIDs(columns []string, name, between string) string {
	if len(columns) == 1 {
		return columns[0]
	}
	x.Table = views.Joined(x.Table, name, columns, between)
	return name
}

// fieldNamed returns the name if the table has a field with it, and otherwise "".
func (x *neo4jTable) fieldNamed(name string) string {
	if slices.Contains(namesOf(x.Fields()), name) {
		return name
	}
	return ""
}

func (l *labelled) addNeo4jNodes(x *neo4jTable, parts map[string]int) error {
	in, between := space(x.ids[0], ":ID"), ""
	if parts[in] > 1 {
		between = neo4jBetween
	}
	label := ""
	if m := neo4jOption.FindStringSubmatch(x.ids[0]); m != nil {
		label = m[1]
	}
	id := x.joinIDs(x.ids, neo4jID, between)
	if len(x.ids) > 1 { // parts with a name are properties, too
		of := map[string]string{}
		var left []string
		for _, part := range x.ids {
			name, _, _ := strings.Cut(part, ":")
			if name == "" {
				left = append(left, part)
				continue
			}
			if of[name] != "" || x.fieldNamed(name) != "" {
				return sourcef("%s: found two columns %q, expected different names; rename one in the header", x.file.name, name)
			}
			of[name] = part
		}
		x.Table = views.Named(withoutFields(x.Table, left...), of)
	}
	n := &labelledNodes{Table: x.Table, text: true, id: id, space: in, label: x.fieldNamed(neo4jLabels), labelsOf: cutLabels(string(rune(cmp.Or(l.o.ArrayDelimiter, ';'))))}
	n.typ = labelSet([]string{cmp.Or(label, n.space, x.file.typeByName())})
	l.nodes = append(l.nodes, n)
	return nil
}

func (l *labelled) addNeo4jEdges(x *neo4jTable) {
	left := slices.Clone(x.ids)
	if x.ids != nil {
		l.notes = noted(l.notes, l.path+": the ids of edges are not imported")
	}
	spaces := [2]string{space(x.src[0], ":START_ID"), space(x.dst[0], ":END_ID")}
	src, dst := x.joinIDs(x.src, neo4jSrc, neo4jBetween), x.joinIDs(x.dst, neo4jDst, neo4jBetween)
	for _, names := range [][]string{x.src, x.dst} {
		if len(names) > 1 {
			left = append(left, names...)
		}
	}
	if left != nil {
		x.Table = withoutFields(x.Table, left...)
	}
	l.edges = append(l.edges, &labelledEdges{Table: x.Table, text: true, src: src, dst: dst, spaces: spaces, rel: x.fieldNamed(neo4jType), typ: typeName(x.file.typeByName(), graph.HomogeneousEdge.Rel)})
}
