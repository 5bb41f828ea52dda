package lineage

import (
	"errors"
	"net/url"
	"path"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// RenderReport rewrites report.html of an output folder from its report.json, and returns the report. Both get links to the
// pages of those inputs that lie beside the folder or in it, or are where a link led before. A folder without a report is
// ErrNoReport.
func RenderReport(dir string) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	r, err := operation.ReadReport(dir)
	if err != nil {
		return nil, err
	}
	if err := relink(r, dir); err != nil {
		return nil, err
	}
	html, json, err := operation.Render(r)
	if err != nil {
		return nil, err
	}
	r.Output = dir
	return r, store.WriteReport(vfs.OS, dir, html, json)
}

// relink sets the links of a report that lies in the folder dir.
func relink(r *report.Report, dir string) error {
	p := newPlaces()
	for _, place := range []string{folderAbove(dir), dir} {
		if err := p.add(place); err != nil && !errors.Is(err, errCrowded) { // a page without links is better than none
			return err
		}
	}
	var failed error
	r.Link(func(_, fingerprint, earlier string) string {
		if page := operation.PageOf(dir, p.folders[fingerprint]); page != "" {
			return page
		}
		if u, err := url.PathUnescape(earlier); err == nil && earlier != "" && operation.Exists(filepath.Join(dir, filepath.FromSlash(u))) {
			at := filepath.Join(dir, filepath.FromSlash(path.Dir(u)))
			sum, err := store.Sum(vfs.OS, at)
			if err == nil && (isFile(fingerprint) || sum == fingerprint) {
				return earlier
			}
			failed = errors.Join(failed, operation.Unanswered(err))
		}
		return ""
	})
	return failed
}
