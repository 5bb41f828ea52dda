package cluster

import (
	"errors"
	"testing"

	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/vfs"
)

// smallDisk is a file system with a number of free bytes.
type smallDisk struct {
	vfs.FS
	free int64
}

func (d smallDisk) Free(string) (int64, error) { return d.free, nil }

// A division that does not fit the disk, or the memory of a worker, is refused before a job starts. Of a disk that may be too small there is a warning.
func TestRefused(t *testing.T) {
	s := typed(t)
	for name, c := range map[string]struct {
		free, memory int64
		err          error
		warned       bool
	}{"small disk": {1 << 10, 0, vfs.ErrSpace, false}, "perhaps": {400 << 10, 0, nil, true}, "large": {1 << 40, 0, nil, false}, "small memory": {1 << 40, 1 << 10, limits.ErrMemory, false}} {
		t.Run(name, func(t *testing.T) {
			e, warned := engine(2), false
			r := runOf(t, s, t.TempDir(), e)
			r.FS, r.Stalled = smallDisk{fsys, c.free}, func(string) { warned = true }
			of := divisionOf(2)
			of.Memory = c.memory
			rows, _, _, err := r.Divide(t.Context(), of)
			if !errors.Is(err, c.err) || (e.Jobs > 0) != (c.err == nil) || warned != c.warned {
				t.Errorf("found %v, %d jobs and a warning %v, expected %v and %v", err, e.Jobs, warned, c.err, c.warned)
			}
			if rows != nil {
				if err := rows.Close(); err != nil {
					t.Error(err)
				}
			}
			if _, err := r.End(nil); err != nil {
				t.Error(err)
			}
		})
	}
}
