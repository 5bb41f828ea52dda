package metrics

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	victoria "github.com/VictoriaMetrics/metrics"
)

// Set has the metrics of a process, and says whether it is ready.
type Set struct {
	set   *victoria.Set
	ready atomic.Bool

	mu     sync.Mutex
	store  Store
	since  time.Time
	before []func()
}

// Store is the version of a store that a process works on.
type Store struct {
	// Name is the checksum of its manifest, as in lineages; "" where there is no store.
	Name string
	// Segments is the number of its segments, and Merged the bytes of memory that hold what these changed.
	Segments int
	Merged   int64
}

// Metrics of a set, which several goroutines may use.
type (
	// Counter counts events.
	Counter = victoria.Counter
	// FloatCounter counts seconds.
	FloatCounter = victoria.FloatCounter
	// Histogram counts times by Latencies.
	Histogram = victoria.PrometheusHistogram
)

// Latencies are the upper bounds of the classes of the time that an answer or a batch takes, in seconds.
var Latencies = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// New returns a set without metrics, which is not ready.
func New() *Set {
	victoria.ExposeMetadata(true) // the types of metrics
	return &Set{set: victoria.NewSet()}
}

// Counter adds a counter. labels are names and values in turn; a name whose value is "" is left out, which is the same to Prometheus.
func (s *Set) Counter(name string, labels ...string) *Counter {
	return s.set.NewCounter(withLabels(name, labels))
}

// FloatCounter adds a counter of seconds.
func (s *Set) FloatCounter(name string, labels ...string) *FloatCounter {
	return s.set.NewFloatCounter(withLabels(name, labels))
}

// Histogram adds a histogram of seconds by Latencies.
func (s *Set) Histogram(name string, labels ...string) *Histogram {
	return s.set.NewPrometheusHistogramExt(withLabels(name, labels), Latencies)
}

// Gauge adds a value that is looked at when it is asked for.
func (s *Set) Gauge(name string, value func() float64, labels ...string) {
	s.set.NewGauge(withLabels(name, labels), value)
}

// Before has f called before the metrics are written, so that it brings them up to date.
func (s *Set) Before(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = append(s.before, f)
}

// Ready says that the process does its work from now on, on the version of a store.
func (s *Set) Ready(store Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store, s.since = store, time.Now()
	s.ready.Store(true)
}

// Write writes all in Prometheus's text format.
func (s *Set) Write(w io.Writer) {
	s.mu.Lock()
	store, since, before := s.store, s.since, s.before
	s.mu.Unlock()
	for _, f := range before {
		f()
	}
	s.set.WritePrometheus(w)
	if s.ready.Load() && store.Name != "" {
		victoria.WriteGaugeUint64(w, fmt.Sprintf("graphmill_store_info{store=%q}", store.Name), 1)
		victoria.WriteGaugeUint64(w, "graphmill_store_opened_timestamp_seconds", uint64(since.Unix()))
		victoria.WriteGaugeUint64(w, "graphmill_store_segments", uint64(store.Segments))
		victoria.WriteGaugeUint64(w, "graphmill_store_merged_bytes", uint64(store.Merged))
	}
	victoria.WriteProcessMetrics(w)
}

// withLabels is the name of a metric with its labels.
func withLabels(name string, labels []string) string {
	var list []string
	for i := 0; i < len(labels); i += 2 {
		if labels[i+1] != "" {
			list = append(list, labels[i]+`="`+escaped.Replace(labels[i+1])+`"`)
		}
	}
	if list == nil {
		return name
	}
	return name + "{" + strings.Join(list, ",") + "}"
}

// escaped writes the value of a label, as Prometheus's text format wants it.
var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
