package output

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/vfs"
)

// counting counts the files that are open for writing.
type counting struct {
	vfs.FS
	open, most atomic.Int64
}

type countedFile struct {
	vfs.File
	c *counting
}

func (c *counting) Create(name string) (vfs.File, error) {
	f, err := c.FS.Create(name)
	if err != nil {
		return nil, err
	}
	n := c.open.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	return countedFile{f, c}, nil
}

func (f countedFile) Close() error {
	defer f.c.open.Add(-1)
	return f.File.Close()
}

// Many shards do not need many open files.
func TestFewFilesAreOpen(t *testing.T) {
	s := sampler(t, typed(20), "2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed}, false)
	c := &counting{FS: vfs.OS}
	job := sample.Job{Seeds: seeds(20), BatchSize: 5}
	if err := writeRecords(context.Background(), c, filepath.Join(t.TempDir(), "out"), s, RecordsOptions{Shards: 500}, job); err != nil {
		t.Fatal(err)
	}
	if open, most := c.open.Load(), c.most.Load(); open != 0 || most > 17 {
		t.Errorf("found %d files open at once and %d at the end, expected at most 17 and none", most, open)
	}
}
