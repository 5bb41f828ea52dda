package feed

import (
	"context"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"github.com/graphmill/graphmill/internal/direct"
)

// leastTable is the size from which a copy pays: the addresses of a smaller table's pages are at
// hand anyway. Tests lower it.
var leastTable = 32 << 20

// table is rows of a store that batches look up: at first where the store has them.
type table struct{ values []byte }

// tables are those of a source, each once.
type tables struct {
	all   []*table
	first map[*byte]*table
	frees []func()
}

// of is the table of these bytes.
func (t *tables) of(values []byte) *table {
	at := unsafe.SliceData(values)
	if known, ok := t.first[at]; ok {
		return known
	}
	if t.first == nil {
		t.first = map[*byte]*table{}
	}
	t.first[at] = &table{values}
	t.all = append(t.all, t.first[at])
	return t.first[at]
}

// load puts copies in huge pages into the place of the large tables, as far as so many bytes of
// memory go, by so many threads.
func (t *tables) load(ctx context.Context, memory int64, threads int) error {
	const part = 8 << 20
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(threads, 1))
	for _, x := range t.all {
		from := x.values
		if len(from) < leastTable || int64(len(from)) > memory {
			continue
		}
		to, free, err := direct.Array[byte](len(from))
		if err != nil {
			break // the store's own serve as well, only slower
		}
		memory -= int64(len(from))
		t.frees = append(t.frees, free)
		for at := 0; at < len(to); at += part {
			g.Go(func() error {
				copy(to[at:min(at+part, len(to))], from[at:])
				return ctx.Err()
			})
		}
		x.values = to
	}
	return g.Wait()
}

func (t *tables) close() {
	for _, free := range t.frees {
		free()
	}
	t.frees = nil
}
