package ingest

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// shapedRows returns the values of the columns of a table, of each row in lists of their shape. Numbers are texts.
func shapedRows(t *testing.T, tb table.Table, columns []table.Column) [][]any {
	t.Helper()
	out := make([][]any, len(columns))
	_, err := tb.Scan(t.Context(), columns, 1, func(_ int, c *table.Chunk) error {
		for k := range columns {
			out[k] = append(out[k], shaped(&c.Columns[k], &columns[k], c.Rows)...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shaped returns the rows of a vector.
func shaped(v *table.Vector, c *table.Column, rows int) []any {
	counts := [][]int{} // per dimension, the lengths of the lists
	n, variable := rows, 0
	for _, d := range c.Shape {
		lengths := make([]int, n)
		next := 0
		for i := range lengths {
			if lengths[i] = d; d == -1 {
				lengths[i] = int(v.Lengths[variable][i])
			}
			next += lengths[i]
		}
		if d == -1 {
			variable++
		}
		counts, n = append(counts, lengths), next
	}
	values := make([]any, n)
	for i := range values {
		switch c.DType {
		case graph.String:
			values[i] = string(texts(v)[i])
		case graph.Bool:
			values[i] = v.Data[i] == 1
		case graph.Int64:
			values[i] = strconv.FormatInt(graph.View[int64](v.Data)[i], 10)
		case graph.Int32:
			values[i] = strconv.FormatInt(int64(graph.View[int32](v.Data)[i]), 10)
		default:
			values[i] = floatText(number(v.Data, c.DType, i))
		}
	}
	for _, lengths := range slices.Backward(counts) {
		lists, at := make([]any, len(lengths)), 0
		for i, n := range lengths {
			lists[i] = values[at : at+n : at+n]
			at += n
		}
		values = lists
	}
	return values
}

// dgfSet is what DGF reads of a set.
type dgfSet struct {
	IDs      []string
	Ends     [][2]string
	Features map[string][]any
}

// checkDGF compares the graphs of a folder with its expected.json.
func checkDGF(t *testing.T, dir string) {
	b, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]struct{ Nodes, Edges map[string]dgfSet }
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	if err := d.Decode(&expected); err != nil {
		t.Fatal(err)
	}
	for name, want := range expected {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), vfs.OS, filepath.Join(dir, name), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if s.Format != "dgf" || len(s.Input.Nodes) != len(want.Nodes) || len(s.Input.Edges) != len(want.Edges) {
				t.Fatalf("found a graph of format %s with %d and %d sets", s.Format, len(s.Input.Nodes), len(s.Input.Edges))
			}
			for _, n := range s.Input.Nodes {
				rows := shapedRows(t, n.Table, append([]table.Column{n.ID}, n.Columns...))
				checkDGFSet(t, n.Type, want.Nodes[n.Type].IDs, rows[:1], n.Columns, rows[1:], want.Nodes[n.Type].Features)
			}
			for _, e := range s.Input.Edges {
				var ends []string
				for _, pair := range want.Edges[e.Type.Rel].Ends {
					ends = append(ends, pair[:]...)
				}
				rows := shapedRows(t, e.Table, append([]table.Column{e.Src, e.Dst}, e.Columns...))
				checkDGFSet(t, e.Type.String(), ends, rows[:2], e.Columns, rows[2:], want.Edges[e.Type.Rel].Features)
			}
		})
	}
}

func checkDGFSet(t *testing.T, set string, wantIDs []string, keys [][]any, columns []table.Column, rows [][]any, features map[string][]any) {
	t.Helper()
	var ids []string
	for i := range keys[0] {
		for _, k := range keys {
			ids = append(ids, k[i].(string))
		}
	}
	if !slices.Equal(ids, wantIDs) {
		t.Errorf("%s: found the ids %q, expected %q", set, ids, wantIDs)
	}
	if len(wantIDs) == 0 {
		return
	}
	if len(columns) != len(features) {
		t.Errorf("%s: found %d features, expected %q", set, len(columns), slices.Sorted(maps.Keys(features)))
	}
	for i, c := range columns {
		if want := numberTexts(features[c.Name], &c); !reflect.DeepEqual(any(rows[i]), want) {
			t.Errorf("%s: %s %s %v: found %v, expected %v", set, c.Name, c.DType, c.Shape, rows[i], want)
		}
	}
}

// numberTexts makes texts of the numbers of a column in JSON, as shaped makes them.
func numberTexts(v any, c *table.Column) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = numberTexts(v[i], c)
		}
		return out
	case json.Number:
		if c.DType.IsInt() {
			return v.String()
		}
		f, _ := v.Float64()
		return floatText(f)
	}
	return v
}

// floatText is a float as Python writes NaN and infinities, and else as Go does.
func floatText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// Graphs that DGF wrote are read as DGF reads them.
func TestDGF(t *testing.T) { checkDGF(t, "testdata/dgf") }

// dgfFolder copies the graph papers, applies changes to its files, and returns its folder. A change to "" removes the file.
func dgfFolder(t *testing.T, changes map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "g")
	if err := os.CopyFS(dir, os.DirFS("testdata/dgf/papers")); err != nil {
		t.Fatal(err)
	}
	for name, text := range changes {
		file := filepath.Join(dir, name)
		if text == "" {
			if err := os.RemoveAll(file); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if from, found := strings.CutPrefix(text, "copy "); found {
			b, err := os.ReadFile(filepath.Join(dir, from))
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		if from, to, found := strings.Cut(text, " => "); found {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text = strings.Replace(string(b), from, to, 1)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What is not one whole graph is an error or a warning.
func TestDGFDoubts(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes map[string]string
		want    string
		warns   bool
	}{
		{name: "a missing shard", changes: map[string]string{"nodesets/paper-00001-of-00005.parquet": ""}, want: `node set "paper": found the file paper-00002-of-00005.parquet, expected shard 1 of 5`},
		{name: "missing last shards", changes: map[string]string{"edgesets/cites-00003-of-00005.parquet": ""}, want: `edge set "cites": found 3 of 5 files`, warns: true},
		{name: "two writings", changes: map[string]string{"nodesets/paper-00000-of-00001.parquet": "copy nodesets/paper-00000-of-00005.parquet"}, want: "expected those of one writing"},
		{name: "two kinds of names", changes: map[string]string{"nodesets/paper-0.parquet": "copy nodesets/paper-00000-of-00005.parquet"}, want: "expected those of one writing"},
		{name: "the files of a longer name", changes: map[string]string{"schema.json": "\"venue\" => \"paper-x\"", "nodesets/paper-x-00000-of-00001.parquet": "copy nodesets/paper-00000-of-00005.parquet"}, want: `edge set "in": found the node set "venue" as an end`},
		{name: "no folder", changes: map[string]string{"nodesets": ""}, want: "found no folder"},
		{name: "no metadata", changes: map[string]string{"metadata.json": ""}, want: "found no such file beside schema.json"},
		{name: "another container", changes: map[string]string{"metadata.json": `PARQUET => TF_RECORD`}, want: `found the container "TF_RECORD", expected PARQUET`},
		{name: "a later version", changes: map[string]string{"metadata.json": `"version": 0 => "version": 1`}, want: "found version 1 of the format"},
		{name: "a timestamp", changes: map[string]string{"metadata.json": `"timestamp": null => "timestamp": 7`}, want: "the timestamp 7 of the graph is left out", warns: true},
		{name: "another format", changes: map[string]string{"schema.json": `"format": "INTEGER_32" => "format": "INTEGER_64"`}, want: "is read as int32", warns: true},
		{name: "another shape", changes: map[string]string{"schema.json": "\"shape\": [\n            4\n          ] => \"shape\": []"}, want: `feature "x": found lists of float32`},
		{name: "a feature that is not there", changes: map[string]string{"schema.json": `"flag" => "flog"`}, want: `feature "flog": found no such column`},
		{name: "a path", changes: map[string]string{"schema.json": `"cites" => "../cites"`}, want: "no name of a file"},
		{name: "a colon", changes: map[string]string{"schema.json": `"cites" => "c:d"`}, want: "has no ':'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Open(t.Context(), vfs.OS, dgfFolder(t, c.changes), Options{})
			if c.warns {
				if err != nil || !strings.Contains(strings.Join(s.Warnings, "\n"), c.want) {
					t.Errorf("found %v, expected a warning with %q", err, c.want)
				}
				return
			}
			if !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected %q", err, c.want)
			}
		})
	}
}

// A data set of snapshots is refused with what makes one graph of it.
func TestDGFSnapshots(t *testing.T) {
	dir := dgfFolder(t, map[string]string{"metadata.json": "", "nodesets": "", "edgesets": ""})
	if err := os.Mkdir(filepath.Join(dir, "snapshots"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), vfs.OS, dir, Options{}); !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "read_graph_snapshots_as_temporal_graph") {
		t.Errorf("found %v", err)
	}
}

// FuzzDGF reads any text as the schema of a graph with files.
func FuzzDGF(f *testing.F) {
	dir := f.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/dgf/papers")); err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(dir, "schema.json")
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"node_sets": {"author": {"features": {"id": {"format": "FLOAT_32"}, "h": {"format": "BYTES", "shape": [2]}}}}, "edge_sets": {}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() { opens(t, path, b, Options{Format: "dgf"}) })
	})
}
