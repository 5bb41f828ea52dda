package partition

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// Measures has what the rows of a range of nodes, and the edges that the store lists at these nodes, contribute to the Result of a division. Add sums the Measures of several ranges.
type Measures struct {
	Parts *undirected.Counts `json:"parts"`
	// Trainers counts the pieces of trainers; nil: one trainer per part.
	Trainers *undirected.Counts `json:"trainers,omitempty"`
	// Degrees has the number of nodes of each degree.
	Degrees map[uint32]int64 `json:"degrees"`
	// Relations counts the edges that the store lists at the nodes, in its primary direction; nil: not counted.
	Relations []Relation `json:"relations,omitempty"`
}

// Fits refuses measures that are not those of a division into parts with trainers each.
func (m *Measures) Fits(parts, trainers, relations int) error {
	fits := m.Parts != nil && m.Degrees != nil && m.Parts.Fits(parts) && (m.Trainers != nil) == (trainers > 1) && (m.Trainers == nil || m.Trainers.Fits(parts*trainers)) && len(m.Relations) == relations
	for _, r := range m.Relations {
		fits = fits && len(r.Owned) == parts
	}
	if !fits {
		return fmt.Errorf("found measures of another division, expected %d parts of %d trainers and %d edge types; use the same version on all machines", parts, trainers, relations)
	}
	return nil
}

// Add adds the measures of other nodes, of the same division.
func (m *Measures) Add(x *Measures) {
	m.Parts.Add(x.Parts)
	if m.Trainers != nil {
		m.Trainers.Add(x.Trainers)
	}
	for d, n := range x.Degrees {
		m.Degrees[d] += n
	}
	for i := range x.Relations {
		m.Relations[i].add(&x.Relations[i])
	}
}

// randomVolume is the expected volume of a random division: a node of degree d has neighbours in (parts - 1) *
// (1 - (1 - 1/parts)^d) other parts.
func (m *Measures) randomVolume() float64 {
	parts := float64(len(m.Parts.Parts))
	sum := 0.0
	for _, d := range slices.Sorted(maps.Keys(m.Degrees)) {
		sum += float64(m.Degrees[d]) * (1 - math.Pow(1-1/parts, float64(d)))
	}
	return sum * (parts - 1)
}

// Pieces are the pieces of all nodes.
type Pieces struct {
	// Piece has the piece of each node, and Part its part: the same, if there is one trainer per part.
	Piece, Part     []uint16
	Parts, Trainers int
}

// NewPieces makes the parts of pieces, which are numbered by part, then by trainer.
func NewPieces(piece []uint16, parts, trainers int) *Pieces {
	p := &Pieces{Piece: piece, Part: piece, Parts: parts, Trainers: trainers}
	if trainers > 1 {
		p.Part = make([]uint16, len(piece))
		for v, x := range piece {
			p.Part[v] = x / uint16(trainers)
		}
	}
	return p
}

// listedDegrees is the number of degrees that a Meter counts in an array: the least ones.
const listedDegrees = 1 << 12

// Meter measures rows. It serves one goroutine.
type Meter struct {
	parts, trainers *undirected.Counter
	few             []int64 // nodes by degree
	many            map[uint32]int64
}

// NewMeter makes a Meter for a division.
func NewMeter(p *Pieces) *Meter {
	m := &Meter{parts: undirected.NewCounter(p.Part, p.Parts), few: make([]int64, listedDegrees), many: map[uint32]int64{}}
	if p.Trainers > 1 {
		m.trainers = undirected.NewCounter(p.Piece, p.Parts*p.Trainers)
	}
	return m
}

// Block measures the rows of a block.
func (m *Meter) Block(b *undirected.Block) {
	m.parts.Block(b)
	if m.trainers != nil {
		m.trainers.Block(b)
	}
	for i := range b.Len() {
		from, to := b.Row(i)
		if d := to - from; d < listedDegrees {
			m.few[d]++
		} else {
			m.many[d]++
		}
	}
}

// Measures returns the counts of all blocks so far.
func (m *Meter) Measures() *Measures {
	x := &Measures{Parts: &m.parts.Counts, Degrees: maps.Clone(m.many)}
	if m.trainers != nil {
		x.Trainers = &m.trainers.Counts
	}
	for d, n := range m.few {
		if n > 0 {
			x.Degrees[uint32(d)] = n
		}
	}
	return x
}

// measure measures the rows of a division in this process.
func measure(ctx context.Context, g undirected.Rows, p *Pieces, threads int) (*Measures, error) {
	if err := undirected.CheckParts(p.Part, g.Len(), p.Parts); err != nil {
		return nil, err
	}
	if p.Trainers > 1 {
		if err := undirected.CheckParts(p.Piece, g.Len(), p.Parts*p.Trainers); err != nil {
			return nil, err
		}
	}
	meters := make([]*Meter, max(1, threads))
	for i := range meters {
		meters[i] = NewMeter(p)
	}
	err := g.Scan(ctx, threads, func(worker int, b *undirected.Block) error {
		meters[worker].Block(b)
		return nil
	})
	if err != nil {
		return nil, err
	}
	sum := meters[0].Measures()
	for _, m := range meters[1:] {
		sum.Add(m.Measures())
	}
	return sum, nil
}
