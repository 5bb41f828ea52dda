package features

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
)

// fitCategories fits the texts of a column that gives one per row.
func (f *fitter) fitCategories(state *State) error {
	counter, rows := newTextCounter(f.memory), 0
	var byCode []int64
	byInt := map[int64]int64{}
	c := f.s.c
	if c.Categories != nil {
		byCode = make([]int64, c.Categories.Rows)
	}
	err := f.each(func(first int, keep []bool) error {
		for i, is := range keep {
			if !is {
				continue
			}
			rows++
			switch row := first + i; {
			case f.s.marked(row):
			case c.Categories != nil:
				if code := graph.View[int32](c.Values)[row]; code >= 0 {
					byCode[code]++
				}
			case c.DType == graph.String:
				if text := c.Text(row); len(text) > 0 {
					if err := counter.count(text); err != nil {
						return err
					}
				}
			default:
				byInt[f.s.integer(row)]++
			}
		}
		return counter.checkInts(len(byInt))
	})
	if err != nil {
		return err
	}
	counts := counter.all()
	for code, n := range byCode {
		if n > 0 {
			counts[string(c.Categories.Text(code))] += n
		}
	}
	if len(byInt) > 0 {
		values := slices.Sorted(maps.Keys(byInt))
		if c.DType == graph.Uint64 { // those from 2^63 on are negative here
			slices.SortFunc(values, func(a, b int64) int {
				if uint64(a) < uint64(b) {
					return -1
				}
				return 1
			})
		}
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = integerText(v, c.DType)
			counts[texts[i]] = byInt[v]
		}
		state.Categories = counts.fit(texts, max(1, f.p.Least), f.p.Most)
		return nil
	}
	return f.kept(state, counts, rows)
}

// kept is the end of fitCategories and fitTags.
func (f *fitter) kept(state *State, counts Counts, rows int) error {
	if rows == 0 {
		return specErrorf("found no row in %s, expected at least one; give fit: all, or a split that has rows", f.t.fitOf())
	}
	if len(counts) == 0 {
		return specErrorf("found no text in the %d rows of %s, expected at least one; leave the column out", rows, f.t.fitOf())
	}
	for text := range counts {
		if !utf8.ValidString(text) {
			return specErrorf("found a text that is no UTF-8, expected UTF-8; convert the file, or take encode hash")
		}
	}
	state.Categories = counts.Fit(max(1, f.p.Least), f.p.Most)
	return nil
}

// fitTags fits the tags of a column that gives several per row.
func (f *fitter) fitTags(state *State) error {
	counter, rows, seen := newTextCounter(f.memory), 0, map[string]bool{}
	err := f.each(func(first int, keep []bool) error {
		for i, is := range keep {
			if !is {
				continue
			}
			rows++
			var err error
			f.s.tags(first+i, seen, func(tag string) {
				if err == nil {
					err = counter.count([]byte(tag))
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.kept(state, counter.all(), rows)
}

// fitOrder counts the texts of an order.
func (f *fitter) fitOrder() (*Categories, error) {
	s := &Categories{Texts: f.p.Order, Of: make([]int64, len(f.p.Order))}
	s.Index(f.s.c, false)
	f.s.cats = s
	err := f.each(func(first int, keep []bool) error {
		for i, is := range keep {
			if code, known := f.s.code(first + i); is && known {
				s.Rows++
				if code > 0 {
					s.Of[code-1]++
				}
			}
		}
		return nil
	})
	return s, err
}

// textCounter counts texts, within a bound on the memory of the distinct ones.
type textCounter struct {
	places     map[string]int32
	counts     []int64
	held, most int64
}

// textBytes is about what a text takes in a map beside its bytes.
const textBytes = 64

// newTextCounter makes a counter whose texts take at most so many bytes, and at least 1 MiB.
func newTextCounter(most int64) *textCounter {
	return &textCounter{places: map[string]int32{}, most: max(most, 1<<20)}
}

// count counts a text.
func (c *textCounter) count(text []byte) error {
	if at, known := c.places[string(text)]; known {
		c.counts[at]++
		return nil
	}
	if c.held += int64(len(text)) + textBytes; c.held > c.most || len(c.counts) == math.MaxInt32 {
		return fmt.Errorf("%w: found more than %d distinct texts, expected those that fit into the memory; give a larger `Memory`, or take encode hash", limits.ErrMemory, len(c.counts))
	}
	c.places[string(text)] = int32(len(c.counts))
	c.counts = append(c.counts, 1)
	return nil
}

// all returns the counts by text.
func (c *textCounter) all() Counts {
	counts := make(Counts, len(c.places))
	for text, at := range c.places {
		counts[text] = c.counts[at]
	}
	return counts
}

// checkInts refuses more distinct whole numbers than fit into the memory.
func (c *textCounter) checkInts(n int) error {
	if int64(n)*textBytes > c.most {
		return fmt.Errorf("%w: found more than %d distinct values, expected those that fit into the memory; give a larger `Memory`", limits.ErrMemory, n)
	}
	return nil
}
