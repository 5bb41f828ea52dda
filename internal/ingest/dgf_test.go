package ingest

import (
	"encoding/json"
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
