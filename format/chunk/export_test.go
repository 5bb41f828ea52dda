package chunk

import (
	"context"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Sector is sector.
const Sector = sector

// Parse is parse.
var Parse = parse

// Nodes is the number of nodes.
func (c Chunk) Nodes() int { return int(c[0]) }

// Neighbours returns the neighbours of the chunk's node i, and none if Span is not ok.
func (c Chunk) Neighbours(i int) []uint32 {
	from, to, _ := c.Span(i)
	return c[from:to]
}

// Pad is pad.
func (r *Row) Pad(size int64, last bool) { r.pad(size, last) }

// Check reads all chunks completely: offsets must ascend, neighbours must be ids of nodes, and padding must be zeros.
func (s *Set) Check(ctx context.Context, fsys vfs.FS) error {
	return s.check(ctx, fsys, func(r Row) uint64 { return r.Words() + r.Padding })
}
