package multilevel

// effort says how far a level is refined.
type effort struct {
	share  float64 // share of a node's affinity to its part that a move may lose at first
	rounds int     // rounds without enough gain after which refinement ends
	enough float64 // least gain, as a share of the cut
}

// jet refines in rounds. All nodes that gain, or lose little, move at once; each is judged as if the better
// ones had already moved. Then rebalance relieves the parts that have become too heavy. The result is the best
// division on the way.
func (r *refiner) jet(e effort) {
	best, bestOver := r.cut, r.overload()
	if bestOver > 0 {
		r.look(e.share)
		r.rebalance(e.share)
		best, bestOver = r.cut, r.overload()
	}
	r.journal = r.journal[:0]
	for idle, round := 0, 1; idle < e.rounds && !r.stopped(); round++ {
		r.look(e.share)
		r.chooseMovers()
		r.moveAll()
		if r.overload() > 0 {
			r.look(e.share)
			r.rebalance(e.share)
		}
		r.reprice()
		r.progress.round(r.l, round)
		over := r.overload()
		idle++
		if over < bestOver || over == bestOver && r.cut < best {
			if over < bestOver || float64(best-r.cut) >= e.enough*float64(best) {
				idle = 0
			}
			best, bestOver = r.cut, over
			r.journal = r.journal[:0]
		}
		if len(r.journal) == 0 && idle > 0 && isEmpty(r.mover) {
			break
		}
	}
	r.undo()
	r.cut = best
	r.look(e.share)
}

func isEmpty(b bitmap) bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}
