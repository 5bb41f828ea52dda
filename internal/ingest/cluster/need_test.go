package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// smallDisk is a file system with a number of free bytes.
type smallDisk struct {
	vfs.FS
	free int64
}

func (d smallDisk) Free(string) (int64, error) { return d.free, nil }

// A store that does not fit the disk is refused before a job starts. Of a disk that may be too small there is a warning.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "edges.tsv")
	var b []byte
	for i := range 10_000 {
		b = fmt.Appendf(b, "%d\t%d\n", i%100, 100+i/100)
	}
	if err := os.WriteFile(table, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		free   int64
		err    error
		jobs   int
		warned bool
	}{"small": {1 << 10, vfs.ErrSpace, 0, false}, "perhaps": {150_000, nil, 1, true}, "large": {1 << 40, nil, 1, false}} {
		t.Run(name, func(t *testing.T) {
			src, err := ingest.Open(t.Context(), vfs.OS, table, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			w, err := store.Create(unsynced, filepath.Join(t.TempDir(), "store"), false)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Abort()
			e, warned := newEngine(1), false
			r := &Run{FS: smallDisk{unsynced, c.free}, Dir: filepath.Join(t.TempDir(), ".work"), Engine: e, Source: src, Work: Work{Source: table}, Warn: func(string) { warned = true }}
			if _, err := r.Build(t.Context(), w); !errors.Is(err, c.err) || e.Jobs != c.jobs || warned != c.warned {
				t.Errorf("found %v, %d jobs and a warning %v, expected %v, %d and %v", err, e.Jobs, warned, c.err, c.jobs, c.warned)
			}
		})
	}
}
