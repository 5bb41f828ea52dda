//go:build interop

package columnfiles

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// emptyScript writes tables without rows with the installed programs.
const emptyScript = `
import importlib.util, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("make", "testdata/empty/make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)
make.pyarrow(Path(sys.argv[1]), "pyarrow")
make.lists(Path(sys.argv[1]))
`

// Tables without rows of the real pyarrow, polars and DuckDB have no rows.
func TestPeerParquetEmpty(t *testing.T) {
	peers := exec.Command("../../../../bench/peers.sh", "tables")
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh tables: %v", err)
	}
	dir := t.TempDir()
	if out, err := exec.Command(strings.TrimSpace(string(python)), "-c", emptyScript, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkEmpty(t, dir)
}
