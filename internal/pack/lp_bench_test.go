//go:build interopdata

package pack

import (
	"testing"
)

// BenchmarkLinearProgram measures the proof for molpcba.
func BenchmarkLinearProgram(b *testing.B) {
	for range b.N {
		limits := []int{313, 636}
		p := &Problem{Histogram: histogram(b, "ogbg-molpcba_train_exact", limits), Limits: limits}
		in := newInstance(p)
		s := newSearch(in, 8)
		s.loadAll(in.count)
		best := s.bins(fill{budget: 300, frac: 1})
		r := newRelaxation(p, in, []int{0, 1}, 1<<60)
		r.seedWith(best)
		r.run(packsOf(best), 1<<60)
		b.ReportMetric(float64(r.lp.pivots), "pivots")
		b.ReportMetric(float64(r.bound), "bound")
		b.ReportMetric(float64(r.steps)/1e9, "Gsteps")
	}
}
