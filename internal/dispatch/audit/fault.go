package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/graphmill/graphmill/internal/dispatch/parts"
)

// Fault is what is wrong first.
type Fault struct {
	File string `json:"file"`
	// Type is the node or edge type, empty where none is known.
	Type string `json:"type,omitempty"`
	// Local and Global are ids in the part and in the whole graph; -1 where none is
	// meant. Global is the new id, over all types.
	Local    int64  `json:"local"`
	Global   int64  `json:"global"`
	Found    string `json:"found"`
	Expected string `json:"expected"`

	text string // of an error that says it all
}

// Error is "part1/graph.dgl: paper: node 17 (global 117): found X, expected Y".
func (f *Fault) Error() string {
	if f.text != "" {
		return f.text
	}
	var b strings.Builder
	b.WriteString(f.File)
	if f.Type != "" {
		b.WriteString(": " + f.Type)
	}
	switch {
	case f.Local >= 0 && f.Global >= 0:
		fmt.Fprintf(&b, ": row %d (global id %d)", f.Local, f.Global)
	case f.Local >= 0:
		fmt.Fprintf(&b, ": row %d", f.Local)
	case f.Global >= 0:
		fmt.Fprintf(&b, ": global id %d", f.Global)
	}
	b.WriteString(": found " + f.Found)
	if f.Expected != "" {
		b.WriteString(", expected " + f.Expected)
	}
	return b.String()
}

// fault makes a Fault out of an error that tells of a damaged or absent file; of
// others it is nil.
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
		return &Fault{File: file, Local: -1, Global: -1, Found: strings.TrimPrefix(text, "found "), text: err.Error()}
	}
	return nil
}

// Report is what was verified.
type Report struct {
	Config   string `json:"config"`
	Parts    int    `json:"parts"`
	HaloHops int    `json:"halo_hops"`
	// Leaving says that parts have the edges from their nodes to others.
	Leaving bool `json:"leaving_edges"`
	// Nodes, Edges and Features are counted over all parts, without the halo.
	Nodes     int64 `json:"nodes"`
	Edges     int64 `json:"edges"`
	HaloNodes int64 `json:"halo_nodes"`
	HaloEdges int64 `json:"halo_edges"`
	// Rows are those of all columns of features.
	Rows int64 `json:"feature_rows"`
	// NodeIDs and EdgeIDs say that original ids are stored.
	NodeIDs bool `json:"original_node_ids"`
	EdgeIDs bool `json:"original_edge_ids"`
	// ComparedEdges and ComparedRows are those that were held against a store.
	ComparedEdges int64 `json:"compared_edges,omitempty"`
	ComparedRows  int64 `json:"compared_rows,omitempty"`
	// Notes name what could not be checked, and why. They also name parts that are whole, but for which DGL's
	// server does not start.
	Notes []string `json:"notes,omitempty"`
	// Fault is nil where all is well.
	Fault *Fault `json:"fault"`
}
