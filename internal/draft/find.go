package draft

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/lake/catalog"
	"github.com/graphmill/graphmill/internal/vfs"
)

// found are files of one table.
type found struct {
	name   string   // of the table
	names  []string // as graph.yaml has them, relative to its folder
	files  []string
	folder string // that holds them, if a folder is the table
}

// Find lists the tables of a folder or of a file, and opens them. Names are relative to the folder.
func Find(ctx context.Context, fsys vfs.FS, path string) (Source, error) {
	s := Source{}
	isLake, err := tablefiles.IsLake(fsys, path)
	if err != nil {
		return s, err
	}
	var all []found
	if isLake {
		files, _, err := tablefiles.FindPath(fsys, path, false)
		if err != nil {
			return s, err
		}
		all = []found{{name: tableName(path), names: []string{filepath.Base(path)}, files: files}}
		if catalog.Is(path) {
			all[0].name, all[0].names = typeName(catalog.TableName(path)), []string{vfs.Spelled(path)}
		}
	} else if info, err := fsys.Stat(path); err != nil {
		return s, err
	} else if info.IsDir() {
		if all, err = s.list(fsys, path); err != nil {
			return s, err
		}
	} else {
		all = []found{{name: tableName(path), names: []string{filepath.Base(path)}, files: []string{path}}}
	}
	for _, f := range all {
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		t, err := openTable(fsys, &f)
		if err != nil {
			return s, err
		}
		s.Tables = append(s.Tables, t)
	}
	return s, nil
}

// isTable says whether a file is of a kind that has tables with names of columns, by its extension. Text in .txt is more often prose.
func isTable(name string) bool {
	switch table.KindByName(name) {
	case table.Text, table.ParquetFile, table.ArrowFile, table.JSONLines:
		return !textfiles.IsList(name)
	}
	return false
}

// shardName matches the name of a shard: the name of the table, with its extension or before it.
var shardName = regexp.MustCompile(`^(.+)-[0-9]{5}-of-([0-9]{5})(\.[A-Za-z.]+)?$`)

// list lists the tables of a folder. A folder in it is a table, if its files look like one.
func (s *Source) list(fsys vfs.FS, dir string) (all []found, err error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	shards := map[string]int{}
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(dir, name)
		switch {
		case strings.HasPrefix(name, "_"), strings.HasPrefix(name, "."), name == "graph.yaml":
		case e.Type()&fs.ModeSymlink != 0:
			s.Notes = append(s.Notes, fmt.Sprintf("%s is left out: a symbolic link can lead out of the folder", name))
		case e.IsDir():
			f, err := findFolder(fsys, dir, name)
			if err != nil {
				return nil, err
			}
			if f == nil {
				s.Notes = append(s.Notes, fmt.Sprintf("%s/ is left out: its files do not look like those of one table", name))
				continue
			}
			all = append(all, *f)
		case !isTable(name):
			s.Notes = append(s.Notes, fmt.Sprintf("%s is left out: expected .csv, .tsv, .jsonl, .parquet or .arrow", name))
		default:
			if m := shardName.FindStringSubmatch(name); m != nil {
				key := m[1] + "@" + strings.TrimLeft(m[2], "0") + m[3]
				i, seen := shards[key]
				if !seen {
					i, shards[key] = len(all), len(all)
					all = append(all, found{name: tableName(m[1] + m[3])})
				}
				all[i].files = append(all[i].files, path)
				if m[3] == "" {
					all[i].names = []string{key}
				} else {
					all[i].names = append(all[i].names, name)
				}
				continue
			}
			all = append(all, found{name: tableName(name), names: []string{name}, files: []string{path}})
		}
	}
	return all, nil
}

// findFolder is the table that a folder in a folder is; nil: it is none.
func findFolder(fsys vfs.FS, dir, name string) (*found, error) {
	path := filepath.Join(dir, name)
	if is, err := tablefiles.IsLake(fsys, path); is {
		files, _, err := tablefiles.Find(fsys, dir, name, false)
		return &found{name: typeName(name), names: []string{name}, files: files}, err
	} else if errors.Is(err, table.ErrFormat) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	entries, err := fsys.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !tablefiles.IsTable(names) {
		return nil, nil
	}
	files, folder, err := tablefiles.Find(fsys, dir, name, false)
	if errors.Is(err, table.ErrFormat) {
		return nil, nil
	}
	return &found{name: typeName(name), names: []string{name}, files: files, folder: folder}, err
}

// tableName is the name of a table by its file, without extensions.
func tableName(path string) string {
	ext, compressed := table.SplitExtension(path)
	base := filepath.Base(path)
	return typeName(base[:len(base)-len(ext)-len(compressed)])
}

// openTable opens the files of a table. What keeps it from being opened is a fault of it.
func openTable(fsys vfs.FS, f *found) (*Table, error) {
	t := &Table{Name: f.name, Keys: []string{"table: " + nameText(f.names)}}
	o := tablefiles.Options{CSVOptions: textfiles.CSVOptions{Ragged: true}}
	if f.folder != "" {
		o.Folders = []string{f.folder}
	}
	data, err := tablefiles.Open(fsys, f.files, o)
	var headless *textfiles.NoHeaderError
	if errors.As(err, &headless) {
		for i := range headless.Cells {
			o.Names = append(o.Names, fmt.Sprintf("column%d", i+1))
		}
		t.Keys = append(t.Keys, "names:  # the first line has numbers, so it is no header: name the columns")
		for _, n := range o.Names {
			t.Keys = append(t.Keys, "  - "+n)
		}
		data, err = tablefiles.Open(fsys, f.files, o)
	}
	if errors.Is(err, table.ErrFormat) {
		t.Faults = append(t.Faults, Fault{Table: t.Name, Found: err.Error(), Do: "correct the table, and draft again", Open: true})
		if data, err = renamed(fsys, f, o); errors.Is(err, table.ErrFormat) {
			return t, nil
		}
	}
	if err != nil {
		return nil, err
	}
	t.Data = data
	for _, field := range data.Fields() {
		if !field.Ignored {
			t.Fields = append(t.Fields, Field{Field: field})
		}
	}
	for _, name := range table.Unreadable(data) {
		t.Faults = append(t.Faults, Fault{Table: t.Name, Found: fmt.Sprintf("column %s, which cannot be read", name), Do: "it is left out"})
	}
	return t, nil
}

// nameText is the value of table.
func nameText(names []string) string {
	if len(names) == 1 {
		return Scalar(names[0])
	}
	return listText(names)
}

// renamed opens a table of text whose header has a name twice, or none for a column, with other names for these.
func renamed(fsys vfs.FS, f *found, o tablefiles.Options) (table.Table, error) {
	numbered := o
	numbered.Names, numbered.Numbered = nil, true
	plain, err := tablefiles.Open(fsys, f.files, numbered)
	if err != nil {
		return nil, err
	}
	text, ok := plain.(*textfiles.CSV)
	if !ok {
		return nil, sourcef("%s: found no text", f.files[0])
	}
	o.Names = make([]string, len(text.Fields()))
	for i := range o.Names {
		o.Names[i] = fmt.Sprintf("column%d", i+1)
	}
	o.Skip = 1
	first, err := textfiles.OpenCSV(fsys, f.files[:1], textfiles.CSVOptions{Names: o.Names})
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for i, cell := range first.First() {
		if i >= len(o.Names) {
			break
		}
		name := cell
		for n := 2; name == "" || taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", cell, n)
			if cell == "" {
				name = fmt.Sprintf("column%d", i+n-1)
			}
		}
		taken[name], o.Names[i] = true, name
	}
	return tablefiles.Open(fsys, f.files, o)
}
