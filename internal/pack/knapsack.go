package pack

import "slices"

// knapsack finds the pattern that is worth most: an unbounded knapsack in one or
// two components, over every room up to a pack's, exact in integers.
type knapsack struct {
	a, b  []int32 // sizes of each row, in units
	wide  int     // rooms in the second component
	cells int
	best  []int64 // of each room, a*wide + b
	last  []int32 // a row that the best of a room has, -1: none
	order []int32 // rows, the smallest first
	cell  int64   // steps that a room takes
	steps int64   // about as many nanoseconds
}

const (
	maxCells  = 4 << 20   // bound the memory of a knapsack
	nearCells = 256 << 10 // are in a cache
)

// newKnapsack is of rows with the sizes in one component or two; nil if it would
// be too large. Every row has a size. Sizes are divided by what they have in common.
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

// most is the most steps that solve takes.
func (k *knapsack) most() int64 { return int64(len(k.order)) * int64(k.cells) * k.cell }

// solve fills the table for what each row is worth, at least 0. It returns 0, and a
// table of less, where it is halted.
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
		// What smaller rows are worth in the same room does as well.
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

// with appends the rows and copies, in runs, of the best pattern that has row r.
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
