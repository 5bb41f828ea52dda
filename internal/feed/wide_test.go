//go:build unix

package feed

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/sample"
)

// TestWide checks that the batches of edge types whose ids take 64 bits have the bytes of any others: ids, positions, and rows
// of columns of edges, alone and joined.
func TestWide(t *testing.T) {
	var seeds []uint32
	for v := range uint32(90) {
		seeds = append(seeds, v*7%500)
	}
	features := Features{
		Nodes:  map[string][]string{"user": {"x"}},
		Edges:  map[string][]string{"user:follows:user": {"time", "y"}},
		Joined: []Joined{{"user:follows:user", "j", partsOf([]string{"time", "y"})}, {"item:liked_by:user", "alone", partsOf([]string{"time"})}},
	}
	for _, scope := range []sample.Scope{sample.ScopeBatch, sample.ScopeSeed} {
		for _, positions := range []bool{true, false} {
			for _, memory := range []int64{0, 1 << 20} {
				of := func(narrow int64) []byte {
					defer func(before int64) { limits.Positions = before }(limits.Positions)
					limits.Positions = narrow
					g := timed()
					y := make([]float32, 2*g.Edges[1].Count)
					for i := range y {
						y[i] = float32(i)
					}
					g.Edges[1].Columns = append(g.Edges[1].Columns, &graph.Column{Name: "y", DType: graph.Float32, Shape: []int{2}, Rows: g.Edges[1].Count, Values: graph.Bytes(y)})
					if !positions {
						for _, e := range g.Edges {
							e.Columns = e.Columns[1:]
						}
					}
					src := planned(t, g, sample.FanoutOptions{SeedType: []string{"user"}, Scope: scope}, sample.Job{Seeds: seeds, Shuffle: true}, features)
					defer src.Close()
					src.Load(memory, func() {})
					src.loading.Wait()
					return batchesOf(t, src)
				}
				if want := of(math.MaxUint32); !bytes.Equal(of(0), want) || !bytes.Equal(of(2500), want) {
					t.Errorf("scope %s, positions %t, tables of %d bytes: found other batches with wide edges", scope, positions, memory)
				}
			}
		}
	}
}

// batchesOf is all columns of all batches of an epoch.
func batchesOf(t *testing.T, src *Source) []byte {
	t.Helper()
	var all bytes.Buffer
	m := src.Maker()
	for b := range src.Batches() {
		if _, err := m.Batch(src.Epoch(0), 0, b); err != nil {
			t.Fatal(err)
		}
		for i, c := range src.Columns() {
			rows := graph.Bytes(make([]uint64, (m.Rows(i)*m.RowBytes(i)+7)/8))[:m.Rows(i)*m.RowBytes(i)]
			m.Fill(i, rows)
			fmt.Fprintf(&all, "%s %d %x\n", c.Name, m.Rows(i), rows)
		}
	}
	return all.Bytes()
}
