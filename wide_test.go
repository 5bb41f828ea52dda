package graphmill_test

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	widths "github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/option"
)

// TestWide runs every operation on stores whose offsets and ids take 64 bits, as stores of 2^32 edges and more do, and expects the
// bytes that the same stores have in 32 bits.
func TestWide(t *testing.T) {
	defer func(before int64) { widths.Positions = before }(widths.Positions)
	type made struct {
		outputs map[string]map[string][]byte
		batches []*graphmill.Batch
	}
	of := func(positions int64) (m made) {
		widths.Positions = positions
		dir := inputs(t)
		st, err := graphmill.Open(dir + "/g.store")
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if wide := st.Graph().Edges[0].Adj[st.Graph().Edges[0].Primary].Indptr.U64 != nil; wide != (positions == 0) {
			t.Fatalf("found offsets of 64 bits %t for narrow stores of %d edges", wide, positions)
		}
		m.outputs = map[string]map[string][]byte{}
		for name, operation := range operations(st, dir, option.Run{Threads: 2}) {
			out := t.TempDir() + "/out"
			if err := operation(t.Context(), out); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if v, err := graphmill.Verify(t.Context(), out, option.Verify{}); err != nil || !v.OK {
				t.Fatalf("%s: found %+v, %v, expected a whole output", name, v, err)
			}
			m.outputs[name] = contents(t, out)
		}
		parts := t.TempDir() + "/out"
		o := option.Dispatch{DGLParts: option.DGLParts{SaveOrigNids: true, SaveOrigEids: true}}
		if _, err := graphmill.Dispatch(t.Context(), dir+"/g.store", dir+"/g.parts", parts, o); err != nil {
			t.Fatal(err)
		}
		if v, err := graphmill.Verify(t.Context(), parts, option.Verify{Against: dir + "/g.store"}); err != nil || !v.OK {
			t.Fatalf("found %+v, %v, expected parts that equal the store", v, err)
		}
		m.outputs["parts with original ids"] = contents(t, parts)
		for _, executor := range []option.Executor{option.ExecutorMemory, option.ExecutorStream} {
			out := t.TempDir() + "/out"
			if _, err := graphmill.Sample(t.Context(), st, out, option.Sample{Format: option.FormatTFRecord, Draw: option.Draw{Fanout: []int{4, 3}, Executor: executor}, Batching: option.Batching{Epochs: 2}}); err != nil {
				t.Fatal(err)
			}
			m.outputs["sample "+string(executor)] = contents(t, out)
		}
		m.batches = batches(t, st, option.Batches{Draw: option.Draw{Fanout: []int{4, 3}}, Batching: option.Batching{BatchSize: 32}})
		return m
	}
	narrow, wide := of(math.MaxUint32), of(0)
	for name, want := range narrow.outputs {
		got := wide.outputs[name]
		if len(got) != len(want) {
			t.Errorf("%s: found %d files, expected %d", name, len(got), len(want))
		}
		for file, b := range want {
			if !bytes.Equal(got[file], b) {
				t.Errorf("%s: found another %s: %.60q, expected %.60q", name, file, got[file], b)
			}
		}
	}
	if len(narrow.batches) == 0 || !reflect.DeepEqual(wide.batches, narrow.batches) {
		t.Error("found other batches")
	}
}

// contents is the files of an output whose bytes do not follow from times and folders. Arrays of integers have 32 bits.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimPrefix(path, dir)
		switch filepath.Ext(name) {
		case ".json", ".html", ".xxh3":
			return nil
		}
		b, err := os.ReadFile(path)
		if h := "{'descr': '<u8'"; err == nil && bytes.Contains(b[:min(len(b), 128)], []byte(h)) {
			narrow := bytes.Replace(b[:128], []byte("<u8"), []byte("<u4"), 1)
			for _, x := range graph.View[uint64](bytes.Clone(b[128:])) {
				narrow = binary.LittleEndian.AppendUint32(narrow, uint32(x))
			}
			b = narrow
		}
		files[name] = b
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}
