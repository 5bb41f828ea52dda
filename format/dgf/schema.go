package dgf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/graphmill/graphmill/internal/tagged"
)

// The names of the files and folders of a graph.
const (
	SchemaFile    = "schema.json"
	MetadataFile  = "metadata.json"
	NodeSetsDir   = "nodesets"
	EdgeSetsDir   = "edgesets"
	SnapshotsDir  = "snapshots"
	SourceName    = "#source"
	TargetName    = "#target"
	IDName        = "#id"
	ParquetSuffix = ".parquet"
)

// MaxBytes bounds the bytes of a schema, metadata or plan. Schemas have some kilobytes.
const MaxBytes = 16 << 20

// maxValues bounds the values of a feature of one row.
const maxValues = 1 << 24

// ErrFormat is wrapped by errors about what a file says, for errors.Is.
var ErrFormat = errors.New("not a graph of DGF")

// Format is how the values of a feature are stored.
type Format string

// The formats.
const (
	Integer32 Format = "INTEGER_32"
	Integer64 Format = "INTEGER_64"
	Float32   Format = "FLOAT_32"
	Float64   Format = "FLOAT_64"
	Bytes     Format = "BYTES"
	Bool      Format = "BOOL"
)

var formats = []Format{Integer32, Integer64, Float32, Float64, Bytes, Bool}

// Semantic says what the values of a feature mean.
type Semantic string

// The semantics that this package uses. DGF has more.
const (
	Unknown     Semantic = "UNKNOWN"
	Categorical Semantic = "CATEGORICAL"
	Timestamp   Semantic = "TIMESTAMP"
	PrimaryID   Semantic = "PRIMARY_ID"
)

// Shape is the shape of a feature in one row, with -1 for a variable dimension. An empty shape is a single value. Nil is an unknown shape,
// which DGF reads as a single value, too.
type Shape []int

// MarshalJSON writes a variable dimension as null, and a nil shape as null.
func (s Shape) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("null"), nil
	}
	dims := make([]*int, len(s))
	for i := range s {
		if s[i] != -1 {
			dims[i] = &s[i]
		}
	}
	return json.Marshal(dims)
}

// UnmarshalJSON reads a variable dimension as null.
func (s *Shape) UnmarshalJSON(b []byte) error {
	var dims []*int
	if err := json.Unmarshal(b, &dims); err != nil {
		return err
	}
	*s = nil
	if dims == nil {
		return nil
	}
	*s = make(Shape, len(dims))
	for i, d := range dims {
		switch {
		case d == nil:
			(*s)[i] = -1
		case *d == -1:
			return fmt.Errorf("found dimension -1 in shape, expected null for a variable dimension")
		default:
			(*s)[i] = *d
		}
	}
	return nil
}

// Feature describes a feature of a set.
type Feature struct {
	Format   Format   `json:"format"`
	Semantic Semantic `json:"semantic"`
	Shape    Shape    `json:"shape"`
	// Categories is the number of categories of a categorical feature; nil: it is not known.
	Categories   *int    `json:"num_categorical_values"`
	UTF8         *bool   `json:"is_utf8_string"`
	Timeseries   bool    `json:"is_timeseries"`
	CreationTime bool    `json:"is_creation_time"`
	Group        *string `json:"group"`
}

// NodeSet describes a node set.
type NodeSet struct {
	Features map[string]*Feature `json:"features"`
}

// EdgeSet describes an edge set. Source and Target are node sets.
type EdgeSet struct {
	Source   string              `json:"source"`
	Target   string              `json:"target"`
	Features map[string]*Feature `json:"features"`
}

// Schema describes a graph.
type Schema struct {
	NodeSets map[string]*NodeSet `json:"node_sets"`
	EdgeSets map[string]*EdgeSet `json:"edge_sets"`
}

// Container is how the tables of a graph are stored.
type Container string

// The containers.
const (
	Parquet   Container = "PARQUET"
	TFRecords Container = "TF_RECORD"
)

// Metadata says how a graph is stored.
type Metadata struct {
	Version int `json:"version"`
	// Timestamp is the time of the graph if it is a snapshot; nil: it has none.
	Timestamp *int64    `json:"timestamp"`
	Container Container `json:"container"`
}

// IsSchema says whether text looks like a schema: an object with node_sets and edge_sets. It may be cut off.
func IsSchema(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) &&
		(bytes.Contains(text, []byte(`"node_sets"`)) || bytes.Contains(text, []byte(`"edge_sets"`)))
}

// ParseSchema reads and checks the text of a schema. name begins errors.
func ParseSchema(name string, text []byte) (*Schema, error) {
	s := &Schema{}
	if err := decode(name, text, s); err != nil {
		return nil, err
	}
	if s.NodeSets == nil || s.EdgeSets == nil {
		return nil, errorf(name, "found no node_sets or no edge_sets, expected both; write the graph again with dgf.io.write_graph")
	}
	for _, set := range slices.Sorted(maps.Keys(s.NodeSets)) {
		n := s.NodeSets[set]
		if n == nil {
			return nil, errorf(name, "node set %q: found null, expected its features", set)
		}
		if err := checkFeatures(n.Features); err != nil {
			return nil, errorf(name, "node set %q: %w", set, err)
		}
	}
	for _, set := range slices.Sorted(maps.Keys(s.EdgeSets)) {
		e := s.EdgeSets[set]
		if e == nil {
			return nil, errorf(name, "edge set %q: found null, expected its source and target", set)
		}
		for _, end := range []string{e.Source, e.Target} {
			if s.NodeSets[end] == nil {
				return nil, errorf(name, "edge set %q: found the node set %q as an end, expected one of the node sets %q; correct the schema", set, end, slices.Sorted(maps.Keys(s.NodeSets)))
			}
		}
		if err := checkFeatures(e.Features); err != nil {
			return nil, errorf(name, "edge set %q: %w", set, err)
		}
	}
	return s, nil
}

func checkFeatures(features map[string]*Feature) error {
	for _, name := range slices.Sorted(maps.Keys(features)) {
		f := features[name]
		if f == nil {
			return fmt.Errorf("feature %q: found null, expected its format", name)
		}
		if !slices.Contains(formats, f.Format) {
			return fmt.Errorf("feature %q: found format %q, expected one of %q", name, f.Format, formats)
		}
		f.Semantic = cmp.Or(f.Semantic, Unknown)
		values := 1
		for _, d := range f.Shape {
			if d == 0 || d < -1 {
				return fmt.Errorf("feature %q: found dimension %d, expected at least 1, or null", name, d)
			}
			if d > maxValues/values {
				return fmt.Errorf("feature %q: found shape %v, expected at most %d values", name, []int(f.Shape), maxValues)
			}
			values *= max(d, 1)
		}
		if len(f.Shape) > 255 {
			return fmt.Errorf("feature %q: found %d dimensions, expected at most 255", name, len(f.Shape))
		}
	}
	return nil
}

// idNames are the names of features of ids, where no feature has their semantic.
var idNames = []string{IDName, "#ID", "id", "ID"}

// ID returns the name of the feature with the ids of the nodes.
func (n *NodeSet) ID() (string, error) {
	var declared, named []string
	for _, name := range slices.Sorted(maps.Keys(n.Features)) {
		if n.Features[name].Semantic == PrimaryID {
			declared = append(declared, name)
		}
		if slices.Contains(idNames, name) {
			named = append(named, name)
		}
	}
	switch {
	case len(declared) == 1:
		return declared[0], nil
	case len(declared) > 1:
		return "", fmt.Errorf("found the features %q with the semantic %s, expected one; give the others another semantic", declared, PrimaryID)
	case len(named) == 1:
		return named[0], nil
	}
	return "", fmt.Errorf("found %d features that can be the ids of its nodes, expected one; give the feature of the ids the semantic %s", len(named), PrimaryID)
}

// ParseMetadata reads and checks the text of metadata. name begins errors.
func ParseMetadata(name string, text []byte) (*Metadata, error) {
	m := &Metadata{Version: -1, Container: Parquet}
	if err := decode(name, text, m); err != nil {
		return nil, err
	}
	if m.Version != 0 {
		return nil, errorf(name, "found version %d of the format, expected version 0, which DGF 0.1 writes", m.Version)
	}
	return m, nil
}

// AppendJSON appends the text of a schema or of metadata as DGF writes it, with sets and features in the order of their names.
func AppendJSON(b []byte, v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...), err
}

// decode reads one JSON object.
func decode(name string, text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	err := d.Decode(v)
	at := d.InputOffset()
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("found text after the object, expected the end of the file")
		}
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		at, err = syntax.Offset, fmt.Errorf("found text that is not JSON (%w), expected a JSON object", err)
	case errors.As(err, &kind):
		at, err = kind.Offset, fmt.Errorf("found %s in %s, expected %s", kind.Value, cmp.Or(kind.Field, "the file"), kind.Type)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at, err = int64(len(text)), errors.New("found the end of the file, expected a whole JSON object")
	}
	line := 1 + bytes.Count(text[:min(max(at, 0), int64(len(text)))], []byte("\n"))
	return tagged.Errorf(ErrFormat, "%s:%d: %w", name, line, err)
}

func errorf(name, format string, a ...any) error {
	return tagged.Errorf(ErrFormat, "%s: %w", name, fmt.Errorf(format, a...))
}
