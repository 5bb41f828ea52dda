package batch

// adviser asks the kernel for the blocks of a windowed order one window in advance, so that each is read at once and
// not a page at a time.
type adviser struct {
	it    *Iter
	pass  *even
	items *windowedItems
	asked uint64 // the first window that was not requested yet
	began bool
}

func newAdviser(it *Iter, p pass) *adviser {
	a := &adviser{it: it}
	if e, ok := p.(*even); ok && it.ptr == nil {
		a.pass = e
		a.items, _ = e.Items.(*windowedItems)
	}
	return a
}

// advise requests the windows of the batches that are filled next.
func (a *adviser) advise(numbers []int) {
	if a.items == nil || len(numbers) == 0 {
		return
	}
	last := uint64(numbers[len(numbers)-1]) * a.pass.size
	if last >= a.pass.n {
		return
	}
	if !a.began {
		a.began, a.asked = true, a.items.windowOf(uint64(numbers[0])*a.pass.size)
	}
	for ; a.asked <= a.items.windowOf(last)+1; a.asked++ {
		a.items.blocksOf(a.asked, func(from, to uint64) {
			for _, c := range a.it.columns {
				w := uint64(c.RowBytes())
				willNeed(c.Values[from*w : to*w])
			}
		})
	}
}
