//go:build unix

package trial

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

const (
	// mappedWaiters is the number of goroutines per thread that wait for pages.
	mappedWaiters = 8
	// mappedTime is the period in which batches are counted.
	mappedTime = 20 * time.Second
	// mappedPieces is the number of pieces of a file that are given back one by one.
	mappedPieces = 128
	// keepEvery is the interval of checks of the size of the process, which grows by less than a megabyte in it.
	keepEvery = 3 * time.Millisecond
)

// mapping is a mapped array.
type mapping struct {
	bytes []byte // from the start of the file
	file  vfs.File
}

// mapped samples in memory over the mapped store, which may be resident only up to the limit.
func mapped(ctx context.Context, t *trial) (err error) {
	if resident(t.fs) == 0 {
		return errors.New("found no resident memory of the process, expected it in /proc/self/statm")
	}
	var maps []*mapping
	defer func() {
		for _, m := range maps {
			err = errors.Join(err, m.file.Close())
		}
	}()
	for _, a := range t.arrays() {
		m, err := t.open(a)
		if err != nil {
			return err
		}
		maps = append(maps, m)
	}
	// The sampler reads the whole map once, to check it.
	k := &keeper{fs: t.fs, limit: t.Memory, maps: maps}
	keeping, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	var failed error
	running.Go(func() {
		failed = k.run(keeping)
		stop()
	})
	defer func() {
		stop()
		running.Wait()
		if failed != nil {
			err = failed
		}
	}()
	s, err := sample.New(t.s.Graph, t.plan, sample.Options{NoEdgeIDs: t.o.NoEdgeIDs, Warn: t.o.Warn})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := k.empty(); err != nil {
		return err
	}
	return t.under(keeping, s, k)
}

// open is the map of an array.
func (t *trial) open(a array) (*mapping, error) {
	f, err := t.fs.Open(a.path)
	if err != nil {
		return nil, err
	}
	m := &mapping{file: f}
	if len(a.values) > 0 {
		// The values follow a header in the same map.
		m.bytes = unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(a.values)), -a.start)), int64(len(a.values))+a.start)
	}
	return m, nil
}

// give gives a piece back, first from the process and then from the page cache.
func (m *mapping) give(piece int) error {
	size := (len(m.bytes)/mappedPieces + direct.Align) / direct.Align * direct.Align
	from := min(piece*size, len(m.bytes))
	part := m.bytes[from:min(from+size, len(m.bytes))]
	if len(part) == 0 {
		return nil
	}
	err := vfs.Release(part)
	m.file.Evict(int64(from), int64(len(part)))
	return err
}

// keeper keeps the process within a limit by giving pieces of the maps back in turn.
type keeper struct {
	fs    vfs.FS
	limit int64
	maps  []*mapping

	mu    sync.Mutex
	full  bool // the limit was reached since empty
	piece int  // the next to give back
}

// run keeps the limit until ctx is done.
func (k *keeper) run(ctx context.Context) error {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := k.keep(); err != nil {
			return err
		}
	}
}

// keep gives pieces back until the process is within the limit.
func (k *keeper) keep() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for n := 0; resident(k.fs) > k.limit; n++ {
		if n == 2*mappedPieces { // meanwhile others read pieces again
			return tagged.Errorf(ErrOptions, "found `Memory` %s, expected more than the %s that the process holds in addition to the neighbours", human.Bytes(k.limit), human.Bytes(resident(k.fs)))
		}
		k.full = true
		if err := k.give(k.piece); err != nil {
			return err
		}
		k.piece = (k.piece + 1) % mappedPieces
	}
	return nil
}

func (k *keeper) give(piece int) error {
	for _, m := range k.maps {
		if err := m.give(piece); err != nil {
			return err
		}
	}
	return nil
}

// empty gives everything back, and tells the kernel that from now on the maps are read at random.
func (k *keeper) empty() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.full = false
	for _, m := range k.maps {
		if len(m.bytes) == 0 {
			continue
		}
		if err := unix.Madvise(m.bytes, unix.MADV_RANDOM); err != nil {
			return err
		}
	}
	for i := range mappedPieces {
		if err := k.give(i); err != nil {
			return err
		}
	}
	return nil
}

// reached says whether the limit was reached.
func (k *keeper) reached() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.full
}

// resident is the bytes of the process in memory, and 0 where the system does not tell.
func resident(fsys vfs.FS) int64 {
	fields := strings.Fields(proc(fsys, "/proc/self/statm"))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// under samples until the limit is reached, and counts the batches that end in a period after that, or until the epochs
// end.
func (t *trial) under(ctx context.Context, s *sample.Sampler, k *keeper) error {
	job := t.job
	job.Threads = mappedWaiters * t.o.Threads
	t.r.Threads = job.Threads
	defer raiseProcs(job.Threads)()
	var (
		mu             sync.Mutex
		batches, edges uint64 // since the clock was started
		counted        uint64 // when it was stopped
		full, enough   bool
		errEnough      = errors.New("enough")
		each           = float64(job.EpochBatches(1))
	)
	if err := t.start(); err != nil {
		return err
	}
	count := func(_ *digest, _ *sample.Batch, sub *sample.Subgraph) error {
		mu.Lock()
		defer mu.Unlock()
		if !full && k.reached() {
			full, batches, edges = true, 0, 0
			return t.start()
		}
		batches++
		edges += sub.Drawn
		if full && time.Since(t.clock.at) > mappedTime {
			if !enough {
				enough, counted = true, batches
				if err := t.stop(float64(batches)/each, edges); err != nil {
					return err
				}
			}
			return errEnough
		}
		return nil
	}
	_, err := sample.Run(ctx, s, job, newDigest, count, func(*digest) error { return nil })
	switch {
	case enough && errors.Is(err, errEnough):
		t.r.Batches, t.r.Extrapolated = counted, true
		return nil
	case err != nil:
		return err
	case batches == 0:
		return errors.New("found no batch that ended after the limit was reached, expected some; take more seeds")
	}
	t.r.Batches, t.r.Extrapolated = batches, full
	return t.stop(float64(batches)/each, edges)
}
