package chunk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Format is the version of chunk files and their metadata.
const Format = 1

// File is the name of the metadata file in a folder.
const File = "chunks.json"

// limit bounds the bytes of the metadata. A hundred thousand edge types take less.
const limit = 64 << 20

// Metadata is the content of chunks.json, which describes the files of a folder.
type Metadata struct {
	Format int `json:"format"`
	// ChunkBytes is the size of every chunk except the last one of each edge type.
	ChunkBytes int64             `json:"chunk_bytes"`
	Nodes      map[string]uint64 `json:"nodes"` // count by type
	Edges      map[string]Edges  `json:"edges"` // by "src:rel:dst"
}

// Edges describes an edge type and its files. File names are relative to the folder, with '/'.
type Edges struct {
	Count uint64 `json:"count"`
	// Dir is "in" if the nodes of the chunks are destinations and the neighbours their sources, and "out" in the
	// opposite case.
	Dir    string `json:"dir"`
	Chunks string `json:"chunks"`
	Info   string `json:"info"`
}

// Ends returns the types of the nodes and of the neighbours of an edge type.
func (e Edges) Ends(name string) (near, far string, err error) {
	p := strings.Split(name, ":")
	if len(p) != 3 || slices.Contains(p, "") {
		return "", "", badf("found edge type %q, expected src:rel:dst with three names that are not empty", name)
	}
	switch e.Dir {
	case "in":
		return p[2], p[0], nil
	case "out":
		return p[0], p[2], nil
	}
	return "", "", badf("edge type %s: found dir %q, expected in or out", name, e.Dir)
}

// Read reads and checks the metadata of a folder: sizes and types are valid, and no path leads out of the folder. It
// does not check that the files exist.
func Read(fsys vfs.FS, dir string) (*Metadata, error) {
	name := filepath.Join(dir, File)
	b, err := vfs.ReadFile(fsys, name, limit)
	if err != nil {
		return nil, err
	}
	m, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// parse reads and checks the bytes of chunks.json, as Read does.
func parse(b []byte) (*Metadata, error) {
	m := &Metadata{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, badf("byte %d: %w", d.InputOffset(), err)
	}
	if d.More() {
		return nil, badf("byte %d: found text after the JSON value, expected its end", d.InputOffset())
	}
	if m.Format != Format {
		return nil, badf("found format %d, expected %d; use a newer graphmill", m.Format, Format)
	}
	if err := CheckBytes(m.ChunkBytes); err != nil {
		return nil, badf("chunk_bytes: %w", err)
	}
	used := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(m.Edges)) {
		e := m.Edges[name]
		near, far, err := e.Ends(name)
		if err != nil {
			return nil, err
		}
		for _, t := range []string{near, far} {
			n, ok := m.Nodes[t]
			if !ok {
				return nil, badf("edge type %s: found no node type %q, expected its count among nodes", name, t)
			}
			if n > None {
				return nil, badf("node type %s: found %d nodes, expected at most %d; ids are 32-bit", t, n, uint64(None))
			}
		}
		for _, file := range []string{e.Chunks, e.Info} {
			if !fs.ValidPath(file) || file == "." || strings.Contains(file, `\`) {
				return nil, badf("edge type %s: found file name %q, expected a path inside the folder", name, file)
			}
			if before := used[file]; before != "" {
				return nil, badf("edge type %s: found the file %q, which belongs to %s, expected a file of its own", name, file, before)
			}
			used[file] = name
		}
	}
	return m, nil
}

// JSON returns the text of chunks.json.
func (m *Metadata) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(m)
	return b.Bytes(), err
}
