package drafting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/draft"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Draft writes a graph.yaml for the tables of a folder, of a file or of a database to w, and lists the faults of the tables.
func Draft(ctx context.Context, source string, w io.Writer, o option.Draft) (_ *report.Draft, err error) {
	defer guard.Catch(&err)()
	if err := operation.CheckRun(&o.Run); err != nil {
		return nil, err
	}
	if o.Memory > 0 {
		defer operation.LessGarbage(20)() // garbage counts as memory
	}
	fsys := vfs.Unchanged(vfs.OS)
	var s draft.Source
	if database.Is(source) {
		dir := filepath.Join(os.TempDir(), "graphmill-draft-"+workfolder.Unique())
		if err := fsys.MkdirAll(dir); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, fsys.RemoveAll(dir)) }()
		s, err = readDatabase(ctx, fsys, source, dir)
	} else {
		s, err = draft.Find(ctx, fsys, source)
	}
	if err != nil {
		return nil, err
	}
	for _, n := range s.Notes {
		operation.Note(&o.Run, "%s", n)
	}
	total := int64(0)
	for _, t := range s.Tables {
		if t.Data != nil {
			total += t.Data.Bytes()
		}
	}
	meter := operation.NewMeter(&o.Run, "read the tables", total, "bytes")
	d, err := draft.Make(ctx, fsys, s, draft.Options{Threads: o.Threads, Memory: o.Memory, Temp: os.TempDir(), Progress: meter.Add})
	meter.End()
	if err != nil {
		return nil, operation.Described(database.Redact(source), err)
	}
	if _, err := w.Write(d.YAML); err != nil {
		return nil, err
	}
	return reportOf(source, &s, d), nil
}

// reportOf is the report of a draft.
func reportOf(source string, s *draft.Source, d *draft.Draft) *report.Draft {
	r := &report.Draft{Source: database.Redact(source), Tables: len(s.Tables), Rows: int64(d.Rows), YAML: string(d.YAML),
		Nodes: []report.DraftType{}, Edges: []report.DraftType{}, Faults: []report.DraftFault{}}
	for _, t := range d.Nodes {
		r.Nodes = append(r.Nodes, report.DraftType{Type: t.Name, Table: t.Table, Rows: int64(t.Rows)})
	}
	for _, t := range d.Edges {
		r.Edges = append(r.Edges, report.DraftType{Type: t.Name, Table: t.Table, Rows: int64(t.Rows)})
	}
	for _, f := range d.Faults {
		r.Faults = append(r.Faults, report.DraftFault{Table: f.Table, Column: f.Column, Count: int64(f.Count), First: f.First, Found: f.Found, Do: f.Do, Line: f.Line, Open: f.Open, Text: f.Text()})
	}
	return r
}

// readDatabase copies the tables of a database to a folder, as an import does, and opens the copies.
func readDatabase(ctx context.Context, fsys vfs.FS, address, dir string) (s draft.Source, err error) {
	db, err := database.Open(ctx, address)
	if err != nil {
		return s, usage(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	copies, notes, err := db.Copies(ctx, fsys, dir)
	if err != nil {
		return s, err
	}
	s.Address, s.Notes = written(address), notes
	for _, c := range copies {
		t, err := copiedTable(fsys, &c)
		if err != nil {
			return s, err
		}
		s.Tables = append(s.Tables, t)
	}
	return s, nil
}

// written is an address as a graph.yaml has it: a file of SQLite is relative to the folder of the graph.yaml, and lies in it.
func written(address string) string {
	file, ok := strings.CutPrefix(address, "sqlite:")
	if !ok || filepath.IsLocal(file) {
		return address
	}
	return "sqlite:" + filepath.Base(file)
}

// usage makes an error about an address one of usage.
func usage(err error) error {
	if errors.Is(err, database.ErrUsage) {
		return operation.Usagef("%w", err)
	}
	return err
}

// copiedTable opens the copy of a table of a database.
func copiedTable(fsys vfs.FS, c *database.Copied) (*draft.Table, error) {
	data, err := textfiles.OpenCSV(fsys, []string{c.File}, textfiles.CSVOptions{Delimiter: ',', Header: true})
	if err != nil {
		return nil, err
	}
	t := &draft.Table{Name: c.Name, Keys: []string{"query: " + draft.Scalar(c.Query)}, Data: data, Key: c.Key,
		Place: func(row uint64, _ string) string {
			return fmt.Sprintf("%s: row %d in the order of its columns", c.Name, row+1)
		}}
	for _, f := range c.Foreign {
		t.Foreign = append(t.Foreign, draft.Foreign{Columns: f.Columns, Table: f.Table, Targets: f.Targets})
	}
	for _, col := range c.Columns {
		t.Fields = append(t.Fields, draft.Field{Field: table.Field{Name: col.Name}, Words: col.DType == graph.String})
	}
	return t, nil
}
