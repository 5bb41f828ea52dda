package table

import (
	"strconv"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// For any cell, the code of a time is the code of the text, an error, or the code of a missing time.
func FuzzTimes(f *testing.F) {
	for _, s := range []string{"2024-02-29", " 12 ", "", "2024-02-29T13:45:07.25+02:00", "-9223372036854775808"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fuzzing.Check(t, len(text), func() {
			for _, u := range []graph.Unit{graph.Seconds, graph.Nanoseconds} {
				v, problem := readTime(scalar.Trim(text), u, nil)
				if n, err := strconv.ParseInt(string(scalar.Trim(text)), 10, 64); err == nil && (problem != "" || v != n) {
					t.Fatalf("%q: found %d %s, want %d", text, v, problem, n)
				}
				if problem != "" && v != 0 {
					t.Fatalf("%q: found %d with %s", text, v, problem)
				}
			}
		})
	})
}
