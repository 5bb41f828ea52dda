package chunk

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/graphmill/graphmill/internal/tagged"
)

// Sizes in bytes.
const (
	DefaultBytes = 512 << 20 // of a chunk
	minBytes     = align
	maxBytes     = 16<<30 - align // offsets are 32-bit numbers of words
	align        = 4096           // chunk sizes are multiples of it, as direct I/O requires
	sector       = 512            // the size of the last chunk is a multiple of it
)

// headerWords is the words before the offsets: the number of nodes, and the id of the first one.
const headerWords = 2

// None is the id of no node; samplers write it where a node has too few neighbours. Node ids are below it.
const None = math.MaxUint32

// The kinds of errors, for errors.Is. The texts of the errors do not contain these texts; they start with the place.
var (
	// ErrFormat: a file has wrong or missing content.
	ErrFormat = errors.New("bad chunk file")
	// ErrTooLarge: a node has more neighbours than a chunk holds, or there are too many nodes.
	ErrTooLarge = errors.New("too large for chunks")
)

func badf(format string, a ...any) error { return tagged.Errorf(ErrFormat, format, a...) }

// Words is the number of words of a chunk without padding.
func Words(nodes, edges uint64) uint64 { return headerWords + nodes + 1 + edges }

// Offset is the index of the word that holds the offset of a chunk's node i. For i = n it holds the end of the
// neighbours.
func Offset(i int) uint64 { return headerWords + uint64(i) }

// CheckBytes says whether chunks can have the given size.
func CheckBytes(bytes int64) error {
	if bytes < minBytes || bytes > maxBytes || bytes%align != 0 {
		return fmt.Errorf("found a chunk size of %d bytes, expected a multiple of %d from %d to %d", bytes, align, minBytes, int64(maxBytes))
	}
	return nil
}

// Row is the layout of one chunk, a row of the table of a Set.
type Row struct {
	Start   uint32 // id of the first node
	Nodes   uint32
	Edges   uint64
	Padding uint64 // words
}

// End is the id of the last node.
func (r Row) End() uint32 { return r.Start + r.Nodes - 1 }

// Words is the number of words without padding.
func (r Row) Words() uint64 { return Words(uint64(r.Nodes), r.Edges) }

// Size is the number of bytes without padding.
func (r Row) Size() int64 { return 4 * int64(r.Words()) }

// Bytes is the number of bytes of the chunk in its file.
func (r Row) Bytes() int64 { return r.Size() + 4*int64(r.Padding) }

// Fill is the fraction of the chunk's bytes that are not padding.
func (r Row) Fill() float64 { return float64(r.Size()) / float64(r.Bytes()) }

// pad sets Padding so that the chunk has size bytes or, if it is the last one, ends at the next sector.
func (r *Row) pad(size int64, last bool) {
	if last {
		size = (r.Size() + sector - 1) / sector * sector
	}
	r.Padding = uint64(size-r.Size()) / 4
}

// Fit returns how many of the nodes from start on fit into a chunk of the given number of bytes. offset returns where
// the neighbours of each of the nodes begin and must ascend; it is also called with the number of nodes. The error
// for a first node that does not fit is ErrTooLarge.
func Fit(bytes int64, start, nodes int, offset func(node int) uint64) (int, error) {
	words, first := uint64(bytes)/4, offset(start)
	n := sort.Search(nodes-start, func(i int) bool {
		end := offset(start + i + 1)
		return end-first > words || Words(uint64(i)+1, end-first) > words
	})
	if n == 0 && start < nodes {
		edges := offset(start+1) - first
		hint := "the format has no larger ones"
		if need := (4*Words(1, min(edges, maxBytes)) + align - 1) / align * align; need <= maxBytes {
			hint = fmt.Sprintf("make chunks of %d bytes or more", need)
		}
		return 0, tagged.Errorf(ErrTooLarge, "node %d: found %d neighbours, expected at most the %d that a chunk of %d bytes holds; %s", start, edges, words-Words(1, 0), bytes, hint)
	}
	return n, nil
}

// Chunk is the words of a chunk, with or without padding.
type Chunk []uint32

// Span returns where the neighbours of the chunk's node i are; i counts from 0 within the chunk. If the offsets are
// invalid, it is empty and ok is false.
func (c Chunk) Span(i int) (from, to uint32, ok bool) {
	from, to = c[headerWords+i], c[headerWords+i+1]
	if from > to || uint64(to) > uint64(len(c)) || uint64(from) < Words(uint64(c[0]), 0) {
		return 0, 0, false
	}
	return from, to, true
}

// CheckHead checks that the words begin as the chunk of a row does, so that Span can be called for its nodes.
func (c Chunk) CheckHead(r Row) error {
	switch {
	case len(c) < headerWords+1 || uint64(len(c)) < r.Words():
		return badf("found %d words, expected the %d of %d nodes and %d neighbours", len(c), r.Words(), r.Nodes, r.Edges)
	case c[0] != r.Nodes:
		return badf("found %d nodes, expected %d", c[0], r.Nodes)
	case c[1] != r.Start:
		return badf("found the start id %d, expected %d", c[1], r.Start)
	}
	return nil
}
