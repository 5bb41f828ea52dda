package pack

import (
	"math/rand/v2"
	"testing"
)

// molecules is a stream of graphs like small molecules: about 25 nodes, and twice as many edges.
// as many edges.
func molecules(n int) [][]int {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([][]int, n)
	for i := range out {
		nodes := max(2, int(25+12*r.NormFloat64()))
		out[i] = []int{nodes, 2 * (nodes + r.IntN(1+nodes/6) - 1)}
	}
	return out
}

func BenchmarkStream(b *testing.B) {
	graphs := molecules(1 << 16)
	s := &Stream{Limits: []int{1024, 2193}, Buffer: 128}
	b.ResetTimer()
	for range s.Pack(func(yield func([]int) bool) {
		for i := range b.N {
			if !yield(graphs[i&(1<<16-1)]) {
				return
			}
		}
	}) {
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mgraphs/s")
	b.ReportMetric(100*s.Efficiency(0), "%nodes")
	b.ReportMetric(100*s.Efficiency(1), "%edges")
}
