package metis

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// readText reads a text as a file, in blocks of the given number of bytes.
func readText(t interface{ Fatal(...any) }, dir, text string, threads, block int) (*Graph, error) {
	name := filepath.Join(dir, "x.graph")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := openText(vfs.OS, name)
	if err != nil {
		return nil, err
	}
	defer f.file.Close()
	f.block = block
	return f.read(context.Background(), vfs.OS, threads)
}

// manual is the example of METIS's manual, section 4.1.1: 7 nodes and 11 edges.
var manual = Graph{
	Offsets:     []uint32{0, 3, 6, 10, 14, 17, 20, 22},
	Neighbours:  []uint32{1, 2, 4, 0, 2, 3, 0, 1, 3, 4, 1, 2, 5, 6, 0, 2, 5, 3, 4, 6, 3, 5},
	Constraints: 1,
}

func TestRead(t *testing.T) {
	weighted := manual
	weighted.EdgeWeights = []uint32{1, 2, 1, 1, 2, 1, 2, 2, 2, 3, 1, 2, 2, 5, 1, 3, 2, 2, 2, 6, 5, 6}
	both := weighted
	both.Weights = []uint32{4, 2, 5, 3, 1, 6, 2}
	three := manual
	three.Constraints, three.Weights = 3, []uint32{1, 2, 0, 0, 2, 2, 4, 1, 1, 2, 2, 3, 1, 1, 1, 2, 2, 1, 1, 2, 1}
	for _, c := range []struct {
		name, text string
		want       Graph
	}{
		{"plain", "7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n", manual},
		{"comments and spaces", "% a graph\n%\n 7\t11 \r\n% again\n 5 3 2\r\n1  3 4 \n%5\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n% end", manual},
		{"no last line end", "7 11 0\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4", manual},
		{"edge weights", "7 11 001\n5 1 3 2 2 1\n1 1 3 2 4 1\n5 3 4 2 2 2 1 2\n2 1 3 2 6 2 7 5\n1 1 3 3 6 2\n5 2 4 2 7 6\n6 6 4 5\n", weighted},
		{"weights", "7 11 11\n4 5 1 3 2 2 1\n2 1 1 3 2 4 1\n5 5 3 4 2 2 2 1 2\n3 2 1 3 2 6 2 7 5\n1 1 1 3 3 6 2\n6 5 2 4 2 7 6\n2 6 6 4 5\n\n\n", both},
		{"three weights", "7 11 010 3\n1 2 0 5 3 2\n0 2 2 1 3 4\n4 1 1 5 4 2 1\n2 2 3 2 3 6 7\n1 1 1 1 3 6\n2 2 1 5 4 7\n1 2 1 6 4\n", three},
		{"sizes", "2 1 110\n7 1 2\n8 3 1\n", Graph{Offsets: []uint32{0, 1, 2}, Neighbours: []uint32{1, 0}, Constraints: 1, Weights: []uint32{1, 3}, Sizes: []uint32{7, 8}}},
		{"nodes without neighbours", "4 1\n\n4\n\n2\n\n \n", Graph{Offsets: []uint32{0, 0, 1, 1, 2}, Neighbours: []uint32{3, 1}, Constraints: 1}},
		{"no nodes", "0 0\n", Graph{Offsets: []uint32{0}, Constraints: 1}},
		{"no edges", "2 0\n\n\n", Graph{Offsets: []uint32{0, 0, 0}, Constraints: 1}},
	} {
		for _, block := range []int{1, 8, blockSize} {
			for threads := range 3 {
				got, err := readText(t, t.TempDir(), c.text, threads+1, block)
				if err != nil {
					t.Errorf("%s, blocks of %d: %v", c.name, block, err)
				} else if diff := cmp.Diff(c.want, *got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s, blocks of %d: %s", c.name, block, diff)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `x.graph:1: found the first line "", expected the number of nodes and the number of edges`},
		{"%\n7\n", `x.graph:2: found the first line "7", expected the number of nodes and the number of edges`},
		{"7 x\n", `x.graph:1: found the first line "7 x", expected two numbers first`},
		{"5000000000 1\n", "fewer than 2^32 - 1 nodes and 2^31 edges"},
		{"2 1 2\n2\n1\n", "expected fmt of up to three digits 0 or 1"},
		{"2 1 0 2\n2\n1\n", "expected 1 to 1000 weights per node if fmt says that there are weights, and otherwise none"},
		{"2 1 10 0\n2\n1\n", "expected 1 to 1000 weights per node"},
		{"2 1\n% c\n2\n", "x.graph: found the lines of 1 nodes, expected 2, as line 1 says"},
		{"4000000000 2000000000\n2\n", "x.graph: found the lines of 1 nodes, expected 4000000000"},
		{"2 1\n2\n1\n1\n", "x.graph:4: found a line after that of the last node, expected 2 nodes, as line 1 says"},
		{"2 2\n2\n1\n", "x.graph:1: found 2 edges in the header, expected half of the 2 neighbours that the lines list"},
		{"3 1\n2\n1 3\n2\n", "x.graph:1: found 1 edges in the header, but more than 2 neighbours"},
		{"2 1 1\n2 0.5\n1 0.5\n", `x.graph:2: found "0.5", expected a number below 2^32; METIS has whole weights alone: scale and round them`},
		{"2 1\n2\nx\n", `x.graph:3: found "x", expected a number below 2^32`},
		{"2 1\n2\n-1\n", `x.graph:3: found "-1", expected a number`},
		{"2 1\n2\n1.5\n", `x.graph:3: found "1.5", expected a number`},
		{"2 1\n2\n00000000001\n", `x.graph:3: found "00000000001", expected a number`},
		{"2 1\n2\n% c\n3\n", "x.graph:4: found neighbour 3, expected 1 to 2"},
		{"2 1\n2\n0\n", "x.graph:3: found neighbour 0, expected 1 to 2"},
		{"2 1 1\n2 1\n1 0\n", "x.graph:3: found the weight 0 of an edge, expected at least 1"},
		{"2 1 1\n2 1\n1\n", "x.graph:3: found a neighbour without a weight"},
		{"2 1 1\n2 3\n1 4\n", "x.graph:3: found the weight 4 of the edge to node 1, expected 3 as at the other end"},
		{"3 0 10\n1\n\n2\n", "x.graph:3: found 0 numbers, expected at least 1, as fmt says"},
		{"2 1 10 2\n1 1 2\n1\n", "x.graph:3: found 1 numbers, expected at least 2, as fmt says"},
		{"2 1\n% c\n2 2\n\n", "x.graph:3: found 2 among the neighbours of node 1, which is a node twice"},
		{"2 1\n% c\n2\n2\n", "x.graph:4: found 2 among the neighbours of node 2, which is itself"},
		{"3 1\n2 3\n\n\n", "x.graph:2: found 2 among the neighbours of node 1, but not 1 among those of node 2; list each edge at both ends"},
		{"3 1\n\n1\n2\n", "x.graph:3: found 1 among the neighbours of node 2, but not 2 among those of node 1"},
		{"4 2\n2\n1\n1\n1\n", "x.graph:4: found 1 among the neighbours of node 3, but not 3 among those of node 1"},
		{"3 2\n3\n1\n1 2\n", "x.graph:3: found 1 among the neighbours of node 2, but not 2 among those of node 1"},
	} {
		for _, block := range []int{1, blockSize} {
			_, err := readText(t, t.TempDir(), c.text, 2, block)
			if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrFormat) {
				t.Errorf("%q, blocks of %d: found %v, expected %q", c.text, block, err, c.want)
			}
		}
	}
	if _, err := Read(context.Background(), vfs.OS, t.TempDir(), 1); err == nil || !strings.Contains(err.Error(), "found a folder") {
		t.Errorf("found %v for a folder", err)
	}
}

// draw draws a graph with sorted rows.
func draw(t *rapid.T) *Graph {
	n := rapid.IntRange(0, 12).Draw(t, "nodes")
	g := &Graph{Offsets: []uint32{0}, Constraints: 1}
	weights := map[[2]int]uint32{}
	for u := range n {
		for v := range u {
			if rapid.Bool().Draw(t, "edge") {
				w := rapid.Uint32Range(1, 1<<32-1).Draw(t, "weight")
				weights[[2]int{u, v}], weights[[2]int{v, u}] = w, w
			}
		}
	}
	edged := rapid.Bool().Draw(t, "edge weights") && len(weights) > 0
	for u := range n {
		for v := range n {
			w, ok := weights[[2]int{u, v}]
			if ok {
				g.Neighbours = append(g.Neighbours, uint32(v))
			}
			if ok && edged {
				g.EdgeWeights = append(g.EdgeWeights, w)
			}
		}
		g.Offsets = append(g.Offsets, uint32(len(g.Neighbours)))
	}
	if n > 0 && rapid.Bool().Draw(t, "weights") {
		g.Constraints = rapid.IntRange(1, 3).Draw(t, "constraints")
		g.Weights = rapid.SliceOfN(rapid.Uint32(), n*g.Constraints, n*g.Constraints).Draw(t, "weights")
	}
	if n > 0 && rapid.Bool().Draw(t, "sizes") {
		g.Sizes = rapid.SliceOfN(rapid.Uint32(), n, n).Draw(t, "sizes")
	}
	return g
}

// A graph that is written is read back the same, with any block size, compressed or not.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		g := draw(t)
		var b bytes.Buffer
		if err := Write(&b, g); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if rapid.Bool().Draw(t, "gzip") {
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			if _, err := w.Write(b.Bytes()); err != nil {
				t.Fatal(err)
			}
			w.Close()
			text = z.String()
		}
		got, err := readText(t, dir, text, 2, rapid.IntRange(1, 100).Draw(t, "block"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(g, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A compressed file that was cut is an error.
func TestCutGzip(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write([]byte("2 1\n2\n1\n"))
	w.Close()
	for n := 2; n < z.Len(); n++ {
		if _, err := readText(t, t.TempDir(), z.String()[:n], 1, blockSize); !errors.Is(err, ErrFormat) {
			t.Errorf("cut to %d bytes: found %v", n, err)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	name := filepath.Join(t.TempDir(), "g")
	os.WriteFile(name, []byte("2 1\n2\n1\n"), 0o644)
	if _, err := Read(ctx, vfs.OS, name, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the error of the context", err)
	}
}

// grid is the graph of a square grid.
func grid(side int) *Graph {
	g := &Graph{Offsets: []uint32{0}, Constraints: 1}
	for v := range side * side {
		for _, d := range [][2]int{{-1, 0}, {0, -1}, {0, 1}, {1, 0}} {
			y, x := v/side+d[0], v%side+d[1]
			if y >= 0 && y < side && x >= 0 && x < side {
				g.Neighbours = append(g.Neighbours, uint32(y*side+x))
			}
		}
		g.Offsets = append(g.Offsets, uint32(len(g.Neighbours)))
	}
	return g
}

func BenchmarkRead(b *testing.B) {
	name := filepath.Join(b.TempDir(), "g")
	var text bytes.Buffer
	if err := Write(&text, grid(1500)); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Read(context.Background(), vfs.OS, name, 2); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	g := grid(1500)
	var text bytes.Buffer
	for b.Loop() {
		text.Reset()
		if err := Write(&text, g); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(text.Len()))
	}
}

// No text makes the reader panic, and an accepted graph is written as an equal graph.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n", "2 1 1\n2 3\n1 3\n", "2 1 110 1\n7 1 2\n8 3 1\n",
		"%\n4 1\n\n4\n\n2\n\n \n", "3 0 10\n1\n2\n3", "0 0", "4000000000 2000000000\n2\n", "\x1f\x8b\x08", "2 1 011\n1 2 1\n1 1 1\n\n\n",
	} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, text string, block int) {
		fuzzing.Check(t, len(text), func() {
			if block < 1 || block > 1000 {
				return
			}
			dir := t.TempDir()
			g, err := readText(t, dir, text, 2, block)
			if err != nil {
				return
			}
			var b bytes.Buffer
			if err := Write(&b, g); err != nil {
				t.Fatal(err)
			}
			again, err := readText(t, dir, b.String(), 1, blockSize)
			if err != nil {
				t.Fatalf("%v: %q", err, b.String())
			}
			if diff := cmp.Diff(g, again, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	})
}

// TestReadFails fails each call in turn. No failure is lost, also not one of the read that looks for gzip.
func TestReadFails(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.graph")
	if err := os.WriteFile(name, []byte("2 1\n2\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	count := &vfs.Fault{FS: vfs.OS}
	if _, err := Read(t.Context(), count, name, 1); err != nil || count.Calls() < 5 {
		t.Fatalf("%d calls, %v", count.Calls(), err)
	}
	for at := int64(1); at <= count.Calls(); at++ {
		if _, err := Read(t.Context(), &vfs.Fault{FS: vfs.OS, FailAt: at, Err: syscall.EIO}, name, 1); !errors.Is(err, syscall.EIO) {
			t.Errorf("call %d: found %v, expected EIO", at, err)
		}
	}
}
