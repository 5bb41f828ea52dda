package tablefiles_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Files that declare their empty cells have no texts for them.
func TestOpenMissing(t *testing.T) {
	for file, kind := range map[string]string{"empty/pandas2.parquet": "Parquet", "arrow/plain.arrow": "Arrow"} {
		_, err := tablefiles.Open(vfs.OS, []string{"../table/columnfiles/testdata/" + file}, tablefiles.Options{CSVOptions: textfiles.CSVOptions{Missing: []string{"-"}}})
		if !errors.Is(err, table.ErrFormat) || !strings.Contains(err.Error(), "found missing_texts with "+kind) {
			t.Errorf("%s: found %v, expected texts for missing values to be refused", file, err)
		}
	}
}
