package sampling

import (
	"errors"
	"sync"

	"github.com/graphmill/graphmill/internal/sample/cluster"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// sites are the Works that this process has open, by folder. The functions of a pipeline share them.
var sites = struct {
	sync.Mutex
	open map[string]*openSite
}{open: map[string]*openSite{}}

type openSite struct {
	once sync.Once
	site *cluster.Site
	err  error
	uses int
}

// use opens the Work of a folder, or takes the open one. Each use ends with release, also after an error.
func use(dir string) (*cluster.Site, error) {
	sites.Lock()
	o := sites.open[dir]
	if o == nil {
		o = &openSite{}
		sites.open[dir] = o
	}
	o.uses++
	sites.Unlock()
	o.once.Do(func() {
		if o.site, o.err = cluster.Open(vfs.OS, dir); o.err != nil {
			workfolder.SaveFailure(vfs.OS, dir, o.err)
		}
	})
	return o.site, o.err
}

func release(dir string) error {
	sites.Lock()
	defer sites.Unlock()
	o := sites.open[dir]
	if o == nil {
		return nil
	}
	if o.uses--; o.uses > 0 {
		return nil
	}
	delete(sites.open, dir)
	if o.site == nil {
		return nil
	}
	return o.site.Close()
}

// onSite is the part that the functions of a pipeline have in common.
type onSite struct {
	Dir  string
	used bool
	site *cluster.Site
}

// Setup opens the Work. Beam calls it once per instance of a function.
func (f *onSite) Setup() (err error) {
	f.used = true
	f.site, err = use(f.Dir)
	return err
}

// Teardown closes the Work.
func (f *onSite) Teardown() error {
	if !f.used {
		return nil
	}
	f.used = false
	return release(f.Dir)
}

// do calls fn with a Hand, and saves its error for the submitter.
func (f *onSite) do(fn func(h *cluster.Hand) error) error {
	h, err := f.site.Hand()
	if err != nil {
		return f.site.Failed(err)
	}
	if err := fn(h); err != nil {
		// The buffers may hold half of a record, so the Hand is not used again.
		return f.site.Failed(err)
	}
	h.Done()
	return nil
}

// all is a function that returns the records of an iterator, one after the other.
func all(next func(*[]byte) bool) func() ([]byte, bool) {
	return func() ([]byte, bool) {
		var b []byte
		ok := next(&b)
		return b, ok
	}
}

var errNoGroups = errors.New("found no groups, expected at least one")
