package dispatching

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/graphmill/graphmill/beam/internal/sites"
	"github.com/graphmill/graphmill/internal/dispatch/cluster"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Registered types are found by their names in a worker. The generic functions of Beam's package register would spare a reflection per element,
// and take more than a minute to compile: an element here is a block of records.
func init() {
	beam.RegisterDoFn(&stepsFn{})
	beam.RegisterDoFn(&cutFn{})
	beam.RegisterDoFn(&sliceFn{})
	beam.RegisterDoFn(&makeFn{})
	beam.RegisterDoFn(&gatherFn{})
	beam.RegisterDoFn(&finishFn{})
}

// works are the Works that this process has open. The functions of a pipeline share them.
var works = sites.Sites[*cluster.Site]{Open: func(dir string) (*cluster.Site, error) { return cluster.Open(vfs.OS, dir) }}

// onSite is the part that the functions of a pipeline have in common.
type onSite struct {
	Dir  string
	used bool
	site *cluster.Site
}

// Setup opens the Work. Beam calls it once per instance of a function.
func (f *onSite) Setup() (err error) {
	f.used = true
	f.site, err = works.Use(f.Dir)
	return err
}

// Teardown closes the Work.
func (f *onSite) Teardown() error {
	if !f.used {
		return nil
	}
	f.used = false
	return works.Release(f.Dir)
}

// stepsFn emits the numbers of steps.
type stepsFn struct{ Steps int }

// ProcessElement emits the numbers.
func (f *stepsFn) ProcessElement(_ []byte, emit func(int64)) {
	for i := range f.Steps {
		emit(int64(i))
	}
}

// cutFn is Site.Cut.
type cutFn struct {
	onSite
	Parts []int
}

// ProcessElement emits the records of a segment, by part.
func (f *cutFn) ProcessElement(ctx context.Context, step int64, emit func(int64, []byte)) error {
	return f.site.Failed(f.site.Cut(ctx, int(step), f.Parts, emit))
}

// sliceFn is Site.Slice.
type sliceFn struct{ onSite }

// ProcessElement writes the records of a slice, and emits its part.
func (f *sliceFn) ProcessElement(ctx context.Context, key int64, next func(*[]byte) bool, emit func(int64, []byte)) error {
	part, err := f.site.Slice(ctx, key, sites.All(next))
	if err != nil {
		return f.site.Failed(err)
	}
	emit(part, nil)
	return nil
}

// makeFn is Site.Make.
type makeFn struct{ onSite }

// ProcessElement makes a part from its records.
func (f *makeFn) ProcessElement(ctx context.Context, part int64, next func(*[]byte) bool) error {
	return f.site.Failed(f.site.Make(ctx, part, sites.All(next)))
}

// gatherFn is Site.Gather.
type gatherFn struct{ onSite }

// ProcessElement writes the records of a part, and emits the part.
func (f *gatherFn) ProcessElement(ctx context.Context, part int64, next func(*[]byte) bool, emit func(int64, []byte)) error {
	if err := f.site.Gather(ctx, part, sites.All(next)); err != nil {
		return f.site.Failed(err)
	}
	emit(part, nil)
	return nil
}

// finishFn is Site.Finish.
type finishFn struct{ onSite }

// ProcessElement writes the graph of a part.
func (f *finishFn) ProcessElement(ctx context.Context, part int64, _ func(*[]byte) bool) error {
	return f.site.Failed(f.site.Finish(ctx, part))
}
