package importing

import (
	"context"

	"github.com/graphmill/graphmill/beam/internal/sites"
	"github.com/graphmill/graphmill/internal/ingest/cluster"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// works are the Works that this process has open. The functions of a pipeline share them.
var works = sites.Sites[*cluster.Site]{Open: func(dir string) (*cluster.Site, error) {
	s, err := cluster.Open(context.Background(), vfs.OS, dir)
	if err != nil {
		workfolder.Fail(vfs.OS, dir, err)
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
