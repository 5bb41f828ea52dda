//go:build interopdata

package metis

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Graphs of the KaHIP project, read as what their publisher's checksums say: of
// the offsets as 64-bit numbers, then the neighbours.
func TestDataPublishedGraphs(t *testing.T) {
	for name, want := range map[string]string{
		"rgg_n_2_15_s0": "5ef71f1a89446a99d24e6b2fb66c1b4f9d01a39202815575a174a94487eff0f8",
		"delaunay_n15":  "e2ce39e7a053d4c2116445494935a191c47d4213d402e070eef8e0fd8e7e22b5",
	} {
		g, err := Read(context.Background(), vfs.OS, golden.Data(t, "partition", name+".graph.gz"), 2)
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		for _, x := range g.Offsets {
			_ = binary.Write(h, binary.LittleEndian, uint64(x))
		}
		_ = binary.Write(h, binary.LittleEndian, g.Neighbours)
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("%s: found checksum %s, expected %s", name, got, want)
		}
	}
}
