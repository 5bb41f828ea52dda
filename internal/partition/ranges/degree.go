package ranges

import "github.com/graphmill/graphmill/internal/partition/undirected"

// DegreeClass has the weight of the nodes of a class of degree, and the number of their neighbours.
type DegreeClass struct {
	Class        uint32
	Weight, Ends int64
}

// Degrees are the classes of the nodes of a range, ascending: a message to every worker, 20 bytes per class with nodes.
type Degrees []DegreeClass

// DegreeCounter counts the degrees of a range.
type DegreeCounter struct{ nodes, weights, ends []int64 }

// NewDegreeCounter makes an empty DegreeCounter.
func NewDegreeCounter() *DegreeCounter {
	return &DegreeCounter{make([]int64, undirected.DegreeClasses), make([]int64, undirected.DegreeClasses), make([]int64, undirected.DegreeClasses)}
}

// Block adds the nodes of a block; weights are theirs, nil if all weigh 1. Only graphs with one constraint are filled by degree.
func (c *DegreeCounter) Block(b *undirected.Block, weights []uint32) {
	for i := range b.Len() {
		from, to := b.Row(i)
		class, w := undirected.DegreeClass(to-from), int64(1)
		if weights != nil {
			w = int64(weights[i])
		}
		c.nodes[class]++
		c.weights[class] += w
		c.ends[class] += int64(to - from)
	}
}

// Degrees returns what was counted.
func (c *DegreeCounter) Degrees() (d Degrees) {
	for class, n := range c.nodes {
		if n > 0 {
			d = append(d, DegreeClass{uint32(class), c.weights[class], c.ends[class]})
		}
	}
	return d
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
func (p *Plan) Fill(all []Degrees, own int) (f *Filling, ok bool) {
	weights, neighbours := make([]int64, undirected.DegreeClasses), make([]int64, undirected.DegreeClasses)
	f = &Filling{parts: int64(p.Parts), place: make([]int64, undirected.DegreeClasses)}
	var total, ends, first, before int64
	for i, d := range all {
		for _, x := range d {
			weights[x.Class] += x.Weight
			neighbours[x.Class] += x.Ends
			total, ends = total+x.Weight, ends+x.Ends
			if i < own {
				f.place[x.Class] += x.Weight
			}
		}
	}
	mean := (total + int64(p.Parts) - 1) / int64(p.Parts)
	f.each = max(mean+(p.Caps[0]-mean)/fillShare, 1)
	for c := undirected.DegreeClasses - 1; c >= 0; c-- {
		f.place[c] += before
		if before < f.each && weights[c] > 0 {
			first += int64(float64(neighbours[c]) * min(1, float64(f.each-before)/float64(weights[c])))
		}
		before += weights[c]
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
