package cluster

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/dispatch"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// smallDisk is a file system with a number of free bytes.
type smallDisk struct {
	vfs.FS
	free int64
}

func (d smallDisk) Free(string) (int64, error) { return d.free, nil }

// Parts that do not fit the disk are refused before a job starts. Of a disk that may be too small there is a warning.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	s := typed(t, filepath.Join(dir, "store"))
	defer s.Close()
	sum, err := store.Sum(fsys, s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		free   int64
		err    error
		jobs   int
		warned bool
	}{"small": {1 << 10, vfs.ErrSpace, 0, false}, "perhaps": {100 << 10, nil, 1, true}, "large": {1 << 40, nil, 1, false}} {
		t.Run(name, func(t *testing.T) {
			w, err := store.Create(fsys, filepath.Join(t.TempDir(), "out"), false)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Abort()
			e, warned := newEngine(), false
			run := &Run{FS: smallDisk{fsys, c.free}, Dir: t.TempDir(), Engine: e, Store: s, Writer: w, Assignment: assignment(s.Graph, 2, func() int { return r.IntN(2) }),
				Options: dispatch.Options{GraphName: "g", Hops: 1, Formats: dgl.COO}, Work: Work{Store: s.Dir, StoreSum: sum}, Stalled: func(string) { warned = true }}
			if _, err := run.Make(t.Context()); !errors.Is(err, c.err) || e.Jobs != c.jobs || warned != c.warned {
				t.Errorf("found %v, %d jobs and a warning %v, expected %v, %d and %v", err, e.Jobs, warned, c.err, c.jobs, c.warned)
			}
		})
	}
}
