package report

import (
	"fmt"
	"strings"
)

// Damage is a file whose bytes differ from those that were written.
type Damage struct {
	File  string `json:"file"`
	Found string `json:"found"`
}

// Verified is what a check of an output folder against its manifest found.
type Verified struct {
	Files  int      `json:"files"`
	Bytes  int64    `json:"bytes"`
	Damage []Damage `json:"damage"`
	// Unknown are the files, links and empty folders that are not in the manifest, and that graphmill does not add to an
	// output later. The name of a folder ends in '/'.
	Unknown []string `json:"unknown"`
}

// PartsFault is the first fault that was found.
type PartsFault struct {
	File string `json:"file"`
	// Type is the node or edge type, empty if it is not known.
	Type string `json:"type,omitempty"`
	// Local and Global are ids in the part and in the whole graph; -1 if there is no such id. Global is the
	// new id, over all types.
	Local    int64  `json:"local"`
	Global   int64  `json:"global"`
	Found    string `json:"found"`
	Expected string `json:"expected"`

	// Text is the whole message, of faults made from errors.
	Text string `json:"-"`
}

// Error formats the fault like "part1/graph.dgl: paper: row 17 (global id 117): found X, expected Y".
func (f *PartsFault) Error() string {
	if f.Text != "" {
		return f.Text
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

// PartsCheck is what a check of the parts of a graph found.
type PartsCheck struct {
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
	Fault *PartsFault `json:"fault"`
}
