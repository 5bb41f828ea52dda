package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// dglChunksMeta is a graph of 2 authors, 3 papers and 1 empty type; 3 + 0 edges.
const dglChunksMeta = `{
  "graph_name": "g",
  "node_type": ["paper", "author", "none"],
  "num_nodes_per_chunk": [[2, 1], [2, 0], [0, 0]],
  "edge_type": ["author:writes:paper", "none:is:none"],
  "num_edges_per_chunk": [[2, 1], [0, 0]],
  "edges": {
    "author:writes:paper": {"format": {"name": "csv", "delimiter": " "}, "data": ["e/w0.csv", "e/w1.csv"]},
    "none:is:none": {"format": {"name": "csv"}, "data": []}
  },
  "node_data": {"paper": {
    "feat": {"format": {"name": "numpy"}, "data": ["feat0.npy", "feat1.npy"]},
    "year": {"format": {"name": "csv"}, "data": ["year.csv"]}
  }},
  "edge_data": {"author:writes:paper": {"w": {"format": {"name": "numpy"}, "data": ["w.npy"]}}}
}`

// dglChunksFiles returns the files of dglChunksMeta with some of them changed; "-" removes one.
func dglChunksFiles(changed ...string) map[string]string {
	files := map[string]string{
		"metadata.json": dglChunksMeta, "e/w0.csv": "0 0\n1 2\n", "e/w1.csv": "0 1\n",
		"feat0.npy": "f4 2 4", "feat1.npy": "f4 1 4", "year.csv": "1999\n2000\n2001\n", "w.npy": "f8 3",
	}
	for i := 0; i < len(changed); i += 2 {
		if files[changed[i]] = changed[i+1]; changed[i+1] == "-" {
			delete(files, changed[i])
		}
	}
	return files
}

// swap is dglChunksMeta with some text replaced.
func swap(t *testing.T, pairs ...string) string {
	text := dglChunksMeta
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%s is not in the example", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func TestDGLChunks(t *testing.T) {
	const want = `
paper feat0.npy+feat1.npy+year.csv :uint64 feat:float32[4] year:int64
author - :uint64 count 2
none metadata.json :uint64
author:writes:paper e/w0.csv+e/w1.csv+w.npy src:uint64>dst:uint64 w:float64
none:is:none  src:uint64>dst:uint64`
	run(t, []sourceCase{
		{name: "folder", files: dglChunksFiles(), want: want},
		{name: "file", files: dglChunksFiles(), path: "metadata.json", want: want},
		{name: "counts a type", files: dglChunksFiles("metadata.json", swap(t,
			`"num_nodes_per_chunk": [[2, 1], [2, 0], [0, 0]]`, `"num_nodes_per_type": [3, 2, 0]`, `"num_edges_per_chunk": [[2, 1], [0, 0]]`, `"num_edges_per_type": [3, 0]`)), want: want},
		{name: "comma", files: dglChunksFiles("metadata.json", swap(t, `" "`, `","`), "e/w0.csv", "0,0\n1,2\n", "e/w1.csv", "0,1"), want: want},
		{name: "any delimiter", files: dglChunksFiles("metadata.json", swap(t, `" "`, `":"`), "e/w0.csv", "0:0\n1:2\n", "e/w1.csv", "0:1"), want: want},
		{name: "delimiter not given", files: dglChunksFiles("metadata.json", swap(t, `, "delimiter": " "`, ``)), want: want},
		{name: "user's delimiter", files: dglChunksFiles("e/w0.csv", "0;0\n1;2\n", "e/w1.csv", "0;1"), opts: Options{Delimiter: ';'}, want: want},
		{name: "arrays of edges", files: dglChunksFiles("metadata.json", swap(t, `{"name": "csv", "delimiter": " "}, "data": ["e/w0.csv", "e/w1.csv"]`, `{"name": "numpy"}, "data": ["e0.npy", "e1.npy"]`), "e0.npy", "i8 2 2", "e1.npy", "i4 2 1"),
			want: strings.Replace(want, "e/w0.csv+e/w1.csv", "e0.npy+e1.npy", 1)},
		{name: "an empty chunk", files: dglChunksFiles("metadata.json", swap(t, `[[2, 1], [0, 0]]`, `[[3, 0], [0, 0]]`, `[[2, 1], [2, 0]`, `[[3, 0], [2, 0]`), "e/w0.csv", "0 0\n1 2\n0 1\n", "e/w1.csv", "", "feat0.npy", "f4 3 4", "feat1.npy", "f8 0"), want: strings.Replace(want, "+feat1.npy", "", 1)},
		{name: "files are not the chunks", files: dglChunksFiles("metadata.json", swap(t, `[[2, 1], [2, 0], [0, 0]]`, `[[1, 1, 1], [2, 0, 0], [0, 0, 0]]`, `[[2, 1], [0, 0]]`, `[[1, 1, 1], [0, 0, 0]]`)), want: want},
		{name: "vectors of text", files: dglChunksFiles("year.csv", "1,2.5\n3,4\n5,6\n"), want: strings.Replace(want, "year:int64", "year:float32[2]", 1)},
		{name: "a feature without values", files: dglChunksFiles("feat0.npy", "f4 2 0", "feat1.npy", "f4 1 0"), want: strings.NewReplacer("feat0.npy+feat1.npy+", "", " feat:float32[4]", "").Replace(want)},
		{name: "ends that features are called like", files: dglChunksFiles("metadata.json", swap(t, `"w":`, `"src":`)), want: strings.Replace(want, "src:uint64>dst:uint64 w:float64", "#src:uint64>#dst:uint64 src:float64", 1)},
		{name: "absolute path", files: dglChunksFiles("metadata.json", swap(t, `"e/w0.csv"`, `"/e/w0.csv"`)), err: ErrSource, want: "metadata.json: edges.author:writes:paper: found the absolute path /e/w0.csv, expected one within"},
		{name: "path that leads out", files: dglChunksFiles("metadata.json", swap(t, `"e/w0.csv"`, `"../w0.csv"`)), err: ErrSource, want: "expected one within"},
		{name: "missing chunk", files: dglChunksFiles("e/w1.csv", "-"), err: ErrSource, want: "e/w1.csv, expected chunk 1 of 2"},
		{name: "a folder", files: dglChunksFiles("metadata.json", swap(t, `"e/w1.csv"`, `"e"`)), err: ErrSource, want: "found a folder, expected a file"},
		{name: "bad metadata", files: dglChunksFiles("metadata.json", swap(t, `"author:writes:paper",`, ``)), err: ErrSource, want: "metadata.json: num_edges_per_chunk: found 2 lists, expected 1"},
		{name: "rows of an array", files: dglChunksFiles("feat1.npy", "f4 2 4"), err: ErrSource, want: "feat1.npy: found 2 rows, expected 1 in chunk 1"},
		{name: "rows of all arrays", files: dglChunksFiles("w.npy", "f8 4"), err: ErrSource, want: "w.npy: found 4 rows, expected 3"},
		{name: "dtypes of arrays", files: dglChunksFiles("feat1.npy", "f8 1 4"), err: ErrSource, want: "feat1.npy: found float64 with rows of shape [4], expected float32 [4], as in"},
		{name: "shapes of arrays", files: dglChunksFiles("feat1.npy", "f4 1 5"), err: ErrSource, want: "feat1.npy: found float32 with rows of shape [5], expected float32 [4], as in"},
		{name: "rows of text", files: dglChunksFiles("year.csv", "1\n2\n"), err: table.ErrFormat, want: "year.csv: found 2 rows, expected 3, as"},
		{name: "edges of a chunk", files: dglChunksFiles("e/w0.csv", "0 0\n", "e/w1.csv", "1 2\n0 1\n"), err: table.ErrFormat, want: "w0.csv: found 1 rows, expected 2, as"},
		{name: "edges too many", files: dglChunksFiles("e/w1.csv", "1 2\n0 1\n"), err: table.ErrFormat, want: "w1.csv: found at least 2 rows, expected 1, as"},
		{name: "no edges", files: dglChunksFiles("metadata.json", swap(t, `["e/w0.csv", "e/w1.csv"]`, `[]`)), err: ErrSource, want: "edges.author:writes:paper: found no files, expected the files of 3 edges"},
		{name: "columns of edges", files: dglChunksFiles("e/w0.csv", "0 0 0\n1 2 0\n"), err: table.ErrFormat, want: "w0.csv:1"},
		{name: "no number", files: dglChunksFiles("e/w1.csv", "0 x\n"), err: table.ErrFormat, want: `w1.csv:1:3: found "x"`},
		{name: "nodes out of proportion", files: dglChunksFiles("metadata.json", swap(t, `[2, 0]`, `[500000000000, 0]`)), err: ErrSource, want: "found 500000000000 nodes of type author without features, expected at most 67108864"},
		{name: "number of nodes", files: dglChunksFiles(), opts: Options{NumNodes: 5}, err: ErrUsage, want: "expected the counts in that file"},
	})
}

// Parquet features have the shape that the file declares, or that of their lists, or one value per column.
func TestDGLChunksParquet(t *testing.T) {
	type one struct{ X float32 }
	type two struct{ A, B int32 }
	type list struct{ V []float64 }
	for _, c := range []struct {
		name  string
		write func(file string) error
		want  string // the column or the error
	}{
		{"scalar", func(f string) error { return writeParquet(f, "", make([]one, 3)) }, "x:float32"},
		{"scalar with a shape", func(f string) error { return writeParquet(f, "(3,)", make([]one, 3)) }, "x:float32"},
		{"one value", func(f string) error { return writeParquet(f, "(3, 1)", make([]one, 3)) }, "x:float32[1]"},
		{"columns", func(f string) error { return writeParquet(f, "", make([]two, 3)) }, "x:int32[2]"},
		{"columns with a shape", func(f string) error { return writeParquet(f, "(3, 2, 1)", make([]two, 3)) }, "x:int32[2,1]"},
		{"lists", func(f string) error {
			return writeParquet(f, "", []list{{[]float64{1, 2}}, {[]float64{3, 4}}, {[]float64{3, 4}}})
		}, "x:float64[2]"},
		{"lists with a shape", func(f string) error {
			return writeParquet(f, "(3, 2)", []list{{[]float64{1, 2}}, {[]float64{3, 4}}, {[]float64{3, 4}}})
		}, "x:float64[2]"},
		{"uneven lists", func(f string) error { return writeParquet(f, "", []list{{[]float64{1, 2}}, {[]float64{3}}, {nil}}) }, "found a list of 1"},
		{"empty lists", func(f string) error { return writeParquet(f, "", make([]list, 3)) }, "found rows of shape [0], expected some values in each"},
		{"another shape", func(f string) error { return writeParquet(f, "(3, 3)", make([]two, 3)) }, "found rows of shape [3], expected 2 values, one per column"},
		{"no shape", func(f string) error { return writeParquet(f, "__import__('os')", make([]two, 3)) }, `found the shape "__import__('os')" in the metadata of the file, expected a tuple`},
		{"two dtypes", func(f string) error {
			return writeParquet(f, "", make([]struct {
				A int32
				B float32
			}, 3))
		}, "found columns of int32 and of float32"},
		{"rows", func(f string) error { return writeParquet(f, "", make([]one, 4)) }, "found at least 4 rows, expected 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, dglChunksFiles("metadata.json", swap(t, `"year": {"format": {"name": "csv"}, "data": ["year.csv"]}`, `"x": {"format": {"name": "parquet"}, "data": ["x.parquet"]}`)))
			if err := c.write(filepath.Join(dir, "x.parquet")); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), vfs.OS, dir, Options{})
			if err == nil {
				err = scanAll(s)
			}
			var text string
			if err != nil {
				text = err.Error()
			} else {
				text = show(s, dir)
			}
			if !strings.Contains(text, c.want) {
				t.Errorf("found %s, expected %s", text, c.want)
			}
		})
	}
}

// writeParquet writes rows, and a shape in the form of DGL's tools.
func writeParquet[T any](file, shape string, rows []T) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	var options []pq.WriterOption
	if shape != "" {
		options = append(options, pq.KeyValueMetadata("shape", shape))
	}
	w := pq.NewGenericWriter[T](f, options...)
	if _, err := w.Write(rows); err != nil {
		return err
	}
	return w.Close()
}

// Files outside the folder are allowed on request.
func TestDGLChunksOutside(t *testing.T) {
	dir := folder(t, dglChunksFiles())
	inner := filepath.Join(dir, "inner")
	text := swap(t, `"e/w0.csv"`, `"../e/w0.csv"`, `"e/w1.csv"`, `"`+filepath.Join(dir, "e/w1.csv")+`"`, `"w.npy"`, `"../w.npy"`, `"feat0.npy", "feat1.npy"`, `"../feat0.npy", "../feat1.npy"`, `"year.csv"`, `"../year.csv"`)
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(inner, "metadata.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), vfs.OS, inner, Options{Outside: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := scanAll(s); err != nil {
		t.Fatal(err)
	}
}

// Every call that fails is reported.
func TestDGLChunksFaults(t *testing.T) {
	dir := folder(t, dglChunksFiles())
	for at := int64(1); ; at++ {
		fault := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: os.ErrPermission}
		_, err := Open(t.Context(), fault, dir, Options{Format: "chunked"})
		if at > fault.Calls() {
			break
		}
		if err == nil {
			t.Fatalf("call %d of %d failed unseen", at, fault.Calls())
		}
	}
}

// No content of metadata.json makes opening panic, and scanning an opened source gives rows or an error.
func FuzzDGLChunks(f *testing.F) {
	for _, text := range []string{dglChunksMeta, strings.ReplaceAll(dglChunksMeta, "csv", "numpy"), strings.ReplaceAll(dglChunksMeta, `{"name": "numpy"}`, `{"name": "csv"}`), "{}"} {
		f.Add(text)
	}
	dir := folder(f, dglChunksFiles())
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			if err := os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), vfs.OS, dir, Options{Format: "chunked"})
			if err == nil {
				_ = scanAll(s)
			}
		})
	})
}
