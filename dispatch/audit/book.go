package audit

import (
	"sort"

	"github.com/graphmill/graphmill/format/dgl"
)

// book tells part, type and type-wise id of new ids: the partition book.
type book struct {
	types []dgl.TypeRanges
	// runs are the ranges that are not empty, ascending.
	runs []run
	n    int64
}

// run is a range of ids of one part and type; wise is the type-wise id of the first.
type run struct {
	first, wise int64
	part, typ   int
}

func newBook(types []dgl.TypeRanges, parts int) *book {
	b := &book{types: types}
	wise := make([]int64, len(types))
	for p := range parts {
		for t := range types {
			r := types[t].Ranges[p]
			if r[0] == r[1] {
				continue
			}
			b.runs = append(b.runs, run{r[0], wise[t], p, t})
			wise[t] += r[1] - r[0]
			b.n = r[1]
		}
	}
	return b
}

// find is the run of an id, which is in range.
func (b *book) find(id int64) *run {
	return &b.runs[sort.Search(len(b.runs), func(i int) bool { return b.runs[i].first > id })-1]
}

// wise is the type and type-wise id of an id.
func (b *book) wise(id int64) (typ int, wise int64) {
	r := b.find(id)
	return r.typ, r.wise + id - r.first
}

// in says whether there is an id.
func (b *book) in(id int64) bool { return id >= 0 && id < b.n }

// name is the type of an id.
func (b *book) name(id int64) string {
	if !b.in(id) {
		return ""
	}
	return b.types[b.find(id).typ].Name
}
