package graphmill_test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/format/arrow"
	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// writeNpy writes an array, and returns its path.
func writeNpy(t *testing.T, dir, name, descr string, shape []int, values []byte) string {
	t.Helper()
	b, err := npy.AppendHeader(nil, descr, shape)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, append(b, values...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// people is a store of n users with ids, labels, times and names, n links between them, and a type without rows. idOf is their id.
func people(t *testing.T, n int, idOf func(i int) string, dtype ...string) string {
	t.Helper()
	dir, _ := peopleFrom(t, n, idOf, dtype...)
	return dir
}

// peopleFrom is people, with the folder of the tables.
func peopleFrom(t *testing.T, n int, idOf func(i int) string, dtype ...string) (dir, source string) {
	t.Helper()
	var users, links strings.Builder
	users.WriteString("id,label,at,name,split,x\n")
	links.WriteString("src,dst,w\n")
	for i := range n {
		fmt.Fprintf(&users, "%s,%s,%s,%s,%s,%d\n", idOf(i), labelOf(i), timeOf(i), csvField(nameOf(i)), splitOf(i), i)
		fmt.Fprintf(&links, "%s,%s,%d\n", idOf(i), idOf(i*7%n), i)
	}
	source = writeTables(t, map[string]string{"users.csv": users.String(), "links.csv": links.String(), "none.csv": "id\n",
		"graph.yaml": "nodes:\n  user:\n    table: users.csv\n    id: {column: id, dtype: " + strings.Join(append(dtype, "auto")[:1], "") + "}\n    columns: {label: {dtype: category, categories: [ham, spam, eggs]}, at: \"datetime[ms]\", name: string, split: category, x: int16}\n  none: {table: none.csv, id: {column: id, dtype: string}}\n" +
			"edges:\n  user:links:user: {table: links.csv}\n"})
	dir = filepath.Join(t.TempDir(), "g.store")
	importTables(t, source, dir, option.Import{})
	return dir, source
}

func labelOf(i int) string { return []string{"ham", "spam", "eggs", ""}[i%4] }
func splitOf(i int) string { return []string{"train", "test"}[i%2] }
func timeOf(i int) string {
	if i%11 == 10 {
		return ""
	}
	return fmt.Sprintf("20%02d-01-02T03:04:05.%03d", i%90+10, i%1000)
}
func nameOf(i int) string {
	return []string{"plain", "a,b", "say \"so\"", "two\nlines", "ünï", ""}[i%6]
}
func csvField(s string) string {
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// parquetText is a Parquet file as text, a row per line.
func parquetText(t *testing.T, path string) (rows [][]string, names []string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return columnsText(t, f.Columns, len(f.Groups), func(group, column int) rowReader { return f.Reader(bytes.NewReader(b), group, column) })
}

// arrowText is a file of Arrow as text, a row per line.
func arrowText(t *testing.T, path string) (rows [][]string, names []string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := arrow.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return columnsText(t, f.Columns, len(f.Batches), func(batch, column int) rowReader { return f.Reader(bytes.NewReader(b), batch, column) })
}

// rowReader reads the rows of a column.
type rowReader interface {
	Read(to *parquet.Rows, rows, bytes int) error
	Close()
}

// columnsText is columns as text, a row per line, and their names and types.
func columnsText(t *testing.T, columns []parquet.Column, groups int, reader func(group, column int) rowReader) (rows [][]string, names []string) {
	t.Helper()
	for k, c := range columns {
		names = append(names, fmt.Sprintf("%s:%d%s", c.Name, c.Type, c.Unit))
		row := 0
		for g := range groups {
			r := reader(g, k)
			for {
				var part parquet.Rows
				if err := r.Read(&part, 1000, 1<<20); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				for i := range part.N {
					if k == 0 {
						rows = append(rows, nil)
					}
					rows[row] = append(rows[row], parquetCell(&c, &part, i))
					row++
				}
			}
			r.Close()
		}
	}
	return rows, names
}

// parquetCell is row i of a column as text. Vectors have two values.
func parquetCell(c *parquet.Column, r *parquet.Rows, i int) string {
	switch {
	case r.Null != nil && r.Null[i]:
		return "null"
	case c.Type == parquet.Bytes:
		start := uint32(0)
		if i > 0 {
			start = r.Ends[i-1]
		}
		return string(r.Data[start:r.Ends[i]])
	case c.Lists == 1:
		return fmt.Sprint(graph.View[float32](r.Data)[2*i : 2*i+2])
	case c.Type == parquet.Bool:
		return strconv.FormatBool(r.Data[i] != 0)
	case c.Type == parquet.Float64:
		return fmt.Sprint(graph.View[float64](r.Data)[i])
	case c.Type == parquet.Int64 || c.Type == parquet.Uint64:
		return fmt.Sprint(graph.View[int64](r.Data)[i])
	}
	return fmt.Sprint(graph.View[int32](r.Data)[i])
}

// A table has a row per node that is asked for, with its id, the rows of the arrays, and the columns of the store: by all ids and numbers of nodes,
// as Parquet and CSV, of any number of threads and any memory.
func TestPredictions(t *testing.T) {
	for _, c := range []struct {
		name     string
		n        int
		idOf     func(i int) string
		dtype    string // of the ids; "" is auto
		integers bool   // IntegerIDs
		typ      string // of the ids in Parquet
		rows     string
		some     bool // Nodes
		threads  int
	}{
		{name: "texts", n: 2000, idOf: func(i int) string { return "u" + strconv.Itoa(i*i) }, typ: "12", threads: 3},
		{name: "integers", n: 999, idOf: func(i int) string { return strconv.Itoa(7*i + 1) }, dtype: "integer", typ: "4", rows: "split=test", threads: 2},
		{name: "texts of integers", n: 50, idOf: func(i int) string { return strconv.Itoa(7*i - 100) }, integers: true, typ: "4", threads: 2},
		{name: "large integers", n: 3, idOf: func(i int) string { return strconv.FormatUint(math.MaxUint64-uint64(i), 10) }, dtype: "integer", typ: "8", threads: 1},
		{name: "numbers", n: 500, idOf: strconv.Itoa, typ: "4", some: true, threads: 2},
		{name: "some", n: 400, idOf: func(i int) string { return "n" + strconv.Itoa(i) }, typ: "12", some: true, rows: "label=spam", threads: 2},
		{name: "one", n: 1, idOf: func(int) string { return "only" }, typ: "12", threads: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, work := people(t, c.n, c.idOf, cmp.Or(c.dtype, "auto")), t.TempDir()
			o := option.Predictions{Run: option.Run{Threads: c.threads}, Type: "user", With: []string{"label", "at", "name", "x"}, Rows: c.rows, IntegerIDs: c.integers}
			var nodes []int64
			for i := range c.n {
				if node := int64((i*13 + 5) % c.n); !c.some {
					nodes = append(nodes, int64(i))
				} else if i%3 == 0 {
					nodes = append(nodes, node)
				}
			}
			if c.some {
				o.Nodes = writeNpy(t, work, "nodes.npy", "i8", []int{len(nodes)}, graph.Bytes(nodes))
			}
			vectors, scores, classes, flags := make([]float32, 2*len(nodes)), make([]float64, len(nodes)), make([]int16, len(nodes)), make([]byte, len(nodes))
			var want, wantCSV [][]string
			for i, node := range nodes {
				v := int(node)
				vectors[2*i], vectors[2*i+1], scores[i], classes[i], flags[i] = float32(i)/3, -float32(i), float64(i)/7, int16(i%4)-1, byte(i%2)
				if c.rows == "split=test" && splitOf(v) != "test" || c.rows == "label=spam" && labelOf(v) != "spam" {
					continue
				}
				class := []string{"null", "ham", "spam", "eggs"}[i%4]
				row := []string{c.idOf(v), fmt.Sprint(vectors[2*i : 2*i+2]), fmt.Sprint(scores[i]), class, strconv.FormatBool(i%2 == 1), cmp.Or(labelOf(v), "null"), cmp.Or(timeOf(v), "null"),
					nameOf(v), strconv.Itoa(v)}
				want = append(want, row)
				line := slices.Concat(row[:1], []string{fmt.Sprint(vectors[2*i]), fmt.Sprint(vectors[2*i+1])}, row[2:])
				for k := range line {
					if line[k] == "null" {
						line[k] = ""
					}
				}
				wantCSV = append(wantCSV, line)
			}
			if c.name == "large integers" {
				for i, row := range want {
					want[i] = append([]string{strconv.Itoa(-1 - i)}, row[1:]...) // the bits of the id
				}
			}
			o.Arrays = []string{"emb=" + writeNpy(t, work, "emb.npy", "f4", []int{len(nodes), 2}, graph.Bytes(vectors)), "score=" + writeNpy(t, work, "score.npy", "f8", []int{len(nodes)}, graph.Bytes(scores)),
				"pred=" + writeNpy(t, work, "pred.npy", "i2", []int{len(nodes)}, graph.Bytes(classes)), "flag=" + writeNpy(t, work, "flag.npy", "b1", []int{len(nodes)}, flags)}
			o.Classes = []string{"pred=label"}
			if _, err := graphmill.ExportPredictions(t.Context(), dir, work+"/p.parquet", o); err != nil {
				t.Fatal(err)
			}
			rows, names := parquetText(t, work+"/p.parquet")
			for _, row := range rows {
				row[6] = timeText(row[6])
			}
			if d := diff.Diff(want, rows); d != "" {
				t.Error(d)
			}
			if want := []string{"id:" + c.typ, "emb:10", "score:11", "pred:12", "flag:0", "label:12", "at:4ms", "name:12", "x:2"}; !slices.Equal(names, want) {
				t.Errorf("found %q, expected %q", names, want)
			}
			for _, name := range []string{"p.csv", "p.arrow"} {
				if _, err := graphmill.ExportPredictions(t.Context(), dir, filepath.Join(work, name), o); err != nil {
					t.Fatal(err)
				}
			}
			same, sameNames := arrowText(t, work+"/p.arrow")
			for _, row := range same {
				row[6] = timeText(row[6])
			}
			if d := diff.Diff(rows, same) + diff.Diff(names, sameNames); d != "" {
				t.Error("Arrow:", d)
			}
			lines := csvText(t, work+"/p.csv")
			if d := diff.Diff(append([][]string{{"id", "emb_0", "emb_1", "score", "pred", "flag", "label", "at", "name", "x"}}, wantCSV...), lines); d != "" {
				t.Error(d)
			}
			o.Threads, o.Memory = 5, 1<<30
			for _, name := range []string{"p.parquet", "p.csv", "p.arrow"} {
				if _, err := graphmill.ExportPredictions(t.Context(), dir, work+"/again"+name, o); err != nil {
					t.Fatal(err)
				}
				a, err1 := os.ReadFile(work + "/" + name)
				b, err2 := os.ReadFile(work + "/again" + name)
				if err := errors.Join(err1, err2); err != nil || !bytes.Equal(a, b) {
					t.Errorf("%s: found other bytes with other threads, %v", name, err)
				}
			}
		})
	}
}

// timeText is a number of milliseconds as people writes it.
func timeText(number string) string {
	if number == "null" {
		return number
	}
	ms, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return err.Error()
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000")
}

func csvText(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Edges have the ids of their ends, their own ids and their places in the input; a type without nodes makes a table without rows.
func TestPredictionsOfEdges(t *testing.T) {
	dir, work := people(t, 20, func(i int) string { return "u" + strconv.Itoa(i) }), t.TempDir()
	st, err := graphmill.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	scores := make([]float32, 20)
	var want, reversed [][]string
	var ids []uint32
	e := st.Graph().Edges[0]
	w := graph.FindColumn(e.Columns, "w")
	for i := range scores {
		scores[i] = float32(i) / 4
		src, dst := e.Ends(i)
		place := fmt.Sprint(graph.View[int64](w.Values)[i])
		want = append(want, []string{fmt.Sprint("u", src), fmt.Sprint("u", dst), strconv.Itoa(i), fmt.Sprint(scores[i]), place, place})
		ids = append(ids, uint32(19-i))
	}
	for i := range want {
		row := slices.Clone(want[19-i])
		row[3] = fmt.Sprint(scores[i])
		reversed = append(reversed, row)
	}
	o := option.Predictions{Type: "links", EdgeIDs: true, With: []string{"w", "#input_position"}, Arrays: []string{"score=" + writeNpy(t, work, "score.npy", "f4", []int{20}, graph.Bytes(scores))}}
	header := [][]string{{"source", "target", "edge_id", "score", "w", "input_position"}}
	for name, want := range map[string][][]string{"all.csv": want, "some.csv": reversed} {
		if o.Nodes = ""; name == "some.csv" {
			o.Nodes = writeNpy(t, work, "ids.npy", "u4", []int{20}, graph.Bytes(ids))
		}
		if _, err := graphmill.ExportPredictions(t.Context(), dir, filepath.Join(work, name), o); err != nil {
			t.Fatal(err)
		}
		if d := diff.Diff(append(header, want...), csvText(t, filepath.Join(work, name))); d != "" {
			t.Error(name, d)
		}
	}
	empty := option.Predictions{Type: "none", IDName: "key", Arrays: []string{"x=" + writeNpy(t, work, "none.npy", "f4", []int{0, 2}, nil)}}
	for _, name := range []string{"none.parquet", "none.csv", "none.arrow", "none.db"} {
		if empty.Table = ""; name == "none.db" {
			empty.Table = "t"
		}
		if _, err := graphmill.ExportPredictions(t.Context(), dir, filepath.Join(work, name), empty); err != nil {
			t.Fatal(err)
		}
	}
	if rows, names := parquetText(t, work+"/none.parquet"); len(rows) > 0 || !slices.Equal(names, []string{"key:12", "x:10"}) {
		t.Errorf("found %q of %q", rows, names)
	}
	if rows, names := arrowText(t, work+"/none.arrow"); len(rows) > 0 || !slices.Equal(names, []string{"key:12", "x:10"}) {
		t.Errorf("found %q of %q", rows, names)
	}
	if d := diff.Diff([][]string{{"key", "x_0", "x_1"}}, csvText(t, work+"/none.csv")); d != "" {
		t.Error(d)
	}
}

// Pairs of nodes have the ids of both, whether they are edges or not, and in any number.
func TestPredictionsOfPairs(t *testing.T) {
	for _, n := range []int{0, 1, 70_000} { // several blocks
		dir, work := people(t, 30, func(i int) string { return "u" + strconv.Itoa(i*i) }), t.TempDir()
		nodes, ranks := make([]uint32, 2*n), make([]int16, n)
		want := [][]string{{"source", "target", "rank"}}
		for i := range n {
			nodes[i], nodes[n+i], ranks[i] = uint32(i*7%30), uint32(i*i%29), int16(i)
			want = append(want, []string{"u" + strconv.Itoa(i*7%30*(i*7%30)), "u" + strconv.Itoa(i*i%29*(i*i%29)), strconv.Itoa(int(ranks[i]))})
		}
		o := option.Predictions{Run: option.Run{Threads: 2}, Type: "user:user", Nodes: writeNpy(t, work, "pairs.npy", "u4", []int{2, n}, graph.Bytes(nodes)),
			Arrays: []string{"rank=" + writeNpy(t, work, "rank.npy", "i2", []int{n}, graph.Bytes(ranks))}}
		for _, name := range []string{"p.csv", "p.parquet", "p.arrow"} {
			if _, err := graphmill.ExportPredictions(t.Context(), dir, filepath.Join(work, name), o); err != nil {
				t.Fatal(err)
			}
		}
		rows, _ := parquetText(t, work+"/p.parquet")
		same, _ := arrowText(t, work+"/p.arrow")
		if d := diff.Diff(want, csvText(t, work+"/p.csv")) + diff.Diff(slices.Clone(want[1:]), append([][]string{}, rows...)) + diff.Diff(rows, same); d != "" {
			t.Errorf("%d pairs: %s", n, d)
		}
	}
}

// A table of SQLite is new, or replaces one; others in the file stay, also after an error.
func TestPredictionsIntoSQLite(t *testing.T) {
	dir, work := people(t, 30, func(i int) string { return strconv.Itoa(3 * i) }), t.TempDir()
	scores, classes := make([]float32, 60), make([]int64, 30)
	for i := range classes {
		scores[2*i], classes[i] = float32(i)/8, int64(i%4)-1
	}
	scores[5] = float32(math.NaN())
	o := option.Predictions{Type: "user", With: []string{"at"}, Arrays: []string{"emb=" + writeNpy(t, work, "emb.npy", "f4", []int{30, 2}, graph.Bytes(scores)),
		"pred=" + writeNpy(t, work, "pred.npy", "i8", []int{30}, graph.Bytes(classes))}, Classes: []string{"pred=label"}}
	run := func(out string, change func(o *option.Predictions)) error {
		o := o
		if change != nil {
			change(&o)
		}
		_, err := graphmill.ExportPredictions(t.Context(), dir, out, o)
		return err
	}
	at := "sqlite:" + work + "/r.db#first"
	if err := run(at, nil); err != nil {
		t.Fatal(err)
	}
	if err := run(at, nil); !errors.Is(err, graphmill.ErrExists) {
		t.Errorf("found %v, expected ErrExists", err)
	}
	if err := run(work+"/r.db", func(o *option.Predictions) { o.Table = "second" }); err != nil {
		t.Error(err)
	}
	classes[20] = 9
	bad := "pred=" + writeNpy(t, work, "bad.npy", "i8", []int{30}, graph.Bytes(classes))
	for _, out := range []string{at, "sqlite:" + work + "/new.db#t"} {
		if err := run(out, func(o *option.Predictions) { o.Overwrite, o.Arrays = true, []string{bad} }); err == nil || !strings.Contains(err.Error(), "row 20: found class 9") {
			t.Errorf("found %v, expected an error of row 20", err)
		}
	}
	if left, err := filepath.Glob(work + "/*.db*"); err != nil || len(left) != 1 {
		t.Errorf("found %q, %v, expected r.db", left, err)
	}
	if err := run(at, func(o *option.Predictions) { o.Overwrite = true }); err != nil {
		t.Error(err)
	}
	for _, table := range []string{"first", "second"} {
		if got := sqliteRows(t, work+"/r.db", "SELECT id, emb_0, emb_1, pred, at FROM "+table+" LIMIT 3"); got != "0 0 0 <nil> 2010-01-02T03:04:05.000\n3 0.125 0 ham 2011-01-02T03:04:05.001\n6 0.25 <nil> spam 2012-01-02T03:04:05.002\n" {
			t.Errorf("%s: found\n%s", table, got)
		}
	}
}

// sqliteRows are the rows of a query as text, a line each.
func sqliteRows(t *testing.T, file, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for rows.Next() {
		values, at := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			at[i] = &values[i]
		}
		if err := rows.Scan(at...); err != nil {
			t.Fatal(err)
		}
		text.WriteString(strings.Trim(fmt.Sprint(values), "[]") + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// What cannot be meant is refused before anything is written, and names what is wrong.
func TestPredictionsRefused(t *testing.T) {
	dir, work := people(t, 10, func(i int) string { return "u" + strconv.Itoa(i) }), t.TempDir()
	file := func(name, descr string, shape []int, values []byte) string {
		return writeNpy(t, work, name, descr, shape, values)
	}
	score := "score=" + file("score.npy", "f4", []int{10}, make([]byte, 40))
	short := "score=" + file("short.npy", "f4", []int{9}, make([]byte, 36))
	cube := "score=" + file("cube.npy", "f4", []int{10, 2, 2}, make([]byte, 160))
	wide := "score=" + file("wide.npy", "f4", []int{10, 2001}, make([]byte, 80040))
	codes := "pred=" + file("codes.npy", "i8", []int{10}, graph.Bytes([]int64{0, 1, 2, -1, 3, 0, 0, 0, 0, 0}))
	negative := "pred=" + file("negative.npy", "i1", []int{10}, []byte{0, 0, 0xfe, 0, 0, 0, 0, 0, 0, 0})
	far := file("far.npy", "i8", []int{2}, graph.Bytes([]int64{3, 10}))
	below := file("below.npy", "i8", []int{2}, graph.Bytes([]int64{3, -1}))
	two := "score=" + file("two.npy", "f4", []int{2}, make([]byte, 8))
	pairs := file("pairs.npy", "u2", []int{2, 3}, graph.Bytes([]uint16{4, 9, 0, 0, 9, 10}))
	three := "score=" + file("three.npy", "f4", []int{3}, make([]byte, 12))
	if err := os.WriteFile(work+"/there.csv", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(work)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		out  string
		o    option.Predictions
		want string
	}{
		{"rows", "", option.Predictions{Type: "user", Arrays: []string{short}}, "short.npy: found 9 rows, expected 10, one per node of user; for rows of some nodes only, give their numbers as `Nodes` FILE.npy"},
		{"rows of nodes", "", option.Predictions{Type: "user", Arrays: []string{score}, Nodes: far}, "score.npy: found 10 rows, expected 2, one per row of "},
		{"node", "", option.Predictions{Type: "user", Arrays: []string{two}, Nodes: far}, "far.npy: row 1: found 10, expected 0 to 9, below the number of nodes of user"},
		{"negative node", "", option.Predictions{Type: "user", Arrays: []string{two}, Nodes: below}, "below.npy: row 1: found -1, expected 0 to 9"},
		{"floats as nodes", "", option.Predictions{Type: "user", Arrays: []string{two}, Nodes: work + "/two.npy"}, "found float32 [2], expected one integer per row"},
		{"shape", "", option.Predictions{Type: "user", Arrays: []string{cube}}, "cube.npy: found shape [10 2 2], expected [rows] or [rows, values of a row]"},
		{"class", "", option.Predictions{Type: "user", Arrays: []string{codes}, Classes: []string{"pred=label"}}, "codes.npy: row 4: found class 3, expected 0 to 2, the categories of column \"label\", or -1 for none"},
		{"negative class", "", option.Predictions{Type: "user", Arrays: []string{negative}, Classes: []string{"pred=label"}}, "negative.npy: row 2: found class -2"},
		{"classes of floats", "", option.Predictions{Type: "user", Arrays: []string{score}, Classes: []string{"score=label"}}, "score.npy: found float32 [10], expected one integer per row"},
		{"classes of times", "", option.Predictions{Type: "user", Arrays: []string{codes}, Classes: []string{"pred=at"}}, "found the column \"at\" of int64, expected one of categories"},
		{"classes of none", "", option.Predictions{Type: "user", Arrays: []string{codes}, Classes: []string{"pred=lable"}}, "found no column \"lable\" of node type user, expected one of at, label, name, split, x; did you mean \"label\"?"},
		{"classes of no array", "", option.Predictions{Type: "user", Arrays: []string{codes}, Classes: []string{"x=label"}}, "found `Classes` of \"x\", expected one of the names in `Arrays`"},
		{"no file", "", option.Predictions{Type: "user", Arrays: []string{"score"}}, "found `Arrays` \"score\", expected NAME=FILE.npy"},
		{"no array", "", option.Predictions{Type: "user"}, "found no `Arrays`"},
		{"type", "", option.Predictions{Type: "usr", Arrays: []string{score}}, "found no type \"usr\", expected one of none, user, user:links:user; did you mean \"user\"?"},
		{"no type", "", option.Predictions{Arrays: []string{score}}, "found no `Type`, expected the one that the arrays have rows of; give one of none, user, user:links:user"},
		{"edge type", "", option.Predictions{Type: "user:like:user", Arrays: []string{score}}, "found edge type \"user:like:user\", expected one of user:links:user"},
		{"column of the store", "", option.Predictions{Type: "user", Arrays: []string{score}, With: []string{"nam"}}, "`With`: found no column \"nam\""},
		{"condition", "", option.Predictions{Type: "user", Arrays: []string{score}, Rows: "fold=1"}, "`Rows`: found column \"fold\""},
		{"no value", "", option.Predictions{Type: "user", Arrays: []string{score}, Rows: "split"}, "found `Rows` \"split\", expected COLUMN=VALUE"},
		{"twice", "", option.Predictions{Type: "user", Arrays: []string{score}, With: []string{"name", "name"}}, "found two columns \"name\""},
		{"name of the ids", "", option.Predictions{Type: "user", Arrays: []string{score}, IDName: "score"}, "found two columns \"score\""},
		{"value of a vector", "v.csv", option.Predictions{Type: "user", Arrays: []string{strings.Replace(wide, "score", "e", 1), strings.Replace(score, "score", "e_0", 1)}}, "found two columns \"e_0\", one of them a value of a vector"},
		{"edge ids of nodes", "", option.Predictions{Type: "user", Arrays: []string{score}, EdgeIDs: true}, "found `EdgeIDs` with the nodes of type user"},
		{"id name of edges", "", option.Predictions{Type: "links", Arrays: []string{score}, IDName: "key"}, "found `IDName` with the edges of type user:links:user"},
		{"ending", "x.txt", option.Predictions{Type: "user", Arrays: []string{score}}, "expected a name that ends with .parquet, .arrow, .csv or .db"},
		{"folder", "no/x.csv", option.Predictions{Type: "user", Arrays: []string{score}}, "found no folder"},
		{"there", "there.csv", option.Predictions{Type: "user", Arrays: []string{score}}, "there.csv: exists; choose another `Out`"},
		{"table", "x.db", option.Predictions{Type: "user", Arrays: []string{score}}, "found no `Table` for the database"},
		{"table of a file", "x.csv", option.Predictions{Type: "user", Arrays: []string{score}, Table: "t"}, "found `Table` with `Out`"},
		{"columns of SQLite", "x.db", option.Predictions{Type: "user", Arrays: []string{wide}, Table: "t"}, "found 2002 columns, expected at most 2000 in a table of SQLite"},
		{"integers", "", option.Predictions{Type: "user", Arrays: []string{score}, IntegerIDs: true}, "found the id \"u0\" with `IntegerIDs`, expected integers of 64 bits"},
		{"pairs", "", option.Predictions{Type: "user:none", Arrays: []string{score}}, "found no `Nodes` with the pairs of types user:none"},
		{"shape of pairs", "", option.Predictions{Type: "user:user", Arrays: []string{score}, Nodes: work + "/two.npy"}, "two.npy: found float32 [2], expected integers [2, rows], the sources and the targets of pairs of user:user"},
		{"rows of pairs", "", option.Predictions{Type: "user:user", Arrays: []string{score}, Nodes: pairs}, "score.npy: found 10 rows, expected 3, one per row of"},
		{"target", "", option.Predictions{Type: "user:user", Arrays: []string{three}, Nodes: pairs}, "pairs.npy: row 2: found 10, expected 0 to 9, below the number of nodes of user"},
		{"nodes of no type", "", option.Predictions{Type: "user:none", Arrays: []string{three}, Nodes: pairs}, "pairs.npy: row 0: found 0, expected no row, as the number of nodes of none is 0"},
		{"memory", "", option.Predictions{Run: option.Run{Memory: 1 << 20}, Type: "user", Arrays: []string{score}}, "found `Memory` 1.00 MiB, expected at least"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.out == "" {
				c.out = "x.parquet"
			}
			_, err := graphmill.ExportPredictions(t.Context(), dir, filepath.Join(work, c.out), c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found error %v, expected %q", err, c.want)
			}
			if after, err := os.ReadDir(work); err != nil || len(after) != len(before) {
				t.Errorf("found %v, %v, expected nothing new", after, err)
			}
		})
	}
}

// Whichever call of the file system fails, and wherever the context ends, nothing is left but a whole file.
func TestPredictionsFaults(t *testing.T) {
	dir, work := people(t, 3000, strconv.Itoa), t.TempDir()
	nodes := make([]int64, 3000)
	for i := range nodes {
		nodes[i] = int64(i * 7 % 3000)
	}
	o := option.Predictions{Run: option.Run{Threads: 2}, Type: "user", Rows: "split=test", Nodes: writeNpy(t, work, "nodes.npy", "i8", []int{3000}, graph.Bytes(nodes)),
		Arrays: []string{"e=" + writeNpy(t, work, "e.npy", "f4", []int{3000, 64}, make([]byte, 3000*256))}, With: []string{"name"}}
	for _, name := range []string{"p.parquet", "p.csv", "p.arrow"} {
		failPredictions(t, dir, name, o)
	}
}

// failPredictions writes a table with each call of the file system failing in turn, and with a context that is cancelled.
func failPredictions(t *testing.T, dir, name string, o option.Predictions) {
	t.Helper()
	disk := vfs.OS
	t.Cleanup(func() { vfs.OS = disk })
	broken := errors.New("disk full")
	run := func(ctx context.Context, fsys vfs.FS, out string) error {
		vfs.OS = fsys
		_, err := graphmill.ExportPredictions(ctx, dir, out, o)
		vfs.OS = disk
		return err
	}
	count := &vfs.Fault{FS: vfs.Unsynced{FS: disk}}
	whole := filepath.Join(t.TempDir(), name)
	if err := run(t.Context(), count, whole); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(1); at <= count.Calls(); at++ {
		folder := t.TempDir()
		out := filepath.Join(folder, name)
		err := run(t.Context(), &vfs.Fault{FS: vfs.Unsynced{FS: disk}, FailAt: at, Err: broken, Short: at%2 == 0}, out)
		got, failed := os.ReadFile(out)
		left, _ := os.ReadDir(folder)
		switch {
		case err == nil, errors.Is(err, graphmill.ErrWhole):
			if failed != nil || !bytes.Equal(got, want) || len(left) != 1 {
				t.Errorf("%s, call %d: found error %v and %d files, expected the whole file", name, at, err, len(left))
			}
		case !errors.Is(err, broken):
			t.Errorf("%s, call %d: found error %v, expected %v", name, at, err, broken)
		case len(left) > 0:
			t.Errorf("%s, call %d: found %v after the error %v", name, at, left, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	folder := t.TempDir()
	if err := run(ctx, disk, filepath.Join(folder, name)); !errors.Is(err, context.Canceled) {
		t.Errorf("found error %v, expected context.Canceled", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("found %v, %v, expected an empty folder", left, err)
	}
}

// A table is sent to a bucket whole, and an existing one is kept.
func TestPredictionsIntoBucket(t *testing.T) {
	dir, work := people(t, 100, strconv.Itoa), t.TempDir()
	server := objectstest.New(t, "bucket")
	o := option.Predictions{Type: "user", Arrays: []string{"score=" + writeNpy(t, work, "score.npy", "f4", []int{100}, make([]byte, 400))}}
	for _, name := range []string{"p.parquet", "p.csv"} {
		for _, out := range []string{filepath.Join(work, name), "s3://bucket/tables/" + name} {
			if _, err := graphmill.ExportPredictions(t.Context(), dir, out, o); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(filepath.Join(work, name))
		if got, there := server.Get("bucket/tables/" + name); err != nil || !there || !bytes.Equal(got, want) {
			t.Errorf("%s: found %d bytes in the bucket, %v, expected %d", name, len(got), err, len(want))
		}
		if _, err := graphmill.ExportPredictions(t.Context(), dir, "s3://bucket/tables/"+name, o); !errors.Is(err, graphmill.ErrExists) {
			t.Errorf("%s: found %v, expected ErrExists", name, err)
		}
	}
	again := o
	again.Overwrite = true
	if _, err := graphmill.ExportPredictions(t.Context(), dir, "s3://bucket/tables/p.csv", again); err != nil {
		t.Error(err)
	}
	emb := writeNpy(t, work, "emb.npy", "f4", []int{100, 2}, make([]byte, 800))
	if _, err := graphmill.ExportPredictions(t.Context(), dir, "s3://bucket/tables/top.csv", option.Predictions{Type: "user:user", Top: 2, SourceEmbeddings: emb, TargetEmbeddings: emb}); err != nil {
		t.Error(err)
	}
	if got, _ := server.Get("bucket/tables/top.csv"); !bytes.HasPrefix(got, []byte("source,target,rank,score\n0,1,1,0\n0,2,2,0\n1,0,1,0\n")) {
		t.Errorf("found %.60q in the bucket", got)
	}
	if names := server.Names(); len(names) != 3 {
		t.Errorf("found %q in the bucket, expected three tables", names)
	}
}
