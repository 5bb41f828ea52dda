package ingest

import (
	"context"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// apocCSV is a CSV of Neo4j's APOC (apoc.export.csv.all) or of Memgraph (export_util.csv_graph): the rows of nodes have values in _id, _labels and their properties, those of relationships in
// _start, _end, _type and theirs.
type apocCSV struct{}

func (apocCSV) name() string { return "apoc-csv" }
func (apocCSV) about() string {
	return "a .csv with the columns _id, _labels, _start, _end and _type, of Neo4j's APOC or Memgraph; plain or as .gz or .zst"
}
func (apocCSV) becomes() string { return labelledBecomes }

func (apocCSV) detect(path string, names []string) bool { return names == nil && isText(path) }

func (apocCSV) sniff(fsys vfs.FS, path string, _ []string) (bool, error) {
	if isPattern(path) {
		return false, nil
	}
	header, _, err := headerOf(fsys, path, 0)
	return apocColumns(header) != nil, err
}

// apocNames are the columns that are no properties.
var apocNames = []string{"_id", "_labels", "_start", "_end", "_type"}

// apocColumns are the names of these columns in a header, in the same order, and nil if one is missing. With useTypes, a type follows the name.
func apocColumns(header []string) []string {
	columns := make([]string, len(apocNames))
	for i, name := range apocNames {
		at := slices.IndexFunc(header, func(h string) bool {
			before, _, _ := strings.Cut(h, ":")
			return before == name
		})
		if at < 0 {
			return nil
		}
		columns[i] = header[at]
	}
	return columns
}

func (apocCSV) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	files, err := databaseFiles(fsys, path, o, table.Text)
	if err != nil {
		return nil, err
	}
	whole, err := tablefiles.Open(fsys, files, tablefiles.Options{CSVOptions: textfiles.CSVOptions{Delimiter: o.Delimiter, ListDelimiter: o.ArrayDelimiter, Header: true}})
	if err != nil {
		return nil, err
	}
	columns := apocColumns(namesOf(whole.Fields()))
	if columns == nil {
		return nil, sourcef("%s: found the columns %s, expected _id, _labels, _start, _end and _type among them; export the whole graph with apoc.export.csv.all", path, table.List(some(namesOf(whole.Fields()))))
	}
	of := map[string]string{}
	for i, name := range apocNames {
		of[name] = columns[i]
	}
	t := views.Named(whole, of)
	marks, err := apocMarks(ctx, t, max(o.Threads, 1))
	if err != nil {
		return nil, err
	}
	l := &labelled{o: o, path: path}
	l.nodes = []*labelledNodes{{Table: withoutFields(views.Kept(t, marks, 0), "_start", "_end", "_type"), text: true, id: "_id", label: "_labels", typ: graph.HomogeneousNode, labelsOf: cutLabels(":")}}
	l.edges = []*labelledEdges{{Table: withoutFields(views.Kept(t, marks, 1), "_id", "_labels"), text: true, src: "_start", dst: "_end", rel: "_type"}}
	s, err := l.source(ctx)
	if err == nil {
		s.Held += marks.Bytes()
	}
	return s, err
}

// apocMarks tells the rows of nodes, 0, from those of relationships, 1.
func apocMarks(ctx context.Context, t table.Table, threads int) (*views.Marks, error) {
	text := func(name string) table.Column { return table.Column{Name: name, DType: graph.String} }
	rows, err := views.Mark(ctx, t, []table.Column{text("_id"), text("_start")}, threads, func(c *table.Chunk, row int) (uint16, error) {
		node, edge := len(c.Columns[0].ID(row, graph.String)) > 0, len(c.Columns[1].ID(row, graph.String)) > 0
		if node == edge {
			return 0, sourcef("%s: found a row with %s, expected _id of a node, or _start and _end of a relationship; correct the row", t.Where(c.First+uint64(row), ""), map[bool]string{true: "_id and _start", false: "neither _id nor _start"}[node])
		}
		if edge {
			return 1, nil
		}
		return 0, nil
	})
	if err != nil {
		return nil, err
	}
	return views.NewMarks(rows, 2), nil
}
