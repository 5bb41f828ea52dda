package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// tuDataset is a folder of the TU collection of graph data sets: text files without headers, NAME_A.txt and others.
// Nodes and graphs count from 1.
type tuDataset struct{}

const tuEdges, tuGraphs = "_A.txt", "_graph_indicator.txt"

func (tuDataset) name() string  { return "tu" }
func (tuDataset) about() string { return "a folder with NAME_A.txt and NAME_graph_indicator.txt" }
func (tuDataset) becomes() string {
	return "a collection: one graph for each id of the indicator, with labels and attributes"
}
func (tuDataset) detect(_ string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, tuEdges) }) &&
		slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, tuGraphs) })
}

func (tuDataset) open(_ context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	d, err := openRaw(fsys, path, o)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range d.names {
		if base, ok := strings.CutSuffix(n, tuEdges); ok {
			names = append(names, base)
		}
	}
	if len(names) != 1 {
		return nil, sourcef("%s: found %d files NAME_A.txt, expected one data set in the folder; move each data set into a folder of its own", d.dir, len(names))
	}
	name := names[0]
	edges, err := d.table(name+tuEdges, textfiles.CSVOptions{Names: []string{"src", "dst"}})
	if err != nil {
		return nil, err
	}
	indicator, err := d.table(name+tuGraphs, textfiles.CSVOptions{Names: []string{"graph"}})
	if err != nil {
		return nil, err
	}
	// The values of a line form one row: labels are integers, attributes floats.
	rows := func(what string) []collection.Rows {
		var list []collection.Rows
		for _, x := range []struct {
			name  string
			dtype graph.DType
		}{{"label", graph.Int64}, {"attributes", graph.Float32}} {
			file := name + "_" + what + "_" + strings.TrimSuffix(x.name, "s") + "s.txt"
			if err != nil || !slices.Contains(d.names, file) {
				continue
			}
			var r collection.Rows
			if r, err = d.rows(file, x.name, x.dtype); err == nil {
				list = append(list, r)
			}
		}
		return list
	}
	in := &collection.Input{
		Context: rows("graph"),
		Nodes: []collection.Nodes{{Type: graph.HomogeneousNode, Tables: rows("node"),
			Split: collection.Split{Kind: collection.IDs, Table: indicator, Column: "graph", Base: 1}}},
		Edges: []collection.Edges{{Type: graph.HomogeneousEdge, Rows: collection.Rows{Table: edges}, Beside: rows("edge"),
			Src: "src", Dst: "dst", Global: true, Base: 1}},
	}
	if err != nil {
		return nil, err
	}
	return &Source{Collection: in, Files: *d.files, Warnings: d.others(func(n string) bool {
		return strings.HasPrefix(n, name+"_") && !strings.Contains(strings.ToLower(n), "readme")
	})}, nil
}

// raw is a folder of tables without a metadata file.
type raw struct {
	fsys  vfs.FS
	dir   string
	names []string
	files *[]string // files that were opened, also those in folders of the folder
	o     Options
}

// openRaw lists a folder. If it has no readable files of its own, openRaw lists the folder raw in it, where data sets
// are often kept.
func openRaw(fsys vfs.FS, path string, o Options) (*raw, error) {
	d := &raw{fsys: fsys, dir: path, files: &[]string{}, o: o}
	for {
		if err := d.list(); err != nil {
			return nil, err
		}
		if d.dir != path || !slices.Contains(d.names, rawDir) {
			return d, nil
		}
		d.dir = filepath.Join(path, rawDir)
		if err := d.inside(d.dir); err != nil {
			return nil, err
		}
	}
}

const rawDir = "raw"

// list lists the folder.
func (d *raw) list() error {
	entries, err := d.fsys.ReadDir(d.dir)
	d.names = nil
	for _, e := range entries {
		d.names = append(d.names, e.Name())
	}
	return err
}

// inside checks that a path exists and is not a symbolic link.
func (d *raw) inside(path string) error {
	info, err := d.fsys.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sourcef("%s: found no such file, expected it in the data set; download the data set again", path)
	case err == nil && info.Mode()&fs.ModeSymlink != 0 && !d.o.Outside:
		return sourcef("%s: found a symbolic link, which can lead out of the folder; allow it with `AllowOutside`", path)
	}
	return err
}

// table opens a file that must exist.
func (d *raw) table(name string, csv textfiles.CSVOptions) (*textfiles.CSV, error) {
	path := filepath.Join(d.dir, name)
	if err := d.inside(path); err != nil {
		return nil, err
	}
	t, err := textfiles.OpenCSV(d.fsys, []string{path}, csv)
	if err != nil {
		return nil, err
	}
	*d.files = append(*d.files, path)
	return t, nil
}

// rows opens a file whose lines are the rows of one column. Invalid stands for the common dtype of all values.
func (d *raw) rows(file, column string, dtype graph.DType) (r collection.Rows, err error) {
	t, err := d.table(file, textfiles.CSVOptions{Numbered: true})
	if err != nil {
		return r, err
	}
	c := collection.Column{Column: table.Column{Name: column, DType: dtype}}
	for _, f := range t.Fields() {
		c.Fields = append(c.Fields, f.Name)
	}
	switch n := len(c.Fields); {
	case n == 0:
		return r, sourcef("%s: found no lines, expected one per row; download the data set again", filepath.Join(d.dir, file))
	case n > 1:
		c.Shape = []int{n}
	}
	r = collection.Rows{Table: t, Columns: []collection.Column{c}}
	if dtype != graph.Invalid {
		d.fill(&r)
	}
	return r, nil
}

// fill completes the column of rows with what its empty cells mean.
func (d *raw) fill(r *collection.Rows) {
	c := &r.Columns[0]
	if c.DType != graph.String {
		c.From, c.Fields = c.Fields, nil
	}
	cols := newGaps(d.o).fill(c.Column, "")
	c.Column = cols[0]
	for _, mark := range cols[1:] {
		r.Columns = append(r.Columns, collection.Column{Column: mark})
	}
}

// others lists the files of the data set that were not read.
func (d *raw) others(of func(name string) bool) []string {
	var list []string
	for _, n := range d.names {
		if of(n) && !slices.Contains(*d.files, filepath.Join(d.dir, n)) {
			list = append(list, fmt.Sprintf("%s: not imported: the format does not have such a file", filepath.Join(d.dir, n)))
		}
	}
	return list
}
