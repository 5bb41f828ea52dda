package answer

import (
	"cmp"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// Metrics has the counters of a server, for Prometheus.
type Metrics struct {
	set     *metrics.Set
	outcome map[string]*metrics.Counter // by code of a failure; "" of answers
	seconds *metrics.PrometheusHistogram
	bytes   *metrics.Counter
	taken   *metrics.Counter
	refused *metrics.Counter
	ready   atomic.Bool

	mu    sync.Mutex
	store string // name of the newest version
	since time.Time
}

// latencies are the upper bounds of the classes of the time that a question takes, in seconds.
var latencies = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// NewMetrics counts questions that take places.
func NewMetrics(p *Places) *Metrics {
	metrics.ExposeMetadata(true) // the types of metrics
	m := &Metrics{set: metrics.NewSet(), outcome: map[string]*metrics.Counter{}}
	for _, code := range []string{"", CodeQuestion, CodeBusy, CodeLarge, CodeFault} {
		m.outcome[code] = m.set.NewCounter(fmt.Sprintf(`graphmill_questions_total{outcome=%q}`, cmp.Or(code, "answered")))
	}
	m.seconds = m.set.NewPrometheusHistogramExt("graphmill_question_seconds", latencies)
	m.bytes = m.set.NewCounter("graphmill_answer_bytes_total")
	m.taken = m.set.NewCounter("graphmill_store_versions_total")
	m.refused = m.set.NewCounter("graphmill_store_versions_refused_total")
	m.Gauge("graphmill_questions_waiting", func() float64 { return float64(p.Waiting()) })
	m.Gauge("graphmill_questions_working", func() float64 { return float64(p.Working()) })
	return m
}

// Gauge adds a value that is looked at when it is asked for.
func (m *Metrics) Gauge(name string, value func() float64) { m.set.NewGauge(name, value) }

// Question counts a question that was answered, code "", or failed: the time until its answer was made, waiting included, and the bytes of it.
func (m *Metrics) Question(code string, took time.Duration, bytes int) {
	m.outcome[code].Inc()
	m.seconds.Update(took.Seconds())
	m.bytes.Add(bytes)
}

// Took counts a version of the store that questions are answered from.
func (m *Metrics) Took(name string) {
	m.taken.Inc()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.store, m.since = name, time.Now()
	m.ready.Store(true)
}

// Refused counts a version of the store that cannot be served.
func (m *Metrics) Refused() { m.refused.Inc() }

// Write writes all in Prometheus's text format.
func (m *Metrics) Write(w io.Writer) {
	m.set.WritePrometheus(w)
	m.mu.Lock()
	store, since := m.store, m.since
	m.mu.Unlock()
	if m.ready.Load() {
		fmt.Fprintf(w, "# HELP graphmill_store_info\n# TYPE graphmill_store_info gauge\ngraphmill_store_info{store=%q} 1\n", store)
		fmt.Fprintf(w, "# HELP graphmill_store_opened_timestamp_seconds\n# TYPE graphmill_store_opened_timestamp_seconds gauge\ngraphmill_store_opened_timestamp_seconds %d\n", since.Unix())
	}
}
