package tablefiles

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// copyTo copies a file to a folder under another name.
func copyTo(t testing.TB, from, to string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// The kind of a file follows from its extension or, where the extension says nothing, from its first bytes.
func TestKindOf(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		path string
		want table.Kind
	}{
		{tabletest.WriteText(t, dir, "a.csv.gz", "a,b\n"), table.Text},
		{tabletest.WriteText(t, dir, "a.tsv", "a\tb\n"), table.Text},
		{tabletest.WriteText(t, dir, "a.ndjson.zst", "{}\n"), table.JSONLines},
		{tabletest.WriteText(t, dir, "a.parquet-00000-of-00002", "PAR1"), table.ParquetFile},
		{tabletest.WriteText(t, dir, "a.feather", "x"), table.ArrowFile},
		{tabletest.WriteText(t, dir, "a.npy", ""), table.Array},
		{copyTo(t, "../table/columnfiles/testdata/parquet/zstd.parquet", filepath.Join(dir, "one")), table.ParquetFile},
		{copyTo(t, "../table/columnfiles/testdata/arrow/plain.arrow", filepath.Join(dir, "two.data")), table.ArrowFile},
		{copyTo(t, "../table/columnfiles/testdata/arrow/plain.arrows", filepath.Join(dir, "three")), table.ArrowFile},
		{tabletest.WriteText(t, dir, "four", string(tfrecord.AppendFrame(nil, []byte("x")))), table.TFRecords},
		{tabletest.WriteText(t, dir, "five", "\x93NUMPY\x01\x00"), table.Array},
		{tabletest.WriteText(t, dir, "six.json", "\xef\xbb\xbf \n{\"a\": 1}\n"), table.JSONLines},
		{tabletest.WriteText(t, dir, "seven.gz", "{\"a\": 1}\n"), table.JSONLines},
		{tabletest.WriteText(t, dir, "eight", "a,b\n1,2\n"), table.Unknown},
		{tabletest.WriteText(t, dir, "nine", ""), table.Unknown},
	} {
		if k, err := KindOf(vfs.OS, c.path); err != nil || k != c.want {
			t.Errorf("%s: found %v, %v, expected %v", c.path, k, err, c.want)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	a, b := tabletest.WriteText(t, dir, "a.csv", "src,dst,w\n0,1,2\n"), tabletest.WriteText(t, dir, "b.csv", "src,dst,x\n0,1,2\n")
	odd, array := tabletest.WriteText(t, dir, "odd.data", "src,dst\n"), tabletest.WriteText(t, dir, "x.npy", "")
	parquet := copyTo(t, "../table/columnfiles/testdata/parquet/zstd.parquet", filepath.Join(dir, "a.parquet"))
	times := copyTo(t, "../table/columnfiles/testdata/parquet/int96.parquet", filepath.Join(dir, "t.parquet"))
	for _, c := range []struct {
		files []string
		want  string
	}{
		{nil, "found no files, expected at least one"},
		{[]string{a, parquet}, parquet + ": found Parquet, expected text, as " + a + " is; one table has files of one kind"},
		{[]string{odd}, odd + `: found a table with the extension ".data" whose first bytes are those of no known kind, expected .csv`},
		{[]string{array}, array + ": found an array, which has no names of columns, expected .csv"},
		{[]string{a, b}, b + `:1: found the header "src dst x", expected "src dst w", as in ` + a + `: column 3 is "x" and not "w"`},
		{[]string{parquet, times}, times + ": found the columns id int64, at_us int64, at_ns int64, expected id int64, text string"},
	} {
		if _, err := Open(vfs.OS, c.files, Options{}); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: found error %v, expected %q", c.files, err, c.want)
		}
	}
	if tab, err := Open(vfs.OS, []string{odd}, Options{Text: true}); err != nil || len(tab.Fields()) != 2 {
		t.Errorf("found %v, %v, expected text", tab, err)
	}
}

// Folders KEY=VALUE between the folder of a table and its files are columns.
func TestFolders(t *testing.T) {
	for _, kind := range []struct{ ext, text string }{
		{"csv", "a,b\n%d,x\n"}, {"jsonl", "{\"a\": %d, \"b\": \"x\"}\n"},
	} {
		dir := filepath.Join(t.TempDir(), "day=x") // folders above the table are no columns
		var files []string
		for i, name := range []string{"day=10/kind=__HIVE_DEFAULT_PARTITION__/part-0", "day=2/kind=a%2Fb/part-0", "day=2/kind=a%2Fb/part-1"} {
			path := filepath.Join(dir, name) + "." + kind.ext
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			files = append(files, tabletest.WriteText(t, filepath.Dir(path), filepath.Base(path), fmt.Sprintf(kind.text, i)))
		}
		tab, err := Open(vfs.OS, files, Options{Folders: []string{dir}})
		if err != nil {
			t.Fatal(err)
		}
		fields := tab.Fields()
		if diff := cmp.Diff([]table.Field{{Name: "day", DType: graph.Int64}, {Name: "kind", DType: graph.String}}, fields[len(fields)-2:]); diff != "" {
			t.Error(diff)
		}
		for _, threads := range []int{1, 4} {
			for _, c := range []struct {
				column table.Column
				want   string
			}{
				{table.Column{Name: "a", DType: graph.Int64}, "[0 1 2]"},
				{table.Column{Name: "day", DType: graph.Int64}, "[10 2 2]"},
				{table.Column{Name: "day", DType: graph.Uint8}, "[10 2 2]"},
				{table.Column{Name: "day", DType: graph.String}, "[10 2 2]"},
				{table.Column{Name: "kind", DType: graph.String}, "[ a/b a/b]"},
				{table.Column{Name: "kind", DType: graph.String, ID: true, Empty: table.EmptyAbsent}, "[<nil> a/b a/b]"},
			} {
				if got := fmt.Sprint(tabletest.ScanOne(t, tab, c.column, threads)); got != c.want {
					t.Errorf("%s %v: found %s, expected %s", kind.ext, c.column, got, c.want)
				}
			}
		}
		_, err = tab.Scan(t.Context(), []table.Column{{Name: "kind", DType: graph.Int64}}, 1, func(int, *table.Chunk) error { return nil })
		if err == nil || !strings.Contains(err.Error(), `the key "kind" in a folder, expected an integer`) {
			t.Errorf("found error %v, expected one about a value in a folder", err)
		}
	}
}

func TestFoldersErrors(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"x=1/a.csv", "y=1/a.csv"}, `found the folders of keys ["y"], expected ["x"], as of `},
		{[]string{"x=%zz/a.csv"}, `found the folder "x=%zz", expected %XX only for escaped bytes`},
		{[]string{"x=1/x=2/a.csv"}, `found two folders of the key "x", expected one`},
		{[]string{"a=5/a.csv"}, ""},
	} {
		dir := t.TempDir()
		var files []string
		for _, name := range c.files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			files = append(files, tabletest.WriteText(t, filepath.Dir(path), filepath.Base(path), "a\n1\n"))
		}
		tab, err := Open(vfs.OS, files, Options{Folders: []string{dir}})
		switch {
		case c.want == "" && (err != nil || fmt.Sprint(tabletest.ScanOne(t, tab, table.Column{Name: "a", DType: graph.Int64}, 1)) != "[1]"):
			t.Errorf("%s: found %v, expected the column of the file", c.files, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: found error %v, expected %q", c.files, err, c.want)
		}
	}
}
