package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// chunkFiles is the folder of chunk files of the stream executor, or its chunks.json. docs/format-chunk.md specifies
// the content. Ids and the order of the edges are kept.
type chunkFiles struct{}

func (chunkFiles) name() string { return "chunk" }
func (chunkFiles) about() string {
	return "the folder of the chunks of graphmill chunk, or its " + chunk.File
}
func (chunkFiles) becomes() string {
	return "the chunked graph, with its ids and the order of its edges"
}
func (chunkFiles) detect(path string, names []string) bool {
	return names == nil && filepath.Base(path) == chunk.File || slices.Contains(names, chunk.File)
}

func (chunkFiles) open(_ context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if info, err := fsys.Stat(path); err != nil {
		return nil, err
	} else if !info.IsDir() {
		path = filepath.Dir(path)
	}
	if o.NumNodes > 0 || o.IDs == idsString {
		return nil, usagef("found `NumNodes` or string ids with %s, expected neither: counts and ids are in the files", path)
	}
	m, err := chunk.Read(fsys, path)
	if err != nil {
		return nil, chunkError(err)
	}
	p := newOpener(fsys, filepath.Join(path, chunk.File), o)
	s := &Source{}
	backed := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(m.Edges)) {
		e, d, err := chunkEdges(p, m, path, name)
		if err != nil {
			return nil, err
		}
		if len(s.Input.Edges) > 0 && d != s.Primary {
			s.Warnings = append(s.Warnings, fmt.Sprintf("%s: the folder has chunks of both directions; edges are numbered in the order of the %s-edges", path, s.Primary))
		} else {
			s.Primary = d
		}
		backed[e.Type.Near(d)] = true
		s.Input.Edges = append(s.Input.Edges, e)
	}
	for _, t := range slices.Sorted(maps.Keys(m.Nodes)) {
		if err := graph.CheckName(t); err != nil {
			return nil, sourcef("%s: %w", p.meta, err)
		}
		n, err := plainNodes(fsys, p.meta, t, m.Nodes[t])
		if err != nil {
			return nil, err
		}
		s.Input.Nodes = append(s.Input.Nodes, n)
	}
	s.Files = p.files
	return s, nil
}

// chunkEdges opens the chunks of an edge type.
func chunkEdges(p *opener, m *chunk.Metadata, dir, name string) (e assemble.Edges, d graph.Direction, err error) {
	if e.Type, err = graph.ParseEdgeType(name); err != nil {
		return e, d, sourcef("%s: %w", p.meta, err)
	}
	if d, err = graph.ParseDirection(m.Edges[name].Dir); err != nil {
		return e, d, sourcef("%s: edge type %s: %w", p.meta, name, err)
	}
	for _, file := range []string{m.Edges[name].Chunks, m.Edges[name].Info} {
		file = filepath.Join(dir, filepath.FromSlash(file))
		if err := p.inside(dir, file); err != nil {
			return e, d, err
		}
		p.use(file)
	}
	set, err := chunk.OpenSet(p.fsys, dir, m, name)
	if err != nil {
		return e, d, chunkError(err)
	}
	e.Table = arrayfiles.NewChunks(p.fsys, set)
	e.Src, e.Dst = keyColumn("far", true), keyColumn("near", true)
	if d == graph.Out {
		e.Src, e.Dst = e.Dst, e.Src
	}
	return e, d, nil
}

// chunkError turns an error about the content of files into an error about a source.
func chunkError(err error) error {
	if errors.Is(err, chunk.ErrFormat) {
		return sourcef("%w", err)
	}
	return err
}
