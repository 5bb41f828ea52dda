package staging

import (
	"context"
	"fmt"
	"sync"

	dispatching "github.com/graphmill/graphmill/internal/dispatch/cluster"
	importing "github.com/graphmill/graphmill/internal/ingest/cluster"
	partitioning "github.com/graphmill/graphmill/internal/partition/cluster"
	sampling "github.com/graphmill/graphmill/internal/sample/cluster"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// Operation says what the work of a folder is.
type Operation string

// The operations.
const (
	Import    Operation = "import"
	Sample    Operation = "sample"
	Dispatch  Operation = "dispatch"
	Partition Operation = "partition"
)

// openers open the works of operations.
var openers = map[Operation]func(ctx context.Context, dir string) (stages.Site, error){
	Import:    func(ctx context.Context, dir string) (stages.Site, error) { return importing.Open(ctx, vfs.OS, dir) },
	Sample:    func(_ context.Context, dir string) (stages.Site, error) { return sampling.Open(vfs.OS, dir) },
	Dispatch:  func(_ context.Context, dir string) (stages.Site, error) { return dispatching.Open(vfs.OS, dir) },
	Partition: func(_ context.Context, dir string) (stages.Site, error) { return partitioning.Open(vfs.OS, dir) },
}

// Open opens the work of a folder.
func Open(ctx context.Context, of Operation, dir string) (stages.Site, error) {
	open := openers[of]
	if open == nil {
		return nil, fmt.Errorf("found operation %q, expected import, sample, dispatch or partition; use the same version on all machines", of)
	}
	s, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// work is an open work, which the functions of a pipeline share.
type work struct {
	once sync.Once
	site stages.Site
	err  error
	uses int
}

// works are the works that this process has open, by folder.
var works = struct {
	sync.Mutex
	byDir map[string]*work
}{byDir: map[string]*work{}}

// onSite is the part that the functions of a pipeline have in common.
type onSite struct {
	Operation Operation
	Dir       string
	used      *work
}

// Setup opens the work, or takes the open one. Beam calls it once per instance of a function.
func (f *onSite) Setup() error {
	works.Lock()
	w := works.byDir[f.Dir]
	if w == nil {
		w = &work{}
		works.byDir[f.Dir] = w
	}
	w.uses++
	works.Unlock()
	f.used = w
	w.once.Do(func() {
		if w.site, w.err = Open(context.Background(), f.Operation, f.Dir); w.err != nil {
			workfolder.Fail(vfs.OS, f.Dir, w.err)
		}
	})
	return w.err
}

// Teardown ends the use of the work. The last use closes it.
func (f *onSite) Teardown() error {
	w := f.used
	if w == nil {
		return nil
	}
	f.used = nil
	works.Lock()
	defer works.Unlock()
	if w.uses--; w.uses > 0 {
		return nil
	}
	delete(works.byDir, f.Dir)
	if w.err != nil {
		return nil
	}
	return w.site.Close()
}
