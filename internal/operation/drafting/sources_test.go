package drafting_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/drafting"
	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/option"
)

// The tables of a folder in a bucket are drafted as those of a folder, and the draft beside them is imported.
func TestDraftBucket(t *testing.T) {
	all := schemas[0].tables.tables(3)
	dir := folder(t, all)
	want := drafted(t, dir, t.TempDir())
	server := objectstest.New(t, "bucket")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		server.Put("bucket/shop/"+e.Name(), b)
	}
	var b bytes.Buffer
	d, err := drafting.Draft(t.Context(), "s3://bucket/shop", &b, option.Draft{})
	if err != nil {
		t.Fatal(err)
	}
	if d.YAML != want.YAML {
		t.Errorf("found\n%s\nexpected\n%s", d.YAML, want.YAML)
	}
	server.Put("bucket/shop/graph.yaml", b.Bytes())
	st, _, err := importing.Import(t.Context(), "s3://bucket/shop", filepath.Join(t.TempDir(), "g.store"), option.Import{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

// Lines that a draft has as comments settle the faults that they are named for, once they are no comments.
func TestDraftSettles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"users.csv":  "user_id;name\r\n1;a\r\n2;b\r\n2;c\r\n3;d\r\n",
		"items.csv":  "\ufeffsku,price\nA,1\nB,-\nC,2\n",
		"orders.csv": "user_id,sku,at\n1,A,2024-01-01\n7,B,2024-01-02\n3,Z,2024-01-02\n3,A,soon\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := drafted(t, dir, dir)
	lines := strings.Split(d.YAML, "\n")
	for _, f := range d.Faults {
		if f.Open {
			lines[f.Line-1] = strings.TrimPrefix(lines[f.Line-1], "# ")
		}
	}
	if d.Open() != 3 {
		t.Errorf("found %d faults to decide, expected 3: %+v", d.Open(), d.Faults)
	}
	if err := os.WriteFile(filepath.Join(dir, "graph.yaml"), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	st, _, err := importing.Import(t.Context(), dir, filepath.Join(t.TempDir(), "g.store"), option.Import{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	e, err := st.Graph.EdgeType("users:orders:items")
	if err != nil || st.Graph.Edges[e].Count != 2 || st.Graph.Nodes[st.Graph.NodeType("users")].Count != 3 {
		t.Errorf("found %v, expected 2 edges and 3 users", err)
	}
}

// Texts for missing values beside numbers and times, and in keys, are empty cells as a draft says, unless an id has them.
func TestDraftMissing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"users.csv":     "user_id,age,city,joined\n1,20,Rome,2024-01-01\n2,-,-,-\n3,?,Rome,2024-01-02\n4,NA,NA,2024-01-03\n",
		"countries.csv": "code,name\nNA,Namibia\nIT,Italy\n-,none\n",
		"lives.csv":     "user_id,code,since\n1,IT,5\nNone,NA,6\n3,NA,n/a\n4,-,8\n",
		"likes.jsonl":   "{\"src\": 1, \"w\": \"n/a\", \"user_id\": 2}\n{\"src\": 2, \"w\": 0.5, \"user_id\": 3}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := drafted(t, dir, dir)
	for _, line := range []string{"missing_texts: ['-', '?']  # 4 cells", "missing_texts: [None, n/a]  # 2 cells", "missing_texts: [n/a]  # 1 cell", "age: {dtype: int64, missing: column}",
		"joined: datetime", "since: {dtype: int64, missing: column}", "w: {dtype: float32, missing: nan}"} {
		if !strings.Contains(d.YAML, line) {
			t.Errorf("found no line %q in\n%s", line, d.YAML)
		}
	}
	if d.Open() > 0 {
		t.Errorf("found faults to decide: %+v", d.Faults)
	}
	st, _, err := importing.Import(t.Context(), dir, filepath.Join(t.TempDir(), "g.store"), option.Import{}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.YAML)
	}
	defer st.Close()
	for name, n := range map[string]int{"lives:user_id:users": 3, "lives:code:countries": 4} {
		if e, err := st.Graph.EdgeType(name); err != nil || st.Graph.Edges[e].Count != n {
			t.Errorf("%s: found %v, expected %d edges\n%s", name, err, n, d.YAML)
		}
	}
	marks := graph.FindColumn(st.Graph.Nodes[st.Graph.NodeType("users")].Columns, "age_missing")
	if marks == nil || !bytes.Equal(marks.Values, []byte{0, 1, 1, 1}) {
		t.Errorf("found the marks %v, expected three empty ages", marks)
	}
}

// A text that is an id of another key of the table stays one, so that the key without it dangles; a list of tags is a feature.
func TestDraftMissingMeant(t *testing.T) {
	dir := t.TempDir()
	movies := "movie_id,genres\n"
	for i, genres := range []string{"Action|Drama", "Comedy|Drama", "Action|Comedy", "Action|Comedy|Drama", "Drama", "Comedy|Drama"} {
		movies += fmt.Sprintf("m%d,%s\n", i, genres)
	}
	for name, text := range map[string]string{
		"movies.csv":    movies,
		"countries.csv": "country_id,name\nNA,Namibia\nIT,Italy\n",
		"shown.csv":     "movie_id,country_id,n\nm1,IT,5\nNA,NA,6\nm3,NA,-\nm4,IT,7\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := drafted(t, dir, dir)
	for _, line := range []string{"missing_texts: ['-']  # 1 cell", "- {from: genres, encode: multi-hot, separator: \"|\"}  # a text is a list of tags, of which there are 3", "genres: string  # 3 distinct tags in 6 texts"} {
		if !strings.Contains(d.YAML, line) {
			t.Errorf("found no line %q in\n%s", line, d.YAML)
		}
	}
	if d.Open() != 1 || !strings.HasSuffix(d.Faults[0].First, "shown.csv:3:1") {
		t.Errorf("found %+v, expected one key that dangles", d.Faults)
	}
	st, _, err := importing.Import(t.Context(), dir, filepath.Join(t.TempDir(), "g.store"), option.Import{DanglingEdges: option.PolicyDrop}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.YAML)
	}
	defer st.Close()
	if c := graph.FindColumn(st.Graph.Nodes[st.Graph.NodeType("movies")].Columns, "x"); c == nil || c.Rows != 6 {
		t.Errorf("found the feature %v, expected one of tags", c)
	}
}

// A split of a table without features is no split to fit on: the draft imports as it is.
func TestDraftSplitAlone(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"users.csv": "user_id,age\n1,20\n2,30\n", "items.csv": "sku,price\nA,1\nB,2\n",
		"purchases.csv": "user_id,sku,split\n1,A,train\n2,B,train\n1,B,test\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := drafted(t, dir, dir)
	st, _, err := importing.Import(t.Context(), dir, filepath.Join(t.TempDir(), "g.store"), option.Import{}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.YAML)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

// Where a split belongs to a table without features, a draft shows no division by time: the file has a key transforms already.
func TestDraftSplitOfKeys(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"users.csv": "user_id,part\n1,train\n2,test\n3,train\n", "items.csv": "sku,price\nA,1\nB,2\n",
		"purchases.csv": "user_id,sku,at\n1,A,2024-01-01\n2,B,2024-02-01\n1,B,2024-03-01\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := drafted(t, dir, dir)
	if n := strings.Count(d.YAML, "transforms:"); n != 1 || !strings.Contains(d.YAML, "no table with features has a split") {
		t.Errorf("found transforms %d times, expected it once, and the reason of fit\n%s", n, d.YAML)
	}
	st, _, err := importing.Import(t.Context(), dir, filepath.Join(t.TempDir(), "g.store"), option.Import{}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.YAML)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
}

// Tables in JSON lines, and compressed ones, are drafted with the dtypes of their values.
func TestDraftLines(t *testing.T) {
	dir := t.TempDir()
	var users, buys strings.Builder
	for i := range 30 {
		fmt.Fprintf(&users, "{\"id\": %d, \"age\": %s, \"name\": \"n%d\", \"vip\": %v, \"v\": [%d, 0.5]}\n", i, []string{"null", "7"}[i%2], i, i%2 == 0, i)
		fmt.Fprintf(&buys, "{\"user_id\": %d, \"other_user_id\": %d, \"at\": \"2024-01-01T00:00:00\"}\n", i, 29-i)
	}
	for name, text := range map[string]string{"users.jsonl": users.String(), "knows.ndjson": buys.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := drafted(t, dir, dir)
	for _, line := range []string{"age: {dtype: int64, missing: column}", "name: string", "vip: bool", "v: 'float32[2]'", "at: datetime", "users:knows:users:"} {
		if !strings.Contains(d.YAML, line) {
			t.Errorf("found no line %q in\n%s", line, d.YAML)
		}
	}
	st, _, err := importing.Import(t.Context(), dir, filepath.Join(t.TempDir(), "g.store"), option.Import{}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, d.YAML)
	}
	defer st.Close()
	if c := graph.FindColumn(st.Graph.Nodes[0].Columns, "v"); c == nil || c.DType != graph.Float32 {
		t.Errorf("found the column %v", c)
	}
}

// Bounds that are too small, and sources that have no tables, are errors, and nothing is printed.
func TestDraftRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte("id\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := drafting.Draft(t.Context(), dir, &b, option.Draft{Run: option.Run{Memory: 1 << 20}}); !errors.Is(err, operation.ErrMemory) {
		t.Errorf("found %v, expected too little memory", err)
	}
	if _, err := drafting.Draft(t.Context(), dir, &b, option.Draft{Run: option.Run{Threads: -1}}); !errors.Is(err, option.ErrUsage) {
		t.Errorf("found %v, expected wrong usage", err)
	}
	if _, err := drafting.Draft(t.Context(), "postgres://me:secret@127.0.0.1:1/x", &b, option.Draft{}); !errors.Is(err, option.ErrUsage) || strings.Contains(err.Error(), "secret") {
		t.Errorf("found %v, expected wrong usage without the password", err)
	}
	if _, err := drafting.Draft(t.Context(), t.TempDir(), &b, option.Draft{}); err == nil || !strings.Contains(err.Error(), "found no table") {
		t.Errorf("found %v, expected no table", err)
	}
	if b.Len() > 0 {
		t.Errorf("found %s, expected nothing", &b)
	}
}
