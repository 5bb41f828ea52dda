package report

import (
	"fmt"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/vfs"
)

// fileName is the name of the report in an output folder.
const fileName = "report.json"

// readLimit bounds the bytes that Read holds in memory. It is enough for 10,000 full histograms.
const readLimit = 512 << 20

// Read reads report.json in the folder dir.
func Read(fsys vfs.FS, dir string) (*Report, error) {
	name := filepath.Join(dir, fileName)
	b, err := vfs.ReadFile(fsys, name, readLimit)
	if err != nil {
		return nil, err
	}
	r, err := fromJSON(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
