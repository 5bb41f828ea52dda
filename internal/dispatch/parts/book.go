package parts

import (
	"sort"

	"github.com/graphmill/graphmill/format/dgl"
)

// Book maps new ids to part, type and type-wise id: the partition book.
type Book struct {
	runs []Run // without the empty ones, ascending
	n    int64
}

// Run is the range of new ids of one part and type. Wise is the type-wise id of the first.
type Run struct {
	First, Wise int64
	Part, Type  int
}

func newBook(types []dgl.TypeRanges, parts int) Book {
	var b Book
	wise := make([]int64, len(types))
	for p := range parts {
		for t := range types {
			r := types[t].Ranges[p]
			if r[0] == r[1] {
				continue
			}
			b.runs = append(b.runs, Run{r[0], wise[t], p, t})
			wise[t] += r[1] - r[0]
			b.n = r[1]
		}
	}
	return b
}

// Len is the number of ids; all ids are below it.
func (b *Book) Len() int64 { return b.n }

// Has reports whether id is in range.
func (b *Book) Has(id int64) bool { return id >= 0 && id < b.n }

// Find returns the run of an id, which must be in range.
func (b *Book) Find(id int64) *Run {
	return &b.runs[sort.Search(len(b.runs), func(i int) bool { return b.runs[i].First > id })-1]
}
