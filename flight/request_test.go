package flight

import (
	"encoding/json"
	"testing"
)

// Whatever a request says, it is refused, or names batches that there are.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{``, `{}`, `{"epoch":18446744073709551615,"first":19}`, `{"rank":3,"world":1048576}`, `{"seeds":[0,299],"first":9223372036854775807}`, `[]`, `{"first":1e3}`} {
		f.Add([]byte(s))
	}
	src := source(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseRequest(b, src)
		if err != nil {
			return
		}
		n := r.batches(src)
		if n < 0 || n > src.Batches() {
			t.Fatalf("%s: found %d batches", b, n)
		}
		if last := r.First + r.Rank + (n-1)*r.World; r.Seeds == nil && n > 0 && (last >= src.Batches() || last+r.World < src.Batches()) {
			t.Fatalf("%s: found batch %d to be the last of %d", b, last, src.Batches())
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parseRequest(text, src); err != nil || again.batches(src) != n {
			t.Fatalf("%s: found %v, %v when read again", text, again, err)
		}
	})
}
