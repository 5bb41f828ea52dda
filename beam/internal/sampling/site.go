package sampling

import (
	"errors"

	"github.com/graphmill/graphmill/beam/internal/sites"
	"github.com/graphmill/graphmill/internal/sample/cluster"
	"github.com/graphmill/graphmill/internal/vfs"
)

// works are the Works that this process has open. The functions of a pipeline share them.
var works = sites.Sites[*cluster.Site]{Open: func(dir string) (*cluster.Site, error) {
	s, err := cluster.Open(vfs.OS, dir)
	if err != nil {
		cluster.SaveFailure(vfs.OS, dir, err)
	}
	return s, err
}}

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

var errNoGroups = errors.New("found no groups, expected at least one")
