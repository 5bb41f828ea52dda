package audit

import (
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// A feature in pieces is widened for many rows at a time, within a bound on their bytes, and each row has its own values.
func TestAhead(t *testing.T) {
	for _, c := range []struct {
		width       int
		count       int64
		calls, most int
	}{
		{1, 0, 0, 1}, {1, 1, 1, 1}, {2, mostAhead, 1, mostAhead}, {2, 3*mostAhead + 1, 4, mostAhead}, {aheadBytes / 2, 5, 3, 2}, {aheadBytes, 3, 3, 1}, {2 * aheadBytes, 2, 2, 1},
	} {
		calls := 0
		a := newAhead(func(dst []byte, rows graph.Index) {
			calls++
			if rows.Len() > c.most || len(dst) != rows.Len()*c.width {
				t.Fatalf("%+v: found %d rows in %d bytes", c, rows.Len(), len(dst))
			}
			for k := range rows.Len() {
				dst[k*c.width] = byte(rows.At(k))
			}
		}, c.width, c.count)
		for i := range c.count {
			got := a.row(i, func(i int64) int64 { return 7 * i % 256 })
			if len(got) != c.width || got[0] != byte(7*i) {
				t.Fatalf("%+v: row %d: found %d bytes from %d on, expected %d from %d on", c, i, len(got), got[0], c.width, byte(7*i))
			}
		}
		if calls != c.calls {
			t.Errorf("%+v: found %d calls, expected %d", c, calls, c.calls)
		}
	}
}
