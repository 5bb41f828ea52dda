//go:build interop

package columnfiles

import (
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
)

// filesOfPeer runs make.py of a folder of testdata, and returns the rows that Python reads from the files.
func filesOfPeer(t *testing.T, folder string) map[string]map[string][]any {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join("testdata", folder, "make.py")
	tabletest.Peer(t, script, dir)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return tabletest.ParseValues(t, tabletest.Peer(t, append([]string{script, "--rows"}, files...)...))
}

// Files that the real pyarrow and polars write now have the rows that pyarrow reads from them.
func TestPeerArrow(t *testing.T) {
	for path, expected := range filesOfPeer(t, "arrow") {
		checkColumnar(t, OpenArrow, path, expected)
	}
}

func TestPeerParquet(t *testing.T) {
	for path, expected := range filesOfPeer(t, "parquet") {
		checkColumnar(t, OpenParquet, path, expected)
	}
}
