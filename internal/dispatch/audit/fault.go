package audit

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/report"
)

type (
	// Report is what Verify found.
	Report = report.PartsCheck
	// Fault is the first fault of a Report.
	Fault = report.PartsFault
)

// fault converts an error about a damaged or missing file to a Fault. It returns nil for other errors.
func fault(err error) *Fault {
	var f *Fault
	var path *fs.PathError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &path) && errors.Is(err, fs.ErrNotExist):
		return &Fault{File: path.Path, Local: -1, Global: -1, Found: "no such file", Expected: "the file that the configuration names"}
	case errors.Is(err, parts.ErrFormat):
		file, text, ok := strings.Cut(err.Error(), ": ")
		if !ok {
			file, text = "", err.Error()
		}
		return &Fault{File: file, Local: -1, Global: -1, Found: strings.TrimPrefix(text, "found "), Text: err.Error()}
	}
	return nil
}
