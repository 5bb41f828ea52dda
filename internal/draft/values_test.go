package draft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Counts of distinct values and of inclusion are those of maps, for any number of workers, and with little memory.
func TestValuesAgainstMaps(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		workers := rapid.IntRange(1, 3).Draw(r, "workers")
		width := rapid.IntRange(1, 4).Draw(r, "columns")
		rows := rapid.IntRange(0, 3000).Draw(r, "rows")
		d := &drafter{o: Options{Threads: workers, Memory: rapid.SampledFrom([]int64{leastMemory, 64 << 20, 1 << 30}).Draw(r, "memory"), Temp: dir}}
		v, err := newValues(vfs.OS, d)
		if err != nil {
			r.Fatal(err)
		}
		v.most = rapid.IntRange(1, 200).Draw(r, "held")
		defer func() {
			v.close(&err)
			if err != nil {
				r.Fatal(err)
			}
		}()
		var columns []*column
		texts := make([]map[string][]uint64, width)
		for i := range width {
			columns, texts[i] = append(columns, &column{number: i}), map[string][]uint64{}
		}
		if err := v.begin(columns); err != nil {
			r.Fatal(err)
		}
		span := rapid.IntRange(1, 2000).Draw(r, "span")
		for row := range rows {
			for i := range width {
				text := fmt.Sprint((row*row*31 + row*7) % (span * (i + 1)))
				texts[i][text] = append(texts[i][text], uint64(row))
				if err := v.add((row/100)%workers, i, []byte(text), uint64(row)); err != nil {
					r.Fatal(err)
				}
			}
		}
		if err := errors.Join(v.end(), v.finish(), v.measure(context.Background(), columns)); err != nil {
			r.Fatal(err)
		}
		var pairs []*inclusion
		for i, c := range columns {
			repeats, first := uint64(0), uint64(none)
			for _, at := range texts[i] {
				repeats += uint64(len(at)) - 1
				if len(at) > 1 {
					first = min(first, at[1])
				}
			}
			if c.distinct != uint64(len(texts[i])) || c.repeats != repeats || c.firstRepeat != first {
				r.Errorf("column %d: found %d distinct, %d repeats, the first in row %d, expected %d, %d, %d", i, c.distinct, c.repeats, c.firstRepeat, len(texts[i]), repeats, first)
			}
			for _, o := range columns {
				if o != c {
					pairs = append(pairs, &inclusion{from: c, to: o})
				}
			}
		}
		if err := v.include(context.Background(), width, pairs); err != nil {
			r.Fatal(err)
		}
		for _, p := range pairs {
			want := inclusion{from: p.from, to: p.to, first: none}
			for text, at := range texts[p.from.number] {
				if texts[p.to.number][text] != nil {
					want.inside += uint64(len(at))
					continue
				}
				want.dangling += uint64(len(at))
				want.values++
				want.first = min(want.first, slices.Min(at))
			}
			if got := *p; got.inside != want.inside || got.dangling != want.dangling || got.values != want.values || got.first != want.first {
				r.Errorf("%d in %d: found %+v, expected %+v", p.from.number, p.to.number, *p, want)
			}
		}
	})
}
