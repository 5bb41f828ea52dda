package amending

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// AddColumn adds the column name to a type of the store in dir, with the values in the file or table source.
func AddColumn(ctx context.Context, dir, typ, name, source string, o option.Column) (*report.Report, error) {
	return change(ctx, report.ColumnAdded, dir, typ, name, source, o)
}

// ReplaceColumn is AddColumn for a column that is there. The dtype may be another one.
func ReplaceColumn(ctx context.Context, dir, typ, name, source string, o option.Column) (*report.Report, error) {
	return change(ctx, report.ColumnReplaced, dir, typ, name, source, o)
}

// DropColumn removes a column.
func DropColumn(ctx context.Context, dir, typ, name string, o option.Run) (*report.Report, error) {
	return change(ctx, report.ColumnDropped, dir, typ, name, "", option.Column{Run: o})
}

// amending is a change of a column.
type amending struct {
	o      *option.Column
	kind   string // report.ColumnAdded, ColumnReplaced or ColumnDropped
	name   string
	source string
	store  *store.Store
	of     *target
	made   []string // features of the type
	sum    string   // of the version that is opened
	start  time.Time
	report *report.Report
	entry  report.AmendedColumn
}

func change(ctx context.Context, kind, dir, typ, name, source string, o option.Column) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	a := &amending{o: &o, kind: kind, name: name, source: source, start: time.Now()}
	if err := a.check(); err != nil {
		return nil, err
	}
	if vfs.Scheme(dir) != "" {
		return nil, operation.Usagef("%s: found a store in an object store, expected one on this machine, whose files can be shared by two versions; copy it here, and then to its place again", dir)
	}
	if dir, err = ownName(dir); err != nil {
		return nil, err
	}
	if a.store, a.sum, err = openStore(dir); err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, dir, a.store.Close)
	if a.of, err = findTarget(a.store, typ); err != nil {
		return nil, err
	}
	made, err := a.keepsFeatures()
	if err != nil {
		return nil, err
	}
	if kind == report.ColumnAdded {
		err = a.of.lacks(name)
	} else {
		err = a.of.has(name)
	}
	if err != nil {
		return nil, err
	}
	a.report = operation.NewReport(&o.Run, "column "+kind, a.of.name+"."+name+" of "+operation.Titled(dir))
	if len(made) > 0 && kind != report.ColumnAdded {
		text := fmt.Sprintf("the features %s of %s are made of the column %s, and stay as they are; import the tables again to make them anew", strings.Join(made, ", "), a.of.name, name)
		operation.Warn(&o.Run, "%s", text)
		a.report.Note(text)
	}
	a.entry = report.AmendedColumn{Type: a.of.name, Column: name, Change: kind, Version: operation.Version()}
	if old, err := operation.ReadReport(dir); err == nil {
		a.report.Inputs = old.Inputs // of the columns that stay
	} else if !errors.Is(err, operation.ErrNoReport) {
		return nil, err
	}
	return a.report, a.write(ctx)
}

// keepsFeatures refuses a change of a feature, and returns the features that are made of the column.
func (a *amending) keepsFeatures() (made []string, err error) {
	file, err := features.ReadFile(vfs.OS, a.store.Dir)
	if file == nil || err != nil {
		return nil, err
	}
	of := file.Nodes[a.of.name]
	if of == nil {
		of = file.Edges[a.of.name]
	}
	if of == nil {
		return nil, nil
	}
	a.made = slices.Sorted(maps.Keys(of.Features))
	for _, name := range a.made {
		if name == a.name {
			return nil, operation.Usagef("found the feature %q of the %s, expected a column that is no feature; choose another name, or import the tables again with other features", name, a.of.of())
		}
		if slices.ContainsFunc(of.Features[name].Parts, func(p *features.State) bool { return p.From == a.name }) {
			made = append(made, name)
		}
	}
	return made, nil
}

// ownName is the path of a folder by its own name: a link to the store stays one, and "." is replaced in the folder above.
func ownName(dir string) (string, error) {
	info, err := vfs.OS.Lstat(dir)
	switch {
	case vfs.Absent(err):
		return dir, nil // Open says more
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink == 0 && filepath.IsLocal(filepath.Base(dir)) && filepath.Base(dir) != ".":
		return dir, nil
	}
	return operation.RealPath(dir)
}

// check refuses options that need no store, and fills in defaults.
func (a *amending) check() error {
	o := a.o
	if err := operation.CheckRun(&o.Run); err != nil {
		return err
	}
	if o.Overwrite {
		return operation.Usagef("found `Overwrite`, expected it for a new folder: a change of a column replaces the store in any case; leave it out")
	}
	operation.SetDefault(&o.UnknownIDs, option.PolicyError)
	operation.SetDefault(&o.DuplicateNodes, option.PolicyError)
	for _, p := range []struct {
		field string
		value option.Policy
	}{{"UnknownIDs", o.UnknownIDs}, {"DuplicateNodes", o.DuplicateNodes}} {
		if p.value != option.PolicyError && p.value != option.PolicyDrop {
			return operation.Usagef("found `%s` %q, expected error or drop", p.field, p.value)
		}
	}
	if o.Ordered && o.ID != "" {
		return operation.Usagef("found `Ordered` with `ID`, expected one of them; leave one out")
	}
	return checkName(a.name)
}

// write writes the new version of the store.
func (a *amending) write(ctx context.Context) (err error) {
	var values *ingest.Values
	if a.kind != report.ColumnDropped {
		if values, err = a.openValues(ctx); err != nil {
			return err
		}
	}
	gone := a.gone(values)
	w, copied, err := store.Amend(ctx, vfs.OS, a.store.Dir, a.sum, func(file string) bool { return slices.Contains(gone, file) })
	if err != nil {
		return err
	}
	defer operation.EndWith(&err, w)
	a.report.Stage("link the other files", time.Since(a.start), 0, "")
	meta := a.store.Meta
	before, had := a.of.columns[a.name]
	delete(a.of.columns, a.name)
	if values != nil {
		if err := a.writeColumns(ctx, w, values); err != nil {
			return err
		}
	} else {
		meta.Made.Amend(a.entry)
	}
	if now, has := a.of.columns[a.name]; had && has && described(now) != described(before) {
		a.note("the dtype of %s.%s was %s, and is %s", a.of.name, a.name, described(before), described(now))
	}
	if marks := a.name + features.MarkSuffix; had && a.has(marks) && (values == nil || !slices.Contains(values.Names, marks)) {
		a.note("the column %s stays, and says which cells of the column %s were empty before; drop it where that no longer holds", marks, a.name)
	}
	if copied > 0 {
		a.note("the file system has no hard links, so %s of the store were copied", human.Bytes(copied))
	}
	sealing := time.Now()
	if err := w.Seal(ctx, meta, a.o.Threads); err != nil {
		return err
	}
	s, err := store.Open(vfs.OS, w.Dir()) // as every reader will
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	a.report.Stage("checksums", time.Since(sealing), 0, "")
	a.keepInputs(&meta.Made)
	if err := operation.OnDisk(a.report, w.Dir()); err != nil {
		return err
	}
	return operation.Publish(&a.o.Run, w, a.report, a.start)
}

// has says whether the type has a column.
func (a *amending) has(name string) bool {
	_, there := a.of.columns[name]
	return there
}

// note tells a note to the caller and the report.
func (a *amending) note(format string, args ...any) {
	operation.Note(&a.o.Run, format, args...)
	a.report.Note(fmt.Sprintf(format, args...))
}

// keepInputs leaves the inputs in the report that the store is made of now, each once.
func (a *amending) keepInputs(m *store.Made) {
	used := map[string]bool{}
	for _, inputs := range append([]map[string]string{m.Inputs}, m.AmendedInputs()...) {
		for _, sum := range inputs {
			used[sum] = true
		}
	}
	kept := a.report.Inputs[:0]
	for _, in := range a.report.Inputs {
		if used[in.Fingerprint] {
			kept, used[in.Fingerprint] = append(kept, in), false
		}
	}
	a.report.Inputs = kept
}

// openValues opens the file or table of the values.
func (a *amending) openValues(ctx context.Context) (*ingest.Values, error) {
	o := a.o
	q := ingest.ValuesOptions{Name: a.name, Column: o.Column, ID: o.ID, Ordered: o.Ordered || a.of.nodes < 0, DType: o.DType, RowOffsets: o.RowOffsets, StringOffsets: o.StringOffsets, Threads: o.Threads}
	if a.of.nodes < 0 {
		switch {
		case o.ID != "":
			return nil, operation.Usagef("found `ID` with %s, expected it with a node type: edges have no ids, and the rows are in the order of the edge ids; leave it out", a.of.of())
		case o.UnknownIDs != option.PolicyError || o.DuplicateNodes != option.PolicyError:
			return nil, operation.Usagef("found `UnknownIDs` or `DuplicateNodes` with %s, expected them with a node type; leave them out", a.of.of())
		}
	} else {
		ids, err := a.store.IDs(a.of.nodes)
		if err != nil {
			return nil, err
		}
		q.Integers = ids.Integers()
	}
	for _, text := range o.Missing {
		m, err := ingest.ParseMissing(text)
		if err != nil {
			return nil, importUsage(err)
		}
		q.Missing = append(q.Missing, m...)
	}
	for _, name := range o.Source {
		if name == "#id" || slices.Contains(a.made, name) { // a feature may have no column of its name
			continue
		}
		if err := a.of.has(name); err != nil {
			return nil, err
		}
	}
	v, err := ingest.OpenValues(ctx, vfs.OS, a.source, q)
	if err != nil {
		return nil, importUsage(err)
	}
	for _, text := range v.Warnings {
		operation.Warn(&o.Run, "%s", text)
		a.report.Note(text)
	}
	for _, name := range v.Names[1:] {
		if err := checkName(name); err != nil {
			return nil, err
		}
		if _, there := a.of.columns[name]; there && a.kind == report.ColumnAdded {
			return nil, a.of.lacks(name)
		}
	}
	return v, nil
}

// importUsage marks errors about options, as operations mark theirs.
func importUsage(err error) error {
	if errors.Is(err, ingest.ErrUsage) {
		return operation.Usagef("%w", err)
	}
	return err
}

// gone are the files of the columns that the new version does not share with the old one.
func (a *amending) gone(v *ingest.Values) (files []string) {
	names := []string{a.name}
	if v != nil {
		names = v.Names
	}
	for _, name := range names {
		if c, there := a.of.columns[name]; there {
			files = append(files, c.Files()...)
		}
	}
	return files
}

// writeColumns writes the values, and their entries in the metadata.
func (a *amending) writeColumns(ctx context.Context, w *store.Writer, v *ingest.Values) error {
	o, r := a.o, a.report
	to, err := a.of.existing(a.store, v.ID != nil)
	if err != nil {
		return err
	}
	if err := a.describeInputs(ctx, v); err != nil {
		return err
	}
	values := assemble.ColumnValues{Table: v.Table, Columns: v.Columns, Names: v.Names, Lacking: v.Lacking, Threads: o.Threads}
	if v.ID != nil {
		values.ID = *v.ID
	}
	if o.UnknownIDs == option.PolicyDrop {
		values.Unknown = assemble.Drop
	}
	if o.DuplicateNodes == option.PolicyDrop {
		values.Duplicates = assemble.Drop
	}
	line := operation.NewMeter(&o.Run, "column "+a.kind, int64(a.of.rows), "rows")
	defer line.End()
	values.Progress = func(rows int) { line.Add(int64(rows)) }
	began := time.Now()
	result, err := assemble.WriteColumns(ctx, vfs.OS, w, values, to)
	if err != nil {
		return err
	}
	r.Stage("read and write", time.Since(began), int64(result.Rows), "rows")
	for i, name := range v.Names {
		entry := a.entry
		entry.Column = name
		if i > 0 { // the marks of empty cells
			if entry.Change = report.ColumnAdded; a.has(name) {
				entry.Change = report.ColumnReplaced
			}
		}
		a.of.columns[name] = result.Columns[name]
		a.store.Meta.Made.Amend(entry)
	}
	r.Head("rows", report.Count(a.of.rows, "rows"))
	r.In("rows", report.Count(result.Rows, "rows"))
	r.Out("values", report.Count(a.of.rows, described(result.Columns[a.name])))
	for _, left := range []struct {
		count uint64
		what  string
	}{
		{result.Unknown, "rows are left out, because no node has their id"}, {result.Duplicates, "rows are left out, because an earlier row has their id"},
		{result.Lacking, "nodes have no row, and get the values of empty cells"},
	} {
		operation.WarnCount(&o.Run, r, int64(left.count), left.what)
	}
	return nil
}

// describeInputs completes the entry about the column with what it is made from.
func (a *amending) describeInputs(ctx context.Context, v *ingest.Values) error {
	o := a.o
	a.entry.Options = map[string]string{}
	if len(o.Source) > 0 {
		a.entry.Options["source"] = strings.Join(o.Source, ",")
		a.report.Note("a program made the values from the columns " + strings.Join(o.Source, ", "))
	} else {
		name, err := operation.Below(a.source)
		if err != nil {
			return err
		}
		if a.entry.Inputs, err = operation.Fingerprints(ctx, vfs.OS, v.Table.Files(), a.report, name); err != nil {
			return err
		}
	}
	for _, x := range []struct{ name, value string }{
		{"column", o.Column}, {"id", o.ID}, {"dtype", o.DType}, {"missing", strings.Join(o.Missing, ",")}, {"ordered", strconv.FormatBool(o.Ordered)},
		{"unknown_ids", string(o.UnknownIDs)}, {"duplicate_nodes", string(o.DuplicateNodes)},
	} {
		if x.value != "" && x.value != "false" && x.value != string(option.PolicyError) {
			a.entry.Options[x.name] = x.value
		}
	}
	return nil
}
