package undirected

import (
	"context"
	"fmt"
	"slices"
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
	Nodes   int64 `json:"nodes"`
	Entries int64 `json:"entries"` // sum of the degrees of its nodes
	Cut     int64 `json:"cut"`     // pairs with one end in the part
	// Volume is the number of nodes of other parts that are neighbours of its nodes. The sum over all parts is
	// Quality.Volume.
	Volume  int64   `json:"volume"`
	Weights []int64 `json:"-"`
}

// Evaluate measures a division. part has the part of each node, below parts.
func Evaluate(ctx context.Context, g Rows, part []uint16, parts, threads int) (*Quality, error) {
	if err := CheckParts(part, g.Len(), parts); err != nil {
		return nil, err
	}
	counters := make([]*Counter, max(1, threads))
	for i := range counters {
		counters[i] = NewCounter(part, parts)
	}
	err := g.Scan(ctx, threads, func(worker int, b *Block) error {
		counters[worker].Block(b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	sum := &counters[0].Counts
	for _, c := range counters[1:] {
		sum.Add(&c.Counts)
	}
	constraints, weights := g.NodeWeights()
	return sum.Quality(part, constraints, weights), nil
}

// CheckParts refuses parts that are not those of n nodes.
func CheckParts(part []uint16, n, parts int) error {
	if len(part) != n {
		return fmt.Errorf("found parts of %d nodes, expected %d; the assignment is of another graph; make one of this graph with 'graphmill partition'", len(part), n)
	}
	for v, p := range part {
		if int(p) >= parts {
			return fmt.Errorf("found part %d of node %d, expected 0 to %d", p, v, parts-1)
		}
	}
	return nil
}

// Counts has what the rows of a range of nodes contribute to the Quality of a division. Add sums the Counts of several ranges.
type Counts struct {
	Parts    []PartQuality `json:"parts"`  // without weights
	Weight   int64         `json:"weight"` // of all entries
	Boundary int64         `json:"boundary"`
	Between  []int64       `json:"between,omitempty"` // as in Quality
}

// Fits says whether the counts are of a number of parts.
func (c *Counts) Fits(parts int) bool {
	between := 0
	if parts <= MostBetween {
		between = parts * parts
	}
	return len(c.Parts) == parts && len(c.Between) == between
}

// Add adds the counts of other nodes, for as many parts.
func (c *Counts) Add(x *Counts) {
	c.Weight += x.Weight
	c.Boundary += x.Boundary
	for i, w := range x.Between {
		c.Between[i] += w
	}
	for p := range c.Parts {
		to, from := &c.Parts[p], &x.Parts[p]
		to.Nodes += from.Nodes
		to.Entries += from.Entries
		to.Cut += from.Cut
		to.Volume += from.Volume
	}
}

// Quality computes the quality of a division from the counts of all nodes. part has the part of each node. weights has as many weights per node as there are constraints; it is nil
// where each node weighs 1.
func (c *Counts) Quality(part []uint16, constraints int, weights []uint32) *Quality {
	q := &Quality{Parts: slices.Clone(c.Parts), Boundary: c.Boundary, Between: c.Between}
	parts := len(q.Parts)
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
	var heaviest, entries int64
	most := make([]int64, constraints)
	for _, p := range q.Parts {
		q.Cut += p.Cut
		q.Volume += p.Volume
		entries += p.Entries
		heaviest = max(heaviest, p.Entries)
		if p.Nodes == 0 {
			q.EmptyParts++
		}
		for c, w := range p.Weights {
			most[c], total[c] = max(most[c], w), total[c]+w
		}
	}
	q.Cut /= 2
	q.CutShare = share(2*q.Cut, c.Weight)
	for c := range most {
		q.Balance = append(q.Balance, balance(most[c], total[c], parts))
	}
	q.EdgeBalance = balance(heaviest, entries, parts)
	return q
}

func share(a, of int64) float64 { return float64(a) / float64(max(1, of)) }

// balance is the heaviest weight relative to the mean; 1 if the total is 0.
func balance(heaviest, total int64, parts int) float64 {
	if total == 0 {
		return 1
	}
	return float64(heaviest) * float64(parts) / float64(total)
}

// Counter counts the rows of blocks. It serves one goroutine.
type Counter struct {
	Counts
	part []uint16
	seen []uint32 // by part: a mark of the last node that had a neighbour there
	mark uint32
}

// NewCounter makes a Counter for a division, of which part has the part of each node, below parts.
func NewCounter(part []uint16, parts int) *Counter {
	c := &Counter{Counts: Counts{Parts: make([]PartQuality, parts)}, part: part, seen: make([]uint32, parts)}
	if parts <= MostBetween {
		c.Between = make([]int64, parts*parts)
	}
	return c
}

// Block counts the rows of a block.
func (c *Counter) Block(b *Block) {
	for i := range b.Len() {
		from, to := b.Row(i)
		own := c.part[b.First+uint32(i)]
		p := &c.Parts[own]
		p.Nodes++
		p.Entries += int64(to - from)
		if c.mark++; c.mark == 0 {
			clear(c.seen)
			c.mark = 1
		}
		var cut int64
		for j := from; j < to; j++ {
			other := c.part[b.Neighbours[j]]
			if other == own {
				continue
			}
			w := int64(1)
			if b.EdgeWeights != nil {
				w = int64(b.EdgeWeights[j])
			}
			cut += w
			if c.Between != nil {
				c.Between[int(own)*len(c.Parts)+int(other)] += w
			}
			if c.seen[other] != c.mark {
				c.seen[other] = c.mark
				c.Parts[other].Volume++
			}
		}
		if b.EdgeWeights == nil {
			c.Weight += int64(to - from)
		} else {
			for _, w := range b.EdgeWeights[from:to] {
				c.Weight += int64(w)
			}
		}
		p.Cut += cut
		if cut > 0 {
			c.Boundary++
		}
	}
}
