package tablefiles

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/isotime"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestDelta reads tables of Delta Lake that Spark wrote, and finds the rows that Spark reads: with deletion vectors, mapped and widened
// columns, checkpoints of all kinds, values of partitions of all types, and none at all. testdata/delta/README.md says how they were made.
func TestDelta(t *testing.T) {
	paths, err := filepath.Glob("testdata/delta/*.json")
	if err != nil || len(paths) < 9 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		name, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "@")
		if version != "" {
			version = "@version=" + version
		}
		for _, threads := range []int{1, 4} {
			files, _, err := Find(vfs.OS, "testdata/delta", name+version, false)
			if err != nil {
				t.Fatal(err)
			}
			tab, err := Open(vfs.OS, files, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, want := lakeRows(t, tab, threads), wantedRows(t, path, tab)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s%s, %d threads: the rows differ from those of Spark (-want +got):\n%s", name, version, threads, diff)
			}
		}
	}
}

// lakeRows is the rows of a table as texts, sorted.
func lakeRows(t *testing.T, tab table.Table, threads int) []string {
	t.Helper()
	values, err := tabletest.Values(tab, threads)
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{}
	for i := range values[tab.Fields()[0].Name] {
		var cells []string
		for _, f := range tab.Fields() {
			cells = append(cells, rowCell(values[f.Name][i], f))
		}
		rows = append(rows, strings.Join(cells, " | "))
	}
	slices.Sort(rows)
	return rows
}

// wantedRows is the rows of a file of expected rows, as lakeRows has them, with the columns that can be read.
func wantedRows(t *testing.T, path string, tab table.Table) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var wanted struct {
		Columns []string
		Rows    []map[string]any
	}
	if err := json.Unmarshal(b, &wanted); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range tab.Fields() {
		names = append(names, f.Name)
	}
	names = append(names, table.Unreadable(tab)...)
	if len(names) != len(wanted.Columns) {
		t.Fatalf("%s: found the columns %q, expected %q", path, names, wanted.Columns)
	}
	rows := []string{}
	for _, row := range wanted.Rows {
		var cells []string
		for _, f := range tab.Fields() {
			value, ok := row[f.Name]
			if !ok {
				t.Fatalf("%s: found no value of %q", path, f.Name)
			}
			cells = append(cells, rowCell(value, f))
		}
		rows = append(rows, strings.Join(cells, " | "))
	}
	slices.Sort(rows)
	return rows
}

// rowCell is a cell as text. Empty texts and lists are as empty cells, and times are integers of the unit.
func rowCell(value any, f table.Field) string {
	switch v := value.(type) {
	case nil:
		return "-"
	case string:
		if v == "" {
			return "-"
		}
		if at, ok := isotime.Parse([]byte(v)); ok && f.Unit != "" {
			n, _, _ := at.In(f.Unit.PerSecond())
			return fmt.Sprint(n)
		}
		return fmt.Sprintf("%q", v)
	case bool:
		if v {
			return "1"
		}
		return "0"
	case []any:
		if len(v) == 0 {
			return "-"
		}
		var items []string
		for _, x := range v {
			items = append(items, rowCell(x, f))
		}
		return "[" + strings.Join(items, " ") + "]"
	case float64:
		if f.DType == graph.Float32 {
			v = float64(float32(v))
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}
