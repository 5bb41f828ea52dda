package pack

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/graphmill/graphmill/internal/tagged"
)

// Kinds of errors about inputs.
var (
	// ErrHistogram says that counts or sizes are invalid.
	ErrHistogram = errors.New("invalid histogram")
	// ErrLimits says that limits are invalid or do not fit the histogram.
	ErrLimits = errors.New("invalid limits")
	// ErrOversize says that graphs are larger than a pack.
	ErrOversize = errors.New("larger than a pack")
)

// MaxComponents is the largest number of components of a histogram.
const MaxComponents = 7

const (
	maxSize  = 1<<31 - 1 // of sizes and limits, which fit a field of a vec
	maxTotal = 1 << 62   // of the graphs of a histogram, and of the sum of a component
)

// Histogram is the number of graphs of each shape.
type Histogram struct {
	Components []string // names, such as "num_nodes" and "num_edges"
	// Sizes has a row per shape and a column per component, row-major. Shapes are distinct and ascend,
	// compared by the first component first.
	Sizes  []int
	Counts []int64 // number of graphs of each shape, positive
}

// Shape returns the sizes of shape i, one per component.
func (h *Histogram) Shape(i int) []int {
	k := len(h.Components)
	return h.Sizes[i*k : (i+1)*k : (i+1)*k]
}

// Graphs is the number of graphs.
func (h *Histogram) Graphs() int64 {
	n := int64(0)
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Total is the sum of a component over all graphs.
func (h *Histogram) Total(component int) int64 {
	n := int64(0)
	for i, c := range h.Counts {
		n += c * int64(h.Shape(i)[component])
	}
	return n
}

// Max is the largest size of a component.
func (h *Histogram) Max(component int) int {
	most := 0
	for i := range h.Counts {
		most = max(most, h.Shape(i)[component])
	}
	return most
}

// Add counts graphs of a shape. After all calls, Normalise completes the histogram.
func (h *Histogram) Add(count int64, shape ...int) {
	h.Sizes = append(h.Sizes, shape...)
	h.Counts = append(h.Counts, count)
}

// Normalise sorts the shapes, joins equal ones and drops those without graphs. It returns an error if there
// are no graphs, a size or count is negative, or a sum exceeds 2^62.
func (h *Histogram) Normalise() error {
	k := len(h.Components)
	if k < 1 || k > MaxComponents {
		return tagged.Errorf(ErrHistogram, "found %d components, expected 1 to %d", k, MaxComponents)
	}
	if len(h.Sizes) != k*len(h.Counts) {
		return tagged.Errorf(ErrHistogram, "found %d sizes of %d shapes, expected %d each", len(h.Sizes), len(h.Counts), k)
	}
	order := make([]int, 0, len(h.Counts))
	for i, c := range h.Counts {
		for j, s := range h.Shape(i) {
			if s < 0 || s > maxSize {
				return tagged.Errorf(ErrHistogram, "row %d: found %s %d, expected 0 to 2^31 - 1; leave the row out, or give the size in a larger unit", i+1, h.Components[j], s)
			}
		}
		if c < 0 {
			return tagged.Errorf(ErrHistogram, "row %d: found count %d, expected at least 0", i+1, c)
		}
		if c > 0 {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return tagged.Errorf(ErrHistogram, "found no graphs, expected at least one; check that the file has rows with a count above 0")
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(h.Shape(a), h.Shape(b)) })
	sizes, counts := make([]int, 0, k*len(order)), make([]int64, 0, len(order))
	var graphs uint64
	var totals [MaxComponents]uint64
	for _, i := range order {
		if graphs += uint64(h.Counts[i]); graphs > maxTotal {
			return tagged.Errorf(ErrHistogram, "found more than 2^62 graphs, expected fewer; divide all counts by one number")
		}
		for j, s := range h.Shape(i) {
			hi, lo := bits.Mul64(uint64(h.Counts[i]), uint64(s))
			sum, carry := bits.Add64(totals[j], lo, 0)
			if hi+carry > 0 || sum > maxTotal {
				return tagged.Errorf(ErrHistogram, "found a sum of %s beyond 2^62, expected less; divide all counts by one number", h.Components[j])
			}
			totals[j] = sum
		}
		if n := len(counts); n > 0 && slices.Equal(sizes[(n-1)*k:], h.Shape(i)) {
			counts[n-1] += h.Counts[i]
			continue
		}
		sizes, counts = append(sizes, h.Shape(i)...), append(counts, h.Counts[i])
	}
	h.Sizes, h.Counts = sizes, counts
	return nil
}

// Problem is a histogram to pack.
type Problem struct {
	*Histogram
	Limits    []int // of a pack, one per component
	MaxGraphs int   // in a pack; 0: no cap
}

// check checks that the limits fit the histogram.
func (p *Problem) check() error {
	if len(p.Limits) != len(p.Components) {
		return tagged.Errorf(ErrLimits, "found %d limits, expected one for each of %q", len(p.Limits), p.Components)
	}
	for j, l := range p.Limits {
		if l < 0 || l > maxSize {
			return tagged.Errorf(ErrLimits, "found limit %d of %s, expected 0 to 2^31 - 1", l, p.Components[j])
		}
	}
	if p.MaxGraphs < 0 || p.MaxGraphs > maxSize {
		return tagged.Errorf(ErrLimits, "found at most %d graphs per pack, expected 0 (no cap) to 2^31 - 1", p.MaxGraphs)
	}
	larger, one := int64(0), -1
	for i, c := range p.Counts {
		if p.over(i) >= 0 {
			larger, one = larger+c, i
		}
	}
	if one >= 0 {
		j := p.over(one)
		graphs := "graphs that are"
		if larger == 1 {
			graphs = "graph that is"
		}
		return tagged.Errorf(ErrOversize, "found %d %s larger than a pack, such as one with %s %d, expected at most %d, the limit; raise it, or leave them out", larger, graphs, p.Components[j], p.Shape(one)[j], p.Limits[j])
	}
	return nil
}

// over is the component in which shape i is larger than a pack, -1 if there is none.
func (p *Problem) over(i int) int {
	for j, s := range p.Shape(i) {
		if s > p.Limits[j] {
			return j
		}
	}
	return -1
}

// Oversize splits off the shapes that are larger than a pack.
func (p *Problem) Oversize() (fits, over *Histogram) {
	fits, over = &Histogram{Components: p.Components}, &Histogram{Components: p.Components}
	for i, c := range p.Counts {
		to := fits
		if p.over(i) >= 0 {
			to = over
		}
		to.Add(c, p.Shape(i)...)
	}
	return fits, over
}

// Packing has the packs of a problem.
type Packing struct {
	Patterns []Pattern
}

// Pattern has packs that are filled alike.
type Pattern struct {
	Parts []Part // by ascending shape, each shape once
	Packs int64
}

// Part is a number of graphs of one shape in a pack.
type Part struct {
	Shape  int // index in the histogram
	Copies int
}

// Packs is the number of packs.
func (p *Packing) Packs() int64 {
	n := int64(0)
	for _, x := range p.Patterns {
		n += x.Packs
	}
	return n
}

// Used returns the largest content of a pack: the size in each component, and the number of graphs.
func (p *Packing) Used(h *Histogram) (sizes []int, graphs int) {
	sizes = make([]int, len(h.Components))
	for _, x := range p.Patterns {
		sum, n := sums(h, x.Parts)
		for j := range sizes {
			sizes[j] = max(sizes[j], sum[j])
		}
		graphs = max(graphs, n)
	}
	return sizes, graphs
}

// sums returns the sums of the sizes, and the number, of the graphs of a pack.
func sums(h *Histogram, parts []Part) (sizes []int, graphs int) {
	sizes = make([]int, len(h.Components))
	for _, x := range parts {
		graphs += x.Copies
		for j, s := range h.Shape(x.Shape) {
			sizes[j] += s * x.Copies
		}
	}
	return sizes, graphs
}

// Check checks that the packing deals every graph of the problem exactly once and keeps the limits. The
// problem must be normalised; shapes are indices into it.
func (p *Packing) Check(problem *Problem) error {
	dealt := make([]int64, len(problem.Counts))
	for i, x := range p.Patterns {
		if x.Packs < 1 || len(x.Parts) == 0 {
			return fmt.Errorf("pattern %d: found %d packs of %d shapes, expected at least one of each", i, x.Packs, len(x.Parts))
		}
		for n, part := range x.Parts {
			if part.Copies < 1 || n > 0 && part.Shape <= x.Parts[n-1].Shape {
				return fmt.Errorf("pattern %d: found %d graphs of shape %d, expected at least one, shapes ascending", i, part.Copies, part.Shape)
			}
			// Nothing overflows: the graphs dealt do not exceed the counts, whose sums do not overflow.
			if left := problem.Counts[part.Shape] - dealt[part.Shape]; int64(part.Copies) > left/x.Packs {
				return fmt.Errorf("pattern %d: found %d graphs of shape %v in each of %d packs, expected at most the %d that are left", i, part.Copies, problem.Shape(part.Shape), x.Packs, left)
			}
			dealt[part.Shape] += int64(part.Copies) * x.Packs
		}
		sizes, graphs := sums(problem.Histogram, x.Parts)
		for j, s := range sizes {
			if s > problem.Limits[j] {
				return fmt.Errorf("pattern %d: found %s %d, expected at most %d", i, problem.Components[j], s, problem.Limits[j])
			}
		}
		if problem.MaxGraphs > 0 && graphs > problem.MaxGraphs {
			return fmt.Errorf("pattern %d: found %d graphs, expected at most %d", i, graphs, problem.MaxGraphs)
		}
	}
	for i, c := range problem.Counts {
		if dealt[i] != c {
			return fmt.Errorf("shape %v: found %d graphs in packs, expected %d", problem.Shape(i), dealt[i], c)
		}
	}
	return nil
}

// Efficiency is the share of a component that graphs fill, in packs with that limit. With limit 0 it is 1.
func (h *Histogram) Efficiency(component int, packs int64, limit int) float64 {
	if limit == 0 || packs == 0 {
		return 1
	}
	return float64(h.Total(component)) / (float64(packs) * float64(limit))
}
