package store_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The arrays of components and forms are compared with the graphs.
func TestCollectionArrays(t *testing.T) {
	type lists map[string][]uint64
	good := func() lists {
		return lists{
			"context/component_ptr": {0, 2, 3}, "nodes/n/graph_ptr": {0, 3, 4}, "nodes/n/component_ptr": {0, 1, 3, 4},
			"edges/e/graph_ptr": {0, 2, 2}, "edges/e/component_ptr": {0, 1, 2, 2}, "edges/e/src": {0, 2}, "edges/e/dst": {0, 1},
			"context/example_form": {1, 2, 3, 4}, // two bytes per graph
		}
	}
	for name, tc := range map[string]struct {
		change func(lists)
		want   string // "" means no error
	}{
		"good":                      {func(lists) {}, ""},
		"no forms":                  {func(l lists) { delete(l, "context/example_form") }, ""},
		"forms of another number":   {func(l lists) { l["context/example_form"] = []uint64{1, 2} }, "example_form.npy: found u1 [1 2], expected u1 with 2 rows"},
		"no components of nodes":    {func(l lists) { delete(l, "nodes/n/component_ptr") }, `found no array "component_ptr"`},
		"components across graphs":  {func(l lists) { l["nodes/n/component_ptr"] = []uint64{0, 1, 2, 4} }, "n: found the components of graph 1 from 2, expected from 3"},
		"components that descend":   {func(l lists) { l["edges/e/component_ptr"] = []uint64{0, 2, 1, 2} }, "expected offsets that ascend"},
		"components beyond":         {func(l lists) { l["context/component_ptr"] = []uint64{0, 2, 9} }, "found 4 values, expected 10"},
		"an end that is no node":    {func(l lists) { l["edges/e/src"] = []uint64{0, 3} }, "found local id 3 in graph 0, expected one below 3"},
		"components of one graph":   {func(l lists) { l["context/component_ptr"] = []uint64{0, 3} }, "found 2 values, expected 3"},
		"components do not start 0": {func(l lists) { l["context/component_ptr"] = []uint64{1, 2, 3} }, "components: found offset 1 at 0"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "c")
			w, err := store.Create(vfs.OS, dir, false)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Abort()
			l := good()
			tc.change(l)
			arrays := map[string]map[string]string{"context": {}, "nodes/n": {}, "edges/e": {}}
			for file, values := range l {
				dtype, row, b := graph.Uint64, []int(nil), []byte(nil)
				for _, v := range values {
					if b = binary.LittleEndian.AppendUint64(b, v); strings.HasSuffix(file, "form") {
						dtype, row, b = graph.Uint8, []int{2}, b[:len(b)-7]
					}
				}
				a, err := w.Array(file+".npy", dtype, row...)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := a.Write(b); err != nil {
					t.Fatal(err)
				}
				if err := a.Close(); err != nil {
					t.Fatal(err)
				}
				arrays[path.Dir(file)][path.Base(file)] = file + ".npy"
			}
			meta := &store.Meta{Format: 1, Kind: store.KindCollection,
				Nodes:   map[string]*store.NodesMeta{"n": {Count: 4, Arrays: arrays["nodes/n"]}},
				Edges:   map[string]*store.EdgesMeta{"n:e:n": {Count: 2, Arrays: arrays["edges/e"]}},
				Context: &store.ContextMeta{Count: 2, Arrays: arrays["context"]}}
			if err := errors.Join(w.Seal(context.Background(), meta, 1), w.Publish()); err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(vfs.OS, dir)
			if err == nil {
				err = s.Check(context.Background())
				defer s.Close()
			}
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("found %v, expected %q", err, tc.want)
			}
			if err == nil && s.Release() != nil {
				t.Error("found an error of Release")
			}
		})
	}
}

// A removed file is not part of the output. An open file is not removed.
func TestRemove(t *testing.T) {
	w, err := store.Create(vfs.OS, filepath.Join(t.TempDir(), "c"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	a, err := w.Array("a.npy", graph.Uint8)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Remove("a.npy"); err == nil {
		t.Error("found no error of an open file")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Remove("a.npy"); err != nil {
		t.Error(err)
	}
	if err := w.Remove("a.npy"); err == nil {
		t.Error("found no error of a file that is not there")
	}
	if err := errors.Join(w.WriteFile("d/e/b.npy", nil), w.WriteFile("d/c.npy", nil), w.Remove("d/e/b.npy"), w.Remove("d/c.npy")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(w.Dir(), "d")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, expected no folder without files", err)
	}
	if err := errors.Join(w.WriteFile("a.npy", nil), w.WriteFile("d/c.npy", nil), w.Seal(context.Background(), nil, 1)); err != nil {
		t.Error(err)
	}
}
