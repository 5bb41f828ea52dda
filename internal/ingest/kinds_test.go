package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Tables of all kinds are edge lists, and tables of a graph.yaml, by the same opener.
func TestTablesOfAllKinds(t *testing.T) {
	bytes := func(path string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join("table/columnfiles/testdata", path))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	lines := `{"src": 0, "dst": 1, "w": 0.5, "v": [1, 2], "o": {"a": 1}}` + "\n"
	run(t, []sourceCase{
		{name: "JSON lines", files: map[string]string{"e.jsonl": lines}, path: "e.jsonl",
			want: "_N - :uint64\n_N:_E:_N e.jsonl src:uint64>dst:uint64 w:float32 v:int64[2]"},
		{name: "times and wide numbers", files: map[string]string{"e.jsonl": `{"src": 0, "dst": 1, "at": "2020-01-01T00:00:00.5Z", "clock": 1289241911.72836}`, "e.csv": "src,dst,at,clock,small\n0,1,2020-01-01,1289241911.72836,1.5\n"}, path: "e.jsonl",
			want: "_N - :uint64\n_N:_E:_N e.jsonl src:uint64>dst:uint64 at:datetime[ms] clock:float64"},
		{name: "wide numbers of text", files: map[string]string{"e.csv": "src,dst,at,clock,small\n0,1,2020-01-01,1289241911.72836,1.5\n"}, path: "e.csv",
			want: "_N - :uint64\n_N:_E:_N e.csv src:uint64>dst:uint64 at:datetime[s] clock:float64 small:float32"},
		{name: "lists that are alike are vectors", files: map[string]string{"e": bytes("arrow/polars.arrow")}, path: "e", opts: Options{Src: "id", Dst: "id", Columns: "id,feat,tags"},
			want: "_N - :uint64\n_N:_E:_N e id:uint64>id:uint64 feat:float32[2] tags:string[-1]"},
		{name: "chosen keys", files: map[string]string{"e.json": lines}, path: "e.json", opts: Options{Columns: "dst,src,w:float64"},
			want: "_N - :uint64\n_N:_E:_N e.json src:uint64>dst:uint64 w:float64"},
		{name: "Arrow without an extension", files: map[string]string{"e": bytes("arrow/polars.arrow")}, path: "e", opts: Options{Src: "id", Dst: "id", Columns: "id,feat:float32[2],weight"},
			want: "_N - :uint64\n_N:_E:_N e id:uint64>id:uint64 weight:float64 feat:float32[2]"},
		{name: "a folder", files: map[string]string{"t/day=1/part-0.csv": "src,dst\n0,1\n", "t/day=2/part-0.csv": "src,dst\n1,2\n", "t/_SUCCESS": ""}, path: "t",
			want: "_N - :uint64\n_N:_E:_N t/day=1/part-0.csv+t/day=2/part-0.csv src:uint64>dst:uint64 day:int64"},
		{name: "a folder of a graph.yaml", files: map[string]string{"graph.yaml": `
nodes:
  n: {table: nodes, columns: [weight, at]}
edges:
  "n:e:n": {table: [edges, more.jsonl]}
`, "nodes/a.arrow": bytes("arrow/polars.arrow"), "nodes/b.arrow": bytes("arrow/polars.arrow"), "edges/0.jsonl": lines, "edges/1.jsonl": lines, "more.jsonl": lines}, path: "graph.yaml",
			want: "n nodes/a.arrow+nodes/b.arrow id:string weight:float64 at:datetime[us]\nn:e:n edges/0.jsonl+edges/1.jsonl+more.jsonl src:string>dst:string w:float32 v:int64[2]"},
	})
}

// A column that cannot be read is left out with a warning, once for a table that several types use.
func TestLeftOut(t *testing.T) {
	dir := folder(t, map[string]string{
		"e.jsonl": `{"src": 0, "dst": 1, "o": {"a": 1}}` + "\n",
		"g.yaml":  "nodes:\n  n: {}\nedges:\n  \"n:e:n\": {table: e.jsonl}\n  \"n:f:n\": {table: e.jsonl}\n  \"n:g:n\": {table: e.jsonl, columns: {}}\n",
	})
	for _, name := range []string{"e.jsonl", "g.yaml"} {
		s, err := Open(t.Context(), vfs.OS, filepath.Join(dir, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`[%s/e.jsonl: the column "o" (objects) is left out: it is not a number, bool or string, or a list of them]`, dir)
		if got := fmt.Sprint(s.Warnings); got != want {
			t.Errorf("%s: found the warnings %s, expected %s", name, got, want)
		}
	}
}
