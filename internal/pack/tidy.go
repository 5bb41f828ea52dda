package pack

import (
	"cmp"
	"slices"
)

// tidy returns the packing of any patterns, with parts by shape and equal patterns joined.
func tidy(patterns []Pattern) *Packing {
	for i := range patterns {
		patterns[i].Parts = joined(patterns[i].Parts)
	}
	compare := func(a, b Pattern) int {
		return slices.CompareFunc(a.Parts, b.Parts, func(x, y Part) int {
			return cmp.Or(cmp.Compare(x.Shape, y.Shape), cmp.Compare(y.Copies, x.Copies))
		})
	}
	slices.SortStableFunc(patterns, compare)
	out := &Packing{}
	for _, p := range patterns {
		if n := len(out.Patterns); n > 0 && compare(out.Patterns[n-1], p) == 0 {
			out.Patterns[n-1].Packs += p.Packs
			continue
		}
		out.Patterns = append(out.Patterns, p)
	}
	return out
}

// joined returns parts with each shape once.
func joined(parts []Part) []Part {
	slices.SortFunc(parts, func(a, b Part) int { return a.Shape - b.Shape })
	n := 0
	for _, p := range parts {
		if n > 0 && parts[n-1].Shape == p.Shape {
			parts[n-1].Copies += p.Copies
			continue
		}
		parts[n] = p
		n++
	}
	return parts[:n]
}
