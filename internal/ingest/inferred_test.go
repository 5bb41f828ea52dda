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
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
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
		"Latin-1":                {"e.csv", "src,dst,name", "%d,%d,x", "3,4,caf\xe9", "e.csv:180002:8: found the byte 0xe9, expected UTF-8; convert the file", "src,dst", 0},
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
		tab, err := tablefiles.Open(vfs.OS, []string{path}, tablefiles.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = tab.Scan(t.Context(), []table.Column{{Name: "b", DType: test.dtype, Inferred: true}}, 1, func(int, *table.Chunk) error { return nil })
		if (err == nil) != test.ok {
			t.Errorf("%s %s: found %v, expected an error: %t", test.dtype, test.cell, err, !test.ok)
		}
	}
}

// TestWholeNumbers checks ids such as 2.0, which programs make of integers in a column with empty cells: they are the
// integers where all columns with ids of the type have integers.
func TestWholeNumbers(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		open  string
		ids   IDs
		nodes map[string]string // by type: the number of nodes and what their ids are
		warns string
		bad   string
	}{
		"edge list": {map[string]string{"e.csv": "src,dst\n0,2.0\n1,0.0\n"}, "e.csv", 0, map[string]string{"_N": "3 row numbers"}, `found whole numbers with a point as ids, in "dst" (2.0), and reads integers`, ""},
		"kept":      {map[string]string{"e.csv": "src,dst\n0,2.0\n1,0.0\n"}, "e.csv", idsString, map[string]string{"_N": "4 0 2.0 1 0.0"}, "", ""},
		"texts":     {map[string]string{"e.csv": "src,dst\nx,2.0\ny,3.0\n"}, "e.csv", 0, map[string]string{"_N": "4 x 2.0 y 3.0"}, "", ""},
		"fractions": {map[string]string{"e.csv": "src,dst\n0,2.5\n1,0.0\n"}, "e.csv", 0, map[string]string{"_N": "4 0 2.5 1 0.0"}, "", ""},
		"late":      {map[string]string{"e.csv": "src,dst\n0,2\n" + strings.Repeat("1,3\n", 300_000) + "1,3.0\n"}, "e.csv", 0, nil, "", `found "3.0" in column "dst", expected an integer`},
		"keys": {map[string]string{"graph.yaml": "nodes: {a: {table: a.csv, id: id}}\nedges:\n  a:e:a: {table: e.csv}\n", "a.csv": "id\n10\n30\n20\n", "e.csv": "src,dst\n10,20.0\n30,10.0\n"},
			"graph.yaml", 0, map[string]string{"a": "3 10 30 20"}, `node type a: found whole numbers with a point as ids, in "dst" (20.0)`, ""},
		"keys with a point": {map[string]string{"graph.yaml": "nodes: {a: {table: a.csv, id: id}}\nedges:\n  a:e:a: {table: e.csv}\n", "a.csv": "id\n10.0\n30.0\n20.0\n", "e.csv": "src,dst\n10,20\n30,10\n"},
			"graph.yaml", 0, map[string]string{"a": "3 10 30 20"}, `in "id" (10.0)`, ""},
		"foreign keys with empty cells": {map[string]string{"graph.yaml": "nodes: {a: {table: a.csv, id: id}}\nedges:\n  a:e:a: {table: a.csv, dst: boss}\n", "a.csv": "id,boss\n10,\n30,10.0\n20,30.0\n"},
			"graph.yaml", 0, map[string]string{"a": "3 10 30 20"}, `in "boss" (10.0)`, ""},
		"a late fraction": {map[string]string{"graph.yaml": "nodes: {a: {table: a.csv, id: id}}\nedges:\n  a:e:a: {table: e.csv}\n", "a.csv": "id\n10\n30\n20\n", "e.csv": "src,dst\n" + strings.Repeat("10,20.0\n", 140_000) + "10,2.5\n"},
			"graph.yaml", 0, nil, "", `found "2.5" in column "dst", expected a whole number, as the first ones are`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range test.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, source, err := built(t, filepath.Join(dir, test.open), Options{IDs: test.ids})
			if test.bad != "" {
				if err == nil || !strings.Contains(err.Error(), test.bad) {
					t.Errorf("found %v, expected an error with %s", err, test.bad)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for typ, want := range test.nodes {
				n := s.Graph.Nodes[s.Graph.NodeType(typ)]
				got := fmt.Sprint(n.Count, " row numbers")
				if n.IDs != nil {
					got = fmt.Sprint(n.Count)
					for v := range n.Count {
						got += " " + string(n.IDs.Text(v))
					}
				}
				if got != want {
					t.Errorf("found %s, expected %s", got, want)
				}
			}
			if warns := strings.Join(source.Warnings, "\n"); test.warns == "" && strings.Contains(warns, "point") || !strings.Contains(warns, test.warns) {
				t.Errorf("found the warnings %q, expected %q", warns, test.warns)
			}
		})
	}
}
