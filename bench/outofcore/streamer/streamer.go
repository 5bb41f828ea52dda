//go:build unix

package streamer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Kinds of errors.
var (
	// ErrOptions is the error of options that have no meaning, or none for the chunks.
	ErrOptions = errors.New("wrong options")
	// ErrNode is the error of a requested node that is no training node.
	ErrNode = errors.New("no training node")
	// ErrClosed is the error of a call after Close.
	ErrClosed = errors.New("streamer is closed")
	// ErrNoEpoch is the error of Sample before NewEpochStart.
	ErrNoEpoch = errors.New("no epoch has started")
)

// None is in the place of a neighbour that a node does not have: -1 in 32 bits.
const None = chunk.None

// maxFanout keeps the sizes of buffers in 64 bits.
const maxFanout = 1 << 20

// Options say what to sample.
type Options struct {
	// Seeds are the training nodes, in any order. Every epoch samples all of them.
	Seeds []uint32
	// Fanouts are the neighbours to take per node of each layer, from the training nodes outwards.
	Fanouts []int
	Seed    uint64
	Epoch   uint64 // number of the first epoch
	Epochs  int    // 0 means without end
	// Ahead is the fraction of the nodes of an epoch after whose request the next epoch begins; 0 means 0.8. From 1 on,
	// only SampleNextEpoch and NewEpochStart begin it.
	Ahead   float64
	Threads int // that sample a chunk; 0 means 1
}

// Streamer samples epochs from chunks. Sample may be called from several goroutines, with a Batch each. The other
// methods may be called at the same time.
type Streamer struct {
	set     *chunk.Set
	file    *direct.File
	o       Options
	layers  []layer
	buffers [2][]byte
	marks   []uint64 // of nodes: the next frontier
	free    []func()
	ctx     context.Context
	cancel  context.CancelFunc

	control sync.Mutex // held by SampleNextEpoch, NewEpochStart and Close
	next    *epoch
	work    *work // on the next epoch; nil until it begins
	begun   int   // epochs so far
	closed  bool

	mu      sync.RWMutex // guards the epoch that Sample reads
	current *epoch

	asked   atomic.Int64 // requested nodes of the current epoch
	ahead   int64        // requested nodes from which the next epoch begins
	read    atomic.Int64 // chunks
	skipped atomic.Int64
}

// work is an epoch that is being sampled in the background.
type work struct {
	done chan struct{}
	err  error // after done
}

// layer is the part of a layer that all epochs share.
type layer struct {
	fanout int
	most   int      // nodes in the frontier
	seeds  []uint32 // the frontier of layer 0
}

// Stats counts reads.
type Stats struct {
	BytesRead                 int64
	ChunksRead, ChunksSkipped int64
}

// Open allocates all buffers and begins the first epoch. edges is an edge type of the folder, or empty where the folder
// has one. Work in the background ends when ctx does.
func Open(ctx context.Context, fsys vfs.FS, dir, edges string, o Options) (_ *Streamer, err error) {
	m, err := chunk.Read(fsys, dir)
	if err != nil {
		return nil, err
	}
	if edges == "" && len(m.Edges) == 1 {
		edges = slices.Collect(maps.Keys(m.Edges))[0]
	}
	e, ok := m.Edges[edges]
	if !ok {
		return nil, tagged.Errorf(ErrOptions, "%s: found edge type %q, expected one of %s", dir, edges, strings.Join(slices.Sorted(maps.Keys(m.Edges)), ", "))
	}
	near, far, err := e.Ends(edges)
	if err != nil {
		return nil, err
	}
	if near != far && len(o.Fanouts) > 1 {
		return nil, tagged.Errorf(ErrOptions, "%s: found %d fanouts, expected one: %s leads from %s to %s", dir, len(o.Fanouts), edges, near, far)
	}
	o.Threads = max(o.Threads, 1)
	if o.Ahead == 0 {
		o.Ahead = 0.8
	}
	s := &Streamer{o: o}
	if err := s.plan(m.Nodes[near]); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if s.set, err = chunk.OpenSet(fsys, dir, m, edges); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	if s.file, err = direct.Open(fsys, filepath.Join(dir, filepath.FromSlash(e.Chunks))); err == nil {
		err = s.allocate()
	}
	if err == nil {
		err = s.SampleNextEpoch()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// plan checks the options and finds the size of each layer.
func (s *Streamer) plan(nodes uint64) error {
	o := &s.o
	if len(o.Seeds) == 0 || len(o.Fanouts) == 0 {
		return tagged.Errorf(ErrOptions, "found %d training nodes and %d fanouts, expected at least one of each", len(o.Seeds), len(o.Fanouts))
	}
	if !(o.Ahead > 0) || o.Epochs < 0 {
		return tagged.Errorf(ErrOptions, "found a fraction of %v and %d epochs, expected positive numbers", o.Ahead, o.Epochs)
	}
	seeds := slices.Clone(o.Seeds)
	slices.Sort(seeds)
	seeds = slices.Compact(seeds)
	if last := seeds[len(seeds)-1]; uint64(last) >= nodes {
		return tagged.Errorf(ErrOptions, "found the training node %d, expected one below %d", last, nodes)
	}
	s.ahead = int64(math.Ceil(min(o.Ahead, 1) * float64(len(seeds))))
	most := uint64(len(seeds))
	for i, k := range o.Fanouts {
		if k < 1 || k > maxFanout {
			return tagged.Errorf(ErrOptions, "found fanout %d, expected 1 to %d; results have a place for each", k, maxFanout)
		}
		s.layers = append(s.layers, layer{fanout: k, most: int(most)})
		if i == 0 {
			s.layers[0].seeds = seeds
		}
		most = min(most*uint64(k), nodes)
	}
	return nil
}

// allocate allocates all memory.
func (s *Streamer) allocate() error {
	size := int64(0)
	for i := range s.set.Rows {
		size = max(size, s.length(i))
	}
	b, free, err := direct.Alloc(int(2 * size))
	if err != nil {
		return err
	}
	s.free = append(s.free, free)
	s.buffers = [2][]byte{b[:size:size], b[size:]}
	if len(s.layers) > 1 {
		marks, free, err := direct.Array[uint64](int(s.set.Far+63) / 64)
		if err != nil {
			return err
		}
		s.marks, s.free = marks, append(s.free, free)
	}
	for _, e := range []**epoch{&s.current, &s.next} {
		if *e, err = s.newEpoch(); err != nil {
			return err
		}
	}
	return nil
}

// length is the number of bytes of a chunk that are read, which is without most of its padding.
func (s *Streamer) length(i int) int64 {
	return (s.set.Rows[i].Size() + direct.Align - 1) / direct.Align * direct.Align
}

// SampleNextEpoch begins the epoch after the current one and returns. It does nothing where that has begun, and after
// the last epoch.
func (s *Streamer) SampleNextEpoch() error {
	s.control.Lock()
	defer s.control.Unlock()
	return s.begin()
}

// begin is SampleNextEpoch for callers that hold control.
func (s *Streamer) begin() error {
	switch {
	case s.closed:
		return ErrClosed
	case s.work != nil || s.o.Epochs > 0 && s.begun == s.o.Epochs:
		return nil
	}
	w := &work{done: make(chan struct{})}
	s.next.number = s.o.Epoch + uint64(s.begun)
	s.work = w
	s.begun++
	go func() {
		defer close(w.done)
		w.err = s.sampleEpoch(s.ctx, s.next)
	}()
	return nil
}

// NewEpochStart waits until the next epoch is sampled, which it begins if necessary, and makes it the current one, from
// which Sample reads. It returns io.EOF after the last epoch. After an error, another call tries the epoch again.
func (s *Streamer) NewEpochStart() error {
	s.control.Lock()
	defer s.control.Unlock()
	if err := s.begin(); err != nil {
		return err
	}
	if s.work == nil {
		return io.EOF
	}
	<-s.work.done
	err := s.work.err
	s.work = nil
	if err != nil {
		s.begun--
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.next = s.next, s.current
	s.asked.Store(0)
	return nil
}

// Epoch is the number of the current epoch. ok is false before the first.
func (s *Streamer) Epoch() (number uint64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.current == nil || !s.current.sampled {
		return 0, false
	}
	return s.current.number, true
}

// Stats is the reads so far.
func (s *Streamer) Stats() Stats {
	return Stats{s.file.Read(), s.read.Load(), s.skipped.Load()}
}

// Close ends the work in the background and frees all memory. It may be called twice.
func (s *Streamer) Close() error {
	s.cancel()
	s.control.Lock()
	defer s.control.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.work != nil {
		<-s.work.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.next = nil, nil
	for _, f := range s.free {
		f()
	}
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// words views the start of a buffer as a chunk.
func words(b []byte) chunk.Chunk { return chunk.Chunk(graph.View[uint32](b)) }
