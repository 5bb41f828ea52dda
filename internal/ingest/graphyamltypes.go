package ingest

import (
	"errors"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
	"github.com/graphmill/graphmill/internal/suggest"
)

type nodeEntry struct {
	source
	id    string
	noID  bool // no column has the ids: they are the row numbers
	ids   IDs
	count uint64
	none  bool // the count is 0
	left  bool // lines bring the rows of its table, and there are none
	out   assemble.Nodes
	// uses are the columns of edges that contain ids of this type.
	uses    []*looks
	foreign []string // columns of the table that edges use as foreign keys
	whole   bool     // ids such as 2.0 are integers
}

type edgeEntry struct {
	source
	typ             graph.EdgeType
	src, dst        string
	indptr, indices string
	where           *assemble.Filter
	reverse         string
	asWritten       bool // the file gives symmetrise or reverse, so a column of the table does not decide it
	out             assemble.Edges
	srcLooks        *looks // nil: the end is the row number
	dstLooks        *looks
}

func (l *lister) readNode(e yamlfile.Entry) error {
	n := &nodeEntry{source: source{at: e.At}, ids: l.o.IDs, out: assemble.Nodes{Type: e.Key}}
	if err := graph.CheckName(e.Key); err != nil {
		return l.y.Errorf(e.At, "%w", err)
	}
	fields, err := l.y.Mapping(e.Value, "a node type", append([]string{"id", "count"}, tableKeys...))
	if err != nil {
		return err
	}
	for _, f := range fields {
		switch f.Key {
		case "id":
			err = l.readID(f, n)
		case "count":
			n.count, err = l.y.Count(f.Value, "the number of nodes")
			n.none = n.count == 0
		default:
			err = l.readSource(f, &n.source)
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(l.checkMissingTexts(e, &n.source), l.checkQuery(e, &n.source)); err != nil {
		return err
	}
	if (n.count > 0 || n.none) && (n.tabled() || n.columns != nil || n.id != "") {
		return l.y.Errorf(e.At, "found a count together with a table, an id or columns of %q, expected no count, as the rows give it; remove count", e.Key)
	}
	if n.id != "" && !n.tabled() && !n.array(n.id) {
		return l.y.Errorf(e.At, "found an id column of %q, expected a table or an array that has it; name the table", e.Key)
	}
	n.keyed(n.id)
	l.nodes = append(l.nodes, n)
	return nil
}

func (l *lister) readID(f yamlfile.Entry, n *nodeEntry) (err error) {
	if s, ok := f.Value.(*ast.StringNode); ok {
		n.id = s.Value
		return nil
	}
	if _, ok := f.Value.(*ast.NullNode); ok {
		n.noID = true
		return nil
	}
	fields, err := l.y.Mapping(f.Value, "column and dtype", []string{"column", "dtype"})
	for _, f := range fields {
		var s string
		if s, err = l.y.Text(f.Value, "a name"); err != nil {
			return err
		}
		if f.Key == "column" {
			n.id = s
		} else if n.ids, err = ParseIDs(s); err != nil {
			return l.y.Errorf(f.Value, "found ids %q, expected auto, integer or string%s", s, suggest.Hint(s, []string{"auto", "integer", "string"}))
		}
	}
	return err
}

func (l *lister) readEdge(e yamlfile.Entry) error {
	typ, err := graph.ParseEdgeType(e.Key)
	if err != nil {
		return l.y.Errorf(e.At, "%w", err)
	}
	x := &edgeEntry{source: source{at: e.At}, typ: typ, out: assemble.Edges{Type: typ}}
	fields, err := l.y.Mapping(e.Value, "an edge type", append([]string{"src", "dst", "where", "reverse", "symmetrise", "indptr", "indices"}, tableKeys...))
	if err != nil {
		return err
	}
	for _, f := range fields {
		name := "the name of a column"
		switch f.Key {
		case "src":
			x.src, err = l.y.Text(f.Value, name)
		case "dst":
			x.dst, err = l.y.Text(f.Value, name)
		case "indptr":
			x.indptr, err = l.y.Text(f.Value, "the name of a file")
		case "indices":
			x.indices, err = l.y.Text(f.Value, "the name of a file")
		case "reverse":
			x.asWritten = true
			if x.reverse, err = l.y.Text(f.Value, "the name of a relation"); err == nil {
				if bad := graph.CheckName(x.reverse); bad != nil {
					err = l.y.Errorf(f.Value, "%w", bad)
				}
			}
		case "symmetrise":
			x.asWritten = true
			if x.out.Symmetrise, err = l.y.Boolean(f.Value); err == nil && x.out.Symmetrise && typ.Src != typ.Dst {
				err = l.y.Errorf(f.Value, "found symmetrise between %s and %s, expected one node type; name the other direction with reverse", typ.Src, typ.Dst)
			}
		case "where":
			err = l.readWhere(f, x)
		default:
			err = l.readSource(f, &x.source)
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(l.checkMissingTexts(e, &x.source), l.checkQuery(e, &x.source)); err != nil {
		return err
	}
	if w := x.where; w != nil && slices.Contains(x.csv.Missing, w.Value) {
		return l.y.Errorf(e.At, "found the value %q of where among missing_texts, expected another one, as such cells are empty; leave it out of missing_texts", w.Value)
	}
	matrix := x.indptr != "" || x.indices != ""
	switch {
	case matrix && (x.indptr == "" || x.indices == "" || x.tabled() || x.src != "" || x.dst != "" || x.where != nil):
		return l.y.Errorf(e.At, "found some of indptr, indices and a table, expected both arrays and no table, src, dst or where; add the missing array, or remove what does not belong")
	case !matrix && !x.tabled() && !(x.array(x.src) && x.array(x.dst)):
		return l.y.Errorf(e.At, "found no table of %s, expected one, or arrays for src and dst among its columns, or indptr and indices", typ)
	}
	x.keyed(x.src)
	x.keyed(x.dst)
	l.edges = append(l.edges, x)
	return nil
}

func (l *lister) readWhere(f yamlfile.Entry, x *edgeEntry) error {
	fields, err := l.y.Mapping(f.Value, "a column and its value", nil)
	if err != nil {
		return err
	}
	if len(fields) != 1 {
		return l.y.Errorf(f.At, "found %d columns in where, expected one; split the edge type into one per value", len(fields))
	}
	value, err := l.y.Text(fields[0].Value, "a value of the column")
	x.where = &assemble.Filter{Column: fields[0].Key, Value: value}
	return err
}
