package dglchunks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// limit bounds the bytes of metadata.json. A million files take less.
const limit = 256 << 20

// Read reads and checks metadata.json: required keys are present, each type is named once, edges join known node
// types, counts agree, and no file is listed twice. It does not check that the files exist.
func Read(fsys vfs.FS, name string) (*Metadata, error) {
	b, err := vfs.ReadFile(fsys, name, limit)
	if err != nil {
		return nil, err
	}
	m, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s%w", name, err)
	}
	return m, nil
}

// IsMetadata says whether a file looks like the metadata of a chunked graph, which has the keys node_type and
// edge_type. It is true for a file that cannot be read or is no JSON, so that Read says what is wrong with it.
func IsMetadata(fsys vfs.FS, name string) bool {
	info, err := fsys.Stat(name)
	if vfs.Absent(err) || err == nil && !info.Mode().IsRegular() {
		return false
	}
	b, err := vfs.ReadFile(fsys, name, limit)
	if err != nil || !json.Valid(b) {
		return true
	}
	var keys struct {
		NodeType json.RawMessage `json:"node_type"`
		EdgeType json.RawMessage `json:"edge_type"`
	}
	return json.Unmarshal(b, &keys) == nil && keys.NodeType != nil && keys.EdgeType != nil
}

// entries is a JSON object as a list that keeps the order of its keys. A repeated key is an error.
type entries[T any] []entry[T]

type entry[T any] struct {
	key   string
	value T
}

func (e *entries[T]) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	switch t, err := d.Token(); {
	case err != nil:
		return err
	case t == nil: // null, which DGL's tools accept as an empty object
		return nil
	case t != json.Delim('{'):
		return &shapeError{fmt.Sprintf("found %s, expected an object of names", short(b))}
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		x := entry[T]{key: t.(string)}
		if seen[x.key] {
			return &shapeError{fmt.Sprintf("found the key %q twice, expected it once", x.key)}
		}
		seen[x.key] = true
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &x.value); err != nil {
			return &shapeError{fmt.Sprintf("%s: %s", x.key, reason(err))}
		}
		*e = append(*e, x)
	}
	return nil
}

// shapeError is the error about JSON of an unexpected structure.
type shapeError struct{ text string }

func (e *shapeError) Error() string { return e.text }

// reason rewrites an error of package json.
func reason(err error) string {
	if t := (*json.UnmarshalTypeError)(nil); errors.As(err, &t) {
		of := ""
		if t.Field != "" {
			of = t.Field + ": "
		}
		return fmt.Sprintf("%sfound a JSON %s, expected %s", of, t.Value, kinds[t.Type.Kind().String()])
	}
	return err.Error()
}

// kinds maps Go's kinds of values to descriptions of JSON values.
var kinds = map[string]string{"string": "a string", "slice": "a list", "uint64": "a number of rows, at least 0", "struct": "an object"}

func short(b []byte) string {
	if len(b) > 40 {
		return fmt.Sprintf("%q...", b[:40])
	}
	return fmt.Sprintf("%q", b)
}

// fileSpec is DGL's ChunkFileSpec.
type fileSpec struct {
	Format struct {
		Name      string  `json:"name"`
		Delimiter *string `json:"delimiter,omitempty"`
	} `json:"format"`
	Data []string `json:"data"`
}

// parse reads and checks the bytes of metadata.json, as Read does. The text of its errors begins with ":", or with
// ":LINE" if the bytes are not JSON, so that the caller can put the name of the file before it.
func parse(b []byte) (*Metadata, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	var top entries[json.RawMessage]
	err := d.Decode(&top)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			return nil, badf(":%d: found text after the object, expected the end of the file", lineAt(b, d.InputOffset()))
		}
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return nil, badf(":%d: found text that is not JSON (%w), expected a JSON object", lineAt(b, syntax.Offset), err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, badf(":%d: found the end of the file, expected a whole JSON object", lineAt(b, int64(len(b))))
	}
	if err != nil {
		return nil, badf(": %s", reason(err))
	}
	p := &parser{}
	for _, e := range top {
		if err := p.key(e.key, e.value); err != nil {
			return nil, badf(": %s: %s", e.key, reason(err))
		}
	}
	m, err := p.metadata()
	if err != nil {
		return nil, badf(": %w", err)
	}
	return m, nil
}

func lineAt(b []byte, offset int64) int {
	return 1 + bytes.Count(b[:min(offset, int64(len(b)))], []byte{'\n'})
}

// parser holds metadata.json as it was read.
type parser struct {
	name               string
	nodeTypes          []string
	edgeTypes          []string
	nodeChunks         [][]uint64
	edgeChunks         [][]uint64
	nodeTotal          []uint64
	edgeTotal          []uint64
	edges              entries[fileSpec]
	nodeData, edgeData entries[entries[fileSpec]]
	unused             []string
	parts              bool
}

func (p *parser) key(key string, value json.RawMessage) error {
	to := map[string]any{
		"graph_name": &p.name, "node_type": &p.nodeTypes, "edge_type": &p.edgeTypes,
		"num_nodes_per_chunk": &p.nodeChunks, "num_nodes_per_type": &p.nodeTotal,
		"num_edges_per_chunk": &p.edgeChunks, "num_edges_per_type": &p.edgeTotal,
		"edges": &p.edges, "node_data": &p.nodeData, "edge_data": &p.edgeData,
	}[key]
	if to == nil {
		p.unused = append(p.unused, key)
		p.parts = p.parts || key == "part-0"
		return nil
	}
	return json.Unmarshal(value, to)
}

func (p *parser) metadata() (*Metadata, error) {
	switch {
	case p.parts && p.nodeTypes == nil:
		return nil, errors.New("found the key \"part-0\", which a partitioned graph has, expected the chunked graph that was partitioned")
	case p.nodeTypes == nil:
		return nil, errors.New("found no key \"node_type\", expected the list of node types")
	case p.edgeTypes == nil:
		return nil, errors.New("found no key \"edge_type\", expected the list of edge types, as src:rel:dst")
	}
	m := &Metadata{GraphName: p.name, Unused: p.unused}
	nodes, err := counts("node", p.nodeTypes, p.nodeChunks, p.nodeTotal)
	if err != nil {
		return nil, err
	}
	edges, err := counts("edge", p.edgeTypes, p.edgeChunks, p.edgeTotal)
	if err != nil {
		return nil, err
	}
	nodeAt, err := numbers("node_type", p.nodeTypes)
	if err != nil {
		return nil, err
	}
	edgeAt, err := numbers("edge_type", p.edgeTypes)
	if err != nil {
		return nil, err
	}
	for i, t := range p.nodeTypes {
		m.Nodes = append(m.Nodes, Nodes{Type: t, Counts: nodes[i]})
	}
	for i, t := range p.edgeTypes {
		names := strings.Split(t, ":")
		if len(names) != 3 || slices.Contains(names, "") {
			return nil, fmt.Errorf("edge_type: found %q, expected src:rel:dst", t)
		}
		for _, end := range []string{names[0], names[2]} {
			if _, ok := nodeAt[end]; !ok {
				return nil, fmt.Errorf("edge_type: found %q, expected ends among the node types %s%s", t, strings.Join(p.nodeTypes, ", "), suggest.Hint(end, p.nodeTypes))
			}
		}
		m.Edges = append(m.Edges, Edges{Type: t, Counts: edges[i]})
	}
	for _, e := range p.edges {
		i, err := findType("edges", e.key, edgeAt, p.edgeTypes)
		if err != nil {
			return nil, err
		}
		if m.Edges[i].Files, err = e.value.files("edges", e.key); err != nil {
			return nil, err
		}
	}
	for i := range m.Edges {
		if m.Edges[i].Format == "" {
			return nil, fmt.Errorf("edges: found no %q, expected the files of each edge type", m.Edges[i].Type)
		}
	}
	for _, e := range p.nodeData {
		i, err := findType("node_data", e.key, nodeAt, p.nodeTypes)
		if err != nil {
			return nil, err
		}
		if m.Nodes[i].Data, err = features("node_data", e); err != nil {
			return nil, err
		}
	}
	for _, e := range p.edgeData {
		i, err := findType("edge_data", e.key, edgeAt, p.edgeTypes)
		if err != nil {
			return nil, err
		}
		if m.Edges[i].Data, err = features("edge_data", e); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// numbers maps types to their indices.
func numbers(section string, types []string) (map[string]int, error) {
	at := map[string]int{}
	for i, t := range types {
		if _, ok := at[t]; ok {
			return nil, fmt.Errorf("%s: found %q twice, expected each type once", section, t)
		}
		at[t] = i
	}
	return at, nil
}

// findType returns the index of a type.
func findType(section, name string, at map[string]int, types []string) (int, error) {
	i, ok := at[name]
	if !ok {
		return i, fmt.Errorf("%s: found the type %q, expected one of %s%s", section, name, strings.Join(types, ", "), suggest.Hint(name, types))
	}
	return i, nil
}

func features(section string, e entry[entries[fileSpec]]) ([]Data, error) {
	var out []Data
	for _, f := range e.value {
		if f.key == "" {
			return nil, fmt.Errorf("%s.%s: found a feature without a name, expected one", section, e.key)
		}
		files, err := f.value.files(section, e.key+"."+f.key)
		if err != nil {
			return nil, err
		}
		out = append(out, Data{f.key, files})
	}
	return out, nil
}

func (s *fileSpec) files(section, of string) (Files, error) {
	f := Files{Format: s.Format.Name, Paths: s.Data}
	bad := func(format string, a ...any) (Files, error) {
		return f, fmt.Errorf("%s.%s: %s", section, of, fmt.Sprintf(format, a...))
	}
	if formats := []string{CSV, Numpy, Parquet}; !slices.Contains(formats, f.Format) {
		return bad("found format %q, expected {\"format\": {\"name\": ...}, \"data\": [...]} with a name of %s%s", f.Format, strings.Join(formats, ", "), suggest.Hint(f.Format, formats))
	}
	if s.Data == nil {
		return bad("found no data, expected the list of files; write an empty list if there are no rows")
	}
	if d := s.Format.Delimiter; d != nil && f.Format == CSV {
		if len(*d) != 1 || strings.ContainsAny(*d, "\"\r\n") || *d >= "0" && *d <= "9" {
			return bad("found the delimiter %q, expected one character other than a digit, a quote or a line end", *d)
		}
		f.Delimiter = *d
	}
	seen := map[string]bool{}
	for i, path := range s.Data {
		if path == "" || strings.ContainsRune(path, 0) {
			return bad("found the file name %q, expected the name of the file of chunk %d", path, i)
		}
		clean := filepath.Clean(path)
		if seen[clean] {
			return bad("found the file %s twice, expected each chunk once", path)
		}
		seen[clean] = true
	}
	return f, nil
}

// counts combines both ways to give the counts.
func counts(what string, types []string, chunks [][]uint64, totals []uint64) ([]Counts, error) {
	byChunk, byType := "num_"+what+"s_per_chunk", "num_"+what+"s_per_type"
	if chunks == nil && totals == nil {
		return nil, fmt.Errorf("found neither %q nor %q, expected the number of %ss of each type", byChunk, byType, what)
	}
	if chunks != nil && len(chunks) != len(types) {
		return nil, fmt.Errorf("%s: found %d lists, expected %d, one for each of %s_type", byChunk, len(chunks), len(types), what)
	}
	if totals != nil && len(totals) != len(types) {
		return nil, fmt.Errorf("%s: found %d numbers, expected %d, one for each of %s_type", byType, len(totals), len(types), what)
	}
	out := make([]Counts, len(types))
	for i := range types {
		c := &out[i]
		if chunks != nil {
			c.Chunks = append([]uint64{}, chunks[i]...)
			for _, n := range chunks[i] {
				var over uint64
				if c.Total, over = bits.Add64(c.Total, n, 0); over != 0 || c.Total > 1<<62 {
					return nil, fmt.Errorf("%s: found more than 2^62 rows of %s, expected fewer", byChunk, types[i])
				}
			}
		}
		if totals == nil {
			continue
		}
		if chunks != nil && c.Total != totals[i] {
			return nil, fmt.Errorf("%s: found %d of %s, expected %d, the sum of %s", byType, totals[i], types[i], c.Total, byChunk)
		}
		if c.Total = totals[i]; c.Total > 1<<62 {
			return nil, fmt.Errorf("%s: found %d of %s, expected fewer than 2^62", byType, c.Total, types[i])
		}
	}
	return out, nil
}
