//go:build interop

package table

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// peer runs a script with the python of the peers of tables, and returns what it prints.
func peer(t *testing.T, args ...string) []byte {
	t.Helper()
	peers := exec.Command("../../../bench/peers.sh", "tables")
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh tables: %v", err)
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out
}

// made runs make.py of a folder of testdata, and returns the rows that Python reads from the files.
func made(t *testing.T, folder string) map[string]map[string][]any {
	t.Helper()
	dir := t.TempDir()
	script := filepath.Join("testdata", folder, "make.py")
	peer(t, script, dir)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return parseValues(t, peer(t, append([]string{script, "--rows"}, files...)...))
}

// Files that the real pyarrow and polars write now have the rows that pyarrow reads from them.
func TestPeerArrow(t *testing.T) {
	for path, expected := range made(t, "arrow") {
		checkArrow(t, path, expected)
	}
}

func TestPeerParquet(t *testing.T) {
	for path, expected := range made(t, "parquet") {
		checkParquet(t, path, expected)
	}
}

// jsonScript writes JSON lines by Python's json, pandas and polars, and prints the rows of each as Python reads them.
const jsonScript = `
import json, math, sys
import polars as pl
out = sys.argv[1]
rows = [{"i": i - 3, "f": i / 8, "s": 'q"\\\n\u00e9\U0001f600' * (i % 3), "b": i % 2 == 0, "v": [i, -i], "t": ["x" * k for k in range(i % 4)]} for i in range(50)]
for r in rows[::7]:
    r["f"] = None
    r["s"] = None
with open(out + "/python.jsonl", "w") as f:
    for r in rows:
        f.write(json.dumps(r) + "\n")
with open(out + "/unicode.jsonl", "w") as f:
    for r in rows:
        f.write(json.dumps(r, ensure_ascii=False, indent=None, separators=(",", ":")) + "\n")
pl.DataFrame(rows).write_ndjson(out + "/polars.ndjson")
expected = {}
for name in "python.jsonl", "unicode.jsonl", "polars.ndjson":
    read = [json.loads(line) for line in open(f"{out}/{name}")]
    expected[f"{out}/{name}"] = {k: [r[k] for r in read] for k in rows[0]}
print(json.dumps(expected))
`

// JSON lines of Python's json and of polars have the rows that Python reads from them.
func TestPeerJSON(t *testing.T) {
	for path, expected := range parseValues(t, peer(t, "-c", jsonScript, t.TempDir())) {
		tab, err := OpenJSONLines(vfs.OS, []string{path}, nil)
		if err != nil {
			t.Fatal(err)
		}
		guesses, err := tab.Guess()
		if err != nil {
			t.Fatal(err)
		}
		for i := range tab.text.fields { // as an import reads them
			if f := &tab.text.fields[i]; f.DType == 0 {
				f.DType = guessedDType(guesses[i])
			}
		}
		for _, threads := range []int{1, 4} {
			tab.text.chunk, tab.text.margin = 64, 16
			found, err := valuesOf(tab, threads)
			if err != nil {
				t.Fatal(err)
			}
			sameValues(t, path, found, expected)
		}
	}
}
