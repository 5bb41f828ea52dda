package multilevel

import "math"

// roundLeft is a guess: after each round of refinement, this share of the work that was left on the level before it is still left.
const roundLeft = 0.85

// refineWork is the time that it takes to refine a level, relative to the time to coarsen it.
const refineWork = 2

// progress counts work in neighbours: it counts the neighbours of a level once when the level is coarsened, and refineWork times when it is refined. A
// nil progress counts nothing.
type progress struct {
	tell        func(done, total int64)
	done, total int64
	cycles      int64 // that are to come
}

// newProgress expects levels whose neighbours sum up to half more than the graph's. tell may be nil.
func newProgress(tell func(done, total int64), neighbours int64, cycles int) *progress {
	return &progress{tell: tell, total: neighbours * 3 / 2 * (1 + refineWork) * int64(1+cycles), cycles: int64(cycles)}
}

// begin says that the levels are made, and with it what is still to be done.
func (p *progress) begin(levels []*level) {
	if p == nil {
		return
	}
	var sum int64
	for _, l := range levels {
		sum += int64(len(l.neighbours))
	}
	p.total = p.done + sum*refineWork + p.cycles*sum*(1+refineWork)
	p.cycles--
}

// coarsened says that the level above l is made, and refined that l is refined.
func (p *progress) coarsened(l *level) { p.add(int64(len(l.neighbours))) }
func (p *progress) refined(l *level)   { p.add(refineWork * int64(len(l.neighbours))) }

// round says that a number of rounds of the refinement of l are done. How many there will be is not known, so each takes a share of
// the work that is left.
func (p *progress) round(l *level, rounds int) {
	if p != nil && p.tell != nil {
		work := float64(refineWork * int64(len(l.neighbours)))
		p.tell(min(p.done+int64(work*(1-math.Pow(roundLeft, float64(rounds)))), p.total), p.total)
	}
}

func (p *progress) add(n int64) {
	if p != nil && p.tell != nil {
		p.done = min(p.done+n, p.total)
		p.tell(p.done, p.total)
	}
}
