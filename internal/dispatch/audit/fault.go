package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/graphmill/graphmill/internal/dispatch/parts"
)

// Fault is the first fault that was found.
type Fault struct {
	File string `json:"file"`
	// Type is the node or edge type, empty if it is not known.
	Type string `json:"type,omitempty"`
	// Local and Global are ids in the part and in the whole graph; -1 if there is no such id. Global is the
	// new id, over all types.
	Local    int64  `json:"local"`
	Global   int64  `json:"global"`
	Found    string `json:"found"`
	Expected string `json:"expected"`

	text string // the whole message, of faults made from errors
}

// Error formats the fault like "part1/graph.dgl: paper: row 17 (global id 117): found X, expected Y".
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
		return &Fault{File: file, Local: -1, Global: -1, Found: strings.TrimPrefix(text, "found "), text: err.Error()}
	}
	return nil
}

// Report is the result of Verify.
type Report struct {
	Config   string `json:"config"`
	Parts    int    `json:"parts"`
	HaloHops int    `json:"halo_hops"`
	// Leaving says that parts have the edges from their nodes to others.
	Leaving bool `json:"leaving_edges"`
	// Nodes and Edges are counted over all parts, without the halo.
	Nodes     int64 `json:"nodes"`
	Edges     int64 `json:"edges"`
	HaloNodes int64 `json:"halo_nodes"`
	HaloEdges int64 `json:"halo_edges"`
	// Rows is the number of rows of all feature columns.
	Rows int64 `json:"feature_rows"`
	// NodeIDs and EdgeIDs say whether original ids are stored.
	NodeIDs bool `json:"original_node_ids"`
	EdgeIDs bool `json:"original_edge_ids"`
	// ComparedEdges and ComparedRows were compared with a store.
	ComparedEdges int64 `json:"compared_edges,omitempty"`
	ComparedRows  int64 `json:"compared_rows,omitempty"`
	// Notes list what could not be checked, and why, and parts that are whole but with which DGL's server does
	// not start.
	Notes []string `json:"notes,omitempty"`
	// Fault is nil if the parts are whole.
	Fault *Fault `json:"fault"`
}
