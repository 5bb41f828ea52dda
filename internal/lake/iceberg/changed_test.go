package iceberg

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/internal/ingest/table/lakefiles"
	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// changedTable copies a table of testdata, and changes its metadata.
func changedTable(t *testing.T, name string, change func(m map[string]any)) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	path, err := newest(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber() // ids of snapshots have more digits than a float64
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	change(m)
	if b, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestDroppedKey drops a column by which rows are deleted: they stay deleted, as the specification says.
func TestDroppedKey(t *testing.T) {
	whole, kinds := readTable(t, "testdata/keys", lake.Ref{})
	dropped := -1
	for i, name := range whole.Columns {
		if name == "score" {
			dropped = i
		}
	}
	dir := changedTable(t, "keys", func(m map[string]any) {
		schemas := m["schemas"].([]any)
		var kept []any
		for _, f := range schemas[len(schemas)-1].(map[string]any)["fields"].([]any) {
			if f.(map[string]any)["name"] != "score" {
				kept = append(kept, f)
			}
		}
		m["schemas"] = append(schemas, map[string]any{"schema-id": 99, "type": "struct", "fields": kept})
		m["current-schema-id"] = 99
	})
	found, _ := readTable(t, dir, lake.Ref{})
	var want [][]any
	for _, r := range whole.Rows {
		want = append(want, append(append([]any(nil), r[:dropped]...), r[dropped+1:]...))
	}
	kinds = append(kinds[:dropped], kinds[dropped+1:]...)
	if diff := cmp.Diff(canonicalRows(want, kinds), canonicalRows(found.Rows, kinds)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// TestWithoutIDs opens files without field ids in a table that has no names for columns: other programs read them in different ways.
func TestWithoutIDs(t *testing.T) {
	dir := changedTable(t, "imported", func(m map[string]any) {
		delete(m["properties"].(map[string]any), "schema.name-mapping.default")
	})
	s, err := Open(vfs.OS, dir, lake.Ref{}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lakefiles.Open(vfs.OS, s, dir); err == nil || !strings.Contains(err.Error(), "found columns without field ids") {
		t.Errorf("found %v, expected an error about field ids", err)
	}
}
