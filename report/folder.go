package report

import (
	"fmt"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/fsx"
)

const (
	jsonName = "report.json"
	htmlName = "report.html"
	// jsonLimit bounds what Read takes into memory: 10,000 full histograms.
	jsonLimit = 512 << 20
)

// Write puts report.json and report.html into the folder dir; existing ones are
// replaced.
func Write(fsys fsx.FS, dir string, r *Report) error {
	j, err := r.JSON()
	if err != nil {
		return err
	}
	h, err := r.HTML()
	if err != nil {
		return err
	}
	if err := fsx.WriteFile(fsys, filepath.Join(dir, jsonName), j); err != nil {
		return err
	}
	return fsx.WriteFile(fsys, filepath.Join(dir, htmlName), h)
}

// Read reads the report.json of the folder dir.
func Read(fsys fsx.FS, dir string) (*Report, error) {
	name := filepath.Join(dir, jsonName)
	b, err := fsx.ReadFile(fsys, name, jsonLimit)
	if err != nil {
		return nil, err
	}
	r, err := FromJSON(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Rebuild writes the report.html of the folder dir anew from its report.json,
// and gives the report.
func Rebuild(fsys fsx.FS, dir string) (*Report, error) {
	r, err := Read(fsys, dir)
	if err != nil {
		return nil, err
	}
	h, err := r.HTML()
	if err != nil {
		return nil, err
	}
	return r, fsx.WriteFile(fsys, filepath.Join(dir, htmlName), h)
}
