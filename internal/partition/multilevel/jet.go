package multilevel

// How far a level is refined.
type effort struct {
	share  float64 // of what binds a node to its part that a move may lose at first
	rounds int     // without enough gain, after which it ends
	enough float64 // gain, as a share of the cut
}

// jet refines in rounds: all nodes that gain, or lose little, move at once, judged as
// if the better ones had already moved; then the parts that have become too heavy are
// relieved. The best parts on the way are the result.
func (r *refiner) jet(e effort) {
	best, bestOver := r.cut, r.overload()
	if bestOver > 0 {
		r.look(e.share)
		r.rebalance(e.share)
		best, bestOver = r.cut, r.overload()
	}
	r.journal = r.journal[:0]
	for idle := 0; idle < e.rounds && !r.stopped(); {
		r.look(e.share)
		r.chooseMovers()
		r.moveAll()
		if r.overload() > 0 {
			r.look(e.share)
			r.rebalance(e.share)
		}
		r.reprice()
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
