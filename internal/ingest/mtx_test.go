package ingest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMatrixMarket(t *testing.T) {
	one := func(kind, body string) map[string]string {
		return map[string]string{"a.mtx": "%%MatrixMarket matrix " + kind + "\n" + body}
	}
	const path = "a.mtx"
	runImports(t, []importCase{
		{name: "real", path: path, files: one("coordinate real general", "% a comment\n\n %another\n3 3 2\n1 2 0.5\n3 1 -1e-3\n"), want: "_N 3:\n_N:_E:_N: 0>1 weight=0.5 2>0 weight=-0.001"},
		{name: "integers", path: path, files: one("coordinate integer general", "2 2 1\n2\t2   -7"), want: "_N 2:\n_N:_E:_N: 1>1 weight=-7"},
		{name: "unsigned integers", path: path, files: one("coordinate unsigned-integer general", "1 1 1\n1 1 9\n"), want: "_N 1:\n_N:_E:_N: 0>0 weight=9"},
		{name: "pattern, with line ends of DOS", path: path, files: one("coordinate pattern general\r", "4 4 2\r\n1 2\r\n1 2\r\n"), want: "_N 4:\n_N:_E:_N: 0>1 0>1"},
		{name: "letters of any case", path: path, files: one("Coordinate REAL Symmetric", "2 2 2\n1 1 1\n2 1 2\n"), want: "_N 2:\n_N:_E:_N: 0>0 weight=1 1>0 weight=2 0>1 weight=2"},
		{name: "hermitian", path: path, files: one("coordinate real hermitian", "2 2 1\n2 1 2\n"), want: "_N 2:\n_N:_E:_N: 1>0 weight=2 0>1 weight=2"},
		{name: "skew-symmetric", path: path, files: one("coordinate integer skew-symmetric", "3 3 2\n2 1 2\n3 2 -4\n"), want: "_N 3:\n_N:_E:_N: 1>0 weight=2 2>1 weight=-4 0>1 weight=-2 1>2 weight=4"},
		{name: "skew-symmetric reals", path: path, files: one("coordinate real skew-symmetric", "2 2 1\n2 1 0.5\n"), want: "_N 2:\n_N:_E:_N: 1>0 weight=0.5 0>1 weight=-0.5"},
		{name: "not square", path: path, files: one("coordinate pattern general", "1 3 1\n1 3\n"), want: "column 3:\nrow 1:\nrow:_E:column: 0>2"},
		{name: "nothing", path: path, files: one("coordinate pattern general", "0 0 0\n"), want: "_N 0:\n_N:_E:_N:"},
		{name: "more nodes", path: path, files: one("coordinate pattern general", "1 1 0\n"), opts: Options{NumNodes: 3}, want: "_N 3:\n_N:_E:_N:"},
		{name: "compressed", path: "a.mtx.gz", files: map[string]string{"a.mtx.gz": gzipped("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1\n")}, want: "_N 2:\n_N:_E:_N: 1>0"},

		{name: "complex", path: path, files: one("coordinate complex general", "1 1 1\n1 1 1 1\n"), fails: true, want: "a.mtx:1: found complex values, expected real"},
		{name: "another form", path: path, files: one("list real general", ""), fails: true, want: `a.mtx:1: found the form "list"`},
		{name: "other values", path: path, files: one("coordinate bool general", ""), fails: true, want: `a.mtx:1: found the values "bool"`},
		{name: "another symmetry", path: path, files: one("coordinate real some", ""), fails: true, want: `a.mtx:1: found the symmetry "some"`},
		{name: "skew-symmetric pattern", path: path, files: one("coordinate pattern skew-symmetric", "1 1 0\n"), fails: true, want: "a.mtx:1: found a skew-symmetric matrix of the values pattern"},
		{name: "no first line", path: path, files: map[string]string{"a.mtx": "1 1 1\n1 1 1\n"}, fails: true, want: `a.mtx:1: found "1 1 1", expected a first line such as %%MatrixMarket matrix coordinate real general`},
		{name: "no sizes", path: path, files: one("coordinate real general", "% x\n"), fails: true, want: "a.mtx:2: found no line with the numbers of rows"},
		{name: "wrong sizes", path: path, files: one("coordinate real general", "%\n1 1\n"), fails: true, want: `a.mtx:3: found "1 1", expected the numbers of rows, columns and entries`},
		{name: "negative sizes", path: path, files: one("coordinate real general", "1 1 -1\n"), fails: true, want: `a.mtx:2: found "1 1 -1", expected`},
		{name: "symmetric and not square", path: path, files: one("coordinate real symmetric", "1 2 0\n"), fails: true, want: "a.mtx:2: found 1 rows and 2 columns"},
		{name: "too few entries", path: path, files: one("coordinate real general", "2 2 3\n1 1 1\n2 2 2\n"), fails: true, want: "a.mtx: found 2 rows, expected 3, as "},
		{name: "too many entries", path: path, files: one("coordinate real general", "2 2 1\n1 1 1\n2 2 2\n"), fails: true, want: "a.mtx: found at least 2 rows, expected 1, as "},
		{name: "id 0", path: path, files: one("coordinate real general", "2 2 2\n1 1 1\n0 2 2\n"), fails: true, want: "a.mtx:4:1: found id 0, expected ids from 1"},
		{name: "an id beyond the sizes", path: path, files: one("coordinate real general", "2 2 2\n1 1 1\n1 3 2\n"), fails: true, want: "a.mtx:4:3: found destination 2, expected an id of node type _N, below 2"},
		{name: "no value", path: path, files: one("coordinate real general", "2 2 2\n1 1 1\n1 2\n"), fails: true, want: "a.mtx:4"},
		{name: "no number", path: path, files: one("coordinate real general", "2 2 1\n1 x 1\n"), fails: true, want: `a.mtx:3:3: found "x"`},
		{name: "a real among integers", path: path, files: one("coordinate integer general", "2 2 1\n1 1 1.5\n"), fails: true, want: `a.mtx:3:5: found "1.5"`},
		{name: "string ids", path: path, files: one("coordinate real general", "1 1 0\n"), opts: Options{IDs: idsString}, fails: true, want: "found string ids with a matrix"},
	})
}

// Random matrices of all kinds come back, with blank lines and comments before the sizes.
func TestMatrixMarketMatrices(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(rt, "n")
		symmetric, pattern := rapid.Bool().Draw(rt, "symmetric"), rapid.Bool().Draw(rt, "pattern")
		var entries, edges strings.Builder
		count := rapid.IntRange(0, 20).Draw(rt, "entries")
		for range count {
			i, j := rapid.IntRange(0, n-1).Draw(rt, "i"), rapid.IntRange(0, n-1).Draw(rt, "j")
			weight, text := "", ""
			if !pattern {
				v := float64(rapid.IntRange(-99, 99).Draw(rt, "value")) / 8
				weight, text = fmt.Sprintf(" %e", v), fmt.Sprintf(" weight=%v", v)
			}
			fmt.Fprintf(&entries, "%d %d%s\n", i+1, j+1, weight)
			pair := [][2]int{{i, j}, {j, i}}
			if !symmetric || i == j {
				pair = pair[:1]
			} else if i < j { // listed shows both edges of a row in the order of their destinations
				slices.Reverse(pair)
			}
			for _, p := range pair {
				fmt.Fprintf(&edges, " %d>%d%s", p[0], p[1], text)
			}
		}
		kind := map[bool]string{true: "pattern ", false: "real "}[pattern] + map[bool]string{true: "symmetric", false: "general"}[symmetric]
		text := "%%MatrixMarket matrix coordinate " + kind + "\n" + rapid.SampledFrom([]string{"", "%\n", "\n% x\n\n"}).Draw(rt, "comments") + fmt.Sprintf("%d %d %d\n", n, n, count) + entries.String()
		dir, err := os.MkdirTemp(parent, "")
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "a.mtx"), []byte(text), 0o644)
		}
		if err != nil {
			rt.Fatal(err)
		}
		want := fmt.Sprintf("_N %d:\n_N:_E:_N:%s", n, edges.String())
		if got, err := imported(t, filepath.Join(dir, "a.mtx"), Options{}); err != nil || strings.TrimSpace(got) != want {
			rt.Fatalf("found %v\n%s\nexpected\n%s\nof\n%s", err, got, want, text)
		}
	})
}

// FuzzMatrixMarket checks that any text is a matrix with the entries that it states, or an error of the kinds of this
// package.
func FuzzMatrixMarket(f *testing.F) {
	f.Add([]byte("%%MatrixMarket matrix coordinate real general\n% x\n3 3 1\n1 2 0.5\n"))
	f.Add([]byte("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 5\n"))
	f.Add([]byte("%%MatrixMarket matrix coordinate pattern symmetric\r\n\r\n2 2 2\r\n1 1\r\n2 1\r\n"))
	f.Add([]byte("%%MatrixMarket matrix array real general\n1 1\n1\n"))
	f.Add([]byte("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n0\n-1e2\n"))
	path := filepath.Join(f.TempDir(), "a.mtx")
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), vfs.OS, path, Options{Format: "matrix-market"})
			if err == nil {
				e := s.Input.Edges[0]
				h, _ := readMatrixMarket(vfs.OS, path)
				var rows uint64
				rows, err = e.Table.Scan(t.Context(), append([]table.Column{e.Src, e.Dst}, e.Columns...), 2, func(int, *table.Chunk) error { return nil })
				if stated := h.entries * uint64(1+strings.Count(h.symmetry, "skew")); err == nil && rows != stated && !h.dense {
					t.Fatalf("found %d entries, expected %d", rows, stated)
				}
			}
			if err != nil && !errors.Is(err, ErrSource) && !errors.Is(err, table.ErrFormat) {
				t.Fatal(err)
			}
		})
	})
}
