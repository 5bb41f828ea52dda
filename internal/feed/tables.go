package feed

import (
	"context"
	"sync/atomic"
	"unsafe"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/features/widening"
)

// leastTable is the size from which a copy pays. The page addresses of a smaller table stay in the TLB. Tests lower it.
var leastTable = 32 << 20

// table is rows of a store that batches look up: first in the map of the store, later perhaps in a faster copy.
type table struct{ at atomic.Pointer[[]byte] }

func (t *table) values() []byte { return *t.at.Load() }

// tables are the tables of a source, without repeats.
type tables struct {
	all   []*table
	first map[*byte]*table
	frees []func()
	// joined are the columns that are made of several ones.
	joined []*joined
	// numbers has the values that the codes of columns stand for.
	numbers *widening.Numbers
}

// of is the table of these bytes.
func (t *tables) of(values []byte) *table {
	first := unsafe.SliceData(values)
	if known, ok := t.first[first]; ok {
		return known
	}
	if t.first == nil {
		t.first = map[*byte]*table{}
	}
	x := &table{}
	x.at.Store(&values)
	t.all, t.first[first] = append(t.all, x), x
	return x
}

// load makes the tables of joined columns, and replaces large tables by copies in huge pages, up to the given number of bytes of memory, until ctx ends.
func (t *tables) load(ctx context.Context, memory int64) {
	const part = 8 << 20
	for _, j := range t.joined {
		size, free := j.load(ctx, memory)
		memory -= size
		if free != nil {
			t.frees = append(t.frees, free)
		}
	}
	for _, x := range t.all {
		from := x.values()
		if len(from) < leastTable || int64(len(from)) > memory {
			continue
		}
		to, free, err := direct.Array[byte](len(from))
		if err != nil {
			return // the table of the store is only slower
		}
		memory -= int64(len(from))
		t.frees = append(t.frees, free)
		for at := 0; at < len(to); at += part {
			if ctx.Err() != nil {
				return
			}
			copy(to[at:min(at+part, len(to))], from[at:])
		}
		x.at.Store(&to)
	}
}

func (t *tables) close() {
	for _, free := range t.frees {
		free()
	}
	t.frees = nil
}
