package undirected

import (
	"context"
	"fmt"
)

// Quality measures a division of the nodes into parts.
type Quality struct {
	// Cut is the weight of the pairs whose ends are in different parts.
	Cut int64
	// CutShare is Cut as a share of the weight of all pairs.
	CutShare float64
	// Volume is METIS's total communication volume: the sum, over all nodes, of the number of other parts in
	// which the node has neighbours.
	Volume int64
	// Boundary is the number of nodes with a neighbour in another part.
	Boundary int64
	// Balance is the weight of the heaviest part relative to the mean, for each constraint.
	Balance []float64
	// EdgeBalance is the same for the sum of degrees.
	EdgeBalance float64
	// EmptyParts is the number of parts without a node.
	EmptyParts int
	Parts      []PartQuality
	// Between has, for each two parts p and q, the weight of the pairs with an end in each, at p*len(Parts)+q and at
	// q*len(Parts)+p; 0 for a part and itself. It is nil for more than MostBetween parts.
	Between []int64
}

// MostBetween is the most parts between which pairs are counted.
const MostBetween = 64

// PartQuality measures one part.
type PartQuality struct {
	Nodes   int64
	Entries int64 // sum of the degrees of its nodes
	Cut     int64 // pairs with one end in the part
	// Volume is the number of nodes of other parts that are neighbours of its nodes. The sum over all parts is
	// Quality.Volume.
	Volume  int64
	Weights []int64
}

// Evaluate measures a division. part has the part of each node, below parts.
func Evaluate(ctx context.Context, g Rows, part []uint16, parts, threads int) (*Quality, error) {
	if len(part) != g.Len() {
		return nil, fmt.Errorf("found parts of %d nodes, expected %d; the assignment is of another graph; make one of this graph with 'graphmill partition'", len(part), g.Len())
	}
	for v, p := range part {
		if int(p) >= parts {
			return nil, fmt.Errorf("found part %d of node %d, expected 0 to %d", p, v, parts-1)
		}
	}
	counts := make([]*partCounts, max(1, threads))
	for i := range counts {
		counts[i] = &partCounts{parts: make([]PartQuality, parts), seen: make([]uint32, parts)}
		if parts <= MostBetween {
			counts[i].between = make([]int64, parts*parts)
		}
	}
	err := g.Scan(ctx, threads, func(worker int, b *Block) error {
		counts[worker].add(b, part)
		return nil
	})
	if err != nil {
		return nil, err
	}
	q := &Quality{Parts: make([]PartQuality, parts)}
	if parts <= MostBetween {
		q.Between = make([]int64, parts*parts)
	}
	var pairs int64
	for _, c := range counts {
		pairs += c.weight
		q.Boundary += c.boundary
		for i, w := range c.between {
			q.Between[i] += w
		}
		for p := range q.Parts {
			to, from := &q.Parts[p], &c.parts[p]
			to.Nodes += from.Nodes
			to.Entries += from.Entries
			to.Cut += from.Cut
			to.Volume += from.Volume
		}
	}
	constraints, weights := g.NodeWeights()
	total := make([]int64, constraints)
	for p := range q.Parts {
		q.Parts[p].Weights = make([]int64, constraints)
		if weights == nil {
			q.Parts[p].Weights[0] = q.Parts[p].Nodes
		}
	}
	for i, w := range weights {
		q.Parts[part[i/constraints]].Weights[i%constraints] += int64(w)
	}
	var heaviest int64
	most := make([]int64, constraints)
	for _, p := range q.Parts {
		q.Cut += p.Cut
		q.Volume += p.Volume
		heaviest = max(heaviest, p.Entries)
		if p.Nodes == 0 {
			q.EmptyParts++
		}
		for c, w := range p.Weights {
			most[c], total[c] = max(most[c], w), total[c]+w
		}
	}
	q.Cut /= 2
	q.CutShare = share(2*q.Cut, pairs)
	for c := range most {
		q.Balance = append(q.Balance, balance(most[c], total[c], parts))
	}
	q.EdgeBalance = balance(heaviest, g.Entries(), parts)
	return q, nil
}

func share(a, of int64) float64 { return float64(a) / float64(max(1, of)) }

// balance is the heaviest weight relative to the mean; 1 if the total is 0.
func balance(heaviest, total int64, parts int) float64 {
	if total == 0 {
		return 1
	}
	return float64(heaviest) * float64(parts) / float64(total)
}

// partCounts are the counts of one goroutine.
type partCounts struct {
	parts    []PartQuality
	weight   int64 // of all entries
	boundary int64
	between  []int64  // as Quality.Between; nil: not counted
	seen     []uint32 // by part: a mark of the last node that had a neighbour there
	mark     uint32
}

func (c *partCounts) add(b *Block, part []uint16) {
	for i := range b.Len() {
		from, to := b.Row(i)
		own := part[b.First+uint32(i)]
		p := &c.parts[own]
		p.Nodes++
		p.Entries += int64(to - from)
		if c.mark++; c.mark == 0 {
			clear(c.seen)
			c.mark = 1
		}
		var cut int64
		for j := from; j < to; j++ {
			other := part[b.Neighbours[j]]
			if other == own {
				continue
			}
			w := int64(1)
			if b.EdgeWeights != nil {
				w = int64(b.EdgeWeights[j])
			}
			cut += w
			if c.between != nil {
				c.between[int(own)*len(c.parts)+int(other)] += w
			}
			if c.seen[other] != c.mark {
				c.seen[other] = c.mark
				c.parts[other].Volume++
			}
		}
		if b.EdgeWeights == nil {
			c.weight += int64(to - from)
		} else {
			for _, w := range b.EdgeWeights[from:to] {
				c.weight += int64(w)
			}
		}
		p.Cut += cut
		if cut > 0 {
			c.boundary++
		}
	}
}
