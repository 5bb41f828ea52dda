package collection_test

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/collection"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
)

// treesOf makes graphs like syntax trees: about 110 nodes with 8 features, and one edge fewer.
func treesOf(graphs int) *graph.Collection {
	r := rand.New(rand.NewPCG(1, 2))
	n := &graph.CollectionNodes{Type: "_N", GraphPtr: graph.Index{U64: []uint64{0}}}
	e := &graph.CollectionEdges{Type: graph.HomogeneousEdge, GraphPtr: graph.Index{U64: []uint64{0}}}
	for range graphs {
		size := 2 + int(r.ExpFloat64()*108)
		for i := 1; i < size; i++ {
			e.Src.U32, e.Dst.U32 = append(e.Src.U32, uint32(r.IntN(i))), append(e.Dst.U32, uint32(i))
		}
		n.Count, e.Count = n.Count+size, e.Count+size-1
		n.GraphPtr.U64, e.GraphPtr.U64 = append(n.GraphPtr.U64, uint64(n.Count)), append(e.GraphPtr.U64, uint64(e.Count))
	}
	n.Columns = []*graph.Column{{Name: "x", DType: graph.Float32, Shape: []int{8}, Rows: n.Count, Values: make([]byte, 32*n.Count)}}
	for i := range n.Columns[0].Values {
		n.Columns[0].Values[i] = byte(i)
	}
	return &graph.Collection{Graphs: graphs, Nodes: []*graph.CollectionNodes{n}, Edges: []*graph.CollectionEdges{e}}
}

// Writes packs of 20,000 trees without syncing to the disk; throughput is in bytes of the output.
func BenchmarkWriters(b *testing.B) {
	c := treesOf(20000)
	sizes, err := collection.NewSizes(c, []string{"num_nodes", "num_edges"})
	if err != nil {
		b.Fatal(err)
	}
	h, err := sizes.Histogram(0)
	if err != nil {
		b.Fatal(err)
	}
	r, err := pack.Solve(b.Context(), &pack.Problem{Histogram: h, Limits: []int{4096, 4096}}, pack.Options{Effort: 0.01})
	if err != nil {
		b.Fatal(err)
	}
	l := layout.Of(r, layout.Terms{})
	g, err := collection.Graphs(l, c)
	if err != nil {
		b.Fatal(err)
	}
	for name, write := range writers {
		b.Run(name, func(b *testing.B) {
			parent := b.TempDir()
			for b.Loop() {
				w, err := store.Create(disk, filepath.Join(parent, "out"), true)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := write(context.Background(), w, l, c, g, 2); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				size := int64(0)
				if err := filepath.WalkDir(w.Dir(), func(_ string, d fs.DirEntry, err error) error {
					if info, _ := d.Info(); err == nil && info.Mode().IsRegular() {
						size += info.Size()
					}
					return err
				}); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(size)
				if err := w.Abort(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
