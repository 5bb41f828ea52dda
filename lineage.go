package graphmill

import (
	"context"

	"github.com/graphmill/graphmill/internal/operation/lineage"
	"github.com/graphmill/graphmill/option"
)

// TraceLineage follows the inputs of an output folder to the first tables, by the fingerprints that every output records. What
// is not at hand is in the result with its recorded name. An input of another fingerprint is never taken for it.
func TraceLineage(ctx context.Context, dir string, o option.Lineage) (*Lineage, error) {
	return lineage.TraceLineage(ctx, dir, o)
}

// WriteLineage writes a lineage as a page, and returns its name. out is the file; "" is the folder dir with .lineage.html after
// its name. It replaces only such a page, and refuses a file inside the folder, whose files are sealed.
func WriteLineage(l *Lineage, dir, out string) (string, error) {
	return lineage.WriteLineage(l, dir, out)
}

// RenderReport rewrites report.html of an output folder from its report.json, and returns the report. Both get links to the
// pages of those inputs that lie beside the folder or in it, or are where a link led before. A folder without a report is
// ErrNoReport.
func RenderReport(dir string) (*Report, error) {
	return lineage.RenderReport(dir)
}
