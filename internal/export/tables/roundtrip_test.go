package tables_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/tables"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/yamltext"
)

func TestMain(m *testing.M) {
	proof.FewerChecks(4) // a check makes five folders
	goleak.VerifyTestMain(m)
}

var ctx = context.Background()

// disk is the file system without waiting for the disk.
var disk vfs.FS = vfs.Unsynced{FS: vfs.OS}

// publish makes an output folder.
func publish(out string, meta *store.Meta, write func(w *store.Writer) error) error {
	w, err := store.Create(disk, out, true)
	if err != nil {
		return err
	}
	err = write(w)
	if err == nil {
		err = w.Seal(ctx, meta, 1)
	}
	if err == nil {
		err = w.Publish()
	}
	return errors.Join(err, w.Abort())
}

// load imports a folder with a graph.yaml as a store.
func load(path, out string, opt assemble.Options) error {
	s, err := ingest.Open(ctx, disk, path, ingest.Options{})
	if err != nil {
		return err
	}
	if err := s.Collect(ctx, 2, 0, false); err != nil {
		return errors.Join(err, s.Close())
	}
	opt.Threads, opt.SelfLoops, opt.DuplicateEdges = 2, assemble.Keep, assemble.Keep
	meta := &store.Meta{}
	err = publish(out, meta, func(w *store.Writer) error {
		r, err := assemble.Build(ctx, disk, w, s.Input, opt)
		if err == nil {
			*meta = *r.Meta
		}
		return err
	})
	return errors.Join(err, s.Close())
}

// write exports a store.
func write(in, out string, opt tables.Options) (r *tables.Result, err error) {
	s, err := store.Open(disk, in)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	err = publish(out, nil, func(w *store.Writer) (err error) {
		r, err = tables.Write(ctx, disk, w, s, opt)
		return err
	})
	return r, err
}

// files are the files of a folder by their names. Of a store, graph.json is without what made it.
func files(t interface{ Fatal(...any) }, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "manifest.json") {
			return err
		}
		b, err := os.ReadFile(path)
		if d.Name() == store.MetaFile {
			var meta map[string]any
			if err := json.Unmarshal(b, &meta); err != nil {
				return err
			}
			delete(meta, "made")
			b, err = json.MarshalIndent(meta, "", " ")
		}
		out[strings.TrimPrefix(path, dir)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var oddNames = []string{"x", "ID", "node", "source", "a b", "é%/", "日本", `say "hi"`, "x_missing", "1e5", "null", "tab'", "{a: b}", "#x", "~", "*"}

// drawCell is a value of a type in JSON, or null.
func drawCell(t *rapid.T, dtype string, null bool) any {
	if null && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return nil
	}
	switch dtype {
	case "bool":
		return rapid.Bool().Draw(t, "bool")
	case "string":
		return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "null", "\x00", "'"})).Draw(t, "text")
	case "category":
		return rapid.SampledFrom([]string{"b", "a", "c c", "ü"}).Draw(t, "category")
	case "datetime[s]", "datetime[ms]", "datetime[us]", "datetime[ns]":
		return rapid.OneOf(rapid.Int64Range(-1<<40, 1<<40), rapid.Int64Range(-1<<62, 1<<62)).Draw(t, "time")
	case "uint8", "uint16":
		return rapid.IntRange(0, 255).Draw(t, "small")
	case "uint64":
		return rapid.Uint64().Draw(t, "large")
	case "int64":
		return rapid.Int64().Draw(t, "integer")
	case "float64":
		return rapid.Float64Range(-1e300, 1e300).Draw(t, "double")
	case "float16", "bfloat16", "float32":
		return float64(rapid.IntRange(-256, 256).Draw(t, "float")) / 8
	}
	return rapid.IntRange(0, 100).Draw(t, "number")
}

// drawValue is a value of a type and shape.
func drawValue(t *rapid.T, dtype string, shape []int, null bool) any {
	if len(shape) == 0 {
		return drawCell(t, dtype, null)
	}
	n := shape[0]
	if n == -1 {
		n = rapid.IntRange(0, 3).Draw(t, "length")
	}
	list := []any{}
	for range n {
		list = append(list, drawValue(t, dtype, shape[1:], false))
	}
	return list
}

// drawnType is a type of a folder that was drawn: its rows, and the columns that its table has beside the keys.
type drawnType struct {
	Type     string            `json:"type"`
	Edges    bool              `json:"edges"`
	Rows     []map[string]any  `json:"rows"`
	Columns  map[string]string `json:"columns"` // the dtype of each
	Marked   map[string]bool   `json:"marked"`  // a column NAME_missing marks empty cells
	Src, Dst string            // of edges
}

// drawRows adds columns to the rows of a type, and returns their entries in graph.yaml.
func drawRows(t *rapid.T, d *drawnType) string {
	rows := d.Rows
	d.Columns, d.Marked = map[string]string{}, map[string]bool{}
	var list strings.Builder
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(oddNames), 0, 4, rapid.ID).Draw(t, "names")
	for _, name := range names {
		dtype := rapid.SampledFrom([]string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
			"float32", "float64", "string", "category", "datetime[s]", "datetime[ms]", "datetime[us]", "datetime[ns]"}).Draw(t, "dtype")
		shape := rapid.SampledFrom([][]int{nil, nil, nil, {2}, {-1}, {2, 1}, {-1, 2}, {2, -1}, {-1, -1}}).Draw(t, "shape")
		if dtype == "category" || len(shape) > 1 && dtype != "int64" && dtype != "float32" && dtype != "string" {
			shape = nil
		}
		full := dtype
		if len(shape) > 0 {
			full += strings.NewReplacer("-1", "", " ", ",").Replace(fmt.Sprint(shape))
		}
		missing := len(shape) == 0 && name != "x"
		entry := "{dtype: " + yamltext.Quoted(full)
		if missing {
			entry += ", missing: column"
			d.Marked["c"+name] = true
		} else if len(shape) == 0 && (dtype == "category" || strings.HasPrefix(dtype, "datetime") || dtype == "string") {
			missing = true
		}
		d.Columns["c"+name] = full
		all := missing && rapid.IntRange(0, 4).Draw(t, "all missing") == 0
		for _, row := range rows {
			if v := drawValue(t, dtype, shape, missing); !all && v != nil {
				row["c"+name] = v
			} else {
				row["c"+name] = nil
			}
		}
		fmt.Fprintf(&list, "      %s: %s}\n", yamltext.Quoted("c"+name), entry)
	}
	if list.Len() == 0 || len(rows) == 0 {
		return "    columns: {}\n"
	}
	var keys []string
	for key := range rows[0] {
		keys = append(keys, yamltext.Quoted(key))
	}
	return fmt.Sprintf("    names: [%s]\n    columns:\n%s", strings.Join(keys, ", "), list.String())
}

// drawFolder makes the tables of a graph of random types, some of them empty.
func drawFolder(t *rapid.T, dir string) (drawn []*drawnType) {
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	put := func(name string, rows []map[string]any) {
		var b bytes.Buffer
		for _, row := range rows {
			line, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(line, '\n'))
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var yaml strings.Builder
	yaml.WriteString("nodes:\n")
	types := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"_N", "paper", "a b", "ü%", "x/y", ".hidden", "CON", "*"}), 1, 3, rapid.ID).Draw(t, "types")
	ids := map[string][]any{}
	for i, typ := range types {
		d := &drawnType{Type: typ}
		drawn = append(drawn, d)
		n := rapid.IntRange(0, 6).Draw(t, "nodes")
		if n == 0 || rapid.Bool().Draw(t, "count") {
			fmt.Fprintf(&yaml, "  %s: {count: %d}\n", yamltext.Quoted(typ), n)
			for k := range n {
				ids[typ] = append(ids[typ], k)
				d.Rows = append(d.Rows, map[string]any{})
			}
			continue
		}
		d.Rows = make([]map[string]any, n)
		rows := d.Rows
		named := rapid.Bool().Draw(t, "ids")
		for k := range rows {
			rows[k] = map[string]any{"row": k}
			id := any(k)
			if named {
				id = fmt.Sprintf("%d é", 7*k)
				rows[k]["key"] = id
			}
			ids[typ] = append(ids[typ], id)
		}
		id := "null"
		if named {
			id = "{column: key, dtype: string}"
		}
		fmt.Fprintf(&yaml, "  %s:\n    table: n%d.jsonl\n    id: %s\n%s", yamltext.Quoted(typ), i, id, drawRows(t, d))
		put(fmt.Sprintf("n%d.jsonl", i), rows)
	}
	yaml.WriteString("edges:\n")
	for i := range rapid.IntRange(1, 3).Draw(t, "edge types") {
		src, dst := rapid.SampledFrom(types).Draw(t, "src"), rapid.SampledFrom(types).Draw(t, "dst")
		n := rapid.IntRange(1, 8).Draw(t, "edges")
		if len(ids[src]) == 0 || len(ids[dst]) == 0 {
			n = 0
		}
		rows := make([]map[string]any, n)
		for k := range rows {
			rows[k] = map[string]any{"from": rapid.SampledFrom(ids[src]).Draw(t, "from"), "to": rapid.SampledFrom(ids[dst]).Draw(t, "to")}
		}
		d := &drawnType{Type: src + ":r" + fmt.Sprint(i) + ":" + dst, Edges: true, Rows: rows, Src: src, Dst: dst}
		drawn = append(drawn, d)
		columns := drawRows(t, d)
		if n == 0 { // JSON lines without rows have no columns
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("e%d.csv", i)), []byte("from,to\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&yaml, "  %s: {table: e%d.csv, src: from, dst: to}\n", yamltext.Quoted(d.Type), i)
			continue
		}
		fmt.Fprintf(&yaml, "  %s:\n    table: e%d.jsonl\n    src: from\n    dst: to\n%s", yamltext.Quoted(d.Type), i, columns)
		put(fmt.Sprintf("e%d.jsonl", i), rows)
	}
	if err := os.WriteFile(filepath.Join(dir, tables.GraphFile), []byte(yaml.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return drawn
}

// A store that is written as tables and imported again has the same bytes, whatever its types, columns and names.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		in, first, out, again := filepath.Join(dir, "in"), filepath.Join(dir, "first"), filepath.Join(dir, "out"), filepath.Join(dir, "again")
		drawFolder(t, in)
		opt := assemble.Options{Primary: rapid.SampledFrom([]graph.Direction{graph.In, graph.Out}).Draw(t, "primary"),
			Both: rapid.Bool().Draw(t, "both"), NoPositions: rapid.Bool().Draw(t, "no positions")}
		if err := load(in, first, opt); err != nil {
			t.Skip(err) // a key of JSON that is null in all rows is no column
		}
		shards := rapid.SampledFrom([]int{1, 1, 3}).Draw(t, "shards")
		if _, err := write(first, out, tables.Options{Name: "g", Shards: shards, Threads: 2}); err != nil {
			t.Fatal(err)
		}
		if err := load(out, again, opt); err != nil {
			yaml, _ := os.ReadFile(filepath.Join(out, tables.GraphFile))
			t.Fatalf("%v\n%s", err, yaml)
		}
		if diff := cmp.Diff(files(t, first), files(t, again)); diff != "" {
			yaml, _ := os.ReadFile(filepath.Join(out, tables.GraphFile))
			t.Fatalf("%s\n%s", diff, yaml)
		}
		more := filepath.Join(dir, "more")
		if _, err := write(first, more, tables.Options{Name: "g", Shards: shards, Threads: 5}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(files(t, out), files(t, more)); diff != "" {
			t.Fatalf("other bytes with more threads: %s", diff)
		}
	})
}
