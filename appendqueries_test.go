package graphmill_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// shopDatabase makes a database whose tables grow, with a graph.yaml of queries with marks beside it.
func shopDatabase(t *testing.T, dir string) (grow func(statements ...string), yaml string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	grow = func(statements ...string) {
		t.Helper()
		for _, s := range statements {
			if _, err := db.ExecContext(context.Background(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	grow("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, born INTEGER)", "CREATE TABLE orders (at DATETIME, person INTEGER, item TEXT, price REAL)")
	yaml = filepath.Join(dir, "graph.yaml")
	text := `source: sqlite:shop.db
nodes:
  person: {query: "SELECT * FROM people", mark: id, id: {column: id, dtype: string}, columns: {name: string, born: int64}}
  item: {}
edges:
  person:orders:item: {query: "SELECT * FROM orders", mark: at, src: {column: person, dtype: string}, dst: item, columns: {price: float64, at: "datetime[s]"}}
`
	if err := os.WriteFile(yaml, []byte(strings.ReplaceAll(text, "src: {column: person, dtype: string}", "src: person")), 0o644); err != nil {
		t.Fatal(err)
	}
	return grow, yaml
}

// A store that appends the new rows of queries, by their marks, is the one that an import of all rows makes, whatever came when.
func TestAppendQueries(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir := t.TempDir()
			grow, yaml := shopDatabase(t, dir)
			r := rand.New(rand.NewPCG(seed, 1))
			ctx, in, people, minute := context.Background(), filepath.Join(dir, "g.store"), 0, 0
			run := option.Run{NoReport: true}
			more := func(least int) {
				for range least + r.IntN(4) {
					people += 1 + r.IntN(3)
					grow(fmt.Sprintf("INSERT INTO people VALUES (%d, 'p%d', %d)", people, r.IntN(9), 1950+r.IntN(50)))
				}
				for range least + r.IntN(6) {
					minute += r.IntN(2) // several orders of a minute come at once
					grow(fmt.Sprintf("INSERT INTO orders SELECT '2026-01-01T%02d:%02d:00', id, 'item %d', %d.5 FROM people ORDER BY random() LIMIT 1", minute/60, minute%60, r.IntN(5), r.IntN(9)))
				}
				minute++
			}
			more(1)
			s, err := graphmill.Import(ctx, yaml, in, option.Import{Build: option.Build{Run: run}})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				if i != 2 { // once nothing is new
					more(0)
				}
				o := option.Append{Run: run}
				source := yaml
				if i == 3 {
					source, o.Follow = "", yaml
				}
				if _, err := graphmill.Append(ctx, in, source, o); err != nil {
					t.Fatal(err)
				}
				if i == 1 {
					if _, err := graphmill.Compact(ctx, in, run); err != nil {
						t.Fatal(err)
					}
				}
			}
			whole, err := graphmill.Import(ctx, yaml, filepath.Join(dir, "whole.store"), option.Import{Build: option.Build{Run: run}})
			if err != nil {
				t.Fatal(err)
			}
			if err := whole.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := store.OpenMerged(vfs.OS, in, -1)
			if err != nil {
				t.Fatal(err)
			}
			want, err := store.Open(vfs.OS, filepath.Join(dir, "whole.store"))
			if err != nil {
				t.Fatal(err)
			}
			sameGraph(t, got.Graph, want.Graph)
			if g, w := got.Meta.History().LastMarks(), want.Meta.Made.Marks; !maps.Equal(g, w) || len(w) != 2 {
				t.Errorf("found the marks %v, expected %v", g, w)
			}
			if err := errors.Join(got.Close(), want.Close()); err != nil {
				t.Fatal(err)
			}
			left, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range left {
				if strings.HasPrefix(e.Name(), ".") {
					t.Errorf("found %s after the appends, expected nothing left", e.Name())
				}
			}
		})
	}
}

// Queries that do not say what is new are refused, and the store stays as it was.
func TestAppendQueriesErrors(t *testing.T) {
	dir := t.TempDir()
	grow, yaml := shopDatabase(t, dir)
	grow("INSERT INTO people VALUES (1, 'ann', 1990)", "INSERT INTO orders VALUES ('2026-01-01', 1, 'tea', 2.5)")
	in := filepath.Join(dir, "g.store")
	s, err := graphmill.Import(t.Context(), yaml, in, option.Import{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(yaml)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"no mark":       {"mark: id, ", "", "graph.yaml:3:12: query of person: found a query without a mark, expected mark: COLUMN in an append"},
		"no column":     {"mark: id", "mark: number", `found no column "number" in the result of a query, expected it, because it is the mark`},
		"no query":      {`query: "SELECT * FROM people", mark: id, `, "mark: id, ", "found a mark of person without a query"},
		"floats":        {"mark: at", "mark: price", `found the mark "price" of REAL, expected a column of whole numbers, times or texts`},
		"empty marks":   {"SELECT * FROM people", "SELECT 5 AS id, 'x' AS name, 1 AS born UNION ALL SELECT NULL, 'y', 2", `found 1 rows with an empty "id"`},
		"quoted":        {"SELECT * FROM people", "SELECT 'it''s' AS id, 'x' AS name, 1 AS born", `found the mark "it's", expected one without quotes`},
		"an older node": {"SELECT * FROM people", "SELECT id + 1 AS n, * FROM people", `found the id "1", which a node of type person in the store has`},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(string(text), c.old, c.new, 1)
			if name == "an older node" {
				changed = strings.Replace(changed, "mark: id", "mark: n", 1)
			}
			if err := os.WriteFile(yaml, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := graphmill.Append(t.Context(), in, yaml, option.Append{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected %s", err, c.want)
			}
		})
	}
}

// The marks in a graph.yaml are kept with the rows, and with changes of rows. The last mark of a type counts.
func TestMarksOfAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	yaml, out := filepath.Join(dir, "graph.yaml"), filepath.Join(dir, "g.store")
	edges := "edges:\n  person:knows:person: {table: knows.csv, src: src, dst: dst}\n"
	write := func(rows, marks string) {
		t.Helper()
		for name, text := range map[string]string{
			"people.csv": "id,age\n" + rows,
			"graph.yaml": "nodes:\n  person: {table: people.csv, id: id, columns: {age: int64}}\n" + edges + "marks: " + marks + "\n",
			"knows.csv":  "src,dst\nann,bob\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := func(marks map[string]string) {
		t.Helper()
		made, err := store.ReadMade(vfs.OS, out)
		if err != nil {
			t.Fatal(err)
		}
		if got := made.LastMarks(); !maps.Equal(got, marks) {
			t.Errorf("found the marks %v, expected %v", got, marks)
		}
	}
	ctx := context.Background()
	write("ann,1\nbob,2\n", "{person: first, other: 7}")
	if _, err := graphmill.Import(ctx, dir, out, option.Import{}); err != nil {
		t.Fatal(err)
	}
	want(map[string]string{"person": "first", "other": "7"})
	edges = ""
	write("cid,3\n", "{person: second}")
	if _, err := graphmill.Append(ctx, out, yaml, option.Append{}); err != nil {
		t.Fatal(err)
	}
	want(map[string]string{"person": "second", "other": "7"})
	write("cid,4\n", "{person: third}")
	if _, err := graphmill.Append(ctx, out, "", option.Append{Change: yaml}); err != nil {
		t.Fatal(err)
	}
	want(map[string]string{"person": "third", "other": "7"})
	for text, message := range map[string]string{"third": "expected", "{person: [1]}": "expected a mark"} {
		write("dan,5\n", text)
		if _, err := graphmill.Append(ctx, out, yaml, option.Append{}); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("marks: %s: found %v, expected an error with %q", text, err, message)
		}
	}
	want(map[string]string{"person": "third", "other": "7"})
}
