package export_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/internal/export"
	"github.com/graphmill/graphmill/internal/ingest/records"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// random makes TFRecords of random graphs and returns their file.
func random(t testing.TB, codec *example.Codec, n int) string {
	t.Helper()
	var w example.Writer
	var list [][]byte
	for i := range n {
		record, err := codec.Encode(&w, codec.Random(1, uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, append([]byte{}, record...))
	}
	file := filepath.Join(t.TempDir(), "in.tfrecord")
	writeRecords(t, file, list)
	return file
}

const smallSchema = `
context { features { key: "label" value { dtype: DT_INT64 } } }
node_sets { key: "n" value { features { key: "x" value { dtype: DT_HALF shape { dim { size: -1 } } } } } }
edge_sets { key: "e" value { source: "n" target: "n" features { key: "s" value { dtype: DT_STRING } } } }
`

// Whichever call to the file system fails, there is an error or a complete output.
func TestFaults(t *testing.T) {
	schema := parseSchema(t, smallSchema)
	codec, err := example.NewCodec(schema)
	if err != nil {
		t.Fatal(err)
	}
	file := random(t, codec, 9)
	both := func(fsys vfs.FS, dir string) error {
		if _, err := importRecords(context.Background(), fsys, filepath.Join(dir, "c"), []string{file}, records.Options{Schema: schema, Threads: 2}); err != nil {
			return err
		}
		_, err := exportRecords(context.Background(), fsys, filepath.Join(dir, "c"), filepath.Join(dir, "r"), export.Options{Shards: 2, Threads: 2})
		return err
	}
	count := &vfs.Fault{FS: disk}
	if err := both(count, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	parent := t.TempDir()
	for i := int64(1); i <= count.Calls(); i++ {
		dir := filepath.Join(parent, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		err := both(&vfs.Fault{FS: disk, FailAt: i, Err: broken, Short: i%2 == 0}, dir)
		if err != nil && !errors.Is(err, broken) {
			t.Fatalf("call %d of %d fails: found %v", i, count.Calls(), err)
		}
		for _, name := range []string{"c", "r"} {
			switch _, missing := os.Stat(filepath.Join(dir, name)); {
			case missing == nil:
				sum(t, filepath.Join(dir, name))
			case err == nil:
				t.Fatalf("call %d of %d fails: found no error and no output", i, count.Calls())
			}
		}
	}
}

// A budget below the minimum is refused, and the error names the minimum. A cancelled export stops.
func TestBudgetAndCancel(t *testing.T) {
	schema := parseSchema(t, smallSchema)
	codec, err := example.NewCodec(schema)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	collection := filepath.Join(dir, "c")
	if _, err := importRecords(context.Background(), disk, collection, []string{random(t, codec, 9)}, records.Options{Schema: schema}); err != nil {
		t.Fatal(err)
	}
	_, err = exportRecords(context.Background(), disk, collection, filepath.Join(dir, "r"), export.Options{Memory: 1 << 20})
	if !errors.Is(err, export.ErrMemory) || !strings.Contains(err.Error(), "expected at least 63 MiB") {
		t.Errorf("found %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := exportRecords(ctx, disk, collection, filepath.Join(dir, "r"), export.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
}

// A collection that disagrees with its schema is refused, and the error names the part.
func TestForeignSchema(t *testing.T) {
	codec, err := example.NewCodec(parseSchema(t, smallSchema))
	if err != nil {
		t.Fatal(err)
	}
	file := random(t, codec, 3)
	for _, tc := range []struct{ old, new, want string }{
		{`key: "n"`, `key: "m" value { } } node_sets { key: "n"`, `found no node type "m", expected one for the node set of the schema`},
		{`key: "s"`, `key: "q"`, `n:e:n: found no column "q", expected one for the feature of the schema`},
		{`DT_STRING`, `DT_INT8`, `n:e:n: column "s": found string [], expected int8 [] of the schema`},
		{`key: "label"`, `key: "more" value { dtype: DT_INT8 } } features { key: "label"`, `found no column "more"`},
	} {
		dir := t.TempDir()
		w, err := store.Create(disk, filepath.Join(dir, "c"), false)
		if err != nil {
			t.Fatal(err)
		}
		result, err := records.Import(context.Background(), disk, w, []string{file}, records.Options{Schema: parseSchema(t, smallSchema)})
		if err != nil {
			t.Fatal(err)
		}
		// The folder is complete, but has another schema.
		result.Meta.Schema = "other.pbtxt"
		err = errors.Join(w.WriteFile("other.pbtxt", []byte(strings.Replace(smallSchema, tc.old, tc.new, 1))), w.Seal(context.Background(), result.Meta, 1), w.Publish())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := exportRecords(context.Background(), disk, filepath.Join(dir, "c"), filepath.Join(dir, "r"), export.Options{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: found %v, expected %s", tc.new, err, tc.want)
		}
	}
}

// A column that the schema does not name is left out, and named.
func TestLeftOut(t *testing.T) {
	schema := parseSchema(t, smallSchema)
	codec, err := example.NewCodec(schema)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w, err := store.Create(disk, filepath.Join(dir, "c"), false)
	if err != nil {
		t.Fatal(err)
	}
	result, err := records.Import(context.Background(), disk, w, []string{random(t, codec, 3)}, records.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	delete(schema.NodeSets["n"].Features, "x")
	result.Meta.Schema = "other.pbtxt"
	result.Meta.Context.Arrays["example_form"] = "" // which is of more keys
	err = errors.Join(w.WriteFile("other.pbtxt", tfgnn.AppendText(nil, schema)), w.Seal(context.Background(), result.Meta, 1), w.Publish())
	if err != nil {
		t.Fatal(err)
	}
	r, err := exportRecords(context.Background(), disk, filepath.Join(dir, "c"), filepath.Join(dir, "r"), export.Options{})
	if err != nil || len(r.Left) != 1 || r.Left[0] != "n: column x" {
		t.Errorf("found %v, %v", r, err)
	}
}
