//go:build interop

package textfiles

import (
	"testing"

	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

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
	for path, expected := range tabletest.ParseValues(t, tabletest.Peer(t, "-c", jsonScript, t.TempDir())) {
		tab, err := OpenJSONLines(vfs.OS, []string{path}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		guesses, err := tab.Guess()
		if err != nil {
			t.Fatal(err)
		}
		for i := range tab.text.fields { // as an import reads them
			if f := &tab.text.fields[i]; f.DType == 0 {
				f.DType = tabletest.GuessedDType(guesses[i])
			}
		}
		for _, threads := range []int{1, 4} {
			tab.text.chunk, tab.text.margin = 64, 16
			found, err := tabletest.Values(tab, threads)
			if err != nil {
				t.Fatal(err)
			}
			tabletest.SameValues(t, path, found, expected)
		}
	}
}
