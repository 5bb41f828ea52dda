package pack

import (
	"cmp"
	"math"
	"slices"
)

// round turns the solution of the program into packs: whole packs of each column, the column with the most
// packs first, trimmed to the remaining graphs. left has the counts that remain for another method.
func (r *relaxation) round(counts []int64) (patterns []Pattern, left []int64) {
	left = slices.Clone(counts)
	type used struct {
		row   int
		packs float64
	}
	var order []used
	for i, b := range r.lp.basis {
		if b >= 0 && r.lp.value[i] >= 1 {
			order = append(order, used{i, r.lp.value[i]})
		}
	}
	slices.SortFunc(order, func(a, b used) int { return cmp.Or(cmp.Compare(b.packs, a.packs), a.row-b.row) })
	for _, u := range order {
		c := &r.lp.cols[r.lp.basis[u.row]]
		for packs := int64(math.Floor(u.packs + 1e-6)); packs > 0; {
			var parts []Part
			repeat := packs
			for k, row := range c.row {
				shape := r.shapes[row]
				if n := min(int64(c.copies[k]), left[shape]); n > 0 {
					parts = append(parts, Part{shape, int(n)})
					repeat = min(repeat, left[shape]/n)
				}
			}
			if len(parts) == 0 {
				break
			}
			for _, p := range parts {
				left[p.Shape] -= int64(p.Copies) * repeat
			}
			patterns = append(patterns, Pattern{parts, repeat})
			packs -= repeat
		}
	}
	return patterns, left
}
