package multilevel

// MemoryNeed forecasts the bytes at the peak of Partition for a graph of n nodes and m
// pairs of neighbours, the graph included. How far the edges of the levels shrink is
// a guess from the degree that fits real graphs: sparse graphs shrink most.
func MemoryNeed(n, m int64, parts, constraints int) int64 {
	c := int64(constraints)
	graph := 4*(n+1) + 8*m
	if c > 1 {
		graph += 4 * n * c
	}
	nodes := (12 + 4*c) * n // clusters, their weights and two orders; refinement needs less
	if n == 0 {
		return graph
	}
	kept := min(max(0.05*float64(m)/float64(n), 0.05), 0.7) // of the edges, on the first level
	const levels = 1.3                                      // all levels against the first
	const base = 14 << 20                                   // the process, and what the starts use
	return graph + nodes + int64(16*levels*kept*float64(m)) + int64(parts)*1024 + base
}
