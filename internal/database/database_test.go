package database

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// file makes a file of SQLite by statements.
func file(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "it's 100%.db")
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

// shop has keys of integers and texts, nulls, a table of two foreign keys, a table that refers to itself, and a column that no
// store can have. The same tables are in python/tests/test_databases.py.
var shop = []string{
	`CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, age INTEGER, score REAL, vip BOOLEAN, joined TIMESTAMP)`,
	`CREATE TABLE items(sku TEXT PRIMARY KEY, price REAL NOT NULL)`,
	`CREATE TABLE reviews(rid INTEGER PRIMARY KEY, "user" INTEGER REFERENCES users(id), item TEXT REFERENCES items, stars INT NOT NULL, at TIMESTAMP, photo BLOB)`,
	`CREATE TABLE likes("user" INTEGER REFERENCES users(id), item TEXT REFERENCES items(sku), weight REAL NOT NULL)`,
	`CREATE TABLE managers(id INTEGER PRIMARY KEY, boss INTEGER REFERENCES managers(id))`,
	`INSERT INTO users VALUES (10, 'ann', NULL, 1.5, 1, '2020-01-01'), (20, 'bo "x", y', 30, NULL, 0, '2020-02-01 10:00:00'), (5, 'c' || char(10) || 'd', 40, 2.25, NULL, NULL)`,
	`INSERT INTO items VALUES ('b', 2.5), ('a', 1)`,
	`INSERT INTO reviews VALUES (3, 10, 'a', 5, '2021-01-01', x'00'), (1, 20, 'b', 4, '2021-01-02', NULL), (2, NULL, 'b', 1, '2021-01-03', NULL)`,
	`INSERT INTO likes VALUES (10, 'b', 2), (5, 'a', 1)`,
	`INSERT INTO managers VALUES (1, NULL), (2, 1), (3, 1)`,
}

// extract is the files of a database, and what Extract says of it.
func extract(t *testing.T, path string, o Options) (map[string]string, *Extracted, error) {
	t.Helper()
	s, err := Open(t.Context(), "sqlite:"+path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	dir, files := t.TempDir(), map[string]string{}
	e, err := s.Extract(t.Context(), vfs.OS, dir, o)
	if err != nil {
		return nil, nil, err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name()] = string(b)
	}
	return files, e, nil
}

func TestExtract(t *testing.T) {
	files, e, err := extract(t, file(t, shop...), Options{Times: []string{"reviews.at", "users.joined"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"users.csv":    "\"id\",\"name\",\"age\",\"score\",\"vip\",\"joined\"\n5,\"c\nd\",40,2.25,,\n10,\"ann\",,1.5,true,2020-01-01T00:00:00Z\n20,\"bo \"\"x\"\", y\",30,,false,2020-02-01T10:00:00Z\n",
		"items.csv":    "\"sku\",\"price\"\n\"a\",1\n\"b\",2.5\n",
		"reviews.csv":  "\"rid\",\"user\",\"item\",\"stars\",\"at\"\n1,20,\"b\",4,2021-01-02T00:00:00Z\n2,,\"b\",1,2021-01-03T00:00:00Z\n3,10,\"a\",5,2021-01-01T00:00:00Z\n",
		"likes.csv":    "\"user\",\"item\",\"weight\"\n5,\"a\",1\n10,\"b\",2\n",
		"managers.csv": "\"id\",\"boss\"\n1,\n2,1\n3,1\n",
		GraphFile: `nodes:
  "items":
    table: "items.csv"
    id: {column: "sku", dtype: string}
    columns:
      "price": {dtype: float64}
  "managers":
    table: "managers.csv"
    id: {column: "id", dtype: integer}
    columns: {}
  "reviews":
    table: "reviews.csv"
    id: {column: "rid", dtype: integer}
    columns:
      "stars": {dtype: int64}
      "at": {dtype: datetime}
  "users":
    table: "users.csv"
    id: {column: "id", dtype: integer}
    columns:
      "name": {dtype: string}
      "age": {dtype: int64, missing: column}
      "score": {dtype: float64, missing: nan}
      "vip": {dtype: bool, missing: column}
      "joined": {dtype: datetime}
edges:
  "users:likes:items":
    table: "likes.csv"
    src: "user"
    dst: "item"
    reverse: "rev_likes"
    columns:
      "weight": {dtype: float64}
  "managers:boss:managers":
    table: "managers.csv"
    dst: "boss"
    reverse: "rev_boss"
    columns: {}
  "reviews:user:users":
    table: "reviews.csv"
    dst: "user"
    reverse: "rev_user"
    columns:
      "at": {dtype: datetime}
  "reviews:item:items":
    table: "reviews.csv"
    dst: "item"
    reverse: "rev_item"
    columns:
      "at": {dtype: datetime}
`}
	for name, text := range want {
		if files[name] != text {
			t.Errorf("%s: found\n%s\nexpected\n%s", name, files[name], text)
		}
	}
	if len(files) != len(want) || e.Rows != 13 {
		t.Errorf("found %d files and %d rows, expected %d and 13", len(files), e.Rows, len(want))
	}
	if notes := []string{"table reviews: column photo of BLOB is left out: expected numbers, bools, texts or times"}; !slices.Equal(e.Notes, notes) {
		t.Errorf("found notes %q, expected %q", e.Notes, notes)
	}
}

// Any texts and numbers come back from the file of a table, in the order of the key.
func TestCells(t *testing.T) {
	type row struct {
		key  int64
		text *string
		real *float64
	}
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.SliceOfNDistinct(rapid.Custom(func(r *rapid.T) row {
			text := strings.ReplaceAll(rapid.String().Draw(r, "text"), "\x00", "")
			x := row{key: rapid.Int64().Draw(r, "key")}
			if rapid.IntRange(0, 3).Draw(r, "null") > 0 {
				x.text = &text
			}
			if v := rapid.Float64().Draw(r, "real"); rapid.Bool().Draw(r, "has") {
				x.real = &v
			}
			return x
		}), 1, 20, func(x row) int64 { return x.key }).Draw(r, "rows")
		path := file(t, `CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT, real REAL)`)
		db, err := sql.Open("sqlite", path)
		if err != nil {
			r.Fatal(err)
		}
		for _, x := range rows {
			if _, err := db.Exec("INSERT INTO t VALUES (?, ?, ?)", x.key, x.text, x.real); err != nil {
				r.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			r.Fatal(err)
		}
		s, err := openSQLite(context.Background(), path)
		if err != nil {
			r.Fatal(err)
		}
		defer s.close()
		tables, err := s.tables(context.Background())
		if err != nil {
			r.Fatal(err)
		}
		var b bytes.Buffer
		n, err := s.copy(context.Background(), &b, &tables[0], tables[0].columns, tables[0].key)
		if err != nil || n != int64(len(rows)) {
			r.Fatalf("found %d rows and error %v, expected %d", n, err, len(rows))
		}
		slices.SortFunc(rows, func(a, b row) int {
			if a.key < b.key {
				return -1
			}
			return 1
		})
		found, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
		if err != nil {
			r.Fatal(err)
		}
		for i, x := range rows {
			text, real := "", ""
			if x.text != nil {
				text = strings.ReplaceAll(*x.text, "\r\n", "\n") // as package csv reads them
			}
			if x.real != nil {
				real = string(must(appendCell(nil, float, *x.real+0))) // SQLite has no -0
			}
			if want := []string{fmt.Sprint(x.key), text, real}; !slices.Equal(found[i+1], want) {
				r.Fatalf("row %d: found %q, expected %q", i, found[i+1], want)
			}
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// What cannot become a graph is named, and no password is in any error.
func TestRefused(t *testing.T) {
	with := func(more ...string) string { return file(t, append(slices.Clone(shop), more...)...) }
	for _, c := range []struct {
		address string
		times   []string
		want    string
		usage   bool
	}{
		{"sqlite:nothing.db", nil, "sqlite:nothing.db: found no such file, expected one of SQLite", false},
		{"sqlite:" + t.TempDir(), nil, "found a folder or a device, expected a file of SQLite", false},
		{"sqlite:" + file(t, "PRAGMA user_version = 3"), nil, "found no table, expected some", false},
		{"sqlite:" + file(t, "CREATE TABLE a(id INTEGER PRIMARY KEY)"), nil, "found no foreign key between the tables", false},
		{"sqlite:" + with(), []string{"reviews.att"}, `found the time "reviews.att", expected TABLE.COLUMN, one of the columns of the database; correct its name; did you mean "reviews.at"?`, true},
		{"sqlite:" + with(), []string{"users.score"}, `found the time "users.score" of type REAL, expected a column of times`, true},
		{"sqlite:" + with(), []string{"reviews.rid"}, `found the time "reviews.rid", which is a key`, true},
		{"sqlite:" + with("CREATE TABLE b(x BLOB, y BLOB)"), nil, "table b: found no column of numbers, bools, texts or times", false},
		{"sqlite:" + with(`CREATE TABLE "a:b"(id INTEGER PRIMARY KEY)`), nil, `table "a:b"`, false},
		{"sqlite:" + with(`CREATE TABLE b("u:v" INTEGER REFERENCES users)`), nil, `table b: the foreign key "u:v", which names an edge type`, false},
		{"sqlite:" + with("UPDATE users SET name = x'ff' WHERE id = 10"), nil, "table users, row 2 of its key's order, column name: found 1 bytes, expected text or numbers", false},
		{"sqlite:" + with("CREATE TABLE b(x TEXT GENERATED ALWAYS AS (hex(zeroblob(300000000))) VIRTUAL, y INTEGER)", "INSERT INTO b(y) VALUES (1)"), nil, "table b: found a value of more than 2097152 bytes, expected fewer", false},
		{"sqlite:" + with("CREATE TABLE b(x TEXT)", "INSERT INTO b(x) VALUES (hex(zeroblob(8388609)))"), nil, "table b: found a value of more than 16777216 bytes, expected fewer", false},
		{"postgres://me:secret@127.0.0.1:1/db", nil, "found a password in the address of the database, expected it in PGPASSWORD or in ~/.pgpass", true},
		{"postgres://me@127.0.0.1:1/db?password=secret", nil, "found a password in the address", true},
		{"postgres://me@127.0.0.1:1/db?sslpassword=secret", nil, "found sslpassword in the address of the database, expected it in PGSSLPASSWORD", true},
		{"postgres://me@127.0.0.1:1/db?sslkey=/secret&sslcert=/secret", nil, "postgres://me@127.0.0.1:1/db: ", true},
		{"postgres://me:sec%zzret@127.0.0.1/db", nil, "found an address of PostgreSQL that is not one", true},
		{"postgres://me@127.0.0.1:1/db?sslmode=secret", nil, "postgres://me@127.0.0.1:1/db: found an address that cannot be read", true},
		{"postgres://me@127.0.0.1:1/db", nil, "postgres://me@127.0.0.1:1/db: 127.0.0.1:1 (127.0.0.1): dial error", false},
	} {
		s, err := Open(t.Context(), c.address)
		if err == nil {
			_, err = s.Extract(t.Context(), vfs.OS, t.TempDir(), Options{Times: c.times})
			err = errors.Join(err, s.Close())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrUsage) != c.usage || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: found error %v, expected %q (usage: %t)", c.address, err, c.want, c.usage)
		}
	}
}

// Of an address of PostgreSQL only host, port, user and database are shown.
func TestShown(t *testing.T) {
	for address, want := range map[string]string{
		"sqlite:a?b.db":                   "sqlite:a?b.db",
		"edges.csv":                       "edges.csv",
		"postgres://me@h:5/db":            "postgres://me@h:5/db",
		"postgresql://USER@HOST/DATABASE": "postgresql://USER@HOST/DATABASE",
		"postgres://me:secret@h:5/db":     "postgres://me@h:5/db",
		"postgres://me@h/db?sslpassword=secret&passfile=/secret&sslkey=secret&options=-c%20secret=1": "postgres://me@h/db",
		"postgres:///db?host=/run&user=me&port=5&password=secret":                                    "postgres:///db?host=%2Frun&port=5&user=me",
		"postgres://me@h/db#secret":        "postgres://me@h/db",
		"postgres://me:1/secret@h/db":      hidden,
		"postgres://me:1#secret@h/db":      hidden,
		"postgres://me:1?secret@h/db":      hidden,
		"postgres://me:sec%zzret@h/db":     hidden,
		"postgres://me:secret/secret@h/db": hidden,
	} {
		if got := Shown(address); got != want {
			t.Errorf("%s: found %s, expected %s", address, got, want)
		}
	}
	text := `--source=postgres://me:secret@h/db?x=secret "postgresql:/me@h/db?sslpassword=secret"; write postgres://USER@HOST/DATABASE; end`
	if got, want := Redact(text), `--source=postgres://me@h/db "postgresql://me@h/db"; write postgres://USER@HOST/DATABASE; end`; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}

// A row whose only column is null is a row, and names in keys have letters of any case.
func TestAlone(t *testing.T) {
	files, e, err := extract(t, file(t,
		"CREATE TABLE Marks(x INTEGER)", "INSERT INTO Marks VALUES (NULL), (3), (NULL)",
		"CREATE TABLE Of(Id INTEGER PRIMARY KEY, A INTEGER)", "CREATE TABLE To_(o INTEGER REFERENCES oF(iD))"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "\"x\",\"#row\"\n,1\n,1\n3,1\n"; files["Marks.csv"] != want || len(e.Notes) > 0 {
		t.Errorf("found %q and notes %q, expected %q", files["Marks.csv"], e.Notes, want)
	}
	if want := "  \"To_:o:Of\":\n"; !strings.Contains(files[GraphFile], want) {
		t.Errorf("found\n%s\nexpected %q", files[GraphFile], want)
	}
}

// Edge types have names of their own, generated columns are columns, and virtual tables and views are no tables.
func TestLayouts(t *testing.T) {
	const people = "CREATE TABLE people(id INTEGER PRIMARY KEY)"
	const ref = "CREATE TABLE r(id INTEGER PRIMARY KEY, a INTEGER REFERENCES people)"
	for _, c := range []struct {
		name       string
		statements []string
		want       []string // of the files
		none       string
		note       string
	}{
		{"a key and a table of edges", []string{"CREATE TABLE people(id INTEGER PRIMARY KEY, likes INT REFERENCES people)", "CREATE TABLE likes(a INT REFERENCES people, b INT REFERENCES people)"},
			[]string{"  \"people:likes:people\":\n    table: \"likes.csv\"", "  \"people:people_likes:people\":\n    table: \"people.csv\"", "reverse: \"rev_people_likes\""}, "",
			"table people: the edges of the foreign key likes are people:people_likes:people, as others have the name likes or its reverse"},
		{"a key and a reverse", []string{"CREATE TABLE people(id INTEGER PRIMARY KEY, rev_boss INT REFERENCES people, boss INT REFERENCES people)"},
			[]string{"\"people:rev_boss:people\"", "\"people:people_boss:people\""}, "\"people:boss:people\"",
			"table people: the edges of the foreign key boss are people:people_boss:people, as others have the name boss or its reverse"},
		{"generated columns", []string{people, "CREATE TABLE r(id INTEGER PRIMARY KEY, a INTEGER REFERENCES people, g INT AS (id * 2) STORED, h INT AS (id * 3))", "INSERT INTO r(id) VALUES (5)"},
			[]string{"\"id\",\"a\",\"g\",\"h\"\n5,,10,15\n"}, "", ""},
		{"no rowid", []string{"CREATE TABLE people(id TEXT PRIMARY KEY, n INT NOT NULL) WITHOUT ROWID", "CREATE TABLE r(a TEXT REFERENCES people, x INT)", "INSERT INTO people VALUES ('b', 1), ('a', 2)"},
			[]string{"\"id\",\"n\"\n\"a\",2\n\"b\",1\n"}, "", ""},
		{"virtual tables and views", []string{people, ref, "CREATE VIRTUAL TABLE docs USING fts5(body)", "CREATE VIEW v AS SELECT * FROM people"}, []string{"\"r:a:people\""}, "docs", ""},
		{"times of day", []string{people, "CREATE TABLE r(a INTEGER REFERENCES people, at TIME, on_ DATE)", "INSERT INTO r VALUES (1, '12:30', '2024-01-02')"},
			[]string{"1,\"12:30\",2024-01-02T00:00:00Z", "\"at\": {dtype: string}"}, "", ""},
		{"times of several forms", []string{people, "CREATE TABLE r(a INTEGER REFERENCES people, at TIMESTAMP)", "INSERT INTO r VALUES (1, 1700000000), (2, '2024-01-02 03:04'), (3, '2024-01-02T03:04:05.5+02:00'), (4, '2024/01/02')"},
			[]string{"1,1700000000\n2,2024-01-02T03:04:00Z\n3,2024-01-02T01:04:05.5Z\n4,\"2024/01/02\"\n"}, "", ""},
		{"negative keys", []string{people, ref, "INSERT INTO people VALUES (-1)"}, []string{"{column: \"id\", dtype: string}"}, "", ""},
		{"texts that are equal but for case", []string{people, "CREATE TABLE r(a INTEGER REFERENCES people, x TEXT COLLATE NOCASE)", "INSERT INTO r VALUES (1, 'b'), (1, 'a'), (1, 'B')"}, []string{"1,\"B\"\n1,\"a\"\n1,\"b\"\n"}, "", ""},
		{"texts", []string{people, "CREATE TABLE r(a INTEGER REFERENCES people, x TEXT)", "INSERT INTO r VALUES (1, 'a' || char(13, 10) || 'b'), (2, ''), (3, '\"'), (4, NULL), (5, '\\0')"},
			[]string{"1,\"a\r\nb\"\n2,\"\"\n3,\"\"\"\"\n4,\n5,\"\\0\"\n"}, "", ""},
		{"names", []string{`CREATE TABLE "select ""x"" é"("from ""y""" INTEGER PRIMARY KEY, "GROUP by" TEXT)`, `CREATE TABLE "Order"("a b" INTEGER PRIMARY KEY, "table" INTEGER REFERENCES "select ""x"" é")`, `INSERT INTO "select ""x"" é" VALUES (1, 'q')`},
			[]string{"\"from \"\"y\"\"\",\"GROUP by\"\n1,\"q\"\n", `"Order:table:select \"x\" é"`}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, e, err := extract(t, file(t, c.statements...), Options{})
			if err != nil {
				t.Fatal(err)
			}
			all := ""
			for _, text := range files {
				all += text
			}
			for _, want := range c.want {
				if !strings.Contains(all, want) {
					t.Errorf("found\n%s\nexpected %q", all, want)
				}
			}
			if c.none != "" && strings.Contains(all, c.none) {
				t.Errorf("found\n%s\nexpected no %q", all, c.none)
			}
			if c.note != "" && !slices.Contains(e.Notes, c.note) || c.note == "" && len(e.Notes) > 0 {
				t.Errorf("found notes %q, expected %q", e.Notes, c.note)
			}
		})
	}
}

// full is a file system without room.
type full struct{ vfs.FS }

func (full) Free(string) (int64, error) { return 100, nil }

// Room for the copies is asked for before they are written.
func TestRoom(t *testing.T) {
	s, err := Open(t.Context(), "sqlite:"+file(t, append(slices.Clone(shop[:2]), "CREATE TABLE r(a INTEGER REFERENCES users)")...))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir()
	if _, err := s.Extract(t.Context(), full{vfs.OS}, dir, Options{}); !errors.Is(err, vfs.ErrSpace) {
		t.Errorf("found error %v, expected one about the room", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("found %v, %v, expected no copy", left, err)
	}
}

// Keys that cannot be edges are left out with the reason; a table without a key of one column has numbered nodes.
func TestKeys(t *testing.T) {
	files, e, err := extract(t, file(t,
		"CREATE TABLE a(id INTEGER PRIMARY KEY, code TEXT UNIQUE)",
		"CREATE TABLE b(x INTEGER, y INTEGER, a INTEGER REFERENCES a(id), code TEXT REFERENCES a(code), gone INTEGER REFERENCES nowhere(id), PRIMARY KEY (x, y))",
		"CREATE TABLE c(x INTEGER, y INTEGER, a INTEGER REFERENCES a(id), FOREIGN KEY (x, y) REFERENCES b(x, y))",
		"CREATE TABLE d(p INTEGER REFERENCES a(id), q INTEGER REFERENCES a(id), PRIMARY KEY (p, q))"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"table b: the foreign key code is left out: it refers to other columns than the key of a",
		"table b: the foreign key gone is left out: there is no table nowhere",
		"table c: the foreign key x, y is left out: it has several columns",
	} {
		if !slices.Contains(e.Notes, want) {
			t.Errorf("found notes %q, expected %q", e.Notes, want)
		}
	}
	for _, want := range []string{"  \"b:a:a\":\n", "  \"c:a:a\":\n", "  \"a:d:a\":\n    table: \"d.csv\"\n    src: \"p\"\n    dst: \"q\"\n"} {
		if !strings.Contains(files[GraphFile], want) {
			t.Errorf("found\n%s\nexpected %q", files[GraphFile], want)
		}
	}
	if strings.Contains(files[GraphFile], "\"d\":\n") {
		t.Errorf("found\n%s\nexpected no nodes of d", files[GraphFile])
	}
}
