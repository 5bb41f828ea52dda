package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"text/tabwriter"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/vfs"
)

// isLayout says whether a folder calls itself a pack layout.
func isLayout(dir string) bool {
	_, err := vfs.OS.Stat(filepath.Join(dir, layout.MetaFile))
	return err == nil
}

// layoutInfo is what is told of a pack layout.
type layoutInfo struct {
	Folder string `json:"folder"`
	Kind   string `json:"kind"`
	layout.Meta
}

// infoLayout tells what a pack layout is.
func (t *terminal) infoLayout(dir string, asJSON bool) error {
	l, err := layout.Open(vfs.OS, dir)
	if err != nil {
		return err
	}
	m := &l.Meta
	if asJSON {
		e := json.NewEncoder(t.stdout)
		e.SetIndent("", " ")
		return e.Encode(layoutInfo{dir, "pack layout", *m})
	}
	w := tabwriter.NewWriter(t.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s: a pack layout, %s of %s (no packing has fewer than %s)\n\nCOMPONENT\tLIMIT\tFULL\n",
		dir, counted(m.Packs, "pack"), counted(m.Graphs, "graph"), human.Exact(m.LowerBound))
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
