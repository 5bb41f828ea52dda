package outofcore

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

const (
	blockBytes = 1 << 20
	blockPages = blockBytes / direct.Align
)

// array is an array of integers in a file.
type array struct {
	*direct.File
	start uint64 // byte offset of the first integer
	wide  uint64 // log2 of the bytes per integer: 2 or 3
	limit uint64 // all integers are below it
	what  string // an integer is, for errors
}

func openArray(fsys vfs.FS, s *store.Store, name string, x graph.Index, limit int, what string) (*array, error) {
	path, start := s.ArrayFile(name)
	a := &array{start: uint64(start), wide: 2, limit: uint64(limit), what: what}
	if x.U64 != nil {
		a.wide = 3
	}
	if start < 0 || start%8 != 0 {
		return nil, fmt.Errorf("%s: found values at byte %d, expected a multiple of 8", path, start)
	}
	var err error
	if a.File, err = direct.Open(s.Joined(fsys), path); err != nil {
		return nil, err
	}
	if want := start + int64(x.Len())<<a.wide; a.Size() < want {
		return nil, errors.Join(fmt.Errorf("%s: found %d bytes, expected at least %d", path, a.Size(), want), a.Close())
	}
	return a, nil
}

// at is the integer at a byte of an image of the file. ok is false where the integer is out of range.
func (a *array) at(image []byte, at uint64) (x uint64, ok bool) {
	x = uint64(image[at]) | uint64(image[at+1])<<8 | uint64(image[at+2])<<16 | uint64(image[at+3])<<24
	if a.wide == 3 {
		x |= (uint64(image[at+4]) | uint64(image[at+5])<<8 | uint64(image[at+6])<<16 | uint64(image[at+7])<<24) << 32
	}
	return x, x < a.limit
}

// fault is the error of the integer at a byte of an image of the file, which begins at byte base.
func (a *array) fault(image []byte, base, at uint64) error {
	v, _ := a.at(image, at)
	return fmt.Errorf("%s: byte offset %d: found %s %d, expected less than %d; run graphmill verify on the store",
		a.Name(), base+at, a.what, v, a.limit)
}

// file is the neighbours of an edge type in a direction, in blocks of 1 MiB of the file of far ends.
type file struct {
	far, ids *array // ids is nil where ids are positions, or not wanted
	idWords  int    // words of 32 bits of an edge id in results; 0 without ids
	edges    int
	first    uint32 // number of the first block, over all files of the executor
	blocks   uint32
	lead     uint64 // far ends that would fit before the first one
	shift    uint64 // log2 of the far ends per block
}

// openFile opens the neighbours of an edge type and, with apart, the ids of its edges, which take 64 bits where they are
// wide.
func openFile(fsys vfs.FS, s *store.Store, e int, dir graph.Direction, apart, wide bool) (_ *file, err error) {
	edges := s.Graph.Edges[e]
	adj := edges.Adj[dir]
	meta := s.Meta.Edges[edges.Type.String()]
	far, ids := "far", "edge_id"
	if dir != edges.Primary {
		far, ids = "other_far", "other_edge_id"
	}
	nodes := s.Graph.Nodes[s.Graph.NodeType(edges.Type.Far(dir))].Count
	f := &file{edges: adj.Far.Len()}
	if f.far, err = openArray(fsys, s, meta.Arrays[far], adj.Far, nodes, "neighbour"); err != nil {
		return nil, err
	}
	if apart {
		if f.ids, err = openArray(fsys, s, meta.Arrays[ids], adj.EdgeID, edges.Count, "edge id"); err != nil {
			return nil, errors.Join(err, f.far.Close())
		}
		f.idWords = 1
		if wide {
			f.idWords = 2
		}
	}
	f.lead, f.shift = f.far.start>>f.far.wide, uint64(bits.Len(blockBytes)-1)-f.far.wide
	f.blocks = uint32((f.lead + uint64(f.edges) + 1<<f.shift - 1) >> f.shift)
	return f, nil
}

func (f *file) close() error {
	err := f.far.Close()
	if f.ids != nil {
		err = errors.Join(err, f.ids.Close())
	}
	return err
}

// block is the number, in the file, of the block that has position p.
func (f *file) block(p uint64) uint32 { return uint32((f.lead + p) >> f.shift) }

// place is the place of position p in its block: the number of far ends of the block before it. Places have 32 bits for
// any number of edges.
func (f *file) place(p uint64) uint32 { return uint32((f.lead + p) & (1<<f.shift - 1)) }

// position is the position of a place in a block.
func (f *file) position(block, place uint32) uint64 {
	return uint64(block)<<f.shift + uint64(place) - f.lead
}

// positions is the positions that a block has: from first to end.
func (f *file) positions(block uint32) (first, end uint64) {
	at := uint64(block) << f.shift
	return max(at, f.lead) - f.lead, min(at+1<<f.shift-f.lead, uint64(f.edges))
}

// bytes is the aligned bytes of the file that hold the positions from first to end.
func (a *array) bytes(first, end uint64) (from, to int64) {
	from = int64((a.start + first<<a.wide) / direct.Align * direct.Align)
	to = int64((a.start + end<<a.wide + direct.Align - 1) / direct.Align * direct.Align)
	return from, to
}

// idBytes is the most bytes that the edge ids of a block take.
func (f *file) idBytes() int {
	if f.ids == nil {
		return 0
	}
	return 1<<(f.shift+f.ids.wide) + 2*direct.Align
}
