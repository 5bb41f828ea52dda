package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// built is the store of an import, or the error of its opening or its scan.
func built(t *testing.T, path string, o Options) (*store.Store, *Source, error) {
	t.Helper()
	s, err := Open(t.Context(), vfs.OS, path, o)
	if err != nil {
		return nil, nil, err
	}
	out := filepath.Join(t.TempDir(), "g.store")
	w, err := store.Create(vfs.OS, out, false)
	if err != nil {
		t.Fatal(err)
	}
	result, err := assemble.Build(t.Context(), vfs.OS, w, s.Input, assemble.Options{Threads: 2, SelfLoops: assemble.Keep, DuplicateEdges: assemble.Keep})
	if err != nil {
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
		return nil, s, err
	}
	if err := w.Seal(t.Context(), result.Meta, 1); err != nil {
		t.Fatal(err)
	}
	if err := w.Publish(); err != nil {
		t.Fatal(err)
	}
	got, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = got.Close() })
	return got, s, nil
}

// TestLateCells checks cells after the first MiB that the dtype inferred from it would change: they are errors with the
// place and the dtype to give, and with that dtype they are whole.
func TestLateCells(t *testing.T) {
	const rows = 180_000 // more than a MiB
	for name, test := range map[string]struct {
		file, header, row, late string
		want                    string
		columns                 string // with which the import succeeds
		ids                     IDs
	}{
		"a double":               {"e.csv", "src,dst,t", "%d,%d,0.5", "3,4,116777217.0", `e.csv:180002:5: found "116777217.0" in column "t", expected a number that float32 holds, as the first ones are; give the column the dtype float64`, "src,dst,t:float64", 0},
		"an exponent":            {"e.csv", "src,dst,t", "%d,%d,0.5", "3,4,1.00000001e9", "give the column the dtype float64", "src,dst,t:float64", 0},
		"a double in a list":     {"e.csv", "src,dst,t", "%d,%d,0.5", "3,4,-33554433", "give the column the dtype float64", "src,dst,t:float64", 0},
		"leading zeros":          {"e.csv", "src,dst,zip", "%d,%d,7", "3,4,01234", `found "01234" in column "zip", expected an integer without leading zeros or a sign, as the first ones are; give the column the dtype string to keep them`, "src,dst,zip:string", 0},
		"an id of leading zeros": {"e.csv", "src,dst", "%d,%d", "007,4", `e.csv:180002:1: found "007" in column "src", expected an integer without leading zeros or a sign`, "", idsString},
		"an id with a sign":      {"e.csv", "src,dst", "%d,%d", "+7,4", `found "+7" in column "src"`, "", idsString},
		"JSON":                   {"e.jsonl", "", `{"src": %d, "dst": %d, "t": 0.5}`, `{"src": 3, "dst": 4, "t": 116777217.0}`, `in column "t", expected a number that float32 holds`, "src,dst,t:float64", 0},
		"a vector of JSON":       {"e.jsonl", "", `{"src": %d, "dst": %d, "x": [0.5, 1]}`, `{"src": 3, "dst": 4, "x": [0.5, 16777217]}`, "expected a number that float32 holds", "src,dst,x:float64[2]", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if test.header != "" {
				b.WriteString(test.header + "\n")
			}
			for i := range rows {
				fmt.Fprintf(&b, test.row+"\n", i%500, i%300)
			}
			b.WriteString(test.late + "\n")
			path := filepath.Join(t.TempDir(), test.file)
			if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := built(t, path, Options{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("found %v, expected an error with %s", err, test.want)
			}
			if _, _, err := built(t, path, Options{Columns: test.columns, IDs: test.ids}); err != nil {
				t.Errorf("with the advice of the error: %v", err)
			}
		})
	}
}

// TestFirstCells checks what the first cells infer: infinities are numbers, large numbers keep their digits in vectors too, and
// leading zeros are announced.
func TestFirstCells(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "e.csv")
	text := "src,dst,w,zip,f0,f1,f2\n0,1,inf,01234,0.5,16777217,1\n1,2,-Infinity,4,1.5,2,2\n2,0,nan,5,2.5,3,3\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, source, err := built(t, path, Options{Vectors: []string{"x=f0,f1", "y=f0,f2"}})
	if err != nil {
		t.Fatal(err)
	}
	e := s.Graph.Edges[0]
	for name, want := range map[string]graph.DType{"w": graph.Float32, "zip": graph.Int64, "x": graph.Float64, "y": graph.Float32} {
		if c := graph.FindColumn(e.Columns, name); c == nil || c.DType != want {
			t.Errorf("column %s: found %+v, expected %s", name, c, want)
		}
	}
	if want := `column "zip": found leading zeros, as in "01234", and integers, which do not keep them; give it the dtype string to keep them`; !strings.Contains(strings.Join(source.Warnings, "\n"), want) {
		t.Errorf("found the warnings %q, expected one with %s", source.Warnings, want)
	}
}

// TestInferredCells checks single cells of columns with an inferred dtype.
func TestInferredCells(t *testing.T) {
	for _, test := range []struct {
		dtype graph.DType
		cell  string
		ok    bool
	}{
		{graph.Float32, "16777216", true}, {graph.Float32, "16777217", false}, {graph.Float32, "16777218", true}, {graph.Float32, "0.1", true},
		{graph.Float32, "3e30", false}, {graph.Float32, "1e10", true}, {graph.Float32, "inf", true}, {graph.Float32, "nan", true}, {graph.Float32, "1e40", false},
		{graph.Float64, "16777217", true}, {graph.Int64, "0", true}, {graph.Int64, "-0", true}, {graph.Int64, "00", false}, {graph.Int64, "-012", false}, {graph.Int64, "+5", true},
		{graph.Uint64, "0", true}, {graph.Uint64, "+5", false}, {graph.Uint64, "-0", false}, {graph.Uint64, "05", false}, {graph.Uint64, "50", true},
	} {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte("a,b\n1,"+test.cell+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		tab, err := table.Open(vfs.OS, []string{path}, table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = tab.Scan(t.Context(), []table.Column{{Name: "b", DType: test.dtype, Inferred: true}}, 1, func(int, *table.Chunk) error { return nil })
		if (err == nil) != test.ok {
			t.Errorf("%s %s: found %v, expected an error: %t", test.dtype, test.cell, err, !test.ok)
		}
	}
}
