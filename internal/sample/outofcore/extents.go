package outofcore

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/guard"
)

// extent is a piece of a stream of words: its number in the scratch file, its words, and their checksum.
type extent struct {
	number, words uint32
	sum           uint64
}

// errScratch is the error of a scratch file that does not hold what was written.
var errScratch = errors.New("found other bytes than were written")

// extents is a scratch file cut into extents of one size.
type extents struct {
	*direct.Scratch
	size int // words of an extent

	mu   sync.Mutex
	free []uint32
	next uint32
}

// aligned is the bytes of an extent, rounded up to what can be read and written at once.
func (e extent) aligned(buf []uint32) []byte {
	const align = direct.Align / 4
	return graph.Bytes(buf[:(int(e.words)+align-1)/align*align])
}

func checksum(words []uint32) uint64 { return xxh3.Hash(graph.Bytes(words)) }

// write stores the first words of buf, a buffer of an extent, in a free extent.
func (x *extents) write(buf []uint32, words int) (extent, error) {
	e := extent{words: uint32(words), sum: checksum(buf[:words])}
	x.mu.Lock()
	if last := len(x.free) - 1; last >= 0 {
		e.number, x.free = x.free[last], x.free[:last]
	} else {
		e.number = x.next
		x.next++
	}
	x.mu.Unlock()
	return e, x.WriteAt(e.aligned(buf), int64(e.number)*int64(x.size)*4)
}

// give marks extents as free.
func (x *extents) give(list []extent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range list {
		x.free = append(x.free, e.number)
	}
}

// read calls fn with the words of each extent, either from several goroutines and in any order, or one extent after the
// other in the order of the list. As many goroutines read as there are buffers, of an extent each.
func (x *extents) read(ctx context.Context, list []extent, bufs [][]uint32, inOrder bool, fn func(words []uint32) error) error {
	var mu sync.Mutex
	next, last := 0, make(chan struct{})
	close(last)
	take := func() (i int, before, done chan struct{}) {
		mu.Lock()
		defer mu.Unlock()
		i, before, last = next, last, make(chan struct{})
		next++
		return i, before, last
	}
	g, ctx := guard.WithContext(ctx)
	for _, buf := range bufs[:min(len(bufs), len(list))] {
		g.Go(func() error {
			for ctx.Err() == nil {
				i, before, done := take()
				if i >= len(list) {
					return nil
				}
				e := list[i]
				if err := x.ReadAt(e.aligned(buf), int64(e.number)*int64(x.size)*4); err != nil {
					return err
				}
				if checksum(buf[:e.words]) != e.sum {
					return fmt.Errorf("%s: byte offset %d: %w; run again", x.Name(), int64(e.number)*int64(x.size)*4, errScratch)
				}
				if inOrder {
					select {
					case <-before:
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				if err := fn(buf[:e.words]); err != nil {
					return fmt.Errorf("%s: byte offset %d: %w; run again", x.Name(), int64(e.number)*int64(x.size)*4, err)
				}
				close(done)
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// streams are lists of words that several goroutines append to, each through a packer.
type streams struct {
	file *extents
	list []stream
}

type stream struct {
	mu      sync.Mutex
	buf     []uint32
	n       int // words in buf
	extents []extent
}

// newStreams makes n streams, which use the first n buffers.
func newStreams(file *extents, n int, bufs [][]uint32) *streams {
	s := &streams{file: file, list: make([]stream, n)}
	for i := range s.list {
		s.list[i].buf = bufs[i]
	}
	return s
}

// add appends a run of words, which stays in one extent and is at most as large. The caller swaps a full buffer for its
// spare buffer and writes it, while others go on.
func (s *streams) add(i int, words []uint32, spare *[]uint32) error {
	st := &s.list[i]
	st.mu.Lock()
	if st.n+len(words) <= len(st.buf) {
		st.n += copy(st.buf[st.n:], words)
		st.mu.Unlock()
		return nil
	}
	full, n := st.buf, st.n
	st.buf = *spare
	st.n = copy(st.buf, words)
	st.mu.Unlock()
	*spare = full
	e, err := s.file.write(full, n)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.extents = append(st.extents, e)
	return err
}

// finish writes the rest, and returns the extents of each stream.
func (s *streams) finish(ctx context.Context) ([][]extent, error) {
	out := make([][]extent, len(s.list))
	for i := range s.list {
		st := &s.list[i]
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if st.n > 0 {
			e, err := s.file.write(st.buf, st.n)
			if err != nil {
				return nil, err
			}
			st.extents = append(st.extents, e)
		}
		out[i] = st.extents
	}
	return out, nil
}

// packWords is the number of words that a packer collects for a stream.
const packWords = 512

// packer collects the words of one goroutine for streams. The words of one call of room stay together.
type packer struct {
	to    *streams
	spare []uint32
	packs [][]uint32
}

// newPacker makes a packer that owns spare, a buffer of an extent. Its buffers and the streams' may change
// places.
func newPacker(to *streams, spare []uint32) *packer {
	p := &packer{to: to, spare: spare, packs: make([][]uint32, len(to.list))}
	words := make([]uint32, len(to.list)*packWords)
	for i := range p.packs {
		p.packs[i] = words[i*packWords : i*packWords : (i+1)*packWords]
	}
	return p
}

// room is n words, at most packWords, which the caller fills before the next call.
func (p *packer) room(i, n int) ([]uint32, error) {
	pack := p.packs[i]
	if len(pack)+n > cap(pack) {
		if err := p.to.add(i, pack, &p.spare); err != nil {
			return nil, err
		}
		pack = pack[:0]
	}
	p.packs[i] = pack[:len(pack)+n]
	return p.packs[i][len(pack):], nil
}

// flush hands all collected words to the streams.
func (p *packer) flush() error {
	for i, pack := range p.packs {
		if len(pack) == 0 {
			continue
		}
		if err := p.to.add(i, pack, &p.spare); err != nil {
			return err
		}
		p.packs[i] = pack[:0]
	}
	return nil
}
