package ranges

import "github.com/graphmill/graphmill/internal/partition/undirected"

// Degrees has, by class of degree, the weight of the nodes of a range and the number of their neighbours: a message to every worker, 16 bytes per
// class with nodes.
type Degrees struct{ Weights, Ends []int64 }

// NewDegrees makes empty Degrees.
func NewDegrees() *Degrees {
	return &Degrees{make([]int64, undirected.DegreeClasses), make([]int64, undirected.DegreeClasses)}
}

// Block adds the nodes of a block; weights are theirs, nil if all weigh 1. Only graphs with one constraint are filled by degree.
func (h *Degrees) Block(b *undirected.Block, weights []uint32) {
	for i := range b.Len() {
		from, to := b.Row(i)
		class, w := undirected.DegreeClass(to-from), int64(1)
		if weights != nil {
			w = int64(weights[i])
		}
		h.Weights[class] += w
		h.Ends[class] += int64(to - from)
	}
}

const (
	fillShare = 2  // parts are filled to the mean and 1/fillShare of the room: the rest is for refinement
	skewed    = 40 // least share of the neighbours, in percent, of the nodes that fill the first part, for the start to be worth a pass
)

// Filling is a start by falling degree: part after part is filled with the nodes in the order of falling degree, by classes, then of their numbers.
type Filling struct {
	each  int64
	parts int64
	// place is, by class, the weight of the nodes before the next one of the range.
	place []int64
}

// Fill begins the start on a range. all are the degrees of all ranges, in their order. ok is false if the degrees are too even for it to be of use.
func (p *Plan) Fill(all []*Degrees, own int) (f *Filling, ok bool) {
	var total, ends, first, before int64
	for _, h := range all {
		for c, w := range h.Weights {
			total, ends = total+w, ends+h.Ends[c]
		}
	}
	mean := (total + int64(p.Parts) - 1) / int64(p.Parts)
	f = &Filling{each: max(mean+(p.Caps[0]-mean)/fillShare, 1), parts: int64(p.Parts), place: make([]int64, undirected.DegreeClasses)}
	for c := undirected.DegreeClasses - 1; c >= 0; c-- {
		var weight, neighbours int64
		for i, h := range all {
			if i == own {
				f.place[c] = before + weight
			}
			weight, neighbours = weight+h.Weights[c], neighbours+h.Ends[c]
		}
		if before < f.each && weight > 0 {
			first += int64(float64(neighbours) * min(1, float64(f.each-before)/float64(weight)))
		}
		before += weight
	}
	return f, 100*first >= skewed*ends && ends > 0
}

// Block returns the parts of the nodes of the next block of the range, in the order of the blocks: a message to every worker, 2 bytes per node.
func (f *Filling) Block(b *undirected.Block, weights []uint32, part []uint16) {
	for i := range b.Len() {
		from, to := b.Row(i)
		class, w := undirected.DegreeClass(to-from), int64(1)
		if weights != nil {
			w = int64(weights[i])
		}
		part[i] = uint16(min(f.place[class]/f.each, f.parts-1))
		f.place[class] += w
	}
}
