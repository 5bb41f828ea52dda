package graphmill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Report describes a finished operation: its inputs, counts, warnings, stages and plots. Its method JSON returns what the
// command prints with --json and every output folder keeps as report.json; Text writes it in words, and HTML as a page.
type Report = report.Report

// render returns both forms of a report.
func render(r *report.Report) (html, json []byte, err error) {
	if html, err = r.HTML(); err != nil {
		return nil, nil, err
	}
	json, err = r.JSON()
	return html, json, err
}

// ErrNoReport means that an output folder has no report, because the run that wrote it had NoReport.
var ErrNoReport = errors.New("no report")

// RenderReport rewrites report.html of an output folder from its report.json, and returns the report. Both get links to the
// pages of those inputs that lie beside the folder or in it, or are where a link led before. A folder without a report is
// ErrNoReport.
func RenderReport(dir string) (_ *Report, err error) {
	defer guard.Catch(&err)()
	r, err := readReport(dir)
	if err != nil {
		return nil, err
	}
	if err := relink(r, dir); err != nil {
		return nil, err
	}
	html, json, err := render(r)
	if err != nil {
		return nil, err
	}
	r.Output = dir
	return r, store.WriteReport(vfs.OS, dir, html, json)
}

// relink sets the links of a report that lies in the folder dir.
func relink(r *Report, dir string) error {
	p := newPlaces()
	for _, place := range []string{folderAbove(dir), dir} {
		if err := p.add(place); err != nil && !errors.Is(err, errCrowded) { // a page without links is better than none
			return err
		}
	}
	var failed error
	r.Link(func(_, fingerprint, earlier string) string {
		if page := pageOf(dir, p.folders[fingerprint]); page != "" {
			return page
		}
		if u, err := url.PathUnescape(earlier); err == nil && earlier != "" && exists(filepath.Join(dir, filepath.FromSlash(u))) {
			at := filepath.Join(dir, filepath.FromSlash(path.Dir(u)))
			sum, err := store.Sum(vfs.OS, at)
			if err == nil && (isFile(fingerprint) || sum == fingerprint) {
				return earlier
			}
			failed = errors.Join(failed, unanswered(err))
		}
		return ""
	})
	return failed
}

// mostReport bounds the size of a report.json, which is held in memory. It is enough for 10,000 full histograms.
const mostReport = 512 << 20

// readReport reads report.json of an output folder.
func readReport(dir string) (*report.Report, error) {
	name := filepath.Join(dir, store.ReportJSONFile)
	b, err := vfs.ReadFile(vfs.Confine(vfs.OS, dir), name, mostReport)
	switch {
	case vfs.Absent(err) && isOutput(dir):
		return nil, tagged.Errorf(ErrNoReport, "%s: found no report.json, which an output that was written with `NoReport` does not have", dir)
	case vfs.Absent(err):
		return nil, tagged.Errorf(fs.ErrNotExist, "%s: found no report.json, expected the folder of an output of graphmill; correct the path", dir)
	case err != nil:
		return nil, err
	}
	r, err := report.Parse(b)
	return r, described(name, err)
}

// isOutput says whether a folder is an output: it has a manifest.
func isOutput(dir string) bool {
	_, err := vfs.OS.Stat(filepath.Join(dir, store.ManifestFile))
	return err == nil
}

// inputFolder names a store or collection as an input of a report, and returns its checksum.
func inputFolder(r *report.Report, dir string) (sum string, err error) {
	if sum, err = store.Sum(vfs.OS, dir); err != nil {
		return "", err
	}
	size, err := store.Size(vfs.OS, dir)
	if err != nil {
		return "", err
	}
	r.InputAt(titled(dir), size, sum, dir)
	return sum, nil
}

// fingerprints names files as inputs of a report, and returns their fingerprints by name.
func fingerprints(ctx context.Context, fsys vfs.FS, files []string, r *report.Report, name func(string) string) (map[string]string, error) {
	inputs := map[string]string{}
	for _, f := range files {
		sum, err := store.Fingerprint(ctx, fsys, f)
		if err != nil {
			return nil, err
		}
		info, err := fsys.Stat(f)
		if err != nil {
			return nil, err
		}
		if _, there := inputs[name(f)]; there {
			continue
		}
		inputs[name(f)] = sum
		r.InputAt(name(f), info.Size(), sum, f)
	}
	return inputs, nil
}

// onDisk adds the size of an output to the headline of its report.
func onDisk(r *report.Report, dir string) error {
	size, err := store.Size(vfs.OS, dir)
	if err != nil {
		return err
	}
	r.Head("on disk", report.Bytes(size))
	return nil
}

// warnLeft warns about columns that have no place in the output format.
func (o *Run) warnLeft(r *report.Report, left []string) {
	o.warnColumns(r, left, "columns and ids, or parts of them, have no place in the format and are left out: ")
}

// warnRounded warns about columns whose values are rounded in Examples.
func (o *Run) warnRounded(r *report.Report, columns []string) {
	o.warnColumns(r, columns, "columns of float64 are rounded to float32, the only float that Examples have: ")
}

func (o *Run) warnColumns(r *report.Report, columns []string, what string) {
	if len(columns) == 0 {
		return
	}
	for i, c := range columns {
		if i > 0 {
			what += "; "
		}
		what += c
	}
	o.warn("%d %s", len(columns), what)
	r.Warn(int64(len(columns)), what)
}

// titled returns the last element of a path.
func titled(path string) string { return filepath.Base(filepath.Clean(path)) }

// described puts a path before an error about it.
func described(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}
