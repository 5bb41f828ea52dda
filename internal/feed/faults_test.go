//go:build unix

package feed

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/vfs"
)

// onDisk is b in a map of a file.
func onDisk(t *testing.T, b []byte) (name string, m []byte) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "values")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := vfs.OS.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	m, unmap, err := f.Map()
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unmap(); err != nil {
			t.Error(err)
		}
	})
	return name, m
}

// A batch that needs a page of a file that another program cut is an error with the file. The connection goes on, and other batches are the same
// as without the fault.
func TestMapFaults(t *testing.T) {
	for name, broken := range map[string]func(g *graph.Graph) string{
		"features": func(g *graph.Graph) (file string) {
			c := g.Nodes[1].Columns[1]
			file, c.Values = onDisk(t, c.Values)
			return file
		},
		"neighbours": func(g *graph.Graph) (file string) {
			a := g.Edges[1].Adj[graph.In]
			file, far := onDisk(t, graph.Bytes(a.Far.U32))
			a.Far.U32 = graph.View[uint32](far)
			return file
		},
	} {
		t.Run(name, func(t *testing.T) {
			features := Features{Nodes: map[string][]string{"user": {"x"}}}
			whole := source(t, features, false)
			g := testGraph()
			file := broken(g)
			s, err := sample.New(g, whole.sampler.Plan(), sample.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			src, err := NewSource(s, whole.job, features, false)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(file, int64(os.Getpagesize())); err != nil {
				t.Fatal(err)
			}
			ready, lifeline, ended := owner(t, src)
			defer end(t, lifeline, ended)
			c := connect(t, ready, hello{})
			failed, made := 0, 0
			for i := range int64(125) {
				seeds := []int64{4 * i}
				c.request(reqSample, 0, uint64(i), 3, seeds...)
				p := c.next()
				if p.kind == msgError {
					failed++
					if !strings.Contains(p.text, file+": byte ") || !strings.Contains(p.text, "the file was cut while it was read") {
						t.Fatalf("seed %d: found %q, expected an error of %s", 4*i, p.text, file)
					}
					continue
				}
				made++
				c.check(whole, p, 3, []uint32{uint32(4 * i)}, uint64(i))
				c.request(reqReturn, p.slot, p.gen, 0)
			}
			if failed == 0 || made == 0 {
				t.Errorf("found %d errors and %d batches, expected some of both", failed, made)
			}
			// An epoch ends at the first batch with a fault.
			c.request(reqStart, 0, 0, 0)
			for {
				p := c.next()
				if p.kind == msgError {
					break
				}
				if p.kind == msgEnd {
					t.Fatal("found the end of the epoch, expected an error")
				}
				c.request(reqReturn, p.slot, p.gen, 0)
			}
		})
	}
}
