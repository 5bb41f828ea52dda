package tablefiles

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestIceberg finds tables of Iceberg by their folder, a file of metadata and a version. Package iceberg reads all tables of its testdata.
func TestIceberg(t *testing.T) {
	for name, want := range map[string][]string{
		"branches":                           {"0 | 1 | -", "1 | 2 | -", "2 | 3 | 0.5"},
		"branches@ref=first":                 {"0 | 1", "1 | 2"},
		"branches@ref=audit":                 {"0 | 1 | -", "1 | 2 | -", "9 | 9 | -"},
		"branches/metadata/v1.metadata.json": {},
		"fresh":                              {},
		"emptied":                            {},
	} {
		files, _, err := Find(vfs.OS, "../../lake/iceberg/testdata", name, false)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tab, err := Open(vfs.OS, files, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, lakeRows(t, tab, 2)); diff != "" {
			t.Errorf("%s: rows (-want +got):\n%s", name, diff)
		}
	}
	for _, name := range []string{"branches/data", "branches/data/*.parquet", "branches@ref=none"} {
		files, _, err := Find(vfs.OS, "../../lake/iceberg/testdata", name, false)
		if err == nil {
			_, err = Open(vfs.OS, files, Options{})
		}
		if !errors.Is(err, table.ErrFormat) {
			t.Errorf("%s: found %v, expected an error of kind ErrFormat", name, err)
		}
	}
}
