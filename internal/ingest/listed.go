package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/vfs"
)

// OpenListed opens a file that lists the ids of nodes or, with pairs, of the two ends of edges: text, a table, or an array.
//
// The first line of text is a header if columns are given or its cells are usual names; otherwise it is data. Without columns the file has one or two, or columns
// of usual names.
func OpenListed(fsys vfs.FS, path string, columns []string, pairs bool) (*transform.Listed, error) {
	kind, err := tablefiles.KindOf(fsys, path)
	if err != nil {
		return nil, err
	}
	var t table.Table
	switch kind {
	case table.Array:
		if pairs {
			t, err = arrayfiles.OpenPairs(fsys, path)
		} else {
			t, err = arrayfiles.OpenNpy(fsys, []arrayfiles.NpyColumn{{Name: "id", Path: path}})
		}
		columns = nil
	case table.Text, table.Unknown:
		t, err = openListedText(fsys, path, columns)
	default:
		t, err = tablefiles.Open(fsys, []string{path}, tablefiles.Options{})
	}
	if err != nil {
		return nil, listedError(path, err)
	}
	out := &transform.Listed{Table: t, Columns: columns}
	if columns == nil {
		out.Columns = idColumnsOf(t, pairs)
	}
	var names []string
	for _, f := range t.Fields() {
		names = append(names, f.Name)
	}
	for _, c := range out.Columns {
		if !slices.Contains(names, c) {
			return nil, sourcef("%s: found no column %s, expected one of %s", path, c, strings.Join(names, ", "))
		}
	}
	switch n := len(out.Columns); {
	case pairs && n != 2:
		return nil, sourcef("%s: found %d columns, expected the ids of the sources and destinations of edges; name the two columns", path, n)
	case !pairs && n != 1:
		return nil, sourcef("%s: found %d columns, expected the ids of nodes; name the column", path, n)
	}
	return out, nil
}

// openListedText opens text, with a header where there is one.
func openListedText(fsys vfs.FS, path string, columns []string) (table.Table, error) {
	open := func(o textfiles.CSVOptions) (*textfiles.CSV, error) {
		t, err := tablefiles.Open(fsys, []string{path}, tablefiles.Options{CSVOptions: o, Text: true})
		if err != nil {
			return nil, err
		}
		text, ok := t.(*textfiles.CSV)
		if !ok {
			return nil, sourcef("%s: found a file that is no text, expected lines of ids; correct the extension", path)
		}
		return text, nil
	}
	header := columns != nil
	t, err := open(textfiles.CSVOptions{Numbered: !header, Header: header})
	if err != nil || header {
		return t, err
	}
	var names []string
	for _, f := range t.Fields() {
		names = append(names, f.Name)
	}
	if names == nil {
		return nil, sourcef("%s: found an empty file, expected ids; leave the file out", path)
	}
	if t, err = open(textfiles.CSVOptions{Names: names}); err != nil {
		return nil, err
	}
	first := t.First()
	if len(first) == 2 && isHeader(first, names) || len(first) == 1 && isListHeader(first[0]) {
		return open(textfiles.CSVOptions{Header: true})
	}
	return t, nil
}

// isListHeader says whether a cell is a usual name of ids.
func isListHeader(cell string) bool {
	return slices.ContainsFunc(append([]string{"nid", "ids", "idx", "index"}, idNames...), func(name string) bool { return strings.EqualFold(name, cell) })
}

// idColumnsOf are the columns of a list of ids: all if their number is right, or the ones with usual names.
func idColumnsOf(t table.Table, pairs bool) (names []string) {
	for _, f := range t.Fields() {
		if f.DType.IsInt() || f.DType == graph.String || f.DType == graph.Invalid {
			names = append(names, f.Name)
		}
	}
	if pairs && len(names) > 2 {
		for i := range srcNames {
			if slices.Contains(names, srcNames[i]) && slices.Contains(names, dstNames[i]) {
				return []string{srcNames[i], dstNames[i]}
			}
		}
	}
	if !pairs && len(names) > 1 {
		for _, id := range idNames {
			if slices.Contains(names, id) {
				return []string{id}
			}
		}
	}
	return names
}

// listedError is an error of a list of ids, which names its file.
func listedError(path string, err error) error {
	if errors.Is(err, ErrSource) || errors.Is(err, table.ErrFormat) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
