package generate

import (
	"context"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// Skewed is the table of the edges of an edge type of a Shape: as many rows as the data set lists, between nodes that are drawn by their expected degree. Nothing is stored.
//
// The nodes of a type have ranks. The expected degree of rank x of n is proportional to (x + s)^(-3/4), so that the density of degree d is d^(-7/3), as in a Community, and s is such that
// rank 0 has the largest degree of the shape. Where none is published, it is n^(3/4) / 128 times the mean, to which the published ones are near, and for the sources of a
// directed edge type, such as the papers that cite, n^(1/2) / 128 times, at least 8 times.
// A row is a draw for each end. Ends are drawn again until they differ, where both are of one type. The same pair may come several times.
//
// Node v has the class v modulo the number of classes. Two thirds of the rows between labelled nodes of one type have ends of one class, the others of any two. Which node of a class has
// which rank is an Order.
//
// All arithmetic is on integers, or is +, -, *, / and square roots of float64, each rounded on its own, so that every machine makes the same graph.
type Skewed struct {
	name     string
	prefix   uint64
	rows     uint64
	src, dst *ranked
	classed  bool // two thirds of the rows stay in a class
	differ   bool // both ends are of one type
}

// Words of the draws of a Shape. They follow those of package draw.
const (
	skewedEdge = 16 + iota
	skewedRanks
	shapeSplit
	shapeFeature
)

// within is the share of rows within a class, of 2048.
const within = 1365

// NewSkewed makes the table of an edge type of a shape, by its number in it. seed is the random seed.
func NewSkewed(seed uint64, s *Shape, number int) *Skewed {
	e := &s.Edges[number]
	t := &Skewed{
		name: s.Name, prefix: draw.Key(seed, 0, skewedEdge, uint64(number)), rows: e.Rows, differ: e.Type.Src == e.Type.Dst,
	}
	from, to := s.Node(e.Type.Src), s.Node(e.Type.Dst)
	t.classed = t.differ && from.Classes > 0
	n := float64(to.Count)
	heavy := float64(math.Sqrt(n)*math.Sqrt(math.Sqrt(n))) / 128
	if e.Largest > 0 {
		heavy = float64(e.Largest) / (float64(e.Rows) / n)
	}
	light := max(8, math.Sqrt(float64(from.Count))/128)
	if e.Undirected {
		light = heavy
	}
	t.src, t.dst = newRanked(seed, s, e.Type.Src, light), newRanked(seed, s, e.Type.Dst, heavy)
	return t
}

// ranked draws the nodes of a type.
type ranked struct {
	count, classes uint64
	order          *draw.Order // of the nodes of a class
	// A uniform u in [0, 1) is the rank (low + span*u)^4 - shift, or count*u if span is 0.
	low, span, shift float64
}

// newRanked makes the ranks of a node type of a shape, of which the first has about largest times the mean degree.
func newRanked(seed uint64, s *Shape, typ string, largest float64) *ranked {
	n := s.Node(typ)
	r := &ranked{count: n.Count, classes: uint64(max(1, n.Classes))}
	each := (r.count + r.classes - 1) / r.classes
	r.order = draw.NewOrder(each, draw.Key(seed, 0, skewedRanks, s.number(typ)))
	count := float64(r.count)
	if largest = min(largest, count/8); largest <= 1.5 {
		return r
	}
	// The first rank has the density 1 / (4 low^3 span), which falls as low grows.
	high := func(low float64) float64 { return math.Sqrt(math.Sqrt(count + fourth(low))) }
	from, to := 0.0, math.Sqrt(count)
	for range 100 {
		low := float64((from + to) / 2)
		if cube := float64(low * float64(low*low)); 4*float64(cube*(high(low)-low)) < count/largest {
			from = low
		} else {
			to = low
		}
	}
	r.low, r.shift = to, fourth(to)
	r.span = high(to) - to
	return r
}

// number is the place of a node type in the shape.
func (s *Shape) number(typ string) uint64 {
	for i := range s.Nodes {
		if s.Nodes[i].Type == typ {
			return uint64(i)
		}
	}
	return 0
}

// fourth is the fourth power, in two products that are rounded each.
func fourth(x float64) float64 {
	square := float64(x * x)
	return float64(square * square)
}

// rank is the rank that 53 of 64 random bits draw.
func (r *ranked) rank(bits uint64) uint64 {
	u := float64(bits>>11) / (1 << 53)
	x := float64(float64(r.count) * u)
	if r.span > 0 {
		x = fourth(r.low+float64(r.span*u)) - r.shift
	}
	return min(uint64(max(x, 0)), r.count-1)
}

// node is the node of a rank. It is count or more for a few ranks where the count is no multiple of the classes.
func (r *ranked) node(rank uint64) uint64 {
	return r.order.At(rank/r.classes)*r.classes + rank%r.classes
}

// edge is the ends of a row.
func (t *Skewed) edge(row uint64) (src, dst uint64) {
	h := draw.Absorb(t.prefix, row)
	for {
		h += draw.Gamma
		first := draw.Mix(h)
		h += draw.Gamma
		second := draw.Mix(h)
		from, to := t.src.rank(first), t.dst.rank(second)
		if t.classed && second&2047 < within {
			to += from%t.dst.classes - to%t.dst.classes // may wrap around, and back
		}
		src, dst = t.src.node(from), t.dst.node(to)
		if src < t.src.count && dst < t.dst.count && (src != dst || !t.differ) {
			return src, dst
		}
	}
}

// Rows is the number of rows.
func (t *Skewed) Rows() uint64 { return t.rows }

// Fields implements table.Table.
func (t *Skewed) Fields() []table.Field {
	return []table.Field{{Name: "src", DType: graph.Uint64}, {Name: "dst", DType: graph.Uint64}}
}

// Files implements table.Table. The table has no files.
func (t *Skewed) Files() []string { return nil }

// Bytes implements table.Table. It returns the size that the rows would have in a file.
func (t *Skewed) Bytes() int64 { return int64(t.rows) * 16 }

// Where implements table.Table.
func (t *Skewed) Where(row uint64, _ string) string { return fmt.Sprintf("edge %d of %s", row, t.name) }

// Scan implements table.Table.
func (t *Skewed) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return scanPairs(ctx, "edge of "+t.name, t.rows, columns, threads, func() func(src, dst []uint64, first uint64) {
		return func(src, dst []uint64, first uint64) {
			for i := range src {
				src[i], dst[i] = t.edge(first + uint64(i))
			}
		}
	}, fn)
}
