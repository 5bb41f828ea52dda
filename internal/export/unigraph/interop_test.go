//go:build interop

package unigraph_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/unigraph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/columnfiles"
)

// python runs a script in the environment of a peer.
func python(t *testing.T, peer, script string, args ...string) []byte {
	t.Helper()
	peers := exec.Command("../../../bench/peers.sh", peer)
	peers.Stderr = os.Stderr
	path, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh %s: %v", peer, err)
	}
	cmd := exec.Command(strings.TrimSpace(string(path)), append([]string{"-c", script}, args...)...)
	cmd.Env = append(os.Environ(), "TF_CPP_MIN_LOG_LEVEL=3")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return stdout.Bytes()
}

// readUnigraph prints the rows of all tables as TF-GNN's reader gives them, one line of JSON per row.
const readUnigraph = `
import base64, json, sys
import apache_beam as beam
from tensorflow_gnn.data import unigraph

def row(item, of):
    example = item[-1] if isinstance(item, tuple) else item
    ends = [x.decode() for x in item[:-1]] if isinstance(item, tuple) else []
    features = {}
    for key, f in example.features.feature.items():
        kind = f.WhichOneof("kind")
        values = list(getattr(f, kind).value) if kind else []
        features[key] = [x.decode() if isinstance(x, bytes) else x for x in values]
    return json.dumps([of, ends, features], sort_keys=True)

def main(dirs, out):
    for i, d in enumerate(dirs):
        with beam.Pipeline() as p:
            schema, tables = unigraph.read_graph_and_schema(d, p)
            for kind, sets in tables.items():
                for name, rows in sets.items():
                    (rows | f"row {kind} {name}" >> beam.Map(row, f"{kind}/{name or ''}")
                          | f"write {kind} {name}" >> beam.io.WriteToText(f"{out}/{i}-{kind}-{name}"))

main(sys.argv[2:], sys.argv[1])
`

func numbers[T any](name string, dtype graph.DType, of ...T) *graph.Column {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, of); err != nil {
		panic(err)
	}
	return &graph.Column{Name: name, DType: dtype, Rows: len(of), Values: b.Bytes()}
}

func named(name string, c *graph.Column) *graph.Column {
	c.Name = name
	return c
}

// scalars is a graph that TF-GNN's CSV reader can read: without vectors, and without line ends in cells.
func scalars() *graph.Graph {
	g := &graph.Graph{Context: []*graph.Column{named("title", texts(nil, `the "whole", all`)), numbers("scale", graph.Float32, float32(0.1))}}
	ids := named("#id", texts(nil, "n1", "n,2", `n"3"`, "ünï"))
	g.Nodes = []*graph.Nodes{{Type: "n", Count: 4, IDs: ids, Columns: []*graph.Column{
		numbers("f", graph.Float32, float32(0.1), -3e20, 0, 1e-9),
		numbers("i", graph.Int64, int64(-1<<63), 0, 7, 1<<62),
		numbers("ok", graph.Bool, true, false, true, true),
		named("text", texts(nil, "a, b", `say "hi"`, "", "x")),
	}}}
	g.Edges = []*graph.Edges{{Type: graph.EdgeType{Src: "n", Rel: "e", Dst: "n"}, Count: 5, Primary: graph.Out, Columns: []*graph.Column{
		numbers("weight", graph.Float32, float32(1), 2, 3, 4, 0.5)}}}
	g.Edges[0].Adj[graph.Out] = &graph.Adjacency{Indptr: index([]uint32{2, 2, 4, 5}), Far: graph.Index{U32: []uint32{1, 2, 0, 0, 3}}}
	return g
}

// expectedRows returns the rows that readUnigraph prints for scalars, with or without vectors.
func expectedRows(vectors bool) []string {
	var out []string
	add := func(of string, ends []string, features map[string]any) {
		if ends == nil {
			ends = []string{}
		}
		b, _ := json.Marshal([]any{of, ends, features})
		out = append(out, string(b))
	}
	list := func(v ...any) []any { return v }
	add("context/", nil, map[string]any{"title": list(`the "whole", all`), "scale": list(float64(float32(0.1)))})
	ids := []string{"n1", "n,2", `n"3"`, "ünï"}
	for i, id := range ids {
		f := map[string]any{"#id": list(id), "f": list(float64([]float32{0.1, -3e20, 0, 1e-9}[i])), "i": list([]int64{-1 << 63, 0, 7, 1 << 62}[i]),
			"ok": list([]int64{1, 0, 1, 1}[i]), "text": list([]string{"a, b", `say "hi"`, "", "x"}[i])}
		if vectors {
			f["vec"] = list(2*i, 2*i+1)
			f["bag"] = [][]any{{"a"}, {}, {"b", "c"}, {""}}[i]
			f["bag.d1"] = list([]int{1, 0, 2, 1}[i])
		}
		add("nodes/n", []string{id}, f)
	}
	for i, e := range [][2]int{{0, 1}, {0, 2}, {2, 0}, {2, 0}, {3, 3}} {
		add("edges/e", []string{ids[e[0]], ids[e[1]]}, map[string]any{"#source": list(ids[e[0]]), "#target": list(ids[e[1]]), "weight": list(float64([]float32{1, 2, 3, 4, 0.5}[i]))})
	}
	return canonical(out)
}

// canonical rewrites lines of JSON in one form and sorts them.
func canonical(lines []string) []string {
	for i, line := range lines {
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			panic(err)
		}
		b, _ := json.Marshal(normal(v))
		lines[i] = string(b)
	}
	slices.Sort(lines)
	return lines
}

// normal writes integral floats as integers.
func normal(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = normal(v[k])
		}
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return v
		}
		if f, _ := v.Float64(); f == math.Trunc(f) && math.Abs(f) < 1<<52 {
			return json.Number(fmt.Sprintf("%.0f", f))
		} else {
			return f
		}
	}
	return v
}

// TF-GNN's own reader returns the rows of our tables, from CSV files and TFRecords, in one file and in shards.
func TestPeerTFGNNReadsTables(t *testing.T) {
	dir := t.TempDir()
	records := scalars()
	n := records.Nodes[0]
	vec := numbers("vec", graph.Int32, int32(0), 1, 2, 3, 4, 5, 6, 7)
	vec.Shape, vec.Rows = []int{2}, 4
	bag := named("bag", texts(nil, "a", "b", "c", ""))
	bag.Shape, bag.Rows, bag.Offsets = []int{-1}, 4, []graph.Index{index([]uint32{1, 1, 3, 4})}
	n.Columns = append(n.Columns, vec, bag)
	var dirs []string
	for i, w := range []struct {
		g   *graph.Graph
		opt unigraph.Options
	}{
		{scalars(), unigraph.Options{Format: unigraph.CSV}}, {scalars(), unigraph.Options{Format: unigraph.CSV, Shards: 2}},
		{records, unigraph.Options{Format: unigraph.TFRecord}}, {records, unigraph.Options{Format: unigraph.TFRecord, Shards: 3}},
	} {
		out := filepath.Join(dir, fmt.Sprint("u", i))
		if err := fromGraph(w.g, out, w.opt); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, out)
	}
	python(t, "tfgnn", readUnigraph, append([]string{dir}, dirs...)...)
	for i := range dirs {
		var lines []string
		found, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("%d-*", i)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Split(strings.TrimSpace(string(b)), "\n")...)
		}
		lines = slices.DeleteFunc(lines, func(s string) bool { return s == "" })
		if diff := cmp.Diff(expectedRows(i >= 2), canonical(lines)); diff != "" {
			t.Errorf("%s: %s", dirs[i], diff)
		}
	}
}

// readParquet prints the rows of a file as pyarrow, polars and DuckDB read them.
const readParquet = `
import json, sys
import pyarrow.parquet as pq, polars as pl, duckdb
path = sys.argv[1]
print(json.dumps(pq.read_table(path).to_pylist()))
print(json.dumps(pl.read_parquet(path).to_dicts()))
d = duckdb.sql(f"select * from read_parquet('{path}')")
print(json.dumps([dict(zip(d.columns, r)) for r in d.fetchall()]))
`

// pyarrow, polars and DuckDB read our Parquet files with equal values.
func TestPeerOthersReadParquet(t *testing.T) {
	dir := t.TempDir()
	deep := numbers("deep", graph.Int16, int16(1), -2, 3, 4, 5, 6)
	deep.Shape, deep.Rows = []int{-1, 2}, 3
	deep.Offsets = []graph.Index{index([]uint32{2, 2, 3})}
	deeper := named("deeper", texts(nil, "a", "b", "ünï"))
	deeper.Shape, deeper.Rows = []int{-1, -1}, 3
	deeper.Offsets = []graph.Index{index([]uint32{2, 3, 3}), index([]uint32{1, 1, 3})}
	columns := []*graph.Column{
		numbers("b", graph.Bool, true, false, true), deep, deeper,
		numbers("d", graph.Float64, 0.1, -1e300, 0), numbers("f", graph.Float32, float32(0.5), 2, 3), numbers("i8", graph.Int8, int8(-128), 0, 127),
		numbers("u8", graph.Uint8, uint8(255), 0, 1), numbers("u16", graph.Uint16, uint16(65535), 1, 2), numbers("u32", graph.Uint32, uint32(1<<32-1), 0, 1), numbers("u64", graph.Uint64, uint64(1<<64-1), 0, 1),
		numbers("i64", graph.Int64, int64(-1<<63), 0, 1), named("s", texts(nil, "x", "", `"y"`)),
	}
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "n", Count: 3, Columns: columns}}}
	if err := fromGraph(g, filepath.Join(dir, "u"), unigraph.Options{Format: unigraph.Parquet}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "u", "nodes-n.parquet")
	want := canonical([]string{`[
{"#id":"0","b":true,"deep":[[1,-2],[3,4]],"deeper":[["a"],[]],"d":0.1,"f":0.5,"i8":-128,"u8":255,"u16":65535,"u32":4294967295,"u64":18446744073709551615,"i64":-9223372036854775808,"s":"x"},
{"#id":"1","b":false,"deep":[],"deeper":[["b","ünï"]],"d":-1e300,"f":2,"i8":0,"u8":0,"u16":1,"u32":0,"u64":0,"i64":0,"s":""},
{"#id":"2","b":true,"deep":[[5,6]],"deeper":[],"d":0,"f":3,"i8":127,"u8":1,"u16":2,"u32":1,"u64":1,"i64":1,"s":"\"y\""}]`})
	for i, line := range strings.Split(strings.TrimSpace(string(python(t, "tables", readParquet, path))), "\n") {
		if diff := cmp.Diff(want, canonical([]string{line})); diff != "" {
			t.Errorf("%s: %s", []string{"pyarrow", "polars", "DuckDB"}[i], diff)
		}
	}
	if p, err := columnfiles.OpenParquet(disk, []string{path}); err != nil {
		t.Error(err)
	} else if diff := cmp.Diff(want, canonical([]string{rowsOf(t, p)})); diff != "" {
		t.Errorf("ourselves: %s", diff)
	}
}

// writeParquet writes files with pyarrow, polars and DuckDB, in their various forms, and prints their rows with
// zeros, empty strings and empty lists instead of nulls.
const writeParquet = `
import json, random, sys
import numpy as np, pyarrow as pa, pyarrow.parquet as pq, polars as pl, duckdb
out = sys.argv[1]
random.seed(7)
n = 5000
maybe = lambda v: None if random.random() < 0.1 else v
cols = {
  "i64": pa.array([maybe(random.randint(-2**63, 2**63 - 1)) for _ in range(n)], pa.int64()),
  "seq": pa.array([i * 3 - 7 for i in range(n)], pa.int64()),
  "i8": pa.array([random.randint(-128, 127) for _ in range(n)], pa.int8()),
  "u16": pa.array([maybe(random.randint(0, 65535)) for _ in range(n)], pa.uint16()),
  "u32": pa.array([random.randint(0, 2**32 - 1) for _ in range(n)], pa.uint32()),
  "u64": pa.array([random.randint(0, 2**64 - 1) for _ in range(n)], pa.uint64()),
  "f32": pa.array(np.array([random.randint(0, 999) / 8 for _ in range(n)], np.float32)),
  "f64": pa.array([maybe(random.random()) for _ in range(n)], pa.float64()),
  "b": pa.array([maybe(random.random() < 0.5) for _ in range(n)], pa.bool_()),
  "same": pa.array(["one text"] * n),
  "few": pa.array([maybe(random.choice(["a", "bc", "", "def"])) for _ in range(n)]),
  "text": pa.array(["text %d" % random.randint(0, 10**9) for _ in range(n)]),
  "none": pa.array([None] * n, pa.string()),
  "list": pa.array([maybe([random.randint(0, 9) for _ in range(random.randint(0, 4))]) for _ in range(n)], pa.list_(pa.int64())),
  "fixed": pa.array([[i, i + 1, i + 2] for i in range(n)], pa.list_(pa.int32(), 3)),
  "deep": pa.array([[[random.choice(["x", "yz", ""]) for _ in range(random.randint(0, 3))] for _ in range(random.randint(0, 3))] for _ in range(n)], pa.list_(pa.list_(pa.string()))),
}
t = pa.table(cols)
f16 = t.append_column("f16", pa.array(np.arange(n).astype(np.float16)))
files = []
def put(name, write):
    path = f"{out}/{name}.parquet"
    write(path)
    files.append(path)
put("default", lambda p: pq.write_table(f16, p))
put("groups", lambda p: pq.write_table(t, p, row_group_size=700, compression="zstd", data_page_size=500, write_page_checksum=True))
put("version2", lambda p: pq.write_table(t, p, data_page_version="2.0", compression="gzip", data_page_size=3000))
put("plain", lambda p: pq.write_table(t, p, use_dictionary=False, compression="none", data_page_size=2000))
put("delta", lambda p: pq.write_table(t, p, use_dictionary=False, data_page_version="2.0", column_encoding={
    "i64": "DELTA_BINARY_PACKED", "seq": "DELTA_BINARY_PACKED", "u32": "DELTA_BINARY_PACKED", "i8": "DELTA_BINARY_PACKED", "f32": "BYTE_STREAM_SPLIT", "f64": "BYTE_STREAM_SPLIT",
    "text": "DELTA_BYTE_ARRAY", "few": "DELTA_LENGTH_BYTE_ARRAY", "b": "RLE"}))
put("large", lambda p: pq.write_table(t.cast(pa.schema([pa.field(f.name, pa.large_string() if f.type == pa.string() else f.type) for f in t.schema])), p))
put("polars", lambda p: pl.from_arrow(t).write_parquet(p, row_group_size=900))
put("duckdb", lambda p: duckdb.sql(f"copy (select * from t) to '{p}' (format parquet)"))
zero = {"few": "", "none": "", "list": [], "b": False}
for path in files:
    rows = pq.read_table(path).to_pylist()
    for r in rows:
        for k, v in r.items():
            if v is None:
                r[k] = zero.get(k, 0)
            elif k == "f16":
                r[k] = float(v)
    print(json.dumps([path, rows]))
`

// Files that pyarrow, polars and DuckDB write are read with equal values: nulls, lists, dictionaries, several row
// groups, all encodings and codecs.
func TestPeerOthersWriteParquet(t *testing.T) {
	dir := t.TempDir()
	for _, line := range strings.Split(strings.TrimSpace(string(python(t, "tables", writeParquet, dir))), "\n") {
		var v []json.RawMessage
		var path string
		if err := json.Unmarshal([]byte(line), &v); err != nil || json.Unmarshal(v[0], &path) != nil {
			t.Fatal(err)
		}
		p, err := columnfiles.OpenParquet(disk, []string{path})
		if err != nil {
			t.Error(err)
			continue
		}
		want, got := canonical([]string{string(v[1])}), canonical([]string{rowsOf(t, p)})
		if want[0] != got[0] {
			i := 0
			for want[0][i] == got[0][i] {
				i++
			}
			from := max(0, i-200)
			t.Errorf("%s: found ...%s, expected ...%s", path, got[0][from:min(i+100, len(got[0]))], want[0][from:min(i+100, len(want[0]))])
		}
	}
}

// rowsOf returns a table as a list of JSON objects.
func rowsOf(t *testing.T, p *columnfiles.Columnar) string {
	var columns []table.Column
	for _, f := range p.Fields() {
		fill := "0"
		columns = append(columns, table.Column{Name: f.Name, DType: f.DType, Shape: f.Shape, Empty: table.EmptyFill, Fill: fill})
	}
	rows := []any{}
	if _, err := p.Scan(ctx, columns, 1, func(_ int, c *table.Chunk) error {
		at := make([][]int, len(columns))
		for i := range at {
			at[i] = make([]int, len(columns[i].Shape)+1)
		}
		for range c.Rows {
			row := map[string]any{}
			for i := range columns {
				row[columns[i].Name] = element(&columns[i], &c.Columns[i], at[i], 0)
			}
			rows = append(rows, row)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	b, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// element returns the next element of a dimension of a column.
func element(c *table.Column, v *table.Vector, at []int, dim int) any {
	i := at[dim]
	at[dim]++
	if dim < len(c.Shape) {
		list := []any{}
		for range v.Lengths[dim][i] {
			list = append(list, element(c, v, at, dim+1))
		}
		return list
	}
	le := binary.LittleEndian
	switch c.DType {
	case graph.String:
		start := uint32(0)
		if i > 0 {
			start = v.Ends[i-1]
		}
		return string(v.Data[start:v.Ends[i]])
	case graph.Bool:
		return v.Data[i] == 1
	case graph.Int8:
		return int8(v.Data[i])
	case graph.Uint8:
		return v.Data[i]
	case graph.Int16:
		return int16(le.Uint16(v.Data[2*i:]))
	case graph.Uint16:
		return le.Uint16(v.Data[2*i:])
	case graph.Int32:
		return int32(le.Uint32(v.Data[4*i:]))
	case graph.Uint32:
		return le.Uint32(v.Data[4*i:])
	case graph.Int64:
		return int64(le.Uint64(v.Data[8*i:]))
	case graph.Uint64:
		return le.Uint64(v.Data[8*i:])
	case graph.Float16: // the numbers from 0 up
		h := le.Uint16(v.Data[2*i:])
		return math.Ldexp(float64(h&1023|1024)*map[bool]float64{true: 1}[h != 0], int(h>>10)-25)
	case graph.Float32:
		return math.Float32frombits(le.Uint32(v.Data[4*i:]))
	}
	return math.Float64frombits(le.Uint64(v.Data[8*i:]))
}
