package predictions

import (
	"math"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// pages gives the memory of the maps of a store back after many bytes were read.
type pages struct {
	store *store.Store
	most  int64 // bytes between two releases
	read  atomic.Int64
}

// bound sets how many bytes are held, of a store that may fit them as a whole.
func (p *pages) bound(fsys vfs.FS, bounded bool, most int64) error {
	size, err := store.Size(fsys, p.store.Dir)
	if p.most = most; !bounded || size <= most {
		p.most = math.MaxInt64
	}
	return err
}

// touched counts bytes that were read. Several goroutines may call it.
func (p *pages) touched(bytes int64) error {
	if p.read.Add(bytes) < p.most {
		return nil
	}
	p.read.Store(0)
	return p.store.Release()
}
