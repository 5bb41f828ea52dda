package graphmill

import (
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/vfs"
)

// reserveNote explains limits with a reserve.
const reserveNote = "a node of each type and a graph of each pack are kept for padding"

// IsLayout reports whether the manifest of a folder says that it is a pack layout.
func IsLayout(dir string) (bool, error) {
	return vfs.Exists(vfs.OS, filepath.Join(dir, layout.MetaFile))
}

// LayoutDescription describes a pack layout. Its JSON is what the command info prints with --json.
type LayoutDescription struct {
	Folder string `json:"folder"`
	Kind   string `json:"kind"`
	layout.Meta

	layout *layout.Layout
}

// DescribeLayout describes the pack layout in a folder.
func DescribeLayout(dir string) (_ *LayoutDescription, err error) {
	defer guard.Catch(&err)()
	l, err := layout.Open(vfs.OS, dir)
	if err != nil {
		return nil, err
	}
	return &LayoutDescription{dir, "pack layout", l.Meta, l}, nil
}

// Text writes the description in words.
func (d *LayoutDescription) Text(out io.Writer) error {
	l, m := d.layout, &d.Meta
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: a pack layout, %s of %s (no packing has fewer than %s)\n\nCOMPONENT\tLIMIT\tFULL\n",
		d.Folder, counted(m.Packs, "pack"), counted(m.Graphs, "graph"), human.Exact(m.LowerBound))
	for i, c := range m.Components {
		fmt.Fprintf(w, "%s\t%s\t%.2f %%\n", human.Printable(c), human.Exact(int64(m.Limits[i])), 100*l.Problem.Efficiency(i, m.Packs, m.Limits[i]))
	}
	if m.MaxGraphs > 0 {
		fmt.Fprintf(w, "graphs\t%s\t\n", human.Exact(int64(m.MaxGraphs)))
	}
	if m.Reserve {
		fmt.Fprint(w, "\n"+reserveNote+"\n")
	}
	if m.OversizeGraphs > 0 {
		fmt.Fprintf(w, "\n%s %s\n", human.Exact(m.OversizeGraphs), larger(m.OversizeGraphs, m.Oversize))
	}
	return w.Flush()
}
