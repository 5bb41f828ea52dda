package ingest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// chunkFolder writes chunks of the edges 0>1, 2>1, 1>2 of 3 nodes, as in-edges and as out-edges of two edge types,
// with some text of chunks.json replaced.
func chunkFolder(t *testing.T, pairs ...string) string {
	t.Helper()
	meta := `{"format": 1, "chunk_bytes": 4096, "nodes": {"a": 3, "b": 3}, "edges": {
		"a:r:b": {"count": 3, "dir": "in", "chunks": "in.bin", "info": "in.info"},
		"b:s:a": {"count": 3, "dir": "in", "chunks": "out.bin", "info": "out.info"}}}`
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(meta, pairs[i]) {
			t.Fatalf("%s is not in the example", pairs[i])
		}
		meta = strings.Replace(meta, pairs[i], pairs[i+1], 1)
	}
	dir := t.TempDir()
	files := map[string][]byte{chunk.File: []byte(meta)}
	for _, name := range []string{"in", "out"} {
		offsets := []uint64{0, 0, 2, 3}
		var b bytes.Buffer
		w := chunk.NewWriter(&b, 4096)
		if err := errors.Join(w.Begin(3, func(i int) uint64 { return offsets[i] }), w.Neighbours([]uint32{0, 2, 1}), w.Close()); err != nil {
			t.Fatal(err)
		}
		files[name+".bin"], files[name+".info"] = b.Bytes(), w.Info()
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestChunkEnds: the neighbours of in-edges are the sources, and of out-edges the destinations.
func TestChunkEnds(t *testing.T) {
	for dir, want := range map[string]struct {
		primary  graph.Direction
		src, dst string
	}{"in": {graph.In, "far", "near"}, "out": {graph.Out, "near", "far"}} {
		path := chunkFolder(t, `"in"`, `"`+dir+`"`, `"in"`, `"`+dir+`"`)
		for _, path := range []string{path, filepath.Join(path, chunk.File)} {
			s, err := Open(t.Context(), vfs.OS, path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			e := s.Input.Edges[0]
			if s.Format != "chunk" || s.Primary != want.primary || e.Src.Name != want.src || e.Dst.Name != want.dst || len(s.Warnings) > 0 || len(s.Files) != 5 {
				t.Errorf("%s: found %+v", dir, s)
			}
			var rows [][2]uint64
			n, err := e.Table.Scan(t.Context(), []table.Column{{Name: "near", DType: graph.Uint64}, {Name: "far", DType: graph.Uint64}}, 1, func(_ int, c *table.Chunk) error {
				near, far := graph.View[uint64](c.Columns[0].Data), graph.View[uint64](c.Columns[1].Data)
				for i := range near {
					rows = append(rows, [2]uint64{near[i], far[i]})
				}
				return nil
			})
			if err != nil || n != 3 || len(rows) != 3 || rows[0] != [2]uint64{1, 0} || rows[1] != [2]uint64{1, 2} || rows[2] != [2]uint64{2, 1} {
				t.Errorf("%s: found %d rows %v, %v", dir, n, rows, err)
			}
			if at := e.Table.Where(2, "near"); !strings.HasSuffix(at, "in.bin: chunk 0, byte 32") {
				t.Errorf("found row 2 at %s", at)
			}
		}
	}
	s, err := Open(t.Context(), vfs.OS, chunkFolder(t, `"in"`, `"out"`), Options{})
	if err != nil || s.Primary != graph.Out || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "of both directions; edges are numbered in the order of the out-edges") {
		t.Errorf("found %+v, %v", s, err)
	}
}

func TestChunkErrors(t *testing.T) {
	for _, c := range []struct {
		pairs []string
		o     Options
		is    error
		want  string
	}{
		{[]string{`"format": 1`, `"format": 3`}, Options{}, ErrSource, "chunks.json: found format 3"},
		{[]string{`"b": 3`, `"b": 4`}, Options{}, ErrSource, "in.bin: chunk 0, byte 0: found 3 nodes, expected 4"},
		{[]string{`"a": 3`, `"a": 3, "\n": 2`}, Options{}, ErrSource, `found type name "\n"`},
		{nil, Options{NumNodes: 7}, ErrUsage, "found `NumNodes`"},
		{nil, Options{IDs: idsString}, ErrUsage, "or string ids"},
		{[]string{"in.bin", "no.bin"}, Options{}, nil, "no.bin: no such file"},
	} {
		_, err := Open(t.Context(), vfs.OS, chunkFolder(t, c.pairs...), c.o)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: found %v, expected %s", c.pairs, err, c.want)
		}
	}
	dir := chunkFolder(t)
	if err := errors.Join(os.Rename(filepath.Join(dir, "in.bin"), filepath.Join(dir, "real")), os.Symlink("real", filepath.Join(dir, "in.bin"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), vfs.OS, dir, Options{}); !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "found the symbolic link") {
		t.Errorf("a link: %v", err)
	}
	if _, err := Open(t.Context(), vfs.OS, dir, Options{Outside: true}); err != nil {
		t.Errorf("a link that is allowed: %v", err)
	}
}
