package database

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The result of a query is sorted by all its columns, and its columns have the types that the database declares.
func TestQuery(t *testing.T) {
	path := file(t, append(slices.Clone(shop), "CREATE VIEW seen AS SELECT rid, stars FROM reviews", "CREATE TABLE n(x TEXT COLLATE NOCASE)", "INSERT INTO n VALUES ('b'), ('a'), ('B')")...)
	s, err := Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		query, want string
		dtypes      []graph.DType
		note        string
	}{
		{"SELECT rid AS id, stars, photo, at FROM reviews ORDER BY id DESC;", "\"id\",\"stars\",\"at\"\n1,4,2021-01-02T00:00:00Z\n2,1,2021-01-03T00:00:00Z\n3,5,2021-01-01T00:00:00Z\n",
			[]graph.DType{graph.Int64, graph.Int64, graph.Invalid}, "column photo of BLOB is left out: expected numbers, bools, texts or times"},
		{"SELECT stars FROM seen ORDER BY rid -- all", "\"stars\",\"#row\"\n1,1\n4,1\n5,1\n", []graph.DType{graph.Int64}, ""},
		{"SELECT vip, price FROM users JOIN items ON sku = 'a'", "\"vip\",\"price\"\n,1\nfalse,1\ntrue,1\n", []graph.DType{graph.Bool, graph.Float64}, ""},
		{"SELECT x FROM n", "\"x\",\"#row\"\n\"B\",1\n\"a\",1\n\"b\",1\n", []graph.DType{graph.String}, ""},
		{"VALUES (1.0, 'x;'), (1, ''), (NULL, '--')", "\"column1\",\"column2\"\n,\"--\"\n1,\"\"\n1,\"x;\"\n", []graph.DType{graph.Invalid, graph.Invalid}, ""},
		{"WITH RECURSIVE i(n) AS (SELECT 2 UNION ALL SELECT n - 1 FROM i WHERE n > 1) SELECT n, n AS m FROM i", "\"n\",\"m\"\n1,1\n2,2\n", []graph.DType{graph.Invalid, graph.Invalid}, ""},
		{"SELECT id, name FROM users WHERE id > 90 /* none */ ;\n", "\"id\",\"name\"\n", []graph.DType{graph.Int64, graph.String}, ""},
	} {
		out := filepath.Join(t.TempDir(), "q.csv")
		r, err := s.Query(t.Context(), vfs.OS, out, c.query, nil)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var dtypes []graph.DType
		for _, col := range r.Columns {
			dtypes = append(dtypes, col.DType)
		}
		if string(text) != c.want || !slices.Equal(dtypes, c.dtypes) {
			t.Errorf("%s: found\n%s of %v, expected\n%s of %v", c.query, text, dtypes, c.want, c.dtypes)
		}
		if strings.Join(r.Notes, "\n") != c.note {
			t.Errorf("%s: found notes %q, expected %q", c.query, r.Notes, c.note)
		}
	}
}

// The rows after a mark are those after it in the order of all rows, whatever the column compares by, and every row is in one of the results.
func TestMark(t *testing.T) {
	path := file(t, "CREATE TABLE n(x TEXT COLLATE NOCASE, y INTEGER)", "INSERT INTO n VALUES ('b', 1), ('a', 2), ('B', 3), ('', 4), ('é', 5)")
	s, err := Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for after, want := range map[string]string{"": `"",4 "B",3 "a",2 "b",1 "é",5 `, "B": `"a",2 "b",1 "é",5 `, "a": `"b",1 "é",5 `, "é": ""} {
		out := filepath.Join(t.TempDir(), "q.csv")
		r, err := s.Query(t.Context(), vfs.OS, out, "SELECT y, x FROM n", &Mark{"x", after})
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
			y, x, _ := strings.Cut(line, ",")
			got += x + "," + y + " "
		}
		if last := map[bool]string{true: "", false: "é"}[want == ""]; got != want || r.Last != last {
			t.Errorf("after %q: found the rows %s and the mark %q, expected %s and %q", after, got, r.Last, want, last)
		}
	}
}

// No text that oneSelect takes reaches beyond the SELECT around it, not even on a connection that can write.
func TestOneSelect(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE t(x)"); err != nil {
		t.Fatal(err)
	}
	tokens := []string{"SELECT 1", ";", "DROP TABLE t", "'", "\"", "`", "[", "]", "(", ")", "--", "/*", "*/", "\n", " AS q ", "SELECT * FROM (", "1", "$a", "\\", ") LIMIT 0;DROP TABLE t;SELECT * FROM (SELECT 1", " "}
	rapid.Check(t, func(r *rapid.T) {
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(tokens), 1, 12).Draw(r, "tokens"), "")
		if oneSelect(query) != nil {
			return
		}
		if rows, err := db.Query("SELECT * FROM " + (&relation{query: query}).from() + " LIMIT 0"); err == nil {
			rows.Close()
		}
		var n int
		if err := db.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil {
			r.Fatalf("%q: %v", query, err)
		}
	})
}
