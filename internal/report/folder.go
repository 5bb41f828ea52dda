package report

import (
	"fmt"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/vfs"
)

// fileName is the report's in an output folder.
const fileName = "report.json"

// readLimit bounds what Read takes into memory: 10,000 full histograms.
const readLimit = 512 << 20

// Read reads the report.json of the folder dir.
func Read(fsys vfs.FS, dir string) (*Report, error) {
	name := filepath.Join(dir, fileName)
	b, err := vfs.ReadFile(fsys, name, readLimit)
	if err != nil {
		return nil, err
	}
	r, err := FromJSON(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
