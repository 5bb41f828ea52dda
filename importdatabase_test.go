package graphmill_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"
	_ "modernc.org/sqlite" // the driver sqlite

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// sqliteOf makes a file of SQLite by statements.
func sqliteOf(t *testing.T, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return path
}

var orders = []string{
	"CREATE TABLE people(id INTEGER PRIMARY KEY, age INTEGER)",
	"CREATE TABLE orders(id INTEGER PRIMARY KEY, person INTEGER REFERENCES people(id), at TIMESTAMP NOT NULL, price REAL NOT NULL)",
	"INSERT INTO people VALUES (7, 30), (3, NULL)",
	"INSERT INTO orders VALUES (5, 7, '2024-01-02', 1.5), (4, 3, '2024-01-01', 2), (6, 7, '2024-01-03', 4)",
}

// A database becomes the graph of its foreign keys, with times on nodes and edges, and nothing else is left in the folder.
func TestImportDatabase(t *testing.T) {
	defer goleak.VerifyNone(t)
	out := filepath.Join(t.TempDir(), "g.store")
	st, err := graphmill.Import(t.Context(), "sqlite:"+sqliteOf(t, orders...), out, option.Import{TimeColumn: []string{"orders.at"}})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	g := st.Graph()
	people, ordersOf := g.Nodes[g.NodeType("people")], g.Nodes[g.NodeType("orders")]
	if ids := graph.View[uint64](people.IDs.Values); !reflect.DeepEqual(ids, []uint64{3, 7}) {
		t.Errorf("found the people %d, expected those of the keys, ascending", ids)
	}
	at := graph.FindColumn(ordersOf.Columns, "at")
	if times := graph.View[int64](at.Values); at.Unit != "s" || !reflect.DeepEqual(times, []int64{1704067200, 1704153600, 1704240000}) {
		t.Errorf("found the times %d in %s, expected those of the orders 4, 5 and 6 in s", times, at.Unit)
	}
	for name, want := range map[string][][2]uint32{"orders:person:people": {{0, 0}, {1, 1}, {2, 1}}, "people:rev_person:orders": {{0, 0}, {1, 1}, {1, 2}}} {
		i, err := g.EdgeType(name)
		if err != nil {
			t.Fatal(err)
		}
		e := g.Edges[i]
		adj, found := e.Adj[e.Primary], [][2]uint32{}
		for v := range uint32(adj.Indptr.Len() - 1) {
			for p := adj.Indptr.At(int(v)); p < adj.Indptr.At(int(v)+1); p++ {
				found = append(found, [2]uint32{uint32(adj.Far.At(int(p))), v})
			}
		}
		if !reflect.DeepEqual(found, want) || graph.FindColumn(e.Columns, "at") == nil {
			t.Errorf("%s: found the edges %v, expected %v with times", name, found, want)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 {
		t.Errorf("found %v, %v, expected the store alone", left, err)
	}
}

// A failed import leaves nothing, and its error names the table of the database.
func TestImportDatabaseFails(t *testing.T) {
	defer goleak.VerifyNone(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx        context.Context
		statements []string
		o          option.Import
		want       string
	}{
		{t.Context(), append(orders[:4:4], "INSERT INTO orders VALUES (9, 99, '2024-01-01', 1)"), option.Import{}, "shop.db, table orders, line 5 of its copy in the order of the key: found destination 99, expected an id of node type people"},
		{t.Context(), append(orders[:4:4], "UPDATE orders SET price = 'dear'"), option.Import{}, `table orders, line 2 of its copy in the order of the key: found "dear" in column "price"`},
		{t.Context(), orders, option.Import{Columns: "a,b"}, "found `Columns` with a database"},
		{t.Context(), orders, option.Import{TimeColumn: []string{"orders.when"}}, "found the time \"orders.when\""},
		{cancelled, orders, option.Import{}, "context canceled"},
	} {
		dir := t.TempDir()
		_, err := graphmill.Import(c.ctx, "sqlite:"+sqliteOf(t, c.statements...), filepath.Join(dir, "g.store"), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), ".tables") {
			t.Errorf("found error %v, expected %q", err, c.want)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("found %v, %v, expected an empty folder", left, err)
		}
	}
	in := sqliteOf(t, orders...)
	if _, err := graphmill.Import(t.Context(), "sqlite:"+in, filepath.Dir(in), option.Import{}); !errors.Is(err, graphmill.ErrUsage) {
		t.Errorf("found error %v, expected one about an output that contains the database", err)
	}
	t.Chdir(t.TempDir())
	if _, err := graphmill.Import(t.Context(), "postgres://me@127.0.0.1:1/db", "", option.Import{}); !errors.Is(err, graphmill.ErrUsage) {
		t.Errorf("found error %v, expected one about no output", err)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("found %v, %v, expected an empty folder", left, err)
	}
	if _, err := os.Stat(in); errors.Is(err, fs.ErrNotExist) {
		t.Error("found no database any more")
	}
}

// A second run on an output fails, and leaves the files of the first.
func TestImportDatabaseTwice(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, ".g.store.tables")
	file := filepath.Join(first, "people.csv")
	if err := errors.Join(os.Mkdir(first, 0o700), os.WriteFile(file, []byte("id\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	unlock, err := vfs.OS.Lock(first)
	if err != nil {
		t.Fatal(err)
	}
	in, out := "sqlite:"+sqliteOf(t, orders...), filepath.Join(dir, "g.store")
	if _, err := graphmill.Import(t.Context(), in, out, option.Import{}); err == nil || !strings.Contains(err.Error(), "another run is writing it") {
		t.Errorf("found error %v, expected one about another run", err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("found %v, expected the file of the first run", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	st, err := graphmill.Import(t.Context(), in, out, option.Import{})
	if err != nil {
		t.Fatalf("found error %v, expected that files of a run that was killed are in nobody's way", err)
	}
	defer st.Close()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("found %v, %v, expected the store alone", left, err)
	}
}

// A report shows of the address of a database no more than host, port, user and database.
func TestReportHidesAddresses(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "e.csv"), filepath.Join(dir, "g.store")
	if err := os.WriteFile(in, []byte("src,dst\n0,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := option.Import{}
	o.CommandLine = []string{"graphmill", "import", "postgres://me@h:5/db?sslpassword=secret&sslkey=secret", "--out", out}
	if _, err := graphmill.Import(t.Context(), in, out, o); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report.json", "report.html"} {
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !strings.Contains(string(b), "postgres://me@h:5/db") || strings.Contains(string(b), "secret") {
			t.Errorf("%s: found %v and a text with secret %t, expected postgres://me@h:5/db", name, err, strings.Contains(string(b), "secret"))
		}
	}
}
