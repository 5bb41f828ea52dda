package sampling

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/graphmill/graphmill/beam/internal/sites"
	"github.com/graphmill/graphmill/internal/sample/cluster"
)

// Registered types are found by their names in a worker. The generic functions of Beam's package register would spare a reflection per element,
// and take more than a minute to compile: an element here is a block of records.
func init() {
	beam.RegisterDoFn(&groupsFn{})
	beam.RegisterDoFn(&sampleFn{})
	beam.RegisterDoFn(&startFn{})
	beam.RegisterDoFn(&rangeFn{})
	beam.RegisterDoFn(&assembleFn{})
	beam.RegisterDoFn(&wantFn{})
	beam.RegisterDoFn(&rowsFn{})
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
