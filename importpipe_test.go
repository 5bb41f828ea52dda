package graphmill_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

// A table that comes through a pipe becomes the store of the file, and leaves nothing else.
func TestImportPipe(t *testing.T) {
	for kind, file := range map[string][]byte{
		"csv":     []byte("src,dst,w\n0,1,2.5\n1,2,3\n"),
		"tsv":     []byte("src\tdst\n0\t1\n"),
		"jsonl":   []byte(`{"src": "a", "dst": "b"}` + "\n"),
		"arrow":   read(t, "internal/ingest/table/columnfiles/testdata/arrow/plain.arrows"),
		"parquet": read(t, "internal/ingest/table/columnfiles/testdata/parquet/none.parquet"),
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "in."+kind)
		if err := os.WriteFile(path, file, 0o644); err != nil {
			t.Fatal(err)
		}
		o := option.Import{}
		switch kind {
		case "arrow":
			o.Src, o.Dst, o.Columns = "last", "last", "last,float"
		case "parquet":
			o.Src, o.Dst, o.Columns = "id", "id", "id,decimal_7_2"
			o.Missing = []string{"0"}
		}
		if kind == "arrow" {
			o.Missing = []string{"0"}
		}
		want, err := graphmill.Import(t.Context(), path, filepath.Join(dir, "a.store"), o)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		defer want.Close()
		o.Format, o.Input = kind, bytes.NewReader(file)
		out := filepath.Join(dir, "out")
		if err := os.Mkdir(out, 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := graphmill.Import(t.Context(), "-", filepath.Join(out, "b.store"), o)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		defer got.Close()
		if a, b := want.Graph(), got.Graph(); len(a.Edges[0].Columns) != len(b.Edges[0].Columns) || a.Edges[0].Count != b.Edges[0].Count || b.Edges[0].Count == 0 {
			t.Errorf("%s: found %d edges and %d columns, expected %d and %d", kind, b.Edges[0].Count, len(b.Edges[0].Columns), a.Edges[0].Count, len(a.Edges[0].Columns))
		}
		if left, err := os.ReadDir(out); err != nil || len(left) != 1 {
			t.Errorf("%s: found %v, %v, expected the store alone", kind, left, err)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestImportPipeErrors(t *testing.T) {
	stopped, stop := context.WithCancelCause(t.Context())
	broken := errors.New("stopped")
	stop(broken)
	for _, c := range []struct {
		name string
		ctx  context.Context
		o    option.Import
		want string
	}{
		{"no format", t.Context(), option.Import{Input: strings.NewReader("")}, "found `Format` \"\" with the source -, expected one of csv, tsv"},
		{"another format", t.Context(), option.Import{Format: "dgl", Input: strings.NewReader("")}, "found `Format` \"dgl\" with the source -"},
		{"no input", t.Context(), option.Import{Format: "csv"}, "found the source - without `Input`"},
		{"more", t.Context(), option.Import{Format: "csv", Input: strings.NewReader(""), More: []string{"x.csv"}}, "found the source - with further files, expected it alone"},
		{"a bad row", t.Context(), option.Import{Format: "csv", Input: strings.NewReader("src,dst\n0,1\n0\n")}, "stdin.csv:3:2: found 1 fields, expected 2"},
		{"cancelled", stopped, option.Import{Format: "csv", Input: strings.NewReader("src,dst\n0,1\n")}, "stopped"},
	} {
		out := t.TempDir()
		_, err := graphmill.Import(c.ctx, "-", filepath.Join(out, "x.store"), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found error %v, expected %q", c.name, err, c.want)
		}
		if left, _ := os.ReadDir(out); len(left) != 0 {
			t.Errorf("%s: found %v left, expected nothing", c.name, left)
		}
	}
}

// Several files are one table of edges; other formats are one file or folder.
func TestImportSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b, c := file("a.csv", "src,dst\n0,1\n"), file("b.csv", "src,dst\n1,2\n2,0\n"), file("c.csv", "src,to\n0,1\n")
	yaml := file("graph.yaml", "nodes: {n: {}}\nedges: {n:e:n: {table: a.csv}}\n")
	s, err := graphmill.Import(t.Context(), a, filepath.Join(dir, "x.store"), option.Import{More: []string{b}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := s.Graph().Edges[0].Count; n != 3 {
		t.Errorf("found %d edges, expected 3", n)
	}
	for _, x := range []struct{ first, more, want string }{
		{a, c, c + `:1: found the header "src to", expected "src dst", as in ` + a + `: column 2 is "to" and not "dst"`},
		{yaml, a, "found several files with a source of format graph.yaml, expected them with an edge list or TFRecords"},
	} {
		_, err := graphmill.Import(t.Context(), x.first, filepath.Join(dir, "y.store"), option.Import{More: []string{x.more}})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("found error %v, expected %q", err, x.want)
		}
	}
}
