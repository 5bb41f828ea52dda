package draft

import (
	"bytes"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// Bounds of tags: the most of a column, the most bytes of one, and how often each occurs on average, at least.
const (
	mostTags    = 1000
	longestTag  = 40
	leastRepeat = 3
	// sharedTags is divided among the columns that are read at a time: a column with more different tags than its share, by any separator, has no tags.
	sharedTags = 32_000
)

// tags counts what the cells of a column would be as lists of tags. It depends on the set of cells alone, not on their order.
type tags struct {
	most int // tags of a set, from which on it is no set of tags
	// sets are the tags of the cells with a separator, by the separator; those under "" are cells that are one tag.
	sets map[string]*tagSet
	none bool // some cell is no list of tags
}

// tagSet has the tags of cells with one separator, by their hash.
type tagSet struct {
	cells, numbers, n uint64           // cells, tags that are numbers, and tags
	where             map[uint64]uint8 // 1 for a tag that begins a cell, 2 for one that does not, 3 for both
}

// separatorOf returns the separator between the tags of a text: a semicolon, a bar or a comma, with the blanks around it, or "" if the text has none of them. It
// returns false for a text whose separators have different blanks, and for one that is a list in brackets or in quotes.
func separatorOf(text []byte) (string, bool) {
	if bytes.IndexByte([]byte(`[{("'`), text[0]) >= 0 {
		return "", false
	}
	for _, c := range []byte(";|,") {
		at := bytes.IndexByte(text, c)
		if at < 0 {
			continue
		}
		from, to := at, at+1
		if from > 0 && text[from-1] == ' ' {
			from--
		}
		if to < len(text) && text[to] == ' ' {
			to++
		}
		sep := text[from:to]
		return string(sep), bytes.Count(text, sep) == bytes.Count(text, []byte{c})
	}
	return "", true
}

// add counts a text.
func (t *tags) add(text []byte) {
	if t.none || t.most == 0 {
		return
	}
	sep, ok := separatorOf(text)
	if !ok {
		t.drop()
		return
	}
	set := t.sets[sep]
	if set == nil {
		set = &tagSet{where: map[uint64]uint8{}}
		if t.sets == nil {
			t.sets = map[string]*tagSet{}
		}
		t.sets[sep] = set
	}
	set.cells++
	place := uint8(1)
	for tag, rest, more := text, []byte(nil), true; more; tag, place = rest, 2 {
		if more = false; sep != "" {
			tag, rest, more = bytes.Cut(tag, []byte(sep))
		}
		if len(tag) == 0 {
			continue
		}
		if len(tag) > longestTag {
			t.drop()
			return
		}
		set.n++
		if _, number := scalar.ParseFloat(tag, graph.Float64); number {
			set.numbers++
		}
		set.where[xxh3.Hash(tag)] |= place
		if len(set.where) > t.most {
			t.drop()
			return
		}
	}
}

// drop ends the counting of a column that has no tags.
func (t *tags) drop() { t.none, t.sets = true, nil }

// merge adds the counts of other cells of the column.
func (t *tags) merge(o *tags) {
	t.most = max(t.most, o.most)
	if t.none || o.none {
		t.drop()
		return
	}
	for sep, of := range o.sets {
		set := t.sets[sep]
		if set == nil {
			set = &tagSet{where: map[uint64]uint8{}}
			if t.sets == nil {
				t.sets = map[string]*tagSet{}
			}
			t.sets[sep] = set
		}
		set.merge(of)
		if len(set.where) > t.most {
			t.drop()
			return
		}
	}
}

func (s *tagSet) merge(o *tagSet) {
	s.cells, s.numbers, s.n = s.cells+o.cells, s.numbers+o.numbers, s.n+o.n
	for tag, place := range o.where {
		s.where[tag] |= place
	}
}

// tagged returns the separator of a column whose texts are lists of tags, and how many tags there are; empty: they are not.
//
// Most cells have the separator, and no cell has another. The tags are few, and each comes three times on average. There are more
// distinct texts than tags, and a quarter of the tags are both first and later ones, which "Last, First" and sentences do not have.
// Less than half of the tags are numbers.
func (c *column) tagged() (sep string, distinct int) {
	n, t := &c.cells, &c.cells.tags
	if t.none || c.Words || !c.hashed || n.commas.n+n.vectors.n+n.dates.n+n.times.n+n.bools.n+n.ints.n+n.floats.n > 0 {
		return "", 0
	}
	all := tagSet{where: map[uint64]uint8{}}
	most := uint64(0)
	for s, set := range t.sets {
		if s != "" {
			if sep != "" {
				return "", 0
			}
			sep, most = s, set.cells
		}
		all.merge(set)
	}
	distinct = len(all.where)
	both := 0
	for _, place := range all.where {
		if place == 3 {
			both++
		}
	}
	if 2*n.units.n >= all.cells || 2*most <= all.cells || distinct > t.most || all.n < leastRepeat*uint64(distinct) || c.distinct <= uint64(distinct) || 4*both < distinct || 2*all.numbers >= all.n {
		return "", 0
	}
	return sep, distinct
}

// tagsWhy says of what a column of tags consists.
func (c *column) tagsWhy() string {
	sep, distinct := c.tagged()
	return fmt.Sprintf("%s in %s, with %q between them, such as %s", amount(uint64(distinct), "distinct tag"), amount(c.cells.texts.n, "text"), sep, human.Cut(c.cells.texts.text, longestText))
}
