package pack

import (
	"cmp"
	"math"
	"slices"
)

// brancher finds the most valuable pattern in any number of components, with a cap on the graphs and the count
// of each item, by branch and bound. An item is a shape, or shapes that are equal in the components of a
// relaxation. The search need not end: what it has not searched is bounded, so it always knows a value that no
// pattern exceeds. A relaxation takes it where a knapsack cannot be (knapsack.go has the reason).
//
// The bounds come from tables. A table weighs an item by one field, or by a sum of the fields in which no item
// is worth more than it weighs. It has the highest value of each room in that weight alone. A pattern that fits
// a pack fits the room of every table, so the least of their values bounds it.
type brancher struct {
	limit  vec
	fields []int // of the components, and graphs if there is a cap
	size   []vec
	count  []int64

	// The items of positive worth, by descending weight in the first table.
	order  []int
	at     []branchItem
	tables []table
	every  int // items between two snapshots of the tables

	now, best   []Part // Shape is the index in order
	most        int64  // value of best
	pruned      int64  // highest bound of what was not searched
	target      int64  // bounds up to this are not searched
	spread      float64
	nodes, last int64 // done, and the last one allowed
	scanned     int64
	done        bool
	halted      func() bool
	steps       int64
	place       []int    // of each item in order, -1: worth nothing
	found       [][]Part // patterns with items
	top         []Part   // the best pattern, empty if the one that was known is
}

// branchItem is an item of a search, and its weight in each table.
type branchItem struct {
	size   vec
	worth  int64
	count  int64
	weight [mostTables]int64
}

// table has, for each snapshot, the highest value of each room; a room is a weight without its last bits.
type table struct {
	full   int64 // weight of a pack
	shift  uint
	rooms  int
	liquid bool // items too light for the table are worth at most their weight
	value  [][]int64
}

const (
	mostTables   = 2 + MaxComponents
	tableRooms   = 1024 // at least half of these per table
	tableRanges  = 24   // snapshots of a table
	lambdaRounds = 100
)

// newBrancher takes the sizes and counts of the items in the components of the given limits.
func newBrancher(sizes [][]int, counts []int64, limits []int, maxGraphs int) *brancher {
	b := &brancher{count: counts}
	most := maxSize
	if maxGraphs > 0 {
		most = maxGraphs
	}
	b.limit = vecOf(limits, most)
	for j := range limits {
		b.fields = append(b.fields, field(j))
	}
	if maxGraphs > 0 {
		b.fields = append(b.fields, graphs)
	}
	for _, s := range sizes {
		b.size = append(b.size, vecOf(s, 1))
	}
	return b
}

// prepare sets the value of each item, at least 0, and makes the tables.
func (b *brancher) prepare(worth []int64) {
	b.order = b.order[:0]
	for i, w := range worth {
		if w > 0 {
			b.order = append(b.order, i)
		}
	}
	unit := b.units(worth)
	first := make([]int64, len(worth))
	for _, i := range b.order {
		first[i] = b.weight(unit, &b.size[i])
	}
	slices.SortFunc(b.order, func(x, y int) int { return cmp.Or(cmp.Compare(first[y], first[x]), x-y) })
	b.at = slices.Grow(b.at[:0], len(b.order))[:len(b.order)]
	for k, i := range b.order {
		b.at[k] = branchItem{size: b.size[i], worth: worth[i], count: b.count[i]}
		b.at[k].weight[0] = first[i]
	}
	b.every = max((len(b.order)+tableRanges-1)/tableRanges, 1)
	b.tables = b.tables[:0]
	b.add(b.weight(unit, &b.limit), true)
	for _, f := range b.fields {
		t := len(b.tables)
		for k := range b.at {
			b.at[k].weight[t] = int64(b.at[k].size.get(f))
		}
		b.add(int64(b.limit.get(f)), false)
	}
}

// units returns the weight of a unit of each field, so that no item is worth more than it weighs and a full
// pack weighs little: the duals of the linear program in which packs take fractions of items.
func (b *brancher) units(worth []int64) []int64 {
	k := len(b.fields)
	limit := make([]float64, k)
	for f := range limit {
		limit[f] = float64(max(b.limit.get(b.fields[f]), 1))
	}
	x := newSimplex(k)
	for range lambdaRounds {
		enter := b.entering(worth, limit, x.dual)
		if enter < 0 {
			break
		}
		for f := range k {
			x.column[f] = float64(b.size[enter].get(b.fields[f]))
		}
		if !x.pivot(limit, float64(worth[enter])) {
			break
		}
	}
	b.steps += int64(len(b.order) * k * 20)
	unit := make([]int64, k)
	for f := range unit {
		unit[f] = int64(max(x.dual[f], 0)/limit[f]) + 1
	}
	// Rounding, or too few rounds, may leave an item that is worth more than it weighs.
	for _, i := range b.order {
		for b.weight(unit, &b.size[i]) < worth[i] {
			for f := range unit {
				unit[f] += unit[f]/16 + 1
			}
		}
	}
	return unit
}

// weight is the sum of the fields of a size, each by the weight of its unit.
func (b *brancher) weight(unit []int64, size *vec) int64 {
	sum := int64(0)
	for f, u := range unit {
		sum += u * int64(size.get(b.fields[f]))
	}
	return sum
}

// entering returns the item whose worth exceeds its price by most, and by more than 1; -1: there is none. The price of a full
// pack in each field is dual.
func (b *brancher) entering(worth []int64, limit, dual []float64) int {
	enter, gain := -1, 1.0
	for _, i := range b.order {
		g := float64(worth[i])
		for f := range dual {
			g -= float64(dual[f] * float64(b.size[i].get(b.fields[f])) / limit[f])
		}
		if g > gain {
			enter, gain = i, g
		}
	}
	return enter
}

// simplex solves the linear program in which packs take fractions of items. It has a row per field.
type simplex struct {
	inverse []float64 // of the basis; a basis of slacks is worth nothing
	value   []float64 // of the basis
	cost    []float64
	dual    []float64
	column  []float64 // the sizes of the item that enters
	d       []float64 // its column by the inverse
}

func newSimplex(k int) *simplex {
	x := &simplex{inverse: make([]float64, k*k), value: make([]float64, k), cost: make([]float64, k), dual: make([]float64, k), column: make([]float64, k), d: make([]float64, k)}
	for f := range k {
		x.inverse[f*k+f], x.value[f] = 1, 1+1e-6*float64(f+1)
	}
	return x
}

// pivot brings the item of x.column into the basis. It returns false if nothing leaves it.
func (x *simplex) pivot(limit []float64, worth float64) bool {
	k := len(limit)
	inverse, d := x.inverse, x.d
	leave, step := -1, math.Inf(1)
	for r := range k {
		d[r] = 0
		for f := range k {
			d[r] += float64(inverse[r*k+f] * x.column[f] / limit[f])
		}
		if d[r] > epsilon && x.value[r]/d[r] < step {
			leave, step = r, x.value[r]/d[r]
		}
	}
	if leave < 0 {
		return false
	}
	for f := range k {
		inverse[leave*k+f] /= d[leave]
	}
	for r := range k {
		if r == leave {
			continue
		}
		x.value[r] -= float64(step * d[r])
		for f := range k {
			inverse[r*k+f] -= float64(d[r] * inverse[leave*k+f])
		}
	}
	x.value[leave], x.cost[leave] = step, worth
	for f := range k {
		x.dual[f] = 0
		for r := range k {
			x.dual[f] += float64(x.cost[r] * inverse[r*k+f])
		}
	}
	return true
}

// add makes the next table from the weights of the items, for packs of the given weight. Items that are too
// light for the table make it useless, unless no item is worth more than it weighs.
func (b *brancher) add(full int64, liquid bool) {
	t := len(b.tables)
	x := table{full: full}
	for full>>x.shift >= tableRooms {
		x.shift++
	}
	x.rooms = int(full>>x.shift) + 1
	for k := range b.at {
		if b.at[k].weight[t]>>x.shift == 0 {
			if !liquid {
				return
			}
			x.liquid = true
		}
	}
	now := make([]int64, x.rooms)
	x.value = make([][]int64, (len(b.at)+b.every-1)/b.every)
	for k := len(b.at) - 1; k >= 0; k-- {
		i := &b.at[k]
		switch w := int(i.weight[t] >> x.shift); {
		case w == 0:
		case i.count == 1:
			for room := len(now) - 1; room >= w; room-- {
				now[room] = max(now[room], now[room-w]+i.worth)
			}
		default:
			for room := w; room < len(now); room++ {
				now[room] = max(now[room], now[room-w]+i.worth)
			}
		}
		if k%b.every == 0 {
			v := slices.Clone(now)
			if x.liquid {
				// The light items fill the rest of the room, at most with its weight. So a value is less the weight.
				for room := range v {
					v[room] -= int64(room) << x.shift
					if room > 0 {
						v[room] = max(v[room], v[room-1])
					}
				}
			}
			x.value[k/b.every] = v
		}
	}
	b.steps += int64(len(b.at) * len(now))
	b.tables = append(b.tables, x)
}

// bound is the highest value of the items from index k on, in rooms of the given weights.
func (b *brancher) bound(k int, room *[mostTables]int64) int64 {
	k /= b.every
	least := int64(math.MaxInt64)
	for t := range b.tables {
		x := &b.tables[t]
		v := x.value[k][room[t]>>x.shift]
		if x.liquid {
			v += room[t]
		}
		least = min(least, v)
	}
	return least
}

// solve sets the worth of each item, at least 0, and returns a value that no pattern exceeds. There is a pattern
// of the value known. It finds a good pattern with each of the given items (with), and the best one known (top).
func (b *brancher) solve(worth []int64, known int64, items []int) int64 {
	b.prepare(worth)
	if len(b.at) == 0 {
		return 0
	}
	b.found = b.found[:0]
	b.place = slices.Grow(b.place[:0], len(worth))[:len(worth)]
	for i := range b.place {
		b.place[i] = -1
	}
	for k, i := range b.order {
		b.place[i] = k
	}
	b.top = b.top[:0]
	for _, i := range items {
		b.found = append(b.found, b.through(i))
		if b.most > known {
			known = b.most
			b.top = append(b.top[:0], b.found[len(b.found)-1]...)
		}
	}
	value := int64(math.MaxInt64)
	for _, spread := range []float64{0.03, 0.006, 0.001} {
		v := b.run(known, spread, branchNodes)
		value = min(value, v)
		if b.most > known {
			known = b.most
			b.top = b.parts(b.top[:0])
		}
		if b.done {
			break
		}
	}
	return value
}

// parts appends the best pattern, as items and copies.
func (b *brancher) parts(parts []Part) []Part {
	for _, p := range b.best {
		parts = append(parts, Part{b.order[p.Shape], p.Copies})
	}
	return parts
}

const (
	branchNode   = 25     // steps of a node
	branchNodes  = 400000 // of a pass of a search
	throughNodes = 60     // of a search for a pattern with an item
	scansPerNode = 8
)

// full is the room of a whole pack in each table.
func (b *brancher) full() (room [mostTables]int64) {
	for t := range b.tables {
		room[t] = b.tables[t].full
	}
	return room
}

// through returns a good pattern with an item, and sets most to its value.
func (b *brancher) through(i int) []Part {
	room, rooms := b.limit, b.full()
	k := b.place[i]
	room, _ = room.minus(&b.size[i])
	b.best, b.now, b.done, b.spread = b.best[:0], b.now[:0], false, 0
	b.most, b.target = -1, -1
	b.last = b.nodes + throughNodes
	if k >= 0 {
		b.at[k].count--
		for t := range b.tables {
			rooms[t] -= b.at[k].weight[t]
		}
	}
	before := b.nodes
	b.rest(0, &room, &rooms, 0)
	b.steps += (b.nodes - before) * branchNode
	if k >= 0 {
		b.at[k].count++
		b.most = max(b.most, 0) + b.at[k].worth
	}
	return joined(append(b.parts(nil), Part{i, 1}))
}

// run searches for a pattern that is worth more than most, to within a share of spread, with at most the given
// number of nodes. It returns a value that no pattern exceeds. The best pattern, if it is worth more than most,
// is in best.
func (b *brancher) run(most int64, spread float64, nodes int64) int64 {
	b.most, b.pruned, b.spread, b.done = most, 0, spread, false
	b.now, b.best = b.now[:0], b.best[:0]
	b.aim()
	b.last = b.nodes + nodes
	before := b.nodes
	pack, rooms := b.limit, b.full()
	b.rest(0, &pack, &rooms, 0)
	b.steps += (b.nodes - before) * branchNode
	return max(b.most, b.pruned)
}

// mostCopies is the number of copies of an item that fit a room, which one does.
func (b *brancher) mostCopies(i *branchItem, room *vec) int {
	if i.count == 1 {
		return 1
	}
	n := min(i.count, int64(room.get(graphs)))
	for _, f := range b.fields {
		if s := i.size.get(f); s > 0 {
			n = min(n, int64(room.get(f)/s))
		}
	}
	return int(n)
}

func (b *brancher) aim() { b.target = b.most + int64(float64(b.most)*b.spread) }

// rest adds items from index k on to a pattern of the given value.
func (b *brancher) rest(k int, room *vec, rooms *[mostTables]int64, value int64) {
	first := &b.tables[0]
	for check := true; k < len(b.at); k++ {
		if check || k%b.every == 0 {
			bound := value + b.bound(k, rooms)
			if bound <= b.target {
				b.pruned = max(b.pruned, bound)
				return
			}
			check = false
		}
		if b.scanned++; b.scanned%scansPerNode == 0 {
			b.nodes++
		}
		if b.nodes >= b.last {
			b.done = true
			b.pruned = max(b.pruned, value+b.bound(k, rooms))
			return
		}
		i := &b.at[k]
		if i.count == 0 || !room.fits(&i.size) {
			continue
		}
		for copies := b.mostCopies(i, room); copies > 0; copies-- {
			v := value + i.worth*int64(copies)
			if v > b.most {
				b.most = v
				b.best = append(append(b.best[:0], b.now...), Part{k, copies})
				b.aim()
			}
			if k+1 == len(b.at) {
				break
			}
			// The first table alone rules out most.
			x := rooms[0] - i.weight[0]*int64(copies)
			bound := v + first.value[(k+1)/b.every][x>>first.shift]
			if first.liquid {
				bound += x
			}
			if bound <= b.target {
				b.pruned = max(b.pruned, bound)
				continue
			}
			if b.nodes++; b.nodes%8192 == 0 && b.halted != nil && b.halted() {
				b.last = b.nodes
			}
			of := i.size.times(copies)
			left, _ := room.minus(&of)
			lefts := *rooms
			for t := range b.tables {
				lefts[t] -= i.weight[t] * int64(copies)
			}
			b.now = append(b.now, Part{k, copies})
			b.rest(k+1, &left, &lefts, v)
			b.now = b.now[:len(b.now)-1]
			if b.done {
				b.pruned = max(b.pruned, value+b.bound(k, rooms))
				return
			}
		}
	}
}
