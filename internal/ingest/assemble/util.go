package assemble

import (
	"context"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

func put32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }
func put64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }

// parallel runs fn once for each worker and waits for all of them.
func parallel(ctx context.Context, workers int, fn func(ctx context.Context, worker int) error) error {
	g, ctx := guard.WithContext(ctx)
	for w := range workers {
		g.Go(func() error { return fn(ctx, w) })
	}
	return g.Wait()
}

// sameTable says whether two tables read the same files.
func sameTable(a, b table.Table) bool {
	return a != nil && b != nil && slices.Equal(a.Files(), b.Files())
}

func joinErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// view24 returns a view of records of three numbers.
func view24(b []byte) []firstSeen {
	if len(b) < firstSeenBytes {
		return nil
	}
	return unsafe.Slice((*firstSeen)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/firstSeenBytes)
}
