package parts

import (
	"sort"

	"github.com/graphmill/graphmill/internal/format/dgl"
)

// Book tells part, type and type-wise id of new ids: the partition book.
type Book struct {
	runs []Run // that are not empty, ascending
	n    int64
}

// Run is a range of new ids of one part and type. Wise is the type-wise id of the first.
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

// Len is the number of ids: they are below it.
func (b *Book) Len() int64 { return b.n }

// Has says whether there is an id.
func (b *Book) Has(id int64) bool { return id >= 0 && id < b.n }

// Find is the run of an id that there is.
func (b *Book) Find(id int64) *Run {
	return &b.runs[sort.Search(len(b.runs), func(i int) bool { return b.runs[i].First > id })-1]
}
