package describing

import (
	"path/filepath"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// IsLayout reports whether the manifest of a folder says that it is a pack layout.
func IsLayout(dir string) (bool, error) {
	return vfs.Exists(vfs.OS, filepath.Join(dir, layout.MetaFile))
}

// DescribeLayout describes the pack layout in a folder.
func DescribeLayout(dir string) (_ *report.LayoutDescription, err error) {
	defer guard.Catch(&err)()
	l, err := layout.Open(vfs.OS, dir)
	if err != nil {
		return nil, err
	}
	d := &report.LayoutDescription{Folder: dir, Kind: "pack layout", PackLayout: l.Meta, Larger: layout.Larger(l.Meta.OversizeGraphs, l.Meta.Oversize)}
	for i := range d.Components {
		d.Full = append(d.Full, l.Problem.Efficiency(i, d.Packs, d.Limits[i]))
	}
	return d, nil
}
