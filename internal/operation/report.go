package operation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Render returns both forms of a report.
func Render(r *report.Report) (html, json []byte, err error) {
	if html, err = r.HTML(); err != nil {
		return nil, nil, err
	}
	json, err = r.JSON()
	return html, json, err
}

// ErrNoReport means that an output folder has no report, because the run that wrote it had NoReport.
var ErrNoReport = errors.New("no report")

// MostReport bounds the size of a report.json, which is held in memory. It is enough for 10,000 full histograms.
const MostReport = 512 << 20

// ReadReport reads report.json of an output folder.
func ReadReport(dir string) (*report.Report, error) {
	name := filepath.Join(dir, store.ReportJSONFile)
	b, err := vfs.ReadFile(vfs.Confine(vfs.OS, dir), name, MostReport)
	switch {
	case vfs.Absent(err) && isOutput(dir):
		return nil, tagged.Errorf(ErrNoReport, "%s: found no report.json, which an output that was written with `NoReport` does not have", dir)
	case vfs.Absent(err):
		return nil, tagged.Errorf(fs.ErrNotExist, "%s: found no report.json, expected the folder of an output of graphmill; correct the path", dir)
	case err != nil:
		return nil, err
	}
	r, err := report.Parse(b)
	return r, Described(name, err)
}

// isOutput says whether a folder is an output: it has a manifest.
func isOutput(dir string) bool {
	_, err := vfs.OS.Stat(filepath.Join(dir, store.ManifestFile))
	return err == nil
}

// InputFolder names a store or collection as an input of a report, and returns its checksum.
func InputFolder(r *report.Report, dir string) (sum string, err error) {
	if sum, err = store.Sum(vfs.OS, dir); err != nil {
		return "", err
	}
	size, err := store.Size(vfs.OS, dir)
	if err != nil {
		return "", err
	}
	r.InputAt(Titled(dir), size, sum, dir)
	return sum, nil
}

// Fingerprints names files as inputs of a report, and returns their fingerprints by name.
func Fingerprints(ctx context.Context, fsys vfs.FS, files []string, r *report.Report, name func(string) string) (map[string]string, error) {
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

// OnDisk adds the size of an output to the headline of its report.
func OnDisk(r *report.Report, dir string) error {
	size, err := store.Size(vfs.OS, dir)
	if err != nil {
		return err
	}
	r.Head("on disk", report.Bytes(size))
	return nil
}

// WarnLeft warns about columns that have no place in the output format.
func WarnLeft(o *option.Run, r *report.Report, left []string) {
	WarnColumns(o, r, left, "columns and ids, or parts of them, have no place in the format and are left out: ")
}

// WarnRounded warns about columns whose values are rounded in Examples.
func WarnRounded(o *option.Run, r *report.Report, columns []string) {
	WarnColumns(o, r, columns, "columns of float64 are rounded to float32, the only float that Examples have: ")
}

// WarnColumns warns about columns: their number, what is said of them, and their names.
func WarnColumns(o *option.Run, r *report.Report, columns []string, what string) {
	if len(columns) == 0 {
		return
	}
	for i, c := range columns {
		if i > 0 {
			what += "; "
		}
		what += c
	}
	WarnCount(o, r, int64(len(columns)), what)
}

// Titled returns the last element of a path.
func Titled(path string) string { return filepath.Base(filepath.Clean(path)) }

// Described puts a path before an error about it.
func Described(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}

// SizesPlot returns the plot of the sizes of subgraphs or graphs.
func SizesPlot(title, of string, nodes, edges *report.Histogram) report.Distribution {
	return report.Distribution{Title: title, Of: of, What: "size", View: report.Bins,
		Series: []report.Series{{Name: "nodes", Histogram: nodes}, {Name: "edges", Histogram: edges}}}
}

// WarnCount warns about n cases, on stderr and in the report. Their text is as for Report.Warn. Without cases there is no warning.
func WarnCount(o *option.Run, r *report.Report, n int64, what string) {
	if n != 0 {
		Warn(o, "%s %s", human.Exact(n), human.Things(n, what))
		r.Warn(n, what)
	}
}

// WarnUnderflows warns about float64 values that became 0 or lost more digits than usual, by feature or column.
func WarnUnderflows(o *option.Run, r *report.Report, features map[string]uint64) {
	for _, f := range slices.Sorted(maps.Keys(features)) {
		what := f + ": float64 values are too close to 0 for float32: they became 0 or lost more digits than other values"
		WarnCount(o, r, int64(features[f]), what)
	}
}
