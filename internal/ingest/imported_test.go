package ingest

import (
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// imported imports a source with 1 and with 4 threads, which must give the same store, and returns the store as text:
// a line for each node type and its rows, and a line for each edge type and its edges in the order of the input. It
// returns the warnings in lines of their own.
func imported(t testing.TB, path string, o Options) (string, error) {
	t.Helper()
	dir := path
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		dir = filepath.Dir(path)
	}
	var texts [2]string
	for i, threads := range []int{1, 4} {
		src, err := Open(t.Context(), vfs.OS, path, o)
		if err != nil {
			return "", err
		}
		if err := src.Collect(t.Context(), threads, 0, false); err != nil {
			return "", errors.Join(err, src.Close())
		}
		out := filepath.Join(t.TempDir(), "out")
		w, err := store.Create(vfs.Unsynced{FS: vfs.OS}, out, false)
		if err != nil {
			t.Fatal(err)
		}
		opt := assemble.Options{Primary: src.Primary, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep, Threads: threads}
		if src.Rules.Partial {
			opt.DanglingEdges, opt.DuplicateNodes = assemble.Zeros, assemble.Drop
		}
		r, err := assemble.Build(t.Context(), vfs.OS, w, src.Input, opt)
		if err != nil {
			return "", errors.Join(err, w.Abort())
		}
		if err := errors.Join(w.Seal(t.Context(), r.Meta, 1), w.Publish()); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(vfs.OS, out)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = listed(t, s)
		for _, text := range append(src.Warnings, src.Review(r)...) {
			texts[i] += "warning: " + strings.ReplaceAll(strings.ReplaceAll(text, dir+string(filepath.Separator), ""), dir, filepath.Base(dir)) + "\n"
		}
		if err := errors.Join(s.Close(), src.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("found\n%s\nwith 1 thread, and with 4\n%s", texts[0], texts[1])
	}
	return texts[0], nil
}

// listed returns a store as text. The edges are in the order of the input, and the two edges of a row in the order of their
// primary ends.
func listed(t testing.TB, s *store.Store) string {
	t.Helper()
	type row struct {
		at   int
		text string
	}
	var b strings.Builder
	value := func(c *graph.Column, row int) string {
		var values []string
		from, to := c.Span(row, row+1)
		for i := from; i < to; i++ {
			if c.Categories != nil && number(c.Values, c.DType, i) >= 0 {
				values = append(values, fmt.Sprintf("%q", c.Categories.Text(int(number(c.Values, c.DType, i)))))
				continue
			}
			if c.DType == graph.String {
				values = append(values, fmt.Sprintf("%q", c.Text(i)))
				continue
			}
			values = append(values, fmt.Sprint(number(c.Values, c.DType, i)))
		}
		return fmt.Sprintf(" %s=%s", c.Name, strings.Join(values, ","))
	}
	for _, n := range s.Graph.Nodes {
		fmt.Fprintf(&b, "%s %d:", n.Type, n.Count)
		for i := range n.Count {
			if n.IDs != nil {
				if n.IDs.DType == graph.String {
					fmt.Fprintf(&b, " %s", n.IDs.Text(i))
				} else {
					fmt.Fprintf(&b, " %v", number(n.IDs.Values, n.IDs.DType, i))
				}
			}
			for _, c := range n.Columns {
				b.WriteString(value(c, i))
			}
		}
		b.WriteByte('\n')
	}
	for _, e := range s.Graph.Edges {
		var rows []row
		position := graph.FindColumn(e.Columns, graph.PositionColumn)
		a := e.Adj[e.Primary]
		for near := range a.Indptr.Len() - 1 {
			for k := int(a.Indptr.At(near)); k < int(a.Indptr.At(near+1)); k++ {
				src, dst := int(a.Far.At(k)), near
				if e.Primary == graph.Out {
					src, dst = dst, src
				}
				at := k
				if position != nil {
					at = int(number(position.Values, position.DType, k))
				}
				text := fmt.Sprintf(" %d>%d", src, dst)
				for _, c := range e.Columns {
					if c.Name != graph.PositionColumn {
						text += value(c, k)
					}
				}
				rows = append(rows, row{at, text})
			}
		}
		slices.SortStableFunc(rows, func(x, y row) int { return x.at - y.at })
		fmt.Fprintf(&b, "%s:", e.Type)
		for _, r := range rows {
			b.WriteString(r.text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

type importCase struct {
	name  string
	files map[string]string
	path  string
	opts  Options
	want  string // of imported, or a part of the error
	fails bool
}

// runImports checks what sources become. An error must be one of kind ErrSource, ErrUsage or table.ErrFormat with one
// line.
func runImports(t *testing.T, cases []importCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := imported(t, filepath.Join(folder(t, c.files), c.path), c.opts)
			switch {
			case c.fails && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")):
				t.Errorf("found error %v, expected one line with %q", err, c.want)
			case !c.fails && err != nil:
				t.Error(err)
			case !c.fails && strings.TrimSpace(got) != strings.TrimSpace(c.want):
				t.Errorf("found\n%s\nexpected\n%s", got, c.want)
			}
		})
	}
}

// gzipped compresses a text.
func gzipped(text string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}
