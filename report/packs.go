package report

// PackProperties is a column of the first table of "Tuple Packing": the sizes of a data set, and the efficiency of
// packs of one graph.
type PackProperties struct {
	Graphs int64 `json:"graphs"`
	Max    []int `json:"max"` // the largest size, one per component
	Shapes int   `json:"shapes"`
	// Efficiency without packing, and the speedup of a perfect packing, one per component.
	Efficiency []float64 `json:"efficiency"`
	Speedup    []float64 `json:"speedup"`
}

// PackComparison is one way to pack: the published algorithm with a heuristic, a baseline, or the portfolio.
type PackComparison struct {
	Name string `json:"name"`
	// Packs is 0 if the heuristic cannot express the limits, because their product exceeds 2^63.
	Packs int64 `json:"packs"`
	// Efficiency is measured, as in the paper, after the limits were lowered to the largest content of a pack.
	Efficiency []float64 `json:"efficiency"`
}

// PackCandidate is a set of limits and its results.
type PackCandidate struct {
	Limits     []int     `json:"limits"`
	Cost       float64   `json:"cost"` // of a pack
	Packs      int64     `json:"packs"`
	LowerBound int64     `json:"lower_bound"`
	Efficiency []float64 `json:"efficiency"` // one per component
	// Mean is the harmonic mean of the efficiencies. It is 1 if no room of any component is lost.
	Mean float64 `json:"harmonic_mean"`
}
