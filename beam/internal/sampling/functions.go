package sampling

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/graphmill/graphmill/beam/internal/sites"
	"github.com/graphmill/graphmill/internal/sample/cluster"
)

// Registered functions need no reflection at run time, and work in a stripped binary.
func init() {
	register.DoFn2x0[[]byte, func(int64)](&groupsFn{})
	register.DoFn2x1[context.Context, int64, error](&sampleFn{})
	register.DoFn3x1[context.Context, int64, func(int64, []byte), error](&startFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&rangeFn{})
	register.DoFn3x1[context.Context, int64, func(*[]byte) bool, error](&assembleFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&wantFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&rowsFn{})
	register.Emitter1[int64]()
	register.Emitter2[int64, []byte]()
	register.Iter1[[]byte]()
}

// groupsFn emits the numbers of groups.
type groupsFn struct{ Groups []uint64 }

// ProcessElement emits the numbers.
func (f *groupsFn) ProcessElement(_ []byte, emit func(int64)) {
	for _, g := range f.Groups {
		emit(int64(g))
	}
}

// sampleFn is Hand.Sample.
type sampleFn struct{ onSite }

// ProcessElement makes the piece of a group.
func (f *sampleFn) ProcessElement(ctx context.Context, group int64) error {
	return f.do(func(h *cluster.Hand) error { return h.Sample(ctx, uint64(group)) })
}

// startFn is Hand.Start.
type startFn struct{ onSite }

// ProcessElement emits the requests of a group, by range.
func (f *startFn) ProcessElement(ctx context.Context, group int64, emit func(int64, []byte)) error {
	return f.do(func(h *cluster.Hand) error { return h.Start(ctx, uint64(group), emit) })
}

// rangeFn is Hand.Range.
type rangeFn struct {
	onSite
	Stage int
}

// ProcessElement emits the answers of a range, by group, and requests to later stages, by range.
func (f *rangeFn) ProcessElement(ctx context.Context, key int64, next func(*[]byte) bool, emit func(int64, []byte)) error {
	return f.do(func(h *cluster.Hand) error { return h.Range(ctx, f.Stage, key, sites.All(next), emit) })
}

// assembleFn is Hand.Assemble.
type assembleFn struct{ onSite }

// ProcessElement makes the piece of a group from its answers.
func (f *assembleFn) ProcessElement(ctx context.Context, key int64, next func(*[]byte) bool) error {
	return f.do(func(h *cluster.Hand) error { return h.Assemble(ctx, key, sites.All(next)) })
}

// wantFn is Hand.Want.
type wantFn struct{ onSite }

// ProcessElement emits the requests of a group for rows, by range.
func (f *wantFn) ProcessElement(ctx context.Context, key int64, next func(*[]byte) bool, emit func(int64, []byte)) error {
	return f.do(func(h *cluster.Hand) error { return h.Want(ctx, key, sites.All(next), emit) })
}

// rowsFn is Hand.Rows.
type rowsFn struct{ onSite }

// ProcessElement emits the rows of a range, by group.
func (f *rowsFn) ProcessElement(ctx context.Context, key int64, next func(*[]byte) bool, emit func(int64, []byte)) error {
	return f.do(func(h *cluster.Hand) error { return h.Rows(ctx, key, sites.All(next), emit) })
}
