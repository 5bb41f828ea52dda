package generate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// Community is the table of the edges of a power-law graph with communities in regions. Its columns are "src" and
// "dst". The density of degrees d is d^(-7/3). Of the edges, 65 % stay in the community, 20 % in its region, and 15 %
// lead to any node.
//
// A pair of neighbours is always listed in the same direction, but may be listed several times, and so may a loop.
// The graph has each pair once and no loops, as importing with assemble.Drop makes it. All arithmetic is on integers,
// or is +, *, / and square roots of float64, which are exactly rounded, so that every machine makes the same graph.
type Community struct {
	nodes int
	seed  uint64
	// Node v is in community community[v]. Community c has the nodes begin[c] to begin[c+1]. Region r has the nodes
	// regions[r] to regions[r+1].
	community []uint32
	begin     []uint64
	regions   []uint64
	degrees   []uint64 // running sum
	first     []uint64 // running sum of the edges that each node lists
	names     []uint32
}

// The uses of random numbers.
const (
	drawDegree = 1 + iota
	drawSize
	drawRound
	drawEnd
	drawName
)

// MaxCommunityNodes bounds the number of nodes.
const MaxCommunityNodes = math.MaxUint32 - 1

// CommunityNodeBytes is the memory of a Community per node.
const CommunityNodeBytes = 28

// NewCommunity makes the table of a graph of n nodes.
func NewCommunity(seed uint64, n int) (*Community, error) {
	if n < 2 || n > MaxCommunityNodes {
		return nil, fmt.Errorf("found %d nodes, expected 2 to %d", n, MaxCommunityNodes)
	}
	t := &Community{nodes: n, seed: seed}
	t.divide()
	t.degrees, t.first = make([]uint64, n+1), make([]uint64, n+1)
	limit := float64(16 * int(math.Floor(math.Sqrt(float64(n)))))
	degree, round := t.draws(drawDegree), t.draws(drawRound)
	for v := range n {
		u := unit(degree, v)
		d := uint64(math.Floor(math.Min(9/(math.Sqrt(u)*math.Sqrt(math.Sqrt(u))), limit)))
		t.degrees[v+1] = t.degrees[v] + d
		t.first[v+1] = t.first[v] + (d+number(round, v)&1)>>1
	}
	t.name()
	return t, nil
}

// draws returns the start of the random numbers of a use.
func (t *Community) draws(use uint64) uint64 { return splitMix(t.seed*256 + use) }

// splitMix is one step of SplitMix64.
func splitMix(x uint64) uint64 { return draw.Mix(x + draw.Gamma) }

func number[I int | uint64](draws uint64, i I) uint64 { return splitMix(draws + uint64(i)) }

// unit returns random number i as a number in (0, 1].
func unit(draws uint64, i int) float64 { return float64(number(draws, i)>>11+1) / (1 << 53) }

// divide makes the communities and regions.
func (t *Community) divide() {
	n := t.nodes
	t.community = make([]uint32, n)
	largest := float64(max(64, n/100))
	size := t.draws(drawSize)
	for at, c := 0, 0; at < n; c++ {
		t.begin = append(t.begin, uint64(at))
		region := at * 128 / n
		for len(t.regions) <= region {
			t.regions = append(t.regions, uint64(at))
		}
		end := min(n, at+int(math.Floor(math.Min(64/unit(size, c), largest))))
		for v := at; v < end; v++ {
			t.community[v] = uint32(c)
		}
		at = end
	}
	t.begin, t.regions = append(t.begin, uint64(n)), append(t.regions, uint64(n))
}

// name assigns the ids: the rank of a random number per node.
func (t *Community) name() {
	draws := t.draws(drawName)
	order := make([]uint32, t.nodes)
	for v := range order {
		order[v] = uint32(v)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(number(draws, uint64(a)), number(draws, uint64(b))), cmp.Compare(a, b))
	})
	t.names = make([]uint32, t.nodes)
	for rank, v := range order {
		t.names[v] = uint32(rank)
	}
}

// edge returns the ends of row e, which belongs to node v, as ids.
func (t *Community) edge(v, e uint64, ends uint64) (src, dst uint64) {
	lists, j := t.first[v+1]-t.first[v], e-t.first[v]
	c := t.community[v]
	from, to := t.begin[c], t.begin[c+1]
	near := min(lists*13/20, (to-from)/2)
	switch {
	case j < near:
	case j < max(near, lists*17/20):
		r := from * 128 / uint64(t.nodes)
		from, to = t.regions[r], t.regions[r+1]
	default:
		from, to = 0, uint64(t.nodes)
	}
	low, high := t.degrees[from], t.degrees[to]
	slot := low + number(ends, e)%(high-low)
	w := from + uint64(sort.Search(int(to-from), func(i int) bool { return t.degrees[from+uint64(i)+1] > slot }))
	return uint64(t.names[min(v, w)]), uint64(t.names[max(v, w)])
}

// Nodes is the number of nodes.
func (t *Community) Nodes() uint64 { return uint64(t.nodes) }

// Edges is the number of rows.
func (t *Community) Edges() uint64 { return t.first[t.nodes] }

// Fields implements table.Table.
func (t *Community) Fields() []table.Field {
	return []table.Field{{Name: "src", DType: graph.Uint64}, {Name: "dst", DType: graph.Uint64}}
}

// Files implements table.Table. The table has no files.
func (t *Community) Files() []string { return nil }

// Bytes implements table.Table. It returns the size that the rows would have in a file.
func (t *Community) Bytes() int64 { return int64(t.first[t.nodes]) * 16 }

// Where implements table.Table.
func (t *Community) Where(row uint64, _ string) string {
	return fmt.Sprintf("community edge %d", row)
}

// Scan implements table.Table.
func (t *Community) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	ends := t.draws(drawEnd)
	return scanPairs(ctx, "community graph", t.first[t.nodes], columns, threads, func() func(src, dst []uint64, first uint64) {
		return func(src, dst []uint64, first uint64) {
			v := uint64(sort.Search(t.nodes, func(i int) bool { return t.first[i+1] > first }))
			for i := range src {
				e := first + uint64(i)
				for t.first[v+1] <= e {
					v++
				}
				src[i], dst[i] = t.edge(v, e, ends)
			}
		}
	}, fn)
}
