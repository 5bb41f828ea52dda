package appending

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/appending/lines"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// lineRows are the rows of a group, in place of the tables of a graph.yaml.
type lineRows struct {
	files map[string]string        // by type
	text  func(text string) string // with the places of lines
	marks map[string]string        // of the batch; nil: another group has them
}

// input names a file of rows as an input: by its type.
func (r *lineRows) input(names func(file string) string) func(file string) string {
	if r == nil {
		return names
	}
	types := map[string]string{}
	for typ, file := range r.files {
		types[file] = typ
	}
	return func(file string) string {
		if types[file] != "" {
			return linesPrefix + types[file]
		}
		return names(file)
	}
}

// tidy gives the notes of a report the places of lines.
func (r *lineRows) tidy(of *report.Report) {
	for i := range of.Notes {
		of.Notes[i].Text = r.text(of.Notes[i].Text)
	}
	lastInputs(of)
}

// lastInputs keeps the last of several equal inputs of a report, and of several batches of lines, as a store can take one every few seconds.
func lastInputs(r *report.Report) {
	kept, seen := r.Inputs[:0:0], map[string]bool{}
	for _, in := range slices.Backward(r.Inputs) {
		key := in.Name
		if !strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(in.Name, dropPrefix), changePrefix), linesPrefix) {
			key += "\x00" + in.Fingerprint
		}
		if !seen[key] {
			seen[key], kept = true, append(kept, in)
		}
	}
	slices.Reverse(kept)
	r.Inputs = kept
}

// appendGroup appends a group to a store. marked says that it is the one that keeps the places of the batch.
func (f *feeding) appendGroup(ctx context.Context, dir string, g *lines.Group, o option.Append, marked bool) (*report.Report, appended, error) {
	rows := &lineRows{files: f.batch.Files(g), text: f.batch.Text}
	if marked && len(f.places) > 0 {
		rows.marks = map[string]string{}
		for name, last := range f.places {
			rows.marks[name] = strconv.FormatInt(last, 10)
		}
	}
	o.Follow, o.Every, o.Rows, o.Input = "", 0, 0, nil
	for _, tell := range []*func(string){&o.Warn, &o.Note} {
		if told := *tell; told != nil {
			*tell = func(text string) { told(f.batch.Text(text)) }
		}
	}
	source := f.source
	switch g.Kind {
	case lines.Change:
		o.Change = source
	case lines.Drop:
		source, o.Drop = "", source
	}
	return appendFrom(ctx, dir, source, o, taking{rows: rows})
}

// appendGroups appends several groups in one step: to a version of the store beside it, whose files then become those of the store. The places of the lines are in the last segment.
func (f *feeding) appendGroups(ctx context.Context, groups []*lines.Group) (_ *report.Report, done appended, err error) {
	start := time.Now()
	w, err := store.Create(vfs.OS, f.dir, true) // so that no other run replaces the store meanwhile
	if err != nil {
		return nil, done, err
	}
	defer operation.EndWith(&err, w)
	beside := filepath.Join(f.scratch, operation.Titled(f.dir))
	last := len(groups) - 1
	for {
		had, reports, some, err := f.appendBeside(ctx, beside, groups[:last+1])
		if err != nil {
			return nil, done, err
		}
		if some[last] {
			r, due, err := f.publishBeside(ctx, w, beside, had, reports, start)
			return r, appended{some: err == nil, due: due}, err
		}
		// The last group had nothing new, so that no segment has the places.
		for last >= 0 && !some[last] {
			last--
		}
		if last < 0 {
			return nil, done, nil
		}
	}
}

// appendBeside makes a version of the store in a folder, and appends groups to it. It returns the number of segments before.
func (f *feeding) appendBeside(ctx context.Context, beside string, groups []*lines.Group) (had int, reports []*report.Report, some []bool, err error) {
	s, _, err := openStore(f.dir, store.OpenOutline)
	if err != nil {
		return 0, nil, nil, err
	}
	had = s.Segments()
	err = f.copyStore(ctx, s, beside)
	if err := errors.Join(err, s.Close()); err != nil {
		return 0, nil, nil, err
	}
	o := f.o
	o.NoReport, o.Compact = true, false
	o.Note = nil
	for i, g := range groups {
		r, done, err := f.appendGroup(ctx, beside, g, o, i == len(groups)-1)
		if err != nil {
			return 0, nil, nil, err
		}
		reports, some = append(reports, r), append(some, done.some)
	}
	return had, reports, some, nil
}

// copyStore makes a store of the files of another.
func (f *feeding) copyStore(ctx context.Context, s *store.Store, to string) (err error) {
	w, err := store.Create(vfs.OS, to, true)
	if err != nil {
		return err
	}
	defer operation.EndWith(&err, w)
	if _, err := linkVersion(ctx, w, s, s.Segments(), f.o.Threads); err != nil {
		return err
	}
	return w.Publish()
}

// publishBeside makes a version beside the store the version of the store, to which w leads.
func (f *feeding) publishBeside(ctx context.Context, w *store.Writer, beside string, had int, reports []*report.Report, start time.Time) (_ *report.Report, due bool, err error) {
	s, _, err := openStore(beside, store.OpenOutline)
	if err != nil {
		return nil, false, err
	}
	defer operation.CloseAfter(&err, f.dir, s.Close)
	copied, err := linkVersion(ctx, w, s, s.Segments(), f.o.Threads)
	if err != nil {
		return nil, false, err
	}
	m, err := store.ReadManifest(vfs.OS, beside)
	if err != nil {
		return nil, false, err
	}
	a := &appending{o: &f.o, report: operation.NewReport(&f.o.Run, "append", operation.Titled(f.dir))}
	r := a.report
	if err := keepInputs(r, f.dir); err != nil {
		return nil, false, err
	}
	for _, of := range reports {
		r.Inputs, r.Notes, r.Stages = append(r.Inputs, of.Inputs...), append(r.Notes, of.Notes...), append(r.Stages, of.Stages...)
	}
	if copied > 0 {
		r.Note(fmt.Sprintf("the file system has no hard links, so %s of the store were copied", human.Bytes(copied)))
	}
	lastInputs(r)
	a.describe(s, m, had+1, s.Segments())
	if err := operation.OnDisk(r, w.Dir()); err != nil {
		return nil, false, err
	}
	before, err := store.ReadHistory(vfs.OS, f.dir)
	if err != nil {
		return nil, false, err
	}
	versions, err := store.ReadHistory(vfs.OS, beside)
	if err != nil {
		return nil, false, err
	}
	at := now(before)
	for i := range versions { // all of the batch appear now
		if i >= len(before) {
			versions[i].At = at
		}
	}
	if err := w.WriteHistory(versions); err != nil {
		return nil, false, err
	}
	return r, a.due, operation.Publish(&f.o.Run, w, r, start)
}
