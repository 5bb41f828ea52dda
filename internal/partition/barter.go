package partition

import (
	"cmp"
	"context"
	"slices"

	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/store"
)

// barter moves single nodes between pieces and keeps the pieces within their caps. A piece is a part, or a trainer's share of one.
type barter struct {
	j     *job
	rows  undirected.Rows
	store *store.Store
	piece []uint16
	a     *assign.Assignment

	// caps has an entry per constraint, loads one per piece and constraint. They are made at the first need.
	caps, loads []int64
	// byDegree has the nodes of a type, numbered within the type, by ascending number of neighbours, then by number. It has the types
	// that were needed.
	byDegree map[int][]uint32
}

// place puts a node into a piece.
func (b *barter) place(node uint64, piece uint16) {
	if b.loads != nil {
		b.addLoad(node, b.piece[node], -1)
		b.addLoad(node, piece, 1)
	}
	b.piece[node] = piece
	b.a.Part[node] = piece / uint16(b.j.Trainers)
}

func (b *barter) addLoad(node uint64, piece uint16, sign int64) {
	for c := range b.caps {
		b.loads[int(piece)*len(b.caps)+c] += sign * b.weight(node, c)
	}
}

func (b *barter) weight(node uint64, c int) int64 {
	constraints, weights := b.rows.NodeWeights()
	if weights == nil {
		return 1
	}
	return int64(weights[node*uint64(constraints)+uint64(c)])
}

func (b *barter) measureLoads() {
	if b.loads != nil {
		return
	}
	b.caps = undirected.Caps(undirected.Totals(b.rows), b.j.cutInto(), b.j.Imbalance)
	b.loads = make([]int64, b.j.cutInto()*len(b.caps))
	for v, p := range b.piece {
		b.addLoad(uint64(v), p, 1)
	}
}

// over is the load of a piece above its caps, as a share of them, if node v, unless it is negative, also left it (sign -1) or joined it (1).
func (b *barter) over(piece uint16, v int64, sign int64) (sum float64) {
	for c, most := range b.caps {
		load := b.loads[int(piece)*len(b.caps)+c]
		if v >= 0 {
			load += sign * b.weight(uint64(v), c)
		}
		sum += float64(max(load-most, 0)) / float64(max(most, 1))
	}
	return sum
}

// giveBack relieves a piece that is above its caps: a node of type t goes from there to another piece, where that lowers what both exceed.
// It takes the node with the fewest neighbours whose part keeps edges of each edge type without it.
func (b *barter) giveBack(ctx context.Context, to, from uint16, t int) error {
	b.measureLoads()
	if b.over(from, -1, 0) == 0 {
		return nil
	}
	order, err := b.nodesByDegree(ctx, t)
	if err != nil {
		return err
	}
	start := b.j.starts[t]
	var nodes []uint32
	for _, v := range order {
		node := int64(start) + int64(v)
		if b.piece[node] == from && b.over(from, node, -1)+b.over(to, node, 1) < b.over(from, -1, 0)+b.over(to, -1, 0) {
			if nodes = append(nodes, v); len(nodes) == candidatesOfPart {
				break
			}
		}
	}
	into, err := b.intoNodes(nodes, t)
	if err != nil {
		return err
	}
	old, now := int(from)/b.j.Trainers, int(to)/b.j.Trainers
	at := slices.IndexFunc(nodes, func(v uint32) bool {
		for k, degrees := range into {
			if d := int64(degrees[v]); d > 0 && b.j.r.Relations[k].Owned[old] == d {
				return false
			}
		}
		return true
	})
	if at < 0 {
		return nil
	}
	for k, degrees := range into {
		b.j.r.Relations[k].Owned[old] -= int64(degrees[nodes[at]])
		b.j.r.Relations[k].Owned[now] += int64(degrees[nodes[at]])
	}
	b.place(start+uint64(nodes[at]), to)
	return nil
}

func (b *barter) nodesByDegree(ctx context.Context, t int) ([]uint32, error) {
	if order := b.byDegree[t]; order != nil {
		return order, nil
	}
	degrees, err := b.j.degrees(ctx, b.rows, []int{t})
	if err != nil {
		return nil, err
	}
	order := make([]uint32, len(degrees[0]))
	for v := range order {
		order[v] = uint32(v)
	}
	slices.SortStableFunc(order, func(x, y uint32) int { return cmp.Compare(degrees[0][x], degrees[0][y]) })
	b.byDegree[t] = order
	return order, nil
}

// intoNodes returns the number of in-edges of nodes of type t, by the number of the edge type and by node.
func (b *barter) intoNodes(nodes []uint32, t int) (map[int]map[uint32]uint32, error) {
	sorted := slices.Sorted(slices.Values(nodes))
	into := map[int]map[uint32]uint32{}
	for k, e := range b.store.Graph.Edges {
		if b.store.Graph.NodeType(e.Type.Dst) != t || len(nodes) == 0 {
			continue
		}
		degrees, err := inDegreesOf(b.store, e, sorted)
		if err != nil {
			return nil, err
		}
		into[k] = map[uint32]uint32{}
		for i, v := range sorted {
			into[k][v] = degrees[i]
		}
	}
	return into, nil
}
