package store

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/graphmill/graphmill/graph"
)

// Names of the files that every output folder, or every store, has.
const (
	MetaFile        = "graph.json"
	MadeFile        = "made.json" // where there is no graph.json
	ManifestFile    = "manifest.json"
	ManifestSumFile = "manifest.json.xxh3"
	ReportHTMLFile  = "report.html"
	ReportJSONFile  = "report.json"
	ReportSumFile   = "report.xxh3"
)

// The kinds of folder. A folder of other files (TFRecords) has a manifest and
// made.json, but no graph.json.
const (
	KindStore      = "store"
	KindCollection = "collection"
)

// Meta is graph.json.
type Meta struct {
	Format  int                   `json:"format"`
	Kind    string                `json:"kind"`
	Nodes   map[string]*NodesMeta `json:"nodes"`
	Edges   map[string]*EdgesMeta `json:"edges"`
	Context *ContextMeta          `json:"context,omitempty"`
	// Schema is the file of the GraphSchema that a collection was read with.
	Schema string `json:"schema,omitempty"`
	Made   Made   `json:"made"`
}

// ColumnMeta says where a column lies. File holds the values, or the bytes of
// strings; RowOffsets has one file a variable dimension, the outermost first.
type ColumnMeta struct {
	File          string   `json:"file"`
	DType         string   `json:"dtype"`
	Shape         []int    `json:"shape"`
	RowOffsets    []string `json:"row_offsets,omitempty"`
	StringOffsets string   `json:"string_offsets,omitempty"`
}

// NodesMeta is a node type. Arrays: id_buckets and id_slots (the index of IDs);
// in a collection graph_ptr, component_ptr, node_id, num_sampled_nodes.
type NodesMeta struct {
	Count   int                   `json:"count"`
	Columns map[string]ColumnMeta `json:"columns"`
	IDs     *ColumnMeta           `json:"ids,omitempty"`
	Arrays  map[string]string     `json:"arrays,omitempty"`
	// Added is how many nodes, the last ones, the node table has no row of.
	Added int `json:"added,omitempty"`
	// Types are the node types that a homogeneous graph was made of; the column
	// #type counts in them.
	Types []string `json:"types,omitempty"`
}

// EdgesMeta is an edge type. Arrays of a store: indptr and far in the primary
// direction; other_indptr, other_far and other_edge_id where the other one is
// stored. Of a collection: graph_ptr, component_ptr, src, dst, edge_id,
// num_sampled_edges.
type EdgesMeta struct {
	Count   int                   `json:"count"`
	Primary string                `json:"primary,omitempty"`
	Arrays  map[string]string     `json:"arrays"`
	Columns map[string]ColumnMeta `json:"columns"`
	Types   []string              `json:"types,omitempty"` // as of NodesMeta
}

// ContextMeta has one row a graph of a collection, its columns one a component;
// of a store, the rows of the context's table. Arrays, of a collection: seed_ptr,
// seed_local, component_ptr, example_form. SeedType is the node type of the seeds.
type ContextMeta struct {
	Count    int                   `json:"count"`
	SeedType []string              `json:"seed_type,omitempty"`
	Columns  map[string]ColumnMeta `json:"columns"`
	Arrays   map[string]string     `json:"arrays,omitempty"`
}

// Made says what the folder was made of, and nothing that two equal runs could
// differ in.
type Made struct {
	Command string            `json:"command"`
	Inputs  map[string]string `json:"inputs,omitempty"`
	Seed    *uint64           `json:"seed,omitempty"`
	Law     int               `json:"law,omitempty"` // version of the draw law that the seed was used by; 0: none
	Plan    json.RawMessage   `json:"plan,omitempty"`
	Options map[string]string `json:"options,omitempty"`
	Version string            `json:"version"`
}

// encode writes v as the indented JSON that all metadata files have.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// decode reads JSON strictly: an unknown key is an error, and so is text behind.
func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("found text behind the JSON value")
	}
	return nil
}

// FileName makes a path element of a name: letters, digits, '.', '_', '-' and
// '#' stay (a leading '.' does not), every other byte is %XX.
func FileName(name string) string {
	var b []byte
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '#', c == '.' && i > 0:
			b = append(b, c)
		default:
			b = fmt.Appendf(b, "%%%02X", c)
		}
	}
	return string(b)
}

// NodesDir is the folder of a node type's files.
func NodesDir(nodeType string) string { return "nodes/" + FileName(nodeType) }

// EdgesDir is the folder of an edge type's files.
func EdgesDir(e graph.EdgeType) string {
	return "edges/" + FileName(e.Src) + "+" + FileName(e.Rel) + "+" + FileName(e.Dst)
}
