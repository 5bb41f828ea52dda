package flight

import (
	"encoding/json"
	"testing"

	"github.com/graphmill/graphmill/internal/answer"
	"github.com/graphmill/graphmill/internal/fuzzing"
)

// Every request is either rejected or selects existing batches.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{``, `{}`, `{"epoch":18446744073709551615,"first":19}`, `{"rank":3,"world":1048576}`, `{"rank":3,"world":4,"tail":"fill"}`, `{"rank":3,"world":4,"first":7,"tail":"drop"}`, `{"world":5,"tail":"short"}`, `{"seeds":[0,299],"first":9223372036854775807}`, `[]`, `{"first":1e3}`, `{"ids":["a",7],"times":[3,0.5]}`, `{"ids":[]}`} {
		f.Add([]byte(s))
	}
	src := source(f)
	p := &answer.Plan{Source: src, Find: func(_, id string) (int64, bool) { return 0, id == "a" }}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			r, err := parseRequest(b)
			if err != nil || r.check(p) != nil {
				return
			}
			n, want := r.batches(src), 1
			if !r.Is() {
				want = len(numbersOf(*r))
			}
			if n != want {
				t.Fatalf("%s: found %d batches, expected %d", b, n, want)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := parseRequest(text); err != nil || again.check(p) != nil || again.batches(src) != n {
				t.Fatalf("%s: found %v, %v when read again", text, again, err)
			}
		})
	})
}
