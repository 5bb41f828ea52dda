//go:build unix

package streamer

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/sample"
)

// epoch is the results of one epoch. Its lists have room for the largest possible size.
type epoch struct {
	number  uint64
	sampled bool
	layers  []results
}

// results is the sample of each node in the frontier of a layer.
type results struct {
	frontier []uint32 // sorted, without repeats
	// starts is, in layers after the first, the place in the frontier where the nodes of each run of 2^runBits ids
	// begin, so that a search starts with few nodes.
	starts []uint32
	// sampled holds fanout neighbours per node of the frontier, and None where there are fewer.
	sampled []uint32
}

const runBits = 7

// newEpoch allocates the memory of an epoch.
func (s *Streamer) newEpoch() (*epoch, error) {
	e := &epoch{}
	for i, l := range s.layers {
		r := results{frontier: l.seeds}
		var err error
		take := func(n int) []uint32 {
			if err != nil {
				return nil
			}
			var a []uint32
			var free func()
			if a, free, err = direct.Array[uint32](n); err == nil {
				s.free = append(s.free, free)
			}
			return a
		}
		if i > 0 {
			r.frontier = take(l.most)[:0]
		}
		r.starts = take(int(s.set.Far>>runBits) + 2)
		r.sampled = take(l.most * l.fanout)
		if err != nil {
			return nil, fmt.Errorf("results of layer %d, of up to %d nodes with fanout %d: %w", i, l.most, l.fanout, err)
		}
		e.layers = append(e.layers, r)
	}
	return e, nil
}

// sampleEpoch samples all layers.
func (s *Streamer) sampleEpoch(ctx context.Context, e *epoch) error {
	e.sampled = false
	clear(s.marks)
	for i := range e.layers {
		r := &e.layers[i]
		if i == 0 {
			r.index()
		} else {
			s.collect(r)
		}
		key := draw.Key(s.o.Seed, e.number, uint64(sample.ScopeEpoch), 0, uint64(i)+1)
		if err := s.sampleLayer(ctx, r, s.layers[i].fanout, key, i+1 < len(e.layers)); err != nil {
			return err
		}
	}
	e.sampled = true
	return nil
}

// collect makes the frontier from the marked nodes, which are the neighbours of the previous layer, sorted. It removes
// the marks.
func (s *Streamer) collect(r *results) {
	f := r.frontier[:0]
	for i, w := range s.marks {
		if i&(1<<runBits/64-1) == 0 {
			r.starts[i>>(runBits-6)] = uint32(len(f))
		}
		for ; w != 0; w &= w - 1 {
			f = append(f, uint32(i<<6|bits.TrailingZeros64(w)))
		}
		s.marks[i] = 0
	}
	r.frontier = f
	r.starts[(len(s.marks)+1)>>(runBits-6)] = uint32(len(f))
}

// index fills starts for an existing frontier.
func (r *results) index() {
	at := 0
	for i := range r.starts {
		for at < len(r.frontier) && int(r.frontier[at]>>runBits) < i {
			at++
		}
		r.starts[i] = uint32(at)
	}
}

// find is the place of a node in the frontier, by binary search.
func (r *results) find(v uint32) (int, bool) {
	run := v >> runBits
	if int(run)+1 >= len(r.starts) {
		return 0, false
	}
	from, to := r.starts[run], r.starts[run+1]
	i, ok := slices.BinarySearch(r.frontier[from:to], v)
	return int(from) + i, ok
}

// part is a chunk and the nodes of the frontier in it.
type part struct {
	chunk    int
	from, to int
}

// parts divides a frontier. Chunks without a node of it are left out.
func (s *Streamer) parts(frontier []uint32) []part {
	var list []part
	at := 0
	for i, r := range s.set.Rows {
		n, ok := slices.BinarySearch(frontier[at:], r.End())
		if ok {
			n++
		}
		if n > 0 {
			list = append(list, part{i, at, at + n})
		}
		at += n
	}
	return list
}

// sampleLayer reads the chunks of a layer, one while the previous one is sampled.
func (s *Streamer) sampleLayer(ctx context.Context, r *results, fanout int, key uint64, mark bool) error {
	parts := s.parts(r.frontier)
	s.skipped.Add(int64(len(s.set.Rows) - len(parts)))
	full := make(chan int, len(s.buffers)) // parts that are read, in order
	free := make(chan struct{}, len(s.buffers))
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		for n, p := range parts {
			select {
			case free <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := s.readChunk(ctx, p.chunk, s.buffers[n%len(s.buffers)]); err != nil {
				return err
			}
			s.read.Add(1)
			full <- n
		}
		return nil
	})
	g.Go(func() error {
		for range parts {
			select {
			case n := <-full:
				if err := s.sampleChunk(ctx, r, parts[n], s.buffers[n%len(s.buffers)], fanout, key, mark); err != nil {
					return err
				}
				<-free
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return g.Wait()
}

const (
	readBytes = 1 << 20 // bytes per read
	readDepth = 8       // reads at a time, which keep an SSD busy
)

// readChunk reads a chunk into a buffer.
func (s *Streamer) readChunk(ctx context.Context, i int, b []byte) error {
	size, offset := s.length(i), s.set.Offset(i)
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range min(readDepth, (size+readBytes-1)/readBytes) {
		g.Go(func() error {
			for {
				at := next.Add(readBytes) - readBytes
				if at >= size {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				p := b[at:min(at+readBytes, size)]
				// The last chunk may end in the middle of a page.
				if n, err := s.file.ReadAt(p, offset+at); err != nil {
					return err
				} else if want := min(int64(len(p)), s.file.Size()-offset-at); int64(n) < want {
					return fmt.Errorf("%s: %w: found %d bytes, expected %d; the file was cut", s.set.Place(i, uint64(at)/4), chunk.ErrFormat, n, want)
				}
			}
		})
	}
	return g.Wait()
}

// blockNodes is the number of nodes that a thread takes at a time.
const blockNodes = 2048

// sampleChunk samples the nodes of a frontier that are in a chunk, and marks the neighbours.
func (s *Streamer) sampleChunk(ctx context.Context, r *results, p part, b []byte, fanout int, key uint64, mark bool) error {
	row := s.set.Rows[p.chunk]
	k := kernel{s: s, chunk: words(b)[:row.Words()], number: p.chunk, fanout: fanout, key: key, mark: mark}
	if err := k.chunk.CheckHead(row); err != nil {
		return fmt.Errorf("%s: %w; the file has changed since it was opened", s.set.Place(p.chunk, 0), err)
	}
	var next atomic.Int64
	next.Store(int64(p.from))
	g, ctx := errgroup.WithContext(ctx)
	for range min(s.o.Threads, (p.to-p.from+blockNodes-1)/blockNodes) {
		g.Go(func() error {
			k := k
			for {
				from := int(next.Add(blockNodes) - blockNodes)
				if from >= p.to {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				to := min(from+blockNodes, p.to)
				if err := k.run(r.frontier[from:to], r.sampled[from*fanout:to*fanout], row.Start); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}
