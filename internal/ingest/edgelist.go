package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// edgeList is one table with one row per edge. It gives a homogeneous graph.
type edgeList struct{}

func (edgeList) name() string  { return "edge-list" }
func (edgeList) about() string { return table.Expected + ", or a folder of them" }

func (edgeList) becomes() string {
	return "a graph of one type; further columns become columns of the edges"
}

func (edgeList) detect(path string, names []string) bool {
	if names != nil {
		return table.IsTable(names)
	}
	switch table.KindByName(pattern(path)) {
	case table.Text, table.ParquetFile, table.ArrowFile, table.JSONLines:
		return true
	}
	return false
}

// isText says whether a path names a table of text.
func isText(path string) bool { return table.KindByName(pattern(path)) == table.Text }

// pattern returns the name of a table without the "@N" of its shards.
func pattern(path string) string {
	if i := lastAt(path); i >= 0 {
		return path[:i]
	}
	return path
}

// lastAt returns the index of the "@N" in a name, or -1.
func lastAt(path string) int {
	i := len(path)
	for i > 0 && path[i-1] >= '0' && path[i-1] <= '9' {
		i--
	}
	if i == len(path) || i == 0 || path[i-1] != '@' {
		return -1
	}
	return i - 1
}

func (edgeList) open(_ context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	var files, folders []string
	for _, path := range append([]string{path}, o.More...) {
		found, folder, err := table.FindPath(fsys, path, o.Outside)
		if err != nil {
			return nil, sourcef("%w", err)
		}
		if files = append(files, found...); folder != "" {
			folders = append(folders, folder)
		}
	}
	kind, err := table.KindOf(fsys, files[0])
	if err != nil {
		return nil, err
	}
	var t table.Table
	var specs []table.Column
	var warnings []string
	var snap snapComments
	if kind == table.Text {
		t, specs, snap, err = openEdgeList(fsys, files, folders, o)
	} else {
		t, specs, warnings, err = openEdgeColumns(fsys, files, folders, o)
	}
	if err != nil {
		return nil, err
	}
	warnings = append(warnings, snap.warnings...)
	fields, err := describe(t)
	if err != nil {
		return nil, err
	}
	src, err := pick(t, fields, o.Src, srcNames)
	if err != nil {
		return nil, fmt.Errorf("%w; name the columns of the ends with `Src` and `Dst`, or all with `Columns` if there is no header", err)
	}
	dst, err := pick(t, fields, o.Dst, dstNames)
	if err != nil {
		return nil, fmt.Errorf("%w; name the columns of the ends with `Src` and `Dst`, or all with `Columns` if there is no header", err)
	}
	integer := src.unsigned && dst.unsigned
	if o.IDs != idsAuto {
		integer = o.IDs == idsInteger
	}
	if o.IDs == idsAuto && !integer {
		for _, f := range []*looks{src, dst} {
			if f.mixed {
				warnings = append(warnings, fmt.Sprintf("%s: found id %q among integers, so all ids are read as strings; give `IDs` integer to make it an error, or `IDs` string to read strings without this warning",
					t.Where(f.oddRow, f.Name), f.odd))
			}
		}
	}
	e := assemble.Edges{Type: graph.HomogeneousEdge, Table: t, Src: end(src.Name, integer), Dst: end(dst.Name, integer)}
	for _, f := range fields {
		if f.Name == src.Name || f.Name == dst.Name {
			continue
		}
		if specs != nil {
			i := slices.IndexFunc(specs, func(c table.Column) bool { return c.Name == f.Name })
			if i < 0 {
				continue
			}
			if specs[i].DType != graph.Invalid {
				f.DType, f.Shape = specs[i].DType, specs[i].Shape
			}
		}
		e.Columns = append(e.Columns, featureOf(f.Field, o))
	}
	if !integer && o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with string ids, expected it with integer ids, which it bounds")
	}
	e.Symmetrise = snap.undirected
	return &Source{
		Primary:  graph.In,
		Files:    files,
		Warnings: warnings,
		Declared: snap.Declared,
		Input: assemble.Input{
			Nodes: []assemble.Nodes{{Type: graph.HomogeneousNode, ID: table.Column{DType: e.Src.DType}, Count: o.NumNodes}},
			Edges: []assemble.Edges{e},
		},
	}, nil
}

// openEdgeList opens files with or without a header. Columns that the caller names are those of files without a
// header, unless the first line contains all of them. The comments of a file without a header can name its columns.
func openEdgeList(fsys vfs.FS, files, folders []string, o Options) (table.Table, []table.Column, snapComments, error) {
	csv := table.Options{CSVOptions: table.CSVOptions{Delimiter: o.Delimiter}, Folders: folders}
	t, err := table.Open(fsys, files, csv)
	none := (*table.NoHeaderError)(nil)
	snap, serr := readSNAP(fsys, files)
	if serr != nil {
		return nil, nil, snap, joined(err, serr)
	}
	if o.Columns == "" {
		if !errors.As(err, &none) {
			return t, nil, snap, err
		}
		if csv.Names = snap.names(none.Cells, files[0]); csv.Names == nil {
			return nil, nil, snap, fmt.Errorf("%w; for example `Columns` src,dst,weight:float32", err)
		}
		t, err = table.Open(fsys, files, csv)
		return t, nil, snap, err
	}
	specs, perr := parseColumns(o.Columns)
	if perr != nil {
		return nil, nil, snap, perr
	}
	if err == nil {
		have := t.Fields()
		if !slices.ContainsFunc(specs, func(c table.Column) bool {
			return !slices.ContainsFunc(have, func(f table.Field) bool { return f.Name == c.Name })
		}) {
			return t, specs, snap, nil
		}
	}
	for _, c := range specs {
		csv.Names = append(csv.Names, c.Name)
	}
	t, err = openTable(fsys, files, csv)
	return t, specs, snap, err
}

// joined returns the first of two errors that there is.
func joined(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// openEdgeColumns opens files whose columns have names. The caller can choose among the columns.
func openEdgeColumns(fsys vfs.FS, files, folders []string, o Options) (table.Table, []table.Column, []string, error) {
	options := table.Options{Folders: folders}
	var specs []table.Column
	if o.Columns != "" {
		var err error
		if specs, err = parseColumns(o.Columns); err != nil {
			return nil, nil, nil, err
		}
		for _, c := range specs { // of JSON lines
			options.Names = append(options.Names, c.Name)
		}
	}
	t, err := table.Open(fsys, files, options)
	if err != nil {
		return nil, nil, nil, err
	}
	if specs == nil {
		var s Source
		s.leftOut(t, false)
		return t, nil, s.Warnings, nil
	}
	have := t.Fields()
	for _, c := range specs {
		if !slices.ContainsFunc(have, func(f table.Field) bool { return f.Name == c.Name }) {
			var names []string
			for _, f := range have {
				names = append(names, f.Name)
			}
			return nil, nil, nil, usagef("found the column %q in `Columns`, expected some of %s, which %s has%s", c.Name, strings.Join(names, ", "), files[0], suggest.Hint(c.Name, names))
		}
	}
	return t, specs, nil, nil
}

// leftOut warns of the columns of a table that cannot be read, unless the columns to read are listed.
func (s *Source) leftOut(t table.Table, listed bool) {
	if t == nil || listed {
		return
	}
	for _, c := range table.Unreadable(t) {
		w := fmt.Sprintf("%s: the column %s is left out: it is not a number, bool or string, or a list of them", t.Files()[0], c)
		if !slices.Contains(s.Warnings, w) {
			s.Warnings = append(s.Warnings, w)
		}
	}
}

// openTable opens a table. If the caller names the columns of text that has a header, the header would become a row. It is
// detected by a cell of the first line that is the only one of its column that is not a number.
func openTable(fsys vfs.FS, files []string, o table.Options) (table.Table, error) {
	whole, err := table.Open(fsys, files, o)
	t, text := whole.(*table.CSV)
	if err != nil || o.Names == nil || !text {
		return whole, err
	}
	headed, err := table.OpenCSV(fsys, files[:1], table.CSVOptions{Delimiter: o.Delimiter})
	if err != nil || len(headed.Fields()) != len(o.Names) {
		return t, nil
	}
	with, err := t.Guess()
	if err != nil {
		return nil, err
	}
	without, err := headed.Guess()
	if err != nil {
		return nil, err
	}
	for i, f := range headed.Fields() {
		if without[i].Seen && without[i].Number && !with[i].Number {
			return nil, usagef("%s: found %q in the first line above numbers, expected a number, as the names %s are given for a file without a header; leave the names out, or give those of the header", files[0], f.Name, strings.Join(o.Names, ","))
		}
	}
	return t, nil
}
