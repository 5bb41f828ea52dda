package lineage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// TraceLineage follows the inputs of an output folder to the first tables, by the fingerprints that every output records. What
// is not at hand is in the result with its recorded name. An input of another fingerprint is never taken for it.
func TraceLineage(ctx context.Context, dir string, o option.Lineage) (_ *report.Lineage, err error) {
	defer guard.Catch(&err)()
	if _, err := store.ReadManifest(vfs.OS, dir); err != nil {
		if vfs.Absent(err) {
			return nil, fmt.Errorf("%s: %w, expected an output folder of graphmill, which has a manifest; give the folder that has manifest.json", dir, err)
		}
		return nil, err
	}
	t := &tracer{ctx: ctx, base: folderAbove(dir), places: newPlaces(), done: map[string]int{}, line: &report.Lineage{Version: operation.Version()}}
	for _, s := range o.Search {
		if info, err := vfs.OS.Stat(s); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, operation.Usagef("found `Search` %s, which is a file, expected a folder; give the folder that holds it", s)
		}
		if err := t.places.add(s); err != nil {
			return nil, err
		}
	}
	_, err = t.folder(dir)
	return t.line, err
}

// folderAbove returns the folder that holds a path.
func folderAbove(path string) string { return filepath.Dir(filepath.Clean(path)) }

// tracer follows inputs.
type tracer struct {
	ctx    context.Context
	base   string // the folder of the last step, which paths are relative to
	places *places
	done   map[string]int // steps by fingerprint
	line   *report.Lineage
}

func (t *tracer) add(s report.LineageStep) int {
	if s.Inputs == nil {
		s.Inputs = []int{}
	}
	t.line.Steps = append(t.line.Steps, s)
	n := len(t.line.Steps) - 1
	t.done[s.Fingerprint] = n
	return n
}

// folder adds the step of a folder, after the steps of its inputs.
func (t *tracer) folder(dir string) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	sum, err := store.Sum(vfs.OS, dir)
	if err != nil {
		return 0, err
	}
	if n, ok := t.done[sum]; ok {
		return n, nil
	}
	for _, place := range []string{folderAbove(dir), dir} {
		if err := t.places.add(place); err != nil {
			return 0, err
		}
	}
	made, err := store.ReadMade(vfs.OS, dir)
	if err != nil {
		return 0, err
	}
	s := report.LineageStep{Name: operation.Titled(dir), Found: true, Fingerprint: sum, Command: made.Commands(), Version: made.Version}
	if s.Bytes, err = store.Size(vfs.OS, dir); err != nil {
		return 0, err
	}
	if s.Folder, err = operation.Relative(t.base, dir); err != nil {
		return 0, err
	}
	s.Page = operation.Exists(filepath.Join(dir, store.ReportHTMLFile))
	r, err := operation.ReadReport(dir)
	switch {
	case err == nil:
		s.ElapsedSeconds, s.PeakRSS = r.ElapsedSeconds, r.PeakRSS
		for _, n := range r.Notes {
			if n.Warning {
				s.Warnings = append(s.Warnings, report.LineageWarning{Count: n.Count, Text: n.Text})
			}
		}
	case !vfs.Absent(err) && !errors.Is(err, operation.ErrNoReport):
		return 0, err
	}
	if s.Inputs, err = t.inputs(dir, made, r); err != nil {
		return 0, err
	}
	return t.add(s), nil
}

// inputs adds the steps of what was read to make a folder, and returns them. The report of the folder may be nil.
func (t *tracer) inputs(dir string, made *store.Made, r *report.Report) ([]int, error) {
	names, sizes := map[string]string{}, map[string]int64{}
	if r != nil {
		for _, in := range r.Inputs {
			names[in.Fingerprint], sizes[in.Fingerprint] = in.Name, in.Bytes
		}
	}
	var steps []int
	for _, inputs := range slices.Concat([]map[string]string{made.Inputs}, made.AmendedInputs(), made.AppendedInputs()) {
		more, err := t.read(dir, inputs, names, sizes)
		if err != nil {
			return nil, err
		}
		steps = append(steps, more...)
	}
	slices.Sort(steps)
	return slices.Compact(steps), nil
}

// read adds the steps of inputs, and returns them. names and sizes are those that a report has, by fingerprint.
func (t *tracer) read(dir string, inputs, names map[string]string, sizes map[string]int64) (steps []int, err error) {
	groups := map[string][]string{} // names of files, by their folder
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		sum := inputs[name]
		if isFile(sum) {
			groups[path.Dir(name)] = append(groups[path.Dir(name)], name)
			continue
		}
		n, known := t.done[sum]
		if place := t.places.folders[sum]; place != "" && !known {
			var err error
			if n, err = t.folder(place); err != nil {
				return nil, err
			}
		} else if !known {
			if names[sum] != "" {
				name = names[sum] // made says "store" where the report has the name of the folder
			}
			n = t.add(report.LineageStep{Name: name, Fingerprint: sum, Bytes: sizes[sum]})
		}
		steps = append(steps, n)
	}
	for _, of := range slices.Sorted(maps.Keys(groups)) {
		n, err := t.files(dir, of, groups[of], inputs, sizes)
		if err != nil {
			return nil, err
		}
		steps = append(steps, n)
	}
	return steps, nil
}

// files adds a step for files that were read to make the folder dir. If one output folder holds them all, it adds the step of
// that folder instead. It returns the number of the step.
func (t *tracer) files(dir, of string, names []string, sums map[string]string, sizes map[string]int64) (int, error) {
	var all []string
	s := report.LineageStep{Name: names[0], Found: true, Files: len(names)}
	for _, name := range names {
		all = append(all, sums[name])
		s.Bytes += sizes[sums[name]]
	}
	if s.Fingerprint = strings.Join(all, " "); len(names) > 1 {
		if s.Name = of; of == "." {
			s.Name = "tables"
		}
	}
	if n, ok := t.done[s.Fingerprint]; ok {
		return n, nil
	}
	holder, err := t.places.holder(t.ctx, all)
	if err != nil {
		return 0, err
	}
	if holder != "" && holder != dir {
		return t.folder(holder)
	}
	for i, name := range names {
		has, err := t.places.hasFile(t.ctx, name, all[i])
		if err != nil {
			return 0, err
		}
		s.Found = s.Found && has
	}
	return t.add(s), nil
}

// isFile says whether a fingerprint belongs to a file, and not to a folder: only a file's fingerprint ends with its size.
func isFile(fingerprint string) bool { return strings.Count(fingerprint, ":") > 1 }

// WriteLineage writes a lineage as a page, and returns its name. out is the file; "" is the folder dir with .lineage.html after
// its name. It replaces only such a page, and refuses a file inside the folder, whose files are sealed.
func WriteLineage(l *report.Lineage, dir, out string) (string, error) {
	if out == "" {
		out = filepath.Clean(dir) + ".lineage.html"
	}
	if err := operation.Keeps(out, dir); err != nil {
		return "", err
	}
	old, err := vfs.ReadFile(vfs.OS, out, operation.MostReport)
	switch {
	case err == nil && !strings.Contains(string(old), report.LineageMark):
		return "", fmt.Errorf("%s: %w, and is no page of a lineage; choose another `Out`", out, operation.ErrExists)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	up, err := operation.Relative(folderAbove(out), folderAbove(dir))
	if err != nil {
		return "", err
	}
	page, err := l.HTML(func(folder string) string { return operation.EscapedPath(path.Join(up, folder)) })
	if err != nil {
		return "", err
	}
	return out, vfs.WriteFile(vfs.OS, out, page)
}
