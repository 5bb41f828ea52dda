package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Names of the files that every output folder, or every store, has.
const (
	MetaFile        = "graph.json"
	madeFile        = "made.json" // in folders without graph.json
	ManifestFile    = "manifest.json"
	ManifestSumFile = "manifest.json.xxh3"
	ReportHTMLFile  = "report.html"
	ReportJSONFile  = "report.json"
	reportSumFile   = "report.xxh3"
)

// The kinds of folder. A folder of other files (TFRecords) has a manifest and
// made.json, but no graph.json.
const (
	KindStore      = "store"
	KindCollection = "collection"
)

// The versions of graph.json and of the files that it names: of a graph in one piece, and of a store that has segments. Readers refuse versions that they do
// not know.
const (
	Format          = 1
	SegmentedFormat = 2
)

// Meta is graph.json.
type Meta struct {
	Format  int                   `json:"format"`
	Kind    string                `json:"kind"`
	Nodes   map[string]*NodesMeta `json:"nodes"`
	Edges   map[string]*EdgesMeta `json:"edges"`
	Context *ContextMeta          `json:"context,omitempty"`
	// Schema is the file of the GraphSchema that a collection was imported with.
	Schema string `json:"schema,omitempty"`
	Made   Made   `json:"made"`
	// Segments describe what each append added to a store, in order. The other fields describe the base.
	Segments []Segment `json:"segments,omitempty"`
}

// Segment describes what one append added to a store. Its files are in the folder SegmentDir.
//
// Count of Nodes is the number of new nodes, whose numbers follow those before them. The arrays of their columns, and of their original ids, go on with the files of the base, or of the
// first segment that has the type: a file with N bytes before the segment goes on at the last multiple of limits.ShardAlign that is not above N, so that
// both are mapped next to each other. The header of such an array counts the rows of its first file. id_buckets and id_slots are an index of the new nodes alone,
// counted from 0.
//
// Count of Edges is the number of new edges. Their Arrays are nodes, starts and far, and dropped_nodes, dropped_starts and dropped where edges were dropped: the lists
// of package segment. Their columns have a row for each new edge.
//
// ChangedNodes and ChangedEdges count, by type, the rows whose values change. Replaced has, by their names in Meta, the files of the base and of earlier segments whose bytes
// change with that. It counts before the rest of the segment.
type Segment struct {
	Nodes        map[string]*NodesMeta   `json:"nodes,omitempty"`
	Edges        map[string]*EdgesMeta   `json:"edges,omitempty"`
	ChangedNodes map[string]int          `json:"changed_nodes,omitempty"`
	ChangedEdges map[string]int          `json:"changed_edges,omitempty"`
	Replaced     map[string]ReplacedFile `json:"replaced,omitempty"`
	Made         Made                    `json:"made"`
}

// ReplacedFile is bytes that a segment puts in the place of those of another file, with the files that go on with it.
type ReplacedFile struct {
	File string `json:"file"`
	// Blocks is the array of the numbers, ascending, of the blocks of limits.ShardAlign bytes that File has, one after the other; "": File is all of the other file.
	Blocks string `json:"blocks,omitempty"`
}

// SegmentDir is the folder of segment number i of a store, counted from 1.
func SegmentDir(i int) string { return fmt.Sprintf("segments/%d", i) }

// SegmentOf is the number of the segment that a file belongs to, 0 for the base.
func SegmentOf(file string) int {
	rest, ok := strings.CutPrefix(file, "segments/")
	number, _, sub := strings.Cut(rest, "/")
	i, err := strconv.Atoi(number)
	if !ok || !sub || err != nil {
		return 0
	}
	return i
}

// ColumnMeta is the files of a column. File holds the values, or the bytes of strings. RowOffsets has one file per
// variable dimension, the outermost first.
type ColumnMeta struct {
	File          string   `json:"file"`
	DType         string   `json:"dtype"`
	Shape         []int    `json:"shape"`
	RowOffsets    []string `json:"row_offsets,omitempty"`
	StringOffsets string   `json:"string_offsets,omitempty"`
	// Unit is the unit of a column of times, whose dtype is int64: s, ms, us or ns since 1970-01-01T00:00:00Z.
	Unit string `json:"unit,omitempty"`
	// Categories is the column of strings that the values of a column of categories, whose dtype is int32, are rows of.
	Categories *ColumnMeta `json:"categories,omitempty"`
}

// Files are the names of the files of the column.
func (c *ColumnMeta) Files() []string {
	files := append([]string{c.File}, c.RowOffsets...)
	if c.StringOffsets != "" {
		files = append(files, c.StringOffsets)
	}
	if c.Categories != nil {
		files = append(files, c.Categories.Files()...)
	}
	return files
}

// NodesMeta is a node type. Its Arrays are id_buckets and id_slots (the index of IDs) and, in a collection, graph_ptr,
// component_ptr, node_id and num_sampled_nodes.
type NodesMeta struct {
	Count   int                   `json:"count"`
	Columns map[string]ColumnMeta `json:"columns"`
	IDs     *ColumnMeta           `json:"ids,omitempty"`
	Arrays  map[string]string     `json:"arrays,omitempty"`
	// Added is the number of nodes, at the end, that have no row in the node table.
	Added int `json:"added,omitempty"`
	// Types are the node types that a homogeneous graph was made from. The values of the column #type are indices into
	// Types.
	Types []string `json:"types,omitempty"`
}

// Open says that nothing is known of the nodes yet, as of a type without a table before it has edges: the first segment that has nodes says whether they have ids and columns.
func (n *NodesMeta) Open() bool { return n.Count == 0 && n.IDs == nil && len(n.Columns) == 0 }

// EdgesMeta is an edge type. The Arrays of a store are indptr and far in the primary direction, and other_indptr,
// other_far and other_edge_id where the other direction is stored. Those of a collection are graph_ptr, component_ptr,
// src, dst, edge_id and num_sampled_edges.
type EdgesMeta struct {
	Count   int                   `json:"count"`
	Primary string                `json:"primary,omitempty"`
	Arrays  map[string]string     `json:"arrays"`
	Columns map[string]ColumnMeta `json:"columns"`
	Types   []string              `json:"types,omitempty"` // as in NodesMeta
	// NoPositions says that the import left the positions of the edges in the input out, so that their order is not known.
	NoPositions bool `json:"no_positions,omitempty"`
	// Rows, of a segment, is the number of rows of the edges' input so far, which the next segment counts positions from.
	Rows uint64 `json:"rows,omitempty"`
}

// ContextMeta has a row per graph of a collection, and its columns a row per component. In a store it has the rows of
// the table of the context. The Arrays of a collection are seed_ptr, seed_local, negative_local, component_ptr and
// example_form. SeedType is the node type of the seeds, and Negatives the number of negative links per link.
type ContextMeta struct {
	Count     int                   `json:"count"`
	SeedType  []string              `json:"seed_type,omitempty"`
	Negatives int                   `json:"negatives,omitempty"`
	Columns   map[string]ColumnMeta `json:"columns"`
	Arrays    map[string]string     `json:"arrays,omitempty"`
}

// Made says how the folder was made. It has nothing in which two equal runs could differ.
type Made = report.Made

// ReadMade reads how an output folder was made, from graph.json or made.json.
func ReadMade(fsys vfs.FS, dir string) (*Made, error) {
	fsys = vfs.Confine(fsys, dir)
	name := filepath.Join(dir, MetaFile)
	b, err := vfs.ReadFile(fsys, name, maxMeta)
	if errors.Is(err, fs.ErrNotExist) {
		name = filepath.Join(dir, madeFile)
		if b, err = vfs.ReadFile(fsys, name, maxMeta); err != nil {
			return nil, err
		}
		var m Made
		if err := DecodeJSON(b, &m); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", name, ErrDamaged, err)
		}
		return &m, nil
	}
	if err != nil {
		return nil, err
	}
	var m Meta
	if err := DecodeJSON(b, &m); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, ErrDamaged, err)
	}
	return m.History(), nil
}

// History is how the folder was made, with what was appended to a store since.
func (m *Meta) History() *Made {
	made := m.Made
	for i := range m.Segments {
		made.Append(&m.Segments[i].Made)
	}
	return &made
}

// EncodeJSON is v as indented JSON, which all metadata files have.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// DecodeJSON reads JSON strictly: unknown keys and text after the value are errors.
func DecodeJSON(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("found text after the JSON value")
	}
	return nil
}

// longestName is the most bytes of a path element that is made of names. File systems allow 255, of which the endings of files
// take up to 40.
const longestName = 200

// FileName is a path element for a name: letters, digits, '.', '_', '-' and '#' stay (except a leading '.'), and every
// other byte becomes %XX. An element of more than 200 bytes is shortened (Shortened).
func FileName(name string) string { return Shortened(escaped(name), name, longestName) }

// Shortened is element, or where it has more than most bytes its beginning, '~' and the XXH3 of name in 16 hexadecimal digits. No
// other element has a '~'.
func Shortened(element, name string, most int) string {
	if len(element) <= most {
		return element
	}
	head := element[:most-20]
	for i := range 4 { // no part of a character or of %XX
		if c := element[most-20-i]; c == '%' || c >= utf8.RuneSelf && utf8.RuneStart(c) {
			head = element[:most-20-i]
			break
		}
	}
	return fmt.Sprintf("%s~%016x", head, xxh3.HashString(name))
}

func escaped(name string) string {
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
	return "edges/" + Shortened(escaped(e.Src)+"+"+escaped(e.Rel)+"+"+escaped(e.Dst), e.String(), longestName)
}
