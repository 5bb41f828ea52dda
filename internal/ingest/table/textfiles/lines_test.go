package textfiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// triplesOf scans a table of triples and returns a line per row, in the order of the rows.
func triplesOf(ctx interface{ Fatal(...any) }, t *Lines, threads int) ([]string, error) {
	var rows []string
	var asked []table.Column
	for _, f := range t.Fields() {
		asked = append(asked, table.Column{Name: f.Name, DType: graph.String, ID: f.Name != TripleSplit})
	}
	n, err := t.Scan(context.Background(), asked, threads, func(_ int, c *table.Chunk) error {
		if c.First != uint64(len(rows)) {
			ctx.Fatal("found rows out of order")
		}
		for i := range c.Rows {
			var row []string
			for _, v := range c.Columns {
				start := uint32(0)
				if i > 0 {
					start = v.Ends[i-1]
				}
				row = append(row, string(v.Data[start:v.Ends[i]]))
			}
			rows = append(rows, strings.Join(row, "|"))
		}
		return nil
	})
	if err == nil && n != uint64(len(rows)) {
		ctx.Fatal("found another number of rows than those of the chunks")
	}
	return rows, err
}

// Rows do not depend on the size of blocks or the number of threads, and each has the place of its line.
func TestLines(t *testing.T) {
	dir := t.TempDir()
	word := rapid.StringMatching(`[a-z"é:/ ]{0,5}[a-z]`)
	rapid.Check(t, func(t *rapid.T) {
		var want, places, paths, labels []string
		for k := range rapid.IntRange(1, 3).Draw(t, "files") {
			var text strings.Builder
			path := filepath.Join(dir, fmt.Sprint(k, ".txt"))
			for line := range rapid.IntRange(0, 12).Draw(t, "lines") {
				if rapid.IntRange(0, 4).Draw(t, "empty") == 0 {
					text.WriteString("\n")
					continue
				}
				row := []string{word.Draw(t, "head"), word.Draw(t, "relation"), word.Draw(t, "tail")}
				text.WriteString(strings.Join(row, "\t") + rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end"))
				for i := range row {
					row[i] = strings.TrimSpace(row[i])
				}
				want, places = append(want, strings.Join(row, "|")+"|s"+fmt.Sprint(k)), append(places, fmt.Sprint(path, ":", line+1))
			}
			content := text.String()
			if rapid.Bool().Draw(t, "cut") {
				content = strings.TrimRight(content, "\r\n")
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			paths, labels = append(paths, path), append(labels, fmt.Sprint("s", k))
		}
		x, err := OpenTriples(vfs.OS, paths, labels)
		if err != nil {
			t.Fatal(err)
		}
		for _, x.block = range []int{1, 16, table.ChunkSize} {
			for _, threads := range []int{1, 4} {
				got, err := triplesOf(t, x, threads)
				if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Fatalf("blocks of %d, %d threads: found %q, %v, expected %q", x.block, threads, got, err, want)
				}
			}
		}
		for i, place := range places {
			if got := x.Where(uint64(i), ""); got != place {
				t.Errorf("row %d: found %s, expected %s", i, got, place)
			}
		}
	})
}

func TestLinesErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.nt")
	for text, want := range map[string]string{
		"<a> <b> <c> .\n\n<a> <b> .\n":                       ":3:9: found \".\", expected an object",
		"<a> <b> <c> .\n<a> <b>":                             ":2:8: found the end of the line",
		"<a> <b> <c> .\n<é> <b> <a\xff> .\n":                 ":2:12: found the byte 0xff, expected UTF-8; convert the file",
		"<a> <b> \"\xe9\" .\n":                               ":1:10: found the byte 0xe9, expected UTF-8",
		"# " + strings.Repeat("x", table.MaxRecord+1) + "\n": ":1: found a line of more than",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		x, err := OpenNTriples(vfs.OS, path)
		if err != nil {
			t.Fatal(err)
		}
		for _, x.block = range []int{1 << 10, table.ChunkSize} {
			if _, err := triplesOf(t, x, 2); !errors.Is(err, table.ErrFormat) || !strings.HasPrefix(err.Error(), path+want) {
				t.Errorf("%.20q: found %v, expected %s", text, err, want)
			}
		}
	}
	if _, err := OpenNTriples(vfs.OS, filepath.Dir(path)); !errors.Is(err, table.ErrFormat) {
		t.Errorf("found %v, expected that a folder is refused", err)
	}
	x, err := OpenNTriples(vfs.OS, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []table.Column{{Name: "none", DType: graph.String}, {Name: TripleHead, DType: graph.Uint64}, {Name: TripleHead, DType: graph.String, Shape: []int{2}}} {
		if _, err := x.Scan(t.Context(), []table.Column{c}, 1, nil); !errors.Is(err, table.ErrFormat) {
			t.Errorf("%+v: found %v, expected an error", c, err)
		}
	}
	for at := int64(1); ; at++ {
		fault := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: errors.New("boom")}
		x, err := OpenTriples(fault, []string{path}, nil)
		if err == nil {
			_, err = triplesOf(t, x, 1)
		}
		if at > fault.Calls() {
			break
		}
		if err == nil {
			t.Fatalf("call %d failed unseen", at)
		}
	}
}

// No text makes the reader panic, and the rows do not depend on the size of blocks.
func FuzzLines(f *testing.F) {
	f.Add("<a> <b> <c> .\n# c\n_:x <b> \"l\"@en .\n<\\u0041> <b> <c>.", 3)
	f.Add("a\tb\tc\n\nd\te\tf", 1)
	f.Add("<a> <b> <c> .\r\n<<", 7)
	f.Fuzz(func(t *testing.T, text string, block int) {
		fuzzing.Check(t, len(text), func() {
			if block < 1 || block > 100 {
				return
			}
			path := filepath.Join(t.TempDir(), "g.nt")
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, open := range []func() (*Lines, error){
				func() (*Lines, error) { return OpenNTriples(vfs.OS, path) },
				func() (*Lines, error) { return OpenTriples(vfs.OS, []string{path}, nil) },
			} {
				x, err := open()
				if err != nil {
					t.Fatal(err)
				}
				want, werr := triplesOf(t, x, 1)
				x.block = block
				got, gerr := triplesOf(t, x, 3)
				if werr == nil && (gerr != nil || strings.Join(want, "\n") != strings.Join(got, "\n")) || werr != nil && (gerr == nil || gerr.Error() != werr.Error()) {
					t.Errorf("found %q, %v in blocks of %d, and %q, %v in one", got, gerr, block, want, werr)
				}
			}
		})
	})
}

// Any text is an adjacency list: a node for each line with a word before its comment, and an edge for each other word.
func FuzzAdjacency(f *testing.F) {
	f.Add("a b c\n# x\nb\tc # d\r\n\nc", 7)
	f.Add("1 1 1 1", 1)
	path := filepath.Join(f.TempDir(), "g.adjlist")
	f.Fuzz(func(t *testing.T, text string, block int) {
		fuzzing.Check(t, len(text), func() {
			if block < 1 || block > 100 {
				return
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			nodes, edges, err := OpenAdjacency(vfs.OS, path)
			if err != nil {
				t.Fatal(err)
			}
			nodes.block, edges.block = block, block
			names, err := triplesOf(t, nodes, 2)
			if err != nil {
				return
			}
			pairs, err := triplesOf(t, edges, 2)
			if err != nil {
				return
			}
			var wantNames, wantPairs []string
			for line := range strings.SplitSeq(text, "\n") {
				line, _, _ = strings.Cut(line, "#")
				words := bytes.Fields([]byte(line))
				for i, w := range words {
					if i == 0 {
						wantNames = append(wantNames, string(w))
					} else {
						wantPairs = append(wantPairs, string(words[0])+"|"+string(w))
					}
				}
			}
			if !slices.Equal(names, wantNames) || !slices.Equal(pairs, wantPairs) {
				t.Errorf("found %q and %q of %q, expected %q and %q", names, pairs, text, wantNames, wantPairs)
			}
		})
	})
}
