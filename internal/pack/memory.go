package pack

import (
	"errors"
	"unsafe"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrMemory says that the memory bound is too small.
var ErrMemory = errors.New("the memory bound is too small")

// HistogramBytes is the memory that a histogram takes while it is made: the sizes and counts of its shapes as
// they are read, and sorted copies.
func HistogramBytes(shapes, components int) int64 {
	const copies = 4 // as read, with room to grow; in the order of the limits; and sorted
	return int64(shapes) * int64(components+2) * 8 * copies
}

// Bytes is the memory that Solve takes for a problem with the method auto, without the histogram: the searches over its
// shapes, the packings that they find, and the linear program. It is an upper estimate. The memory that the command asks for,
// over the measured peak:
//
//   - three components, 300 or 3,000 shapes, 10^4 to 10^7 graphs: 1.15
//   - three components, 10^4 shapes: 1.25
//   - three components, 10^5 shapes: 2.5, as Bytes allows for packings of one graph per pack
//   - six components, 10^5 shapes: 1.7
func (p *Problem) Bytes() int64 {
	const (
		searches = 6   // at a time
		packings = 4   // at a time
		pattern  = 160 // bytes of a pattern with its parts
	)
	shapes := int64(len(p.Counts))
	searched := min(shapes, manyShapes)
	search := int64(unsafe.Sizeof(vec{}))*2 + 40
	n := searched * (int64(unsafe.Sizeof(vec{})) + searches*search)
	// Most patterns are of one pack: there are at most as many as graphs, and not many more than shapes.
	n += packings * pattern * min(shapes*2, p.Graphs())
	if shapes > manyShapes {
		n += shapes * 100 // groups, and their members
	}
	if graphs := p.Graphs(); graphs <= swapGraphs {
		const states = 2 // of the current try, and of the one before, which may not be collected yet
		n += states * graphs * int64(8*(len(p.Limits)+1)+24)
	}
	return n + p.programBytes()
}

// programBytes is the memory of the linear program.
func (p *Problem) programBytes() int64 {
	items := min(len(p.Counts), manyShapes)
	if items > maxItems {
		items = coarseShapes
	}
	rows := int64(items)
	if items > maxRows {
		rows = groupRows + MaxComponents
	}
	cells := int64(1)
	for _, l := range p.Limits {
		cells = min(cells*int64(l+1), maxCells+1)
	}
	n := 8 * (rows + 16) * (rows + 16 + 2*maxChanges) // the inverse, and its changes
	n += (8*rows + 4000) * 300                        // the columns
	if len(p.Limits) <= 2 && cells <= maxCells && items <= maxRows {
		return n + 12*cells
	}
	return n + int64(items)*int64(unsafe.Sizeof(branchItem{})+200) + mostTables*tableRanges*2*tableRooms*8
}

// Fits returns an error if a process with the given bound has too little memory for a histogram of at least so
// many shapes, and for other bytes. A bound of 0 is none.
func Fits(bound int64, shapes, components int, other int64) error {
	if need := limits.ProcessBytes + HistogramBytes(shapes, components) + other; bound > 0 && need > bound {
		return tagged.Errorf(ErrMemory, "found `Memory` %s, expected at least %s for %s sizes of %d components; give more `Memory`",
			human.Bytes(bound), human.Bytes(need), human.Exact(int64(shapes)), components)
	}
	return nil
}
