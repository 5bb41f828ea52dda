package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/vfs"
)

// mostSums bounds the lines of reportSumFile: there are two, and those that replacements that failed left there.
const mostSums = 64

// Report adds the report to a sealed folder, with a checksum of its own.
func (w *Writer) Report(html, json []byte) error { return WriteReport(w.fs, w.dir, html, json) }

// WriteReport writes the report of an output folder, or replaces it. A folder with a report is whole at any time: while the
// files are replaced, their checksums list the old bytes and the new ones.
func WriteReport(fsys vfs.FS, dir string, html, json []byte) error {
	fsys = vfs.Confine(fsys, dir)
	write := func(name, text string) error { return vfs.WriteFile(fsys, filepath.Join(dir, name), []byte(text)) }
	sums := sumLine(html, ReportHTMLFile) + sumLine(json, ReportJSONFile)
	old, err := vfs.ReadFile(fsys, filepath.Join(dir, reportSumFile), mostSums*64)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err == nil:
		both := sums
		for line := range strings.Lines(string(old)) {
			if isReportSum(line) && !strings.Contains(both, line) && strings.Count(both, "\n") < mostSums {
				both += line
			}
		}
		err = write(reportSumFile, both)
	}
	if err != nil {
		return err
	}
	for _, f := range []struct{ name, text string }{{ReportHTMLFile, string(html)}, {ReportJSONFile, string(json)}, {reportSumFile, sums}} {
		if err := write(f.name, f.text); err != nil {
			return err
		}
	}
	return nil
}

// isReportSum says whether a line can be one of reportSumFile.
func isReportSum(line string) bool {
	sum, name, _ := strings.Cut(line, "  ")
	return len(sum) == 16 && strings.Trim(sum, "0123456789abcdef") == "" && slices.Contains([]string{ReportHTMLFile + "\n", ReportJSONFile + "\n"}, name)
}
