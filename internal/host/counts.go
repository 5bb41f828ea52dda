package host

import (
	"time"

	"github.com/graphmill/graphmill/internal/metrics"
)

// counts are the metrics of a host.
type counts struct {
	kinds   map[uint32]*kindCounts
	refused *metrics.Counter
}

// kindCounts are the metrics of the questions of a kind: for draws, or for rows.
type kindCounts struct {
	answered, failed, bytes *metrics.Counter
	seconds                 *metrics.Histogram
}

// newCounts adds the metrics of a server to a set; nil: nobody asks for them.
func newCounts(set *metrics.Set, s *Server) *counts {
	if set == nil {
		set = metrics.New()
	}
	x := &counts{kinds: map[uint32]*kindCounts{}, refused: set.Counter("graphmill_connections_refused_total")}
	for kind, name := range map[uint32]string{kindDraws: "draws", kindRows: "rows"} {
		x.kinds[kind] = &kindCounts{
			answered: set.Counter("graphmill_questions_total", "kind", name, "outcome", "answered"),
			failed:   set.Counter("graphmill_questions_total", "kind", name, "outcome", "failed"),
			bytes:    set.Counter("graphmill_answer_bytes_total", "kind", name),
			seconds:  set.Histogram("graphmill_question_seconds", "kind", name),
		}
	}
	set.Gauge("graphmill_questions_working", func() float64 { return float64(len(s.places)) })
	set.Gauge("graphmill_connections", func() float64 { return float64(len(s.open)) })
	return x
}

// question counts a question: the time until its answer was made, waiting included, and the bytes of it.
func (x *counts) question(kind uint32, err error, took time.Duration, bytes int) {
	of := x.kinds[kind]
	switch {
	case of == nil: // of another protocol
	case err != nil:
		of.failed.Inc()
	default:
		of.answered.Inc()
		of.seconds.Update(took.Seconds())
		of.bytes.Add(bytes)
	}
}
