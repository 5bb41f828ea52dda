package answer

import (
	"cmp"
	"time"

	"github.com/graphmill/graphmill/internal/metrics"
)

// Metrics has the metrics of a server of questions.
type Metrics struct {
	*metrics.Set
	plans   map[string]*planMetrics
	taken   *metrics.Counter
	refused *metrics.Counter
}

// planMetrics are those of a plan, which have its name as a label.
type planMetrics struct {
	outcome map[string]*metrics.Counter // by code of a failure; "" of answers
	seconds *metrics.Histogram
	bytes   *metrics.Counter
}

// NewMetrics adds the metrics of questions that take places to a set, by the names of their plans. nil is a set of their own.
func NewMetrics(set *metrics.Set, p *Places, plans []string) *Metrics {
	if set == nil {
		set = metrics.New()
	}
	m := &Metrics{Set: set, plans: map[string]*planMetrics{}}
	for _, plan := range plans {
		of := &planMetrics{outcome: map[string]*metrics.Counter{}}
		for _, code := range []string{"", CodeQuestion, CodeBusy, CodeLarge, CodeFault} {
			of.outcome[code] = m.Counter("graphmill_questions_total", "outcome", cmp.Or(code, "answered"), "plan", plan)
		}
		of.seconds = m.Histogram("graphmill_question_seconds", "plan", plan)
		of.bytes = m.Counter("graphmill_answer_bytes_total", "plan", plan)
		m.plans[plan] = of
	}
	m.taken = m.Counter("graphmill_store_versions_total")
	m.refused = m.Counter("graphmill_store_versions_refused_total")
	m.Gauge("graphmill_questions_waiting", func() float64 { return float64(p.Waiting()) })
	m.Gauge("graphmill_questions_working", func() float64 { return float64(p.Working()) })
	return m
}

// Question counts a question about a plan that was answered, code "", or failed: the time until its answer was made, waiting included, and the bytes of it.
func (m *Metrics) Question(plan, code string, took time.Duration, bytes int) {
	of := m.plans[plan]
	of.outcome[code].Inc()
	of.seconds.Update(took.Seconds())
	of.bytes.Add(bytes)
}

// Took counts a version of the store that questions are answered from.
func (m *Metrics) Took(v *Version) {
	m.taken.Inc()
	m.Ready(metrics.Store{Name: v.Name, Segments: v.Segments, Merged: v.Merged})
}

// Refused counts a version of the store that cannot be served.
func (m *Metrics) Refused() { m.refused.Inc() }
