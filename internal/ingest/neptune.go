package ingest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// neptune is a folder of CSV or Parquet files of Amazon Neptune for Gremlin: nodes have ~id and ~label, edges ~id, ~from, ~to and ~label. Files of
// openCypher have headers of Neo4j, and are of the format neo4j.
type neptune struct{}

func (neptune) name() string { return "neptune" }
func (neptune) about() string {
	return "a folder, perhaps with folders in it, of CSV or Parquet of Amazon Neptune, with ~id and ~label, or ~from, ~to and ~label"
}
func (neptune) becomes() string { return labelledBecomes }

// labelledBecomes is what becomes of all formats of labelled nodes.
const labelledBecomes = "a node type for each set of labels; an edge type for each type of edges and pair of node types"

func (neptune) detect(_ string, names []string) bool { return len(names) > 0 }

func (neptune) sniff(fsys vfs.FS, path string, names []string) (bool, error) {
	return sniffTables(fsys, path, names, isNeptuneHeader)
}

// isNeptuneHeader says whether some column is one of Neptune's.
func isNeptuneHeader(fields []string) bool {
	return slices.ContainsFunc(fields, func(f string) bool {
		return slices.Contains([]string{textfiles.NeptuneID, textfiles.NeptuneFrom}, strings.ToLower(strings.TrimSpace(f)))
	})
}

// sniffed is the number of files whose header is read to recognise the format of a folder.
const sniffed = 64

// sniffTables says whether the first tables in a folder, or in the folders of it, have headers of a kind.
func sniffTables(fsys vfs.FS, path string, names []string, is func(header []string) bool) (bool, error) {
	tried := 0
	try := func(file string) (bool, error) {
		if k := table.KindByName(file); k != table.Text && k != table.ParquetFile || tried == sniffed {
			return false, nil
		}
		tried++
		header, _, err := headerOf(fsys, file, 0)
		return err == nil && is(header), err
	}
	for _, name := range names {
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || tried == sniffed {
			continue
		}
		file := filepath.Join(path, name)
		if ok, err := try(file); ok || err != nil {
			return ok, err
		}
		if table.Extension(name) != "" {
			continue
		}
		info, err := fsys.Stat(file)
		if err != nil {
			return false, err
		}
		if !info.IsDir() {
			continue
		}
		entries, err := fsys.ReadDir(file)
		if err != nil {
			return false, err
		}
		for _, e := range entries[:min(len(entries), sniffed)] {
			if ok, err := try(filepath.Join(file, e.Name())); ok || err != nil {
				return ok, err
			}
		}
	}
	return false, nil
}

// headerOf returns the names of the columns of a file of text as they are written, and the delimiter between them; nil: they cannot be read. Those of a Parquet file are its fields.
func headerOf(fsys vfs.FS, file string, delimiter byte) ([]string, byte, error) {
	if table.KindByName(file) == table.ParquetFile {
		t, err := tablefiles.Open(fsys, []string{file}, tablefiles.Options{})
		if err != nil {
			return nil, 0, err
		}
		return namesOf(t.Fields()), 0, nil
	}
	text, err := head(fsys, file)
	if err != nil {
		return nil, 0, err
	}
	header, delimiter := textfiles.FirstCells(file, text, len(text) < headSize-len(table.ByteOrderMark), delimiter)
	return header, delimiter, nil
}

func (neptune) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	files, err := databaseFiles(fsys, path, o, table.Text, table.ParquetFile)
	if err != nil {
		return nil, err
	}
	l := &labelled{o: o, path: path}
	groups, err := l.tables(fsys, files, o)
	if err != nil {
		return nil, err
	}
	for _, t := range groups {
		has := func(name string) bool {
			return slices.ContainsFunc(t.Fields(), func(f table.Field) bool { return f.Name == name })
		}
		text := table.KindByName(t.Files()[0]) == table.Text
		label := ""
		if has(textfiles.NeptuneLabel) {
			label = textfiles.NeptuneLabel
		}
		switch {
		case has(textfiles.NeptuneFrom) && has(textfiles.NeptuneTo):
			e := &labelledEdges{Table: withoutFields(t, textfiles.NeptuneID), text: text, src: textfiles.NeptuneFrom, dst: textfiles.NeptuneTo, rel: label, typ: graph.HomogeneousEdge.Rel}
			l.edges = append(l.edges, e)
			if has(textfiles.NeptuneID) {
				l.notes = noted(l.notes, path+": the ids of edges are not imported")
			}
		case has(textfiles.NeptuneID):
			l.nodes = append(l.nodes, &labelledNodes{Table: t, text: text, id: textfiles.NeptuneID, label: label, typ: graph.HomogeneousNode, labelsOf: cutLabels(";")})
		default:
			return nil, sourcef("%s: found the columns %s, expected ~id and ~label, or ~from, ~to and ~label; move the file out of the folder", t.Files()[0], table.List(some(namesOf(t.Fields()))))
		}
	}
	return l.source(ctx)
}

func namesOf(fields []table.Field) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

// withoutFields is a table of which some fields are no properties.
func withoutFields(t table.Table, names ...string) table.Table {
	return &fewerFields{t, names}
}

type fewerFields struct {
	table.Table
	left []string
}

// Fields implements table.Table.
func (t *fewerFields) Fields() []table.Field {
	fields := slices.Clone(t.Table.Fields())
	for i := range fields {
		fields[i].Ignored = fields[i].Ignored || slices.Contains(t.left, fields[i].Name)
	}
	return fields
}

// Guess describes the fields.
func (t *fewerFields) Guess() ([]table.Guess, error) {
	if g, ok := t.Table.(interface{ Guess() ([]table.Guess, error) }); ok {
		return g.Guess()
	}
	return make([]table.Guess, len(t.Table.Fields())), nil
}

// databaseFiles are the tables of some kinds in a folder and the folders below it, or the file itself.
func databaseFiles(fsys vfs.FS, path string, o Options, kinds ...table.Kind) (files []string, err error) {
	found, _, err := tablefiles.FindPath(fsys, path, o.Outside)
	if err != nil {
		return nil, sourcef("%w", err)
	}
	for _, f := range found {
		if slices.Contains(kinds, table.KindByName(f)) {
			files = append(files, f)
		}
	}
	if files == nil {
		return nil, sourcef("%s: found no tables, expected files with the extensions of tables; correct the path", path)
	}
	return files, nil
}

// tables opens files, those with the same header, next to each other, as one table.
func (l *labelled) tables(fsys vfs.FS, files []string, o Options) (tables []table.Table, err error) {
	var same []string
	before := ""
	add := func() error {
		if same == nil {
			return nil
		}
		t, err := openTable(fsys, same, tablefiles.Options{CSVOptions: textfiles.CSVOptions{Delimiter: o.Delimiter}})
		tables, same = append(tables, t), nil
		return err
	}
	for _, f := range files {
		header, _, err := headerOf(fsys, f, o.Delimiter)
		if err != nil {
			return nil, err
		}
		now := fmt.Sprintf("%s %s %q", table.KindByName(f), filepath.Dir(f), header)
		if now != before {
			if err := add(); err != nil {
				return nil, err
			}
		}
		same, before = append(same, f), now
	}
	return tables, add()
}
