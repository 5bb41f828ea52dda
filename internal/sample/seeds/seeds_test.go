package seeds_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// papers is an open store without original ids.
func papers() *store.Store {
	strs := func(name string, v ...string) *graph.Column {
		c := &graph.Column{Name: name, DType: graph.String, Rows: len(v), StringOffsets: graph.Index{U64: []uint64{0}}}
		for _, s := range v {
			c.Values = append(c.Values, s...)
			c.StringOffsets.U64 = append(c.StringOffsets.U64, uint64(len(c.Values)))
		}
		return c
	}
	g := &graph.Graph{Nodes: []*graph.Nodes{
		{Type: "author", Count: 2},
		{Type: "paper", Count: 4, Columns: []*graph.Column{
			strs("split", "train", "test", "train", ""),
			{Name: "year", DType: graph.Int16, Rows: 4, Values: graph.Bytes([]int16{2001, -5, 2003, 2001})},
			{Name: "score", DType: graph.Float32, Rows: 4, Values: graph.Bytes([]float32{.5, 1, float32(math.Copysign(0, -1)), .5})},
			{Name: "open", DType: graph.Bool, Rows: 4, Values: []byte{1, 0, 1, 1}},
			{Name: "time", DType: graph.Int64, Rows: 4, Values: graph.Bytes([]int64{10, 20, 30, 40})},
			{Name: "feat", DType: graph.Float32, Shape: []int{2}, Rows: 4, Values: make([]byte, 32)},
		}},
	}}
	g.Sort()
	return &store.Store{Graph: g, Meta: &store.Meta{}}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	array, err := npy.AppendHeader(nil, "i8", []int{3})
	if err != nil {
		t.Fatal(err)
	}
	ids := file("ids.npy", string(append(array, graph.Bytes([]int64{3, 0, 3})...)))
	var b bytes.Buffer
	w := parquet.NewGenericWriter[struct {
		ID int64 `parquet:"id"`
	}](&b)
	if _, err := w.Write([]struct {
		ID int64 `parquet:"id"`
	}{{3}, {0}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	columnar := file("ids", b.String())
	if err := os.Mkdir(filepath.Join(dir, "shards"), 0o755); err != nil {
		t.Fatal(err)
	}
	file("shards/s.csv-00000-of-00002", "id\n1\n")
	file("shards/s.csv-00001-of-00002", "id\n2\n3\n")
	shards := filepath.Join(dir, "shards", "s.csv@2")
	for _, c := range []struct {
		name, text, seedType string
		want                 []uint32
		err                  string
	}{
		{name: "a type", text: "paper", want: []uint32{0, 1, 2, 3}},
		{name: "the seed type of a plan", text: "", seedType: "author", want: []uint32{0, 1}},
		{name: "a string value", text: "paper:split=train", want: []uint32{0, 2}},
		{name: "the empty string", text: "paper:split=", want: []uint32{3}},
		{name: "an integer", text: "paper:year=2001", want: []uint32{0, 3}},
		{name: "a negative integer", text: "paper:year=-5", want: []uint32{1}},
		{name: "a float", text: "paper:score=0.50", want: []uint32{0, 3}},
		{name: "zero, whatever its sign", text: "paper:score=0", want: []uint32{2}},
		{name: "a bool", text: "paper:open=false", want: []uint32{1}},
		{name: "a list of ids", text: file("plain.txt", "2\n0\n2\n"), seedType: "paper", want: []uint32{2, 0, 2}},
		{name: "a table", text: file("t.csv", "year,id\n5,1\n6,3\n"), seedType: "paper", want: []uint32{1, 3}},
		{name: "TF-GNN's seeds", text: file("s.csv", "#id\n1\n"), seedType: "paper", want: []uint32{1}},
		{name: "an array", text: ids, seedType: "paper", want: []uint32{3, 0, 3}},
		{name: "JSON lines", text: file("a.jsonl", "{\"id\": 1}\n{\"id\": \"3\", \"x\": 7}\n"), seedType: "paper", want: []uint32{1, 3}},
		{name: "JSON without an extension", text: file("json", "{\"#id\": 1}\n"), seedType: "paper", want: []uint32{1}},
		{name: "text without an extension", text: file("list", "2\n1\n"), seedType: "paper", want: []uint32{2, 1}},
		{name: "Parquet", text: columnar, seedType: "paper", want: []uint32{3, 0}},
		{name: "shards", text: shards, seedType: "paper", want: []uint32{1, 2, 3}},
		{name: "a glob", text: filepath.Join(dir, "shard*", "s.csv-*"), seedType: "paper", want: []uint32{1, 2, 3}},
		{name: "a folder", text: filepath.Join(dir, "shards"), seedType: "paper", want: []uint32{1, 2, 3}},

		{name: "no type", text: "", err: "expected one of author, paper"},
		{name: "another type than the plan's", text: "paper", seedType: "author", err: `found seeds of node type "paper", expected "author"`},
		{name: "unknown column", text: "paper:venue=x", err: `found column "venue"`},
		{name: "no such value", text: "paper:split=valid", err: `found no node of type paper with split = "valid"`},
		{name: "a value that is no number", text: "paper:year=new", err: `found value "new"`},
		{name: "a value that does not fit", text: "paper:year=70000", err: `found value "70000"`},
		{name: "a vector", text: "paper:feat=1", err: "expected one value per row"},
		{name: "neither type nor file", text: "venue", err: `found seeds "venue", which is neither a node type (author, paper) nor a file`},
		{name: "an id that is not there", text: file("bad.txt", "1\n9\n"), seedType: "paper", err: `bad.txt:2:1: found id "9", expected the id of a node of type paper`},
		{name: "no id column", text: file("n.csv", "a,b\n1,2\n"), seedType: "paper", err: "found no column id"},
		{name: "out of range in an array", text: ids, seedType: "author", err: `found id "3", expected the id of a node of type author`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := seeds.Find(context.Background(), vfs.OS, papers(), c.text, typesOf(c.seedType), "", nil, 0)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || !errors.Is(err, sample.ErrSeed) {
					t.Fatalf("error %v, want ErrSeed with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got.Nodes); d != "" {
				t.Fatal(d)
			}
		})
	}
}

// TestFindLinks reads links with their other columns.
func TestFindLinks(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	array, err := npy.AppendHeader(nil, "i4", []int{3, 2})
	if err != nil {
		t.Fatal(err)
	}
	pairs := file("pairs.npy", string(append(array, graph.Bytes([]int32{1, 3, 0, 0, 1, 2})...)))
	var w example.Writer
	w.Reset()
	example.Texts(&w, example.NewKey("words"), [][]byte{[]byte("a"), []byte("bc")})
	example.Ints(&w, example.NewKey("label"), []int64{4})
	example.Texts(&w, example.NewKey("#target"), [][]byte{[]byte("2")})
	example.Texts(&w, example.NewKey("#source"), [][]byte{[]byte("1")})
	records := file("links.tfrecord-00000-of-00001", string(tfrecord.AppendFrame(nil, w.Close())))
	table1 := file("links.csv", "label,#source,#target,name,share\n1,0,3,x,0.5\n-2,1,2,,1\n")
	both := []string{"author", "paper"}
	for _, c := range []struct {
		name, text string
		types      []string
		features   []table.Column
		want       []uint32
		columns    []string
		err        string
	}{
		{name: "a table, dtypes as they look", text: table1, types: both, want: []uint32{0, 3, 1, 2},
			columns: []string{"label int64 [1 -2]", `name string ["x" ""]`, "share float32 [0.5 1]"}},
		{name: "dtypes that are declared", text: table1, types: both, features: []table.Column{{Name: "label", DType: graph.Float32}}, want: []uint32{0, 3, 1, 2},
			columns: []string{"label float32 [1 -2]"}},
		{name: "nothing declared", text: table1, types: both, features: []table.Column{}, want: []uint32{0, 3, 1, 2}},
		{name: "two columns without a header", text: file("plain.tsv", "0\t1\n1\t1\n"), types: both, want: []uint32{0, 1, 1, 1}},
		{name: "pairs", text: pairs, types: both, want: []uint32{1, 3, 0, 0, 1, 2}},
		{name: "shards of TFRecords", text: strings.TrimSuffix(records, "-00000-of-00001") + "@1", types: both, want: []uint32{1, 2},
			columns: []string{"label int64 [4]", `words string ["a" "bc"]`}},

		{name: "no file", text: "author", types: both, err: "expected a file of links with columns source and target"},
		{name: "no ends", text: file("ends.csv", "source,dst,x\n1,2,3\n"), types: both, err: "found no column target, expected one that holds the seeds among source, dst, x"},
		{name: "a source that is not there", text: file("far.csv", "source,target\n0,1\n2,1\n"), types: both, err: `far.csv:3:1: found id "2" in column "source", expected the id of a node of type author`},
		{name: "beyond an array", text: pairs, types: []string{"author", "author"}, err: `found id "3", expected the id of a node of type author`},
		{name: "a declared column that is not there", text: table1, types: both, features: []table.Column{{Name: "time", DType: graph.Int64}}, err: "found no column time"},
		{name: "a value that does not fit", text: table1, types: both, features: []table.Column{{Name: "name", DType: graph.Int64}}, err: "links.csv:2:7: found \"x\" in column \"name\""},
		{name: "missing shards", text: strings.TrimSuffix(records, "-00000-of-00001") + "@2", types: both, err: "found 0 of 2 shards"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := seeds.Find(context.Background(), vfs.OS, papers(), c.text, c.types, "", c.features, 0)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var columns []string
			for _, col := range got.Columns {
				if err := col.CheckOffsets(); err != nil {
					t.Errorf("column %s: %v", col.Name, err)
				}
				var values any
				switch col.DType {
				case graph.Int64:
					values = graph.View[int64](col.Values)
				case graph.Float32:
					values = graph.View[float32](col.Values)
				case graph.String:
					texts := []string{}
					for i := range col.StringOffsets.Len() - 1 {
						texts = append(texts, string(col.Text(i)))
					}
					columns = append(columns, fmt.Sprintf("%s %s %q", col.Name, col.DType, texts))
					continue
				}
				columns = append(columns, fmt.Sprintf("%s %s %v", col.Name, col.DType, values))
			}
			if d := cmp.Diff(c.want, got.Nodes); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.columns, columns); d != "" {
				t.Error(d)
			}
		})
	}
}

// parquetOf writes rows as a Parquet file with row groups of two rows.
func parquetOf[T any](t *testing.T, name string, rows ...T) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	for pair := range slices.Chunk(rows, 2) {
		if _, err := w.Write(pair); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestFindParquetLinks reads links from Parquet files. Authors have the ids 0 and 1, papers 0 to 3.
func TestFindParquetLinks(t *testing.T) {
	type link struct {
		Source int64   `parquet:"source"`
		Target int64   `parquet:"target"`
		Share  float32 `parquet:"share"`
	}
	type texts struct {
		Target string `parquet:"#target"`
		Source string `parquet:"#source"`
	}
	type small struct {
		Source int32  `parquet:"source"`
		Target uint32 `parquet:"target"`
	}
	type fractions struct {
		Source int64   `parquet:"source"`
		Target float64 `parquet:"target"`
	}
	type lists struct {
		Source []int64 `parquet:"source,list"`
		Target int64   `parquet:"target"`
	}
	type gaps struct {
		Source int64  `parquet:"source"`
		Target *int64 `parquet:"target,optional"`
	}
	type noSource struct {
		From   int64 `parquet:"from"`
		Target int64 `parquet:"target"`
	}
	type noTarget struct {
		Source int64 `parquet:"source"`
		To     int64 `parquet:"to"`
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	one := int64(1)
	if err := os.Mkdir(at("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	parquetOf(t, at("folder/a.parquet"), link{0, 1, 0}, link{1, 2, 0}, link{1, 3, 0})
	parquetOf(t, at("folder/b.parquet"), link{0, 0, 0})
	for _, c := range []struct {
		name, file string
		most       int
		want       []uint32
		share      []float32
		err        []string
	}{
		{name: "all rows", file: parquetOf(t, at("all.parquet"), link{0, 3, 0.5}, link{1, 2, 1}, link{1, 0, -2}), want: []uint32{0, 3, 1, 2, 1, 0}, share: []float32{0.5, 1, -2}},
		{name: "the first rows", file: at("all.parquet"), most: 2, want: []uint32{0, 3, 1, 2}, share: []float32{0.5, 1}},
		{name: "texts, in another order", file: parquetOf(t, at("texts.parquet"), texts{"3", "1"}, texts{"0", "0"}), want: []uint32{1, 3, 0, 0}},
		{name: "smaller integers", file: parquetOf(t, at("small.parquet"), small{1, 3}), want: []uint32{1, 3}},
		{name: "a folder", file: at("folder"), want: []uint32{0, 1, 1, 2, 1, 3, 0, 0}, share: []float32{0, 0, 0, 0}},

		{name: "no rows", file: parquetOf[link](t, at("none.parquet")), err: []string{"none.parquet: found no seeds"}},
		{name: "no source", file: parquetOf(t, at("nosource.parquet"), noSource{0, 0}), err: []string{"nosource.parquet", "found no column source", "among from, target"}},
		{name: "no target", file: parquetOf(t, at("notarget.parquet"), noTarget{0, 0}), err: []string{"notarget.parquet", "found no column target", "among source, to"}},
		{name: "fractions", file: parquetOf(t, at("fractions.parquet"), fractions{0, 1.5}), err: []string{"fractions.parquet", `"target"`}},
		{name: "lists", file: parquetOf(t, at("lists.parquet"), lists{[]int64{0}, 1}, lists{[]int64{0, 1}, 1}), err: []string{"lists.parquet", `"source"`}},
		{name: "a gap", file: parquetOf(t, at("gaps.parquet"), gaps{0, &one}, gaps{0, &one}, gaps{1, nil}), err: []string{"gaps.parquet: row 2", `"target"`}},
		{name: "a source out of range", file: parquetOf(t, at("far.parquet"), link{0, 3, 0}, link{1, 3, 0}, link{2, 3, 0}), err: []string{"far.parquet: row 2", `found id "2" in column "source", expected the id of a node of type author`}},
		{name: "a target out of range", file: parquetOf(t, at("deep.parquet"), link{0, 3, 0}, link{1, 4, 0}), err: []string{"deep.parquet: row 1", `found id "4" in column "target", expected the id of a node of type paper`}},
		{name: "a negative source", file: parquetOf(t, at("below.parquet"), link{-1, 3, 0}), err: []string{"below.parquet: row 0", `found id "-1" in column "source", expected the id of a node of type author`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := seeds.Find(t.Context(), vfs.OS, papers(), c.file, []string{"author", "paper"}, "", nil, c.most)
			if c.err != nil {
				for _, want := range c.err {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("found error %v, expected %q", err, want)
					}
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got.Nodes) + cmp.Diff([]string{"author", "paper"}, got.Types); d != "" {
				t.Error(d)
			}
			share := graph.FindColumn(got.Columns, "share")
			switch {
			case (share != nil) != (c.share != nil):
				t.Errorf("found the column share: %v", share)
			case share != nil && (share.Rows != len(c.share) || cmp.Diff(c.share, graph.View[float32](share.Values)) != ""):
				t.Errorf("found %d rows of share, %v", share.Rows, graph.View[float32](share.Values))
			}
		})
	}
}

// rated is an open store with ratings, whose edges are numbered by the movies they lead to.
func rated() *store.Store {
	g := &graph.Graph{
		Nodes: []*graph.Nodes{{Type: "movie", Count: 3}, {Type: "user", Count: 4}},
		Edges: []*graph.Edges{{
			Type: graph.EdgeType{Src: "user", Rel: "rates", Dst: "movie"}, Count: 5, Primary: graph.In,
			Adj: [2]*graph.Adjacency{{Indptr: graph.Index{U32: []uint32{0, 2, 2, 5}}, Far: graph.Index{U32: []uint32{3, 0, 1, 1, 2}}}},
			Columns: []*graph.Column{
				{Name: graph.PositionColumn, DType: graph.Uint32, Rows: 5, Values: make([]byte, 20)},
				{Name: "split", DType: graph.String, Rows: 5, Values: []byte("abaab"), StringOffsets: graph.Index{U64: []uint64{0, 1, 2, 3, 4, 5}}},
				{Name: "stars", DType: graph.Int32, Rows: 5, Values: graph.Bytes([]int32{5, 1, 4, 2, 3})},
				{Name: "words", DType: graph.Int16, Shape: []int{-1, 2}, Rows: 5, Offsets: []graph.Index{{U32: []uint32{0, 1, 1, 3, 3, 4}}},
					Values: graph.Bytes([]int16{0, 1, 2, 3, 4, 5, 6, 7})},
			},
		}},
	}
	return &store.Store{Graph: g, Meta: &store.Meta{}}
}

// TestFindEdges takes the edges of a type as links, with their columns, in the order of their ids.
func TestFindEdges(t *testing.T) {
	ends := []string{"user", "movie"}
	for _, c := range []struct {
		name, text, edges string
		types             []string
		features          []table.Column
		most              int
		want              []uint32
		stars             []int32
		words             []int16
		err               string
	}{
		{name: "all", text: "user:rates:movie", want: []uint32{3, 0, 0, 0, 1, 2, 1, 2, 2, 2}, stars: []int32{5, 1, 4, 2, 3}, words: []int16{0, 1, 2, 3, 4, 5, 6, 7}},
		{name: "the edge type alone", edges: "user:rates:movie", types: ends, want: []uint32{3, 0, 0, 0, 1, 2, 1, 2, 2, 2}, stars: []int32{5, 1, 4, 2, 3}, words: []int16{0, 1, 2, 3, 4, 5, 6, 7}},
		{name: "a value", text: "user:rates:movie:split=a", types: ends, want: []uint32{3, 0, 1, 2, 1, 2}, stars: []int32{5, 4, 2}, words: []int16{0, 1, 2, 3, 4, 5}},
		{name: "the first", text: "user:rates:movie", most: 2, want: []uint32{3, 0, 0, 0}, stars: []int32{5, 1}, words: []int16{0, 1}},
		{name: "the first with a value", text: "user:rates:movie:split=b", most: 1, want: []uint32{0, 0}, stars: []int32{1}},
		{name: "declared columns", text: "user:rates:movie:split=b", features: []table.Column{{Name: "stars", DType: graph.Int32}}, want: []uint32{0, 0, 2, 2}, stars: []int32{1, 3}},

		{name: "no such value", text: "user:rates:movie:split=c", err: `found no edge of type user:rates:movie with split = "c"`},
		{name: "no such column", text: "user:rates:movie:part=c", err: `found column "part", expected a column of edge type user:rates:movie: split, stars, words`},
		{name: "another plan", text: "user:rates:movie", types: []string{"user", "user"}, err: "found seeds that are edges of type user:rates:movie, expected user,user, from which the plan starts"},
		{name: "another edge type", text: "user:rates:movie", types: ends, edges: "user:sees:movie", err: "expected user:sees:movie, from which the plan starts"},
		{name: "a column that is declared", text: "user:rates:movie", features: []table.Column{{Name: "label"}}, err: "found no column label of user:rates:movie, expected it, because the schema declares it"},
		{name: "no such edge type", text: "user:likes:movie", types: ends, err: "which is neither a node type"},
		{name: "the relation alone", text: "rates", err: `found no such file, expected one; did you mean "user:rates:movie"?`},
		{name: "the relation alone with a value", text: "rates:split=a", err: `found no such file, expected one; did you mean "user:rates:movie:split=a"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := seeds.Find(context.Background(), vfs.OS, rated(), c.text, c.types, c.edges, c.features, c.most)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || !errors.Is(err, sample.ErrSeed) {
					t.Fatalf("error %v, want ErrSeed with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got.Nodes) + cmp.Diff(ends, got.Types); d != "" || got.Edges != "user:rates:movie" {
				t.Fatal(d, got.Edges)
			}
			for _, col := range got.Columns {
				if err := col.CheckOffsets(); err != nil || col.Rows != len(c.want)/2 {
					t.Errorf("column %s: %d rows, %v", col.Name, col.Rows, err)
				}
			}
			if d := cmp.Diff(c.stars, graph.View[int32](graph.FindColumn(got.Columns, "stars").Values)); d != "" {
				t.Error(d)
			}
			if words := graph.FindColumn(got.Columns, "words"); words != nil {
				if d := cmp.Diff(c.words, graph.View[int16](words.Values), cmpopts.EquateEmpty()); d != "" {
					t.Error(d)
				}
			}
		})
	}
	broken := rated()
	broken.Graph.Edges[0].Adj[graph.In].Far = graph.Index{U32: []uint32{3, 0, 1, 9, 2}}
	if _, err := seeds.Find(context.Background(), vfs.OS, broken, "user:rates:movie", nil, "", nil, 0); err == nil || !strings.Contains(err.Error(), "found node 9, expected less than 4") {
		t.Errorf("error %v", err)
	}
}

// TestAddedNodesAreNoSeeds checks that nodes without a row in the table are no seeds.
func TestAddedNodesAreNoSeeds(t *testing.T) {
	s := papers()
	s.Graph.Nodes[1].Added = 2
	got, err := seeds.Find(context.Background(), vfs.OS, s, "paper", nil, "", nil, 0)
	if err != nil || len(got.Nodes) != 2 {
		t.Fatalf("found %v, %v, expected 2 nodes", got, err)
	}
}

func typesOf(seedType string) []string {
	if seedType == "" {
		return nil
	}
	return strings.Split(seedType, ",")
}

func TestTimes(t *testing.T) {
	s := papers()
	got, err := seeds.Times(context.Background(), vfs.OS, s.Graph, &seeds.Seeds{Types: []string{"paper"}, Nodes: []uint32{3, 0}}, "time", "")
	if err != nil {
		t.Fatal(err)
	}
	if got[0] != sample.IntTime(40) || got[1] != sample.IntTime(10) {
		t.Fatalf("times %v", got)
	}
	links := &seeds.Seeds{Types: []string{"paper", "author"}, Nodes: []uint32{3, 0, 1, 1}, Columns: []*graph.Column{{Name: "at", DType: graph.Int32, Rows: 2, Values: graph.Bytes([]int32{5, 6})}}}
	if got, err = seeds.Times(context.Background(), vfs.OS, s.Graph, links, "at", ""); err != nil || len(got) != 2 || got[1] != sample.IntTime(6) {
		t.Fatalf("times %v of links, %v", got, err)
	}
	if _, err := seeds.Times(context.Background(), vfs.OS, s.Graph, links, "time", ""); err == nil || !strings.Contains(err.Error(), "of the links") {
		t.Fatalf("error %v", err)
	}
	if _, err := seeds.Times(context.Background(), vfs.OS, s.Graph, &seeds.Seeds{Types: []string{"paper"}}, "when", ""); err == nil || !strings.Contains(err.Error(), "`SeedTime`") {
		t.Fatalf("error %v", err)
	}
	s.Graph.Nodes[1].Columns = append(s.Graph.Nodes[1].Columns, &graph.Column{Name: "topic", DType: graph.Int32, Rows: 4, Values: graph.Bytes([]int32{0, 1, 1, 0}), Categories: &graph.Column{Name: "topic", DType: graph.String}})
	for column, want := range map[string]string{
		"split": `column "split" of node type paper: found dtype string, expected int32, int64, uint32, float32 or float64, as in score, time`,
		"open":  "found dtype bool, expected int32",
		"year":  "found dtype int16, expected int32",
		"feat":  "found shape [2], expected one value per row, as in score, time",
		"topic": `column "topic" of node type paper: found categories, expected times or numbers, as in score, time; give ` + "`SeedTime`",
	} {
		if _, err := seeds.Times(context.Background(), vfs.OS, s.Graph, &seeds.Seeds{Types: []string{"paper"}}, column, ""); !errors.Is(err, sample.ErrSeed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", column, err, want)
		}
	}
	none := &seeds.Seeds{Types: []string{"paper", "author"}, Columns: s.Graph.Nodes[1].Columns[len(s.Graph.Nodes[1].Columns)-1:]}
	if _, err := seeds.Times(context.Background(), vfs.OS, s.Graph, none, "topic", ""); err == nil || !strings.Contains(err.Error(), "of which there is no column") {
		t.Errorf("error %v", err)
	}
}

// TestTimeOfAllSeeds reads dates, times and numbers in place of the name of a column. A column of the same name comes first.
func TestTimeOfAllSeeds(t *testing.T) {
	s := papers()
	two := &seeds.Seeds{Types: []string{"paper"}, Nodes: []uint32{3, 0}}
	for _, test := range []struct {
		text string
		unit graph.Unit
		want any // sample.Time, or what the error says
	}{
		{"2024-04-01", graph.Seconds, sample.IntTime(1711929600)},
		{"2024-04-01", graph.Nanoseconds, sample.IntTime(1711929600e9)},
		{"2024-04-01T12:00:00+02:00", graph.Milliseconds, sample.IntTime(1711965600e3)},
		{"2024-04-01 12:00:00.25", graph.Milliseconds, sample.IntTime(1711972800250)},
		{"1969-12-31T23:59:59.75", graph.Milliseconds, sample.IntTime(-250)},
		{"1711929600", graph.Seconds, sample.IntTime(1711929600)},
		{"-5", "", sample.IntTime(-5)},
		{"2.5", "", sample.FloatTime(2.5)},
		{"9223372036854775807", "", sample.IntTime(1<<63 - 1)},
		{"2024-04-01T12:00:00.25", graph.Seconds, "found 2024-04-01T12:00:00.25, expected whole s"},
		{"2024-04-01", "", "found the date 2024-04-01, expected a number, because the times of the edges have no unit"},
		{"2300-01-01", graph.Nanoseconds, "expected a time that 64 bits hold in ns"},
		{"1600-01-01", graph.Nanoseconds, "expected a time that 64 bits hold in ns"},
		{"2024-02-30", graph.Seconds, `found no column "2024-02-30" of node type paper`},
		{"NaN", "", `found no column "NaN"`},
		{"1e999", "", `found no column "1e999"`},
	} {
		got, err := seeds.Times(context.Background(), vfs.OS, s.Graph, two, test.text, test.unit)
		switch want := test.want.(type) {
		case sample.Time:
			if err != nil || !slices.Equal(got, []sample.Time{want, want}) {
				t.Errorf("%s in %q: found %v and error %v, expected %v twice", test.text, test.unit, got, err, want)
			}
		case string:
			if !errors.Is(err, sample.ErrSeed) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "; ") {
				t.Errorf("%s in %q: found error %v, expected %q", test.text, test.unit, err, want)
			}
		}
	}
	s.Graph.Nodes[1].Columns = append(s.Graph.Nodes[1].Columns, &graph.Column{Name: "2024-04-01", DType: graph.Int64, Rows: 4, Values: graph.Bytes([]int64{1, 2, 3, 4})})
	if got, err := seeds.Times(context.Background(), vfs.OS, s.Graph, two, "2024-04-01", ""); err != nil || got[0] != sample.IntTime(4) {
		t.Errorf("found %v and error %v, expected the values of the column", got, err)
	}
}

// writeArray writes an .npy file, and returns its path.
func writeArray(t *testing.T, dir, name, descr string, shape []int, values []byte) string {
	t.Helper()
	b, err := npy.AppendHeader(nil, descr, shape)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, append(b, values...), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTimesOfAFile checks that a file has a time for each seed, in the order of the seeds.
func TestTimesOfAFile(t *testing.T) {
	s, dir := papers(), t.TempDir()
	file := func(name, descr string, shape []int, values []byte) string {
		return writeArray(t, dir, name, descr, shape, values)
	}
	two := &seeds.Seeds{Types: []string{"paper"}, Nodes: []uint32{3, 3}}
	for _, c := range []struct {
		path string
		want []sample.Time
		err  string
	}{
		{path: file("int64.npy", "i8", []int{2}, graph.Bytes([]int64{-7, 1 << 60})), want: []sample.Time{sample.IntTime(-7), sample.IntTime(1 << 60)}},
		{path: file("int16.npy", "i2", []int{2}, graph.Bytes([]int16{4, -3})), want: []sample.Time{sample.IntTime(4), sample.IntTime(-3)}},
		{path: file("float64.npy", "f8", []int{2}, graph.Bytes([]float64{.1, 2})), want: []sample.Time{sample.FloatTime(.1), sample.FloatTime(2)}},
		{path: file("more.npy", "i8", []int{3}, graph.Bytes([]int64{1, 2, 3})), want: []sample.Time{sample.IntTime(1), sample.IntTime(2)}},
		{path: file("fewer.npy", "i8", []int{1}, graph.Bytes([]int64{1})), err: "fewer.npy: found 1 times, expected 2, one per seed"},
		{path: file("wide.npy", "i8", []int{2, 1}, graph.Bytes([]int64{1, 2})), err: "wide.npy: found int64 rows of shape [1], expected a number per seed"},
		{path: file("bools.npy", "b1", []int{2}, []byte{0, 1}), err: "found bool rows"},
		{path: filepath.Join(dir, "none.npy"), err: "none.npy"},
	} {
		got, err := seeds.Times(context.Background(), vfs.OS, s.Graph, two, c.path, "")
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			continue
		}
		if d := cmp.Diff(c.want, got, cmp.Comparer(func(a, b sample.Time) bool { return a == b })); d != "" || err != nil {
			t.Errorf("%s: %s %v", filepath.Base(c.path), d, err)
		}
	}
}

// TestOrderOfTheInput checks that the links and their columns come in the order of the input.
func TestOrderOfTheInput(t *testing.T) {
	stored, err := seeds.Find(context.Background(), vfs.OS, rated(), "user:rates:movie", nil, "", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	positions := []uint32{3, 1, 4, 0, 2}
	for _, most := range []int{0, 2} {
		s := rated()
		e := s.Graph.Edges[0]
		e.Columns = append([]*graph.Column{{Name: graph.PositionColumn, DType: graph.Uint32, Rows: 5, Values: graph.Bytes(positions)}}, e.Columns...)
		got, err := seeds.Find(context.Background(), vfs.OS, s, "user:rates:movie:#input_position", nil, "", nil, most)
		if err != nil {
			t.Fatal(err)
		}
		n := 5
		if most > 0 {
			n = most
		}
		if len(got.Nodes) != 2*n {
			t.Fatalf("found %d ids, expected %d", len(got.Nodes), 2*n)
		}
		stars := func(s *seeds.Seeds) []int32 { return graph.View[int32](graph.FindColumn(s.Columns, "stars").Values) }
		for id, at := range positions {
			if int(at) < n && (got.Nodes[2*at] != stored.Nodes[2*id] || got.Nodes[2*at+1] != stored.Nodes[2*id+1] || stars(got)[at] != stars(stored)[id]) {
				t.Errorf("link %d is not edge %d", at, id)
			}
		}
	}
}

// Of features that the store holds in pieces, links have the pieces, where the schema declares the feature or there is none.
func TestPiecesOfEdges(t *testing.T) {
	stored := []byte{10, 11, 12, 13, 14}
	pieced := func() *store.Store {
		s := rated()
		e := s.Graph.Edges[0]
		column := func(name string, values []byte) *graph.Column {
			return &graph.Column{Name: name, DType: graph.Uint8, Rows: 5, Values: values}
		}
		e.Columns = append([]*graph.Column{column("#e.0", stored), column("#e.1", []byte{1, 2, 3, 4, 5}), column(sample.OnesColumn, make([]byte, 5)),
			{Name: graph.PositionColumn, DType: graph.Uint32, Rows: 5, Values: graph.Bytes([]uint32{3, 1, 4, 0, 2})}}, e.Columns...)
		return s
	}
	declared := func(names ...string) (all []table.Column) {
		for _, name := range names {
			all = append(all, table.Column{Name: name, DType: graph.Float32})
		}
		return all
	}
	for _, c := range []struct {
		name, text string
		features   []table.Column
		most       int
		want       string // the columns
		codes      []byte
		err        string
	}{
		{name: "all", want: "#e.0 #e.1 split stars words", codes: stored},
		{name: "the first", most: 2, want: "#e.0 #e.1 split stars words", codes: stored[:2]},
		{name: "a value", text: ":split=b", want: "#e.0 #e.1 split stars words", codes: []byte{11, 14}},
		{name: "in the order of the input", text: ":#input_position", want: "#e.0 #e.1 split stars words", codes: []byte{13, 11, 14, 10, 12}},
		{name: "the first of the input", text: ":#input_position", most: 3, want: "#e.0 #e.1 split stars words", codes: []byte{13, 11, 14}},
		{name: "declared", features: declared("e", "stars"), want: "#e.0 #e.1 stars", codes: stored},
		{name: "not declared", features: declared("stars"), want: "stars"},
		{name: "a piece is declared", features: declared("#e.0"), err: "found no column #e.0 of user:rates:movie, expected it, because the schema declares it"},
	} {
		got, err := seeds.Find(context.Background(), vfs.OS, pieced(), "user:rates:movie"+c.text, nil, "", c.features, c.most)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: found %v, expected %s", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var names []string
		for _, x := range got.Columns {
			names = append(names, x.Name)
		}
		if d := cmp.Diff(c.want, strings.Join(names, " ")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if x := graph.FindColumn(got.Columns, "#e.0"); (x == nil) != (c.codes == nil) || x != nil && !bytes.Equal(x.Values, c.codes) {
			t.Errorf("%s: found the codes %v, expected %v", c.name, x, c.codes)
		}
	}
	links, err := seeds.Find(context.Background(), vfs.OS, pieced(), "user:rates:movie", nil, "", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := seeds.Times(context.Background(), vfs.OS, pieced().Graph, links, "when", ""); err == nil || !strings.Contains(err.Error(), "expected one of split, stars, words;") {
		t.Errorf("found %v, expected the columns without pieces", err)
	}
}
