//go:build interop

package tables_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/export/tables"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
)

// readTables compares the tables of folders with the rows that they were made of: values by pyarrow, counts and joins by DuckDB.
const readTables = `
import json, sys
import duckdb, pyarrow as pa, pyarrow.dataset as ds

def expected(row, name, dtype, marked):
    v = row.get(name)
    if v is None and dtype == "string" and not marked:
        v = ""
    if v == "" and marked:
        return None  # an import takes an empty text of JSON for an empty cell
    if row.get(name + "_missing") is True and dtype in SINGLE and v in (0, ""):
        return None  # a column that was named as a mark is one
    return v

def floats(v):
    if isinstance(v, list):
        return [floats(x) for x in v]
    return v if v is None else float(v)

def values(column, dtype):
    if dtype.startswith("datetime") and pa.types.is_timestamp(column.type):
        v = column.cast(pa.int64()).to_pylist()
        if dtype == "datetime[s]":
            assert column.type.unit == "ms" and all(x is None or x % 1000 == 0 for x in v)
            v = [None if x is None else x // 1000 for x in v]
        return v
    return column.to_pylist()

SINGLE = {"bool", "string", *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)), "float16", "bfloat16", "float32", "float64"}
con = duckdb.connect()
joined = 0
for line in sys.stdin:
    case = json.loads(line)
    read = {}
    for t in case["types"]:
        read[t["type"]] = f"read_parquet({t['files']!r})"
        table = ds.dataset(t["files"]).to_table()
        rows = t["rows"] or []
        assert table.num_rows == len(rows), (t["type"], table.num_rows, len(rows))
        assert con.execute(f"SELECT count(*) FROM {read[t['type']]}").fetchone()[0] == len(rows)
        if not rows:
            continue
        if not t["edges"]:
            assert table["node"].to_pylist() == list(range(len(rows)))
            if "id" in table.column_names:
                assert table["id"].to_pylist() == [r["key"] for r in rows]
        for name, dtype in (t["columns"] or {}).items():
            want = [expected(r, name, dtype, name in (t["marked"] or {})) for r in rows]
            if "float" in dtype:
                want = floats(want)
            got = values(table[name], dtype)
            assert got == want, (t["type"], name, dtype, got, want)
            if not dtype.startswith("datetime"):
                quoted = name.replace('"', '""')
                got = [x for x, in con.execute(f'SELECT "{quoted}" FROM {read[t["type"]]}').fetchall()]
                assert got == want, ("duckdb", t["type"], name, dtype, got, want)
    for t in case["types"]:
        if not t["edges"] or not t["rows"]:
            continue
        e, s, d = read[t["type"]], read[t["Src"]], read[t["Dst"]]
        names = [c[0] for c in con.execute(f"SELECT * FROM {e} LIMIT 0").description]
        of = lambda end: "id" if end + "_id" in names else "node"
        src, dst = of("source"), of("target")
        got = con.execute(f"SELECT s.{src}, d.{dst} FROM (SELECT row_number() OVER () r, * FROM {e}) e JOIN {s} s ON s.node = e.source JOIN {d} d ON d.node = e.target ORDER BY r").fetchall()
        assert got == [(r["from"], r["to"]) for r in t["rows"]], (t["type"], got, t["rows"])
        if src == "id":
            assert con.execute(f"SELECT count(*) FROM {e} e JOIN {s} s ON s.id = e.source_id AND s.node = e.source").fetchone()[0] == len(got)
        joined += len(got)
print(joined)
`

// TestPeerTables reads tables with pyarrow and DuckDB.
func TestPeerTables(t *testing.T) {
	dir := t.TempDir()
	peers := exec.Command("../../../bench/peers.sh", "tables")
	peers.Stderr = os.Stderr
	path, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh tables: %v", err)
	}
	var cases strings.Builder
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		in, first, out := filepath.Join(dir, "in"), filepath.Join(dir, "first"), filepath.Join(dir, fmt.Sprint(n))
		n++
		drawn := drawFolder(t, in)
		if err := load(in, first, assemble.Options{}); err != nil {
			t.Skip(err) // as in TestRoundTrip
		}
		r, err := write(first, out, tables.Options{Name: "g", Shards: rapid.SampledFrom([]int{1, 2}).Draw(t, "shards"), Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		type read struct {
			*drawnType
			Files []string `json:"files"`
		}
		var list []read
		for _, d := range drawn {
			for _, x := range r.Tables {
				if x.Of == d.Type && x.Edges == d.Edges {
					files, err := filepath.Glob(filepath.Join(out, x.Name))
					if err != nil || len(files) == 0 {
						t.Fatal(errors.Join(err, fmt.Errorf("no file of %s", x.Name)))
					}
					list = append(list, read{d, files})
				}
			}
		}
		if len(list) != len(drawn) {
			t.Fatalf("found tables of %d types, expected %d", len(list), len(drawn))
		}
		line, err := json.Marshal(map[string]any{"types": list})
		if err != nil {
			t.Fatal(err)
		}
		cases.Write(append(line, '\n'))
	})
	cmd := exec.Command(strings.TrimSpace(string(path)), "-c", readTables)
	cmd.Stdin, cmd.Stderr = strings.NewReader(cases.String()), os.Stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if joined := strings.TrimSpace(string(b)); joined == "0" || joined == "" {
		t.Errorf("joined %q rows, expected some", joined)
	} else {
		t.Logf("%d graphs, %s rows joined", n, joined)
	}
}
