package generate_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/generate"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// communityGraph scans the table of a graph.
func communityGraph(t *testing.T, seed uint64, n, threads int) *undirected.Graph {
	t.Helper()
	law, err := generate.NewCommunity(seed, n)
	if err != nil {
		t.Fatal(err)
	}
	type chunk struct {
		first    uint64
		src, dst []uint32
	}
	chunks := make([][]chunk, threads)
	columns := []table.Column{{Name: "src", DType: graph.Uint64, ID: true}, {Name: "dst", DType: graph.Uint64, ID: true}}
	rows, err := law.Scan(context.Background(), columns, threads, func(w int, c *table.Chunk) error {
		ends := [2][]uint32{}
		for i := range ends {
			for _, x := range graph.View[uint64](c.Columns[i].Data) {
				ends[i] = append(ends[i], uint32(x))
			}
		}
		chunks[w] = append(chunks[w], chunk{c.First, ends[0], ends[1]})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(chunks...)
	slices.SortFunc(all, func(a, b chunk) int { return int(a.first) - int(b.first) })
	var src, dst []uint32
	for _, c := range all {
		src, dst = append(src, c.src...), append(dst, c.dst...)
	}
	if uint64(len(src)) != rows || law.Bytes() != int64(rows)*16 {
		t.Fatalf("%d rows, Scan says %d and Bytes %d", len(src), rows, law.Bytes())
	}
	return undirected.FromPairs(n, src, dst)
}

// graphSum is the checksum with which graphs for partitioners are published: 64-bit offsets, followed by 32-bit
// neighbours.
func graphSum(g *undirected.Graph) string {
	h := sha256.New()
	for _, o := range g.Offsets {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(o)))
	}
	h.Write(graph.Bytes(g.Neighbours))
	return hex.EncodeToString(h.Sum(nil))
}

// The sums come from a reference program in Python.
func TestCommunityIsItsDefinition(t *testing.T) {
	for _, c := range []struct {
		seed       uint64
		n, threads int
		pairs      int
		sum        string
	}{
		{9, 1000, 1, 8667, "76c8636f59ab3a06b410a0af214b1d4265aaafc25b9e5a1c54d12bfc5869330d"},
		{1, 200_000, 3, 2_584_010, "242f7bda85164caa0b3d1a561c14924f620378e20af02417cce8a65c15a9f7db"},
	} {
		if g := communityGraph(t, c.seed, c.n, c.threads); g.Pairs() != c.pairs || graphSum(g) != c.sum {
			t.Errorf("seed %d, %d nodes: got %d pairs, sum %s", c.seed, c.n, g.Pairs(), graphSum(g))
		}
	}
}

func TestCommunityRefusesSizes(t *testing.T) {
	for _, n := range []int{-1, 0, 1, generate.MaxCommunityNodes + 1} {
		if _, err := generate.NewCommunity(1, n); err == nil {
			t.Errorf("%d nodes: got no error", n)
		}
	}
}
