package iceberg

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/lakefiles"
	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// expectedRows are the rows that the writer of a table reads.
type expectedRows struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
}

// TestGoldenTables reads the tables of testdata, which other programs have written, at their versions. The folders were moved since.
func TestGoldenTables(t *testing.T) {
	if n := checkTables(t, "testdata"); n < 13 {
		t.Errorf("found %d tables, expected more", n)
	}
}

// checkTables compares the tables in a folder with the rows beside them, and returns their number.
func checkTables(t *testing.T, folder string) (tables int) {
	t.Helper()
	answers, err := filepath.Glob(folder + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range answers {
		dir := strings.TrimSuffix(path, ".json")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var byRef map[string]expectedRows
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.UseNumber()
		if err := d.Decode(&byRef); err != nil {
			t.Fatal(path, err)
		}
		for text, want := range byRef {
			t.Run(filepath.Base(dir)+text, func(t *testing.T) {
				_, ref, err := lake.CutRef("x" + text)
				if err != nil {
					t.Fatal(err)
				}
				found, kinds := readTable(t, dir, ref)
				if diff := cmp.Diff(want.Columns, found.Columns); diff != "" {
					t.Fatalf("columns (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(canonicalRows(want.Rows, kinds), canonicalRows(found.Rows, kinds)); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
			})
		}
	}
	return len(answers)
}

// readTable reads all columns of a table, but those that cannot be read. kinds are the dtypes.
func readTable(t *testing.T, dir string, ref lake.Ref) (rows expectedRows, kinds []cellKind) {
	t.Helper()
	s, err := Open(vfs.OS, dir, ref, "", false)
	if err != nil {
		t.Fatal(err)
	}
	x, err := lakefiles.Open(vfs.OS, s, dir)
	if err != nil {
		t.Fatal(err)
	}
	var columns []table.Column
	text := map[string]bool{}
	for _, c := range s.Columns {
		text[c.Name] = c.Text
	}
	for _, f := range x.Fields() {
		c := table.Column{Name: f.Name, DType: f.DType, Shape: f.Shape, Unit: f.Unit, Empty: table.EmptyFill, Mark: true}
		if f.DType != graph.String {
			c.Fill = "0"
		}
		if f.DType == graph.Bool {
			c.Fill = "false"
		}
		if f.Unit != "" {
			c.Mark = false
		}
		columns = append(columns, c)
		rows.Columns = append(rows.Columns, f.Name)
		kinds = append(kinds, cellKind{f.DType, len(f.Shape) > 0})
	}
	_, err = x.Scan(context.Background(), columns, 1, func(_ int, c *table.Chunk) error {
		made := make([][]any, c.Rows)
		for i, v := range c.Columns {
			p := vectorReader{v: v, dtype: columns[i].DType, text: text[columns[i].Name], time: columns[i].Unit != ""}
			for row := range c.Rows {
				made[row] = append(made[row], p.next(len(columns[i].Shape), 0))
			}
			for _, row := range v.Empty {
				made[row][i] = nil
			}
		}
		rows.Rows = append(rows.Rows, made...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, kinds
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// vectorReader takes the values of a vector one after the other.
type vectorReader struct {
	v          table.Vector
	dtype      graph.DType
	text, time bool
	at         int    // of the next value
	lists      [8]int // of the next list of each level
}

func (p *vectorReader) next(lists, level int) any {
	if lists > 0 {
		n := p.v.Lengths[level][p.lists[level]]
		p.lists[level]++
		list := []any{}
		for range n {
			list = append(list, p.next(lists-1, level+1))
		}
		return list
	}
	i := p.at
	p.at++
	le := binary.LittleEndian
	switch p.dtype {
	case graph.String:
		start := uint32(0)
		if i > 0 {
			start = p.v.Ends[i-1]
		}
		b := p.v.Data[start:p.v.Ends[i]]
		if p.text && uuidForm.Match(b) { // the test has its digits
			return strings.ReplaceAll(string(b), "-", "")
		}
		if p.text {
			return string(b)
		}
		return hex.EncodeToString(b)
	case graph.Bool:
		return p.v.Data[i] != 0
	case graph.Int32:
		return int64(int32(le.Uint32(p.v.Data[4*i:])))
	case graph.Int64:
		if v := int64(le.Uint64(p.v.Data[8*i:])); !p.time || v != graph.NoTime {
			return v
		}
		return nil
	case graph.Float32:
		return float64(math.Float32frombits(le.Uint32(p.v.Data[4*i:])))
	case graph.Float64:
		return math.Float64frombits(le.Uint64(p.v.Data[8*i:]))
	}
	panic(p.dtype)
}

// cellKind is the type of a cell.
type cellKind struct {
	dtype graph.DType
	list  bool
}

// canonicalRows are the texts of rows, in order.
func canonicalRows(rows [][]any, kinds []cellKind) []string {
	var out []string
	for _, r := range rows {
		var cells []string
		for i, v := range r {
			cells = append(cells, canonicalCell(v, kinds[i]))
		}
		out = append(out, strings.Join(cells, " | "))
	}
	slices.Sort(out)
	return out
}

func canonicalCell(v any, k cellKind) string {
	kind := k.dtype
	switch v := v.(type) {
	case nil:
		if k.list {
			return "[]" // lists that are null are empty
		}
		return "null"
	case []any:
		var list []string
		for _, x := range v {
			list = append(list, canonicalCell(x, cellKind{dtype: kind}))
		}
		return "[" + strings.Join(list, " ") + "]"
	case string:
		if kind.IsFloat() {
			break
		}
		return strconv.Quote(v)
	}
	text := fmt.Sprint(v)
	if kind.IsFloat() {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return err.Error()
		}
		if kind == graph.Float32 {
			f = float64(float32(f))
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return text
}
