package pack

import "slices"

// knapsack finds the most valuable pattern: an unbounded knapsack in one or two components, for every room up
// to the size of a pack, with integers.
//
// A relaxation takes it where its table is small enough, because one pass gives the best pattern through every row. A
// brancher, which takes any number of components, in its place needs 5 times the processor time for the linear
// program of molhiv (4.2 s instead of 0.9 s), and 23 times for the program of molpcba (15.6 s instead of 0.7 s).
type knapsack struct {
	a, b  []int32 // sizes of each row, in units
	wide  int     // number of rooms in the second component
	cells int
	best  []int64 // value of each room, at a*wide + b
	last  []int32 // a row of the best pattern of a room, -1: none
	order []int32 // rows, by ascending size
	cell  int64   // steps per room
	steps int64   // one is about a nanosecond
}

const (
	maxCells  = 4 << 20   // bounds the memory of a knapsack
	nearCells = 256 << 10 // these fit a cache
)

// newKnapsack takes the sizes of the rows in one or two components; it returns nil if the table would be too
// large. Every row must have a size. Sizes are divided by their greatest common divisor.
func newKnapsack(sizes [][]int, limits []int) *knapsack {
	k := &knapsack{}
	for j, limit := range limits {
		unit := 0
		for _, s := range sizes {
			unit = gcd(unit, s[j])
		}
		unit = max(unit, 1)
		col := make([]int32, len(sizes))
		for i, s := range sizes {
			col[i] = int32(s[j] / unit)
		}
		rooms := limit/unit + 1
		if j == 0 {
			k.a, k.cells, k.wide = col, rooms, 1
		} else {
			k.b, k.cells, k.wide = col, k.cells*rooms, rooms
		}
		if k.cells > maxCells {
			return nil
		}
	}
	if k.b == nil {
		k.b = make([]int32, len(sizes))
	}
	for i := range k.a {
		k.order = append(k.order, int32(i))
	}
	slices.SortFunc(k.order, func(x, y int32) int {
		if d := k.a[x] - k.a[y]; d != 0 {
			return int(d)
		}
		return int(k.b[x] - k.b[y])
	})
	if k.cell = 1; k.cells > nearCells {
		k.cell = 3
	}
	k.best, k.last = make([]int64, k.cells), make([]int32, k.cells)
	return k
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// most is the largest number of steps of solve.
func (k *knapsack) most() int64 { return int64(len(k.order)) * int64(k.cells) * k.cell }

// solve fills the table for the value of each row, at least 0, and returns the best value. If it is halted, it
// returns 0, and the table is incomplete.
func (k *knapsack) solve(worth []int64, halted func() bool) int64 {
	clear(k.best)
	for i := range k.last {
		k.last[i] = -1
	}
	deep := k.cells / k.wide
	for i, r := range k.order {
		if k.cells > nearCells && i%8 == 7 && halted != nil && halted() {
			return 0
		}
		a, b, w := int(k.a[r]), int(k.b[r]), worth[r]
		// A smaller room may have a pattern of the same value.
		if w <= k.best[a*k.wide+b] {
			continue
		}
		for x := a; x < deep; x++ {
			to := k.best[x*k.wide+b : (x+1)*k.wide]
			from := k.best[(x-a)*k.wide : (x-a)*k.wide+len(to)]
			last := k.last[x*k.wide+b : (x+1)*k.wide]
			for y, v := range from {
				if v += w; v > to[y] {
					to[y], last[y] = v, r
				}
			}
		}
		k.steps += int64((deep-a)*(k.wide-b)) * k.cell
	}
	return k.best[k.cells-1]
}

// with appends the best pattern that has row r, as rows and copies, in runs.
func (k *knapsack) with(r int, parts []Part) []Part {
	parts = append(parts, Part{r, 1})
	for at := k.cells - 1 - int(k.a[r])*k.wide - int(k.b[r]); k.last[at] >= 0; k.steps++ {
		row := int(k.last[at])
		if last := &parts[len(parts)-1]; last.Shape == row {
			last.Copies++
		} else {
			parts = append(parts, Part{row, 1})
		}
		at -= int(k.a[row])*k.wide + int(k.b[row])
	}
	return parts
}
