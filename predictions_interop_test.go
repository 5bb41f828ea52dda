//go:build interop

package graphmill_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/option"
)

// joins reads the tables with polars, pyarrow and DuckDB, and joins them by id with the CSV that the store was made from.
const joins = `
import sys
import duckdb, numpy as np, polars as pl, pyarrow.parquet as pq

folder, source, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
emb = np.load(folder + "/emb.npy")
half = np.load(folder + "/half.npy")
names = {p: [r[p] for r in pq.read_table(folder + "/p.parquet").to_pylist()] for p in ("id", "name", "pred", "label", "at", "emb", "half")}
theirs = pl.read_parquet(folder + "/p.parquet")
for name in ("id", "name", "pred", "label"):
    assert theirs[name].to_list() == names[name], name
assert (np.array(names["emb"], "f4") == emb).all() and (np.array(theirs["emb"].to_list(), "f4") == emb).all()
assert (np.array(theirs["half"].to_list(), "f2") == half).all()
assert str(theirs.schema["at"]).startswith("Datetime(time_unit='ms', time_zone=None"), theirs.schema
assert names["pred"] == [[None, "ham", "spam", "eggs"][i % 4] for i in range(n)]
rows = duckdb.sql(f"""SELECT p.id, p.name, u.name, p.label, u.label, p.at = u.at, p.emb[1]
    FROM '{folder}/p.parquet' p JOIN read_csv('{source}/users.csv', all_varchar = false, types = {{'id': 'VARCHAR', 'at': 'TIMESTAMP'}}) u USING (id)""").fetchall()
assert len(rows) == n, len(rows)
at = {i: k for k, i in enumerate(names["id"])}
for i, ours, given, label, label_given, same, first in rows:
    assert (ours or None) == given and label == label_given and same in (True, None) and first == emb[at[i], 0], (i, ours, given, label, label_given)
csv = duckdb.sql(f"SELECT * FROM read_csv('{folder}/p.csv', types = {{'id': 'VARCHAR'}}) ORDER BY emb_0").fetchall()
assert [r[0] for r in csv] == [names["id"][k] for k in np.argsort(emb[:, 0])]
frame = pl.read_csv(folder + "/p.csv", infer_schema_length=None)
assert frame["id"].cast(pl.String).to_list() == names["id"] and (frame["emb_1"].to_numpy().astype("f4") == emb[:, 1]).all()
assert frame["pred"].to_list() == names["pred"]
import pyarrow as pa, pyarrow.feather
with pa.memory_map(folder + "/p.arrow") as f:
    arrow = pa.ipc.open_file(f)
    arrow = arrow.read_all()
    arrow.validate(full=True)
    rows = pq.read_table(folder + "/p.parquet")
    assert arrow.to_pylist() == rows.to_pylist()
    for a, p in zip(arrow.schema, rows.schema):
        listed = pa.types.is_fixed_size_list(a.type)
        assert (a.name, a.nullable) == (p.name, p.nullable) and (a.type.value_type == p.type.value_type if listed else a.type == p.type), (a, p)
    assert arrow.schema.metadata[b"graphmill.type"] == b"user" and arrow.schema.metadata[b"graphmill.store"] == rows.schema.metadata[b"graphmill.store"]
    assert pyarrow.feather.read_table(folder + "/p.arrow") == arrow
    whole = pl.read_ipc(folder + "/p.arrow")
    assert whole.drop("emb", "half").equals(theirs.drop("emb", "half")) and (whole["emb"].to_numpy() == emb).all(), whole
    select = "SELECT id, name, pred, label, emb[1], half[2] FROM"
    assert sorted(duckdb.sql(f"{select} arrow").fetchall(), key=str) == sorted(duckdb.sql(f"{select} '{folder}/p.parquet'").fetchall(), key=str)
print("same", n)
`

// The tables are read alike by polars, pyarrow and DuckDB, and a join by id leads back to the rows that the store was made from.
func TestPeerPredictions(t *testing.T) {
	const n = 3000
	install := exec.Command("bench/peers.sh", "tables")
	install.Stderr = os.Stderr
	path, err := install.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh tables: %v", err)
	}
	python := strings.TrimSpace(string(path))
	for name, idOf := range map[string]func(i int) string{"texts": func(i int) string { return "ü " + strconv.Itoa(i) }, "integers": func(i int) string { return strconv.Itoa(5*i + 2) }} {
		t.Run(name, func(t *testing.T) {
			work := t.TempDir()
			dir, source := peopleFrom(t, n, idOf)
			emb, half, classes := make([]float32, 2*n), make([]uint16, 2*n), make([]int8, n)
			for i := range n {
				emb[2*i], emb[2*i+1], classes[i] = float32(i)/3-500, 1/float32(i+1), int8(i%4)-1
				half[2*i], half[2*i+1] = uint16(i), uint16(i)|0x8000
			}
			arrays := []string{}
			for _, d := range []string{"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"} {
				size := int(d[1] - '0')
				values := make([]byte, 3*n*size)
				for i := range values {
					if values[i] = byte(i * 37 >> 2); d == "b1" {
						values[i] &= 1
					}
				}
				arrays = append(arrays, d+"="+writeNpy(t, work, d+".npy", d, []int{n}, values[:n*size]), "v"+d+"="+writeNpy(t, work, "v"+d+".npy", d, []int{n, 3}, values))
			}
			o := option.Predictions{Type: "user", Classes: []string{"pred=label"}, With: []string{"name", "label", "at"}, Arrays: []string{
				"emb=" + writeNpy(t, work, "emb.npy", "f4", []int{n, 2}, graph.Bytes(emb)), "half=" + writeNpy(t, work, "half.npy", "f2", []int{n, 2}, graph.Bytes(half)),
				"pred=" + writeNpy(t, work, "pred.npy", "i1", []int{n}, graph.Bytes(classes))}}
			o.Arrays = append(o.Arrays, arrays...)
			for _, out := range []string{"p.parquet", "p.csv", "p.arrow"} {
				if _, err := graphmill.ExportPredictions(t.Context(), dir, filepath.Join(work, out), o); err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.Command(python, "-c", joins, work, source, strconv.Itoa(n)).CombinedOutput()
			if err != nil || string(out) != fmt.Sprintln("same", n) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
