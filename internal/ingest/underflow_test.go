package ingest_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/store"
)

func float64s(shape []int, v ...float64) string {
	h, err := npy.AppendHeader(nil, "f8", shape)
	if err != nil {
		panic(err)
	}
	return string(append(h, graph.Bytes(v)...))
}

// Doubles of arrays that become 0 or lose most of their digits in float32 are counted by column, for each type that
// has them. Doubles that float32 holds in full precision are not counted.
func TestUnderflows(t *testing.T) {
	files := map[string]string{
		"x.npy":      float64s([]int{2, 2}, 1e-310, 0.1, 0, 1e-40),
		"w.npy":      float64s([]int{3}, -1e-46, 1e-45, 0x1p-149),
		"e.npy":      string(int64s([]int{2, 3}, 0, 1, 0, 1, 0, 0)),
		"p.npy":      string(int64s([]int{2}, 0, 2)),
		"ep.npy":     string(int64s([]int{2}, 0, 3)),
		"graph.yaml": "nodes: {a: {columns: {x: {file: x.npy, dtype: float32}, y: x.npy}}}\nedges: {\"a:e:a\": {table: e.npy, columns: {w: {file: w.npy, dtype: float32}}, reverse: r}}\n",
		"many.yaml":  "graphs: {columns: {w: {file: g.npy, dtype: float32}}}\nnodes: {a: {graph_ptr: p.npy, columns: {x: {file: x.npy, dtype: float32}}}}\nedges: {\"a:e:a\": {table: e.npy, graph_ptr: ep.npy, ends: local, columns: {w: {file: w.npy, dtype: float32}}, reverse: r}}\n",
		"g.npy":      float64s([]int{1}, 1e-300),
	}
	dir := t.TempDir()
	writeAll(t, dir, files)
	want := map[string]uint64{"a: column x": 2, "a:e:a: column w": 2, "a:r:a: column w": 2}
	for threads := 1; threads <= 2; threads++ {
		for _, file := range []string{"graph.yaml", "many.yaml"} {
			src, err := ingest.Open(t.Context(), disk, filepath.Join(dir, file), ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			w, err := store.Create(disk, filepath.Join(t.TempDir(), "out"), false)
			if err != nil {
				t.Fatal(err)
			}
			var found map[string]uint64
			if src.Collection == nil {
				var r *assemble.Result
				if r, err = assemble.Build(context.Background(), disk, w, src.Input, assemble.Options{Primary: src.Primary, SelfLoops: assemble.Keep, DuplicateEdges: assemble.Keep, Threads: threads}); err == nil {
					found = r.Underflows
				}
			} else {
				var r *collection.Result
				if r, err = collection.Import(context.Background(), w, src.Collection, collection.Options{Threads: threads}); err == nil {
					found = r.Underflows
				}
				want["context: column w"] = 1
			}
			if err := errors.Join(err, w.Abort()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Errorf("%s, %d threads: -want +found:\n%s", file, threads, diff)
			}
			delete(want, "context: column w")
		}
	}
}
