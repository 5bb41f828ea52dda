package graphmill_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/option"
)

// asking makes a folder with shop.db and a graph.yaml, and returns the path of the latter.
func asking(t *testing.T, yaml string, statements ...string) string {
	t.Helper()
	file := sqliteOf(t, statements...)
	path := filepath.Join(filepath.Dir(file), "graph.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const buys = `source: sqlite:shop.db
nodes:
  people: {query: "SELECT id, age, printf('%03d', id) AS code FROM people;", id: id, columns: {age: {dtype: int32, missing: -1}, code: string}}
  orders: {query: "SELECT id AS number, person, price FROM orders", id: number}
edges:
  orders:of:people: {query: "SELECT id AS number, person, price FROM orders", dst: person, reverse: made}
  people:again:people:
    query: |
      SELECT a.person AS src, b.person AS dst, count(*) AS times -- pairs
      FROM orders a JOIN orders b ON a.id < b.id GROUP BY 1, 2
`

// Queries become tables, in the order of their columns, with the types of the database, and nothing else is left.
func TestImportQueries(t *testing.T) {
	defer goleak.VerifyNone(t)
	out := filepath.Join(t.TempDir(), "g.store")
	in := asking(t, buys, orders...)
	st, err := graphmill.Import(t.Context(), in, out, option.Import{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	g := st.Graph()
	people := g.Nodes[g.NodeType("people")]
	if ids := graph.View[int32](graph.FindColumn(people.Columns, "age").Values); !reflect.DeepEqual(ids, []int32{-1, 30}) {
		t.Errorf("found the ages %d, expected those of the people 3 and 7", ids)
	}
	if c := graph.FindColumn(g.Nodes[g.NodeType("orders")].Columns, "price"); c == nil || c.DType != graph.Float64 {
		t.Errorf("found the column %v, expected a float64, as the database declares it", c)
	}
	for name, want := range map[string]int{"orders:of:people": 3, "people:made:orders": 3, "people:again:people": 2} {
		i, err := g.EdgeType(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := g.Edges[i].Count; n != want {
			t.Errorf("%s: found %d edges, expected %d", name, n, want)
		}
	}
	d, err := st.Describe()
	if err != nil {
		t.Fatal(err)
	}
	if from := d.Made.Options["databases"]; from != "sqlite:"+filepath.Join(filepath.Dir(in), "shop.db") {
		t.Errorf("found %q as the databases of the store, expected shop.db", from)
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 {
		t.Errorf("found %v, %v, expected the store alone", left, err)
	}
}

// A query that fails leaves nothing, and its error names graph.yaml and the type. Nothing that it contains changes the database.
func TestImportQueriesFail(t *testing.T) {
	defer goleak.VerifyNone(t)
	const tail = "\nedges:\n  p:e:p: {query: \"SELECT id AS src, id AS dst FROM people\"}\n"
	query := func(q string) string { return "source: sqlite:shop.db\nnodes:\n  p: {query: \"" + q + "\"}" + tail }
	for _, c := range []struct{ yaml, want string }{
		{"nodes:\n  p: {query: SELECT 1}" + tail, "graph.yaml:2:7: found the query of p without a source, expected the database that it asks; write source: sqlite:FILE"},
		{"source: mysql://me:secret@h/db\nnodes: {p: {}}" + tail, "graph.yaml:1:9: found a source that is no address of a database"},
		{"source: postgres://me:secret@h/db\nnodes: {p: {}}" + tail, "graph.yaml:1:9: found a source on a server"},
		{"source: sqlite:../shop.db\nnodes: {p: {}}" + tail, "expected one within"},
		{"source: sqlite:gone.db\nnodes: {p: {}}" + tail, "found no such file"},
		{"nodes: {p: {table: a.csv, source: \"sqlite:shop.db\"}}" + tail, "found a source of p without a query"},
		{"source: sqlite:shop.db\nnodes: {p: {table: a.csv, query: SELECT 1}}" + tail, "found a table and a query of p, expected one of them"},
		{"source: sqlite:shop.db\nnodes: {p: {query: SELECT 1, names: [id]}}" + tail, "found names, header or delimiter with the query of p"},
		{"source: sqlite:shop.db\nnodes: {p: {query: \"\"}}" + tail, "found an empty query of p"},
		{"source: sqlite:shop.db\ngraphs: {}\nnodes: {p: {}}" + tail, "found a source of many graphs"},
		{"graphs: {}\nnodes: {p: {query: SELECT 1}}" + tail, "found a query of many graphs"},
		{"source: sqlite:shop.db\nnodes: {p: {query: SELECT 1, id FROM people}}" + tail, "found the key \"id FROM people\", expected one of id, count, table, source, query, mark, columns, names, delimiter, header, missing_texts, features; put quotes around a text with commas"},
		{query("SELEC 1"), "graph.yaml:3:7: query of p: sqlite:"},
		{query("SELECT 1; DROP TABLE people"), "query of p: sqlite:"},
		{query("SELECT 1) AS q; DROP TABLE people; SELECT * FROM (SELECT 1"), "nothing opens or closes"},
		{query("SELECT 1 /*"), "nothing opens or closes"},
		{query("SELECT (1"), "found a bracket in a query that nothing closes"},
		{query("UPDATE people SET age = 1 RETURNING id"), "syntax error"},
		{query("WITH d AS (DELETE FROM people RETURNING id) SELECT id FROM d"), "syntax error"},
		{query("PRAGMA writable_schema = 1"), "syntax error"},
		{query("ATTACH 'other.db' AS o"), "syntax error"},
		{query("VACUUM INTO 'other.db'"), "syntax error"},
		{query("SELECT ? AS id"), "found a parameter \"?\" in a query"},
		{query("SELECT id, id FROM people"), "found two columns"},
		{query("SELECT x'00' AS id"), "row 1 of the result in its order, column id: found 1 bytes"},
		{query("SELECT abs(id - 9223372036854775807 - 8) AS id FROM people"), "integer overflow"},
		{query("SELECT id, age FROM people"), "graph.yaml:3:7: query of p, line 2 of its copy in the order of its columns: found \"\" in column \"age\""},
	} {
		in := asking(t, c.yaml, orders...)
		before, err := os.ReadFile(filepath.Join(filepath.Dir(in), "shop.db"))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		_, err = graphmill.Import(t.Context(), in, filepath.Join(dir, "g.store"), option.Import{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), ".tables") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: found error %v, expected %q", c.yaml, err, c.want)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: found %v, %v, expected an empty folder", c.yaml, left, err)
		}
		if after, err := os.ReadFile(filepath.Join(filepath.Dir(in), "shop.db")); err != nil || string(after) != string(before) {
			t.Errorf("%s: found a database that changed, %v", c.yaml, err)
		}
		if in, err := os.ReadDir(filepath.Dir(in)); err != nil || len(in) != 2 {
			t.Errorf("%s: found %v, %v, expected the database and graph.yaml", c.yaml, in, err)
		}
	}
	in := asking(t, "source: postgres://me:secret@h/db\nnodes: {p: {}}"+tail, orders...)
	_, err := graphmill.Import(t.Context(), in, filepath.Join(t.TempDir(), "g.store"), option.Import{AllowOutside: true})
	if err == nil || !strings.Contains(err.Error(), "found a password in the address") || strings.Contains(err.Error(), "secret") {
		t.Errorf("found error %v, expected one about the password", err)
	}
}
