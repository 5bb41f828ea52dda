package extsort

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/graphmill/graphmill/internal/vfs"
)

// blockBytes is the unit in which a Spill takes memory.
const blockBytes = 1 << 20

// pageBytes is the unit of the place of an extent: with writes of whole pages the system need not read the rest of a
// page.
const pageBytes = 4 << 10

// Spill stores extents of bytes. Its methods except Close may be called from several goroutines. Close ends it.
type Spill struct {
	fs    vfs.FS
	dir   string
	limit int64 // bytes of memory

	mu     sync.Mutex
	blocks [][]byte // blockBytes each; they have the addresses below limit
	used   int64    // bytes of the blocks
	file   vfs.File
	end    int64           // of the file
	free   map[int][]int64 // freed places, by size
}

// Extent is the place of bytes: addresses below Spill.limit are memory, those above are the file.
type Extent struct {
	at int64
	n  int
}

// Len is the number of bytes.
func (e Extent) Len() int { return e.n }

// NewSpill makes a Spill that keeps up to memory bytes in memory and the rest in an unnamed file in dir, which is made
// when it is needed.
func NewSpill(fsys vfs.FS, dir string, memory int64) *Spill {
	return &Spill{fs: fsys, dir: dir, limit: max(memory, 0) / blockBytes * blockBytes, free: map[int][]int64{}}
}

// Close frees everything.
func (s *Spill) Close() error {
	for _, b := range s.blocks {
		Free(b)
	}
	s.blocks = nil
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}

// discardFrom is the size from which the file gives the space of freed extents back to the disk. In a smaller one the space is
// not worth the calls. Tests lower it.
var discardFrom = int64(1 << 30)

// Free frees extents, so that others can use their places. The bytes of the extents are lost. A large file on a disk with little
// room gives their space back to the disk, where the file system can, so that what is made of them has room.
func (s *Spill) Free(es ...Extent) {
	if s.short() {
		file := s.file
		for _, e := range es { // before another extent can have the place
			if e.n > 0 && e.at >= s.limit {
				file.Discard(e.at-s.limit, int64(pages(e.n)))
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range es {
		if n := pages(e.n); n > 0 {
			s.free[n] = append(s.free[n], e.at)
		}
	}
}

// short reports whether the disk may have too little room for what is made of the extents: less than twice the size of the file. Where
// the disk has more, the space is not given back: a file system that tells its device of each freed range (ext4 with the option discard)
// takes as long for it as for the data, and merging would wait for both.
func (s *Spill) short() bool {
	s.mu.Lock()
	size := s.end
	s.mu.Unlock()
	if size == 0 || size < discardFrom {
		return false
	}
	free, err := s.fs.Free(s.dir)
	return err != nil || free < 2*size
}

func pages(n int) int { return (n + pageBytes - 1) &^ (pageBytes - 1) }

// place finds room for n bytes. mem is the room if it is in memory, else nil.
func (s *Spill) place(n int) (e Extent, mem []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := pages(n)
	if list := s.free[size]; len(list) > 0 {
		e = Extent{list[len(list)-1], n}
		s.free[size] = list[:len(list)-1]
		return e, s.memory(e), nil
	}
	if size <= blockBytes {
		at := s.used
		if at/blockBytes != (at+int64(size)-1)/blockBytes {
			at = (at + blockBytes - 1) / blockBytes * blockBytes
		}
		if at+int64(size) <= s.limit {
			if int(at/blockBytes) == len(s.blocks) {
				b, err := Slab(blockBytes)
				if err != nil {
					return e, nil, err
				}
				s.blocks = append(s.blocks, b)
			}
			s.used = at + int64(size)
			e = Extent{at, n}
			return e, s.memory(e), nil
		}
	}
	if s.file == nil {
		if s.file, err = s.fs.Temp(s.dir); err != nil {
			return e, nil, err
		}
	}
	e = Extent{s.limit + s.end, n}
	s.end += int64(size)
	return e, nil, nil
}

// memory is the bytes of an extent in memory, nil for an extent in the file.
func (s *Spill) memory(e Extent) []byte {
	if e.at >= s.limit {
		return nil
	}
	return s.blocks[e.at/blockBytes][e.at%blockBytes:][:e.n]
}

// inMemory is memory, for any goroutine.
func (s *Spill) inMemory(e Extent) []byte {
	s.mu.Lock() // for the list of blocks, which grows
	defer s.mu.Unlock()
	return s.memory(e)
}

// Put stores a copy of b.
func (s *Spill) Put(b []byte) (Extent, error) {
	if len(b) == 0 {
		return Extent{}, nil
	}
	e, mem, err := s.place(len(b))
	if err != nil {
		return e, err
	}
	if mem != nil {
		copy(mem, b)
		return e, nil
	}
	if _, err := s.file.WriteAt(b, e.at-s.limit); err != nil {
		return e, fmt.Errorf("temporary file in %s: %w", s.dir, err)
	}
	return e, nil
}

// Get reads an extent into b, which has its length.
func (s *Spill) Get(e Extent, b []byte) error {
	if e.n == 0 {
		return nil
	}
	if mem := s.inMemory(e); mem != nil {
		copy(b, mem)
		return nil
	}
	if n, err := s.file.ReadAt(b, e.at-s.limit); err != nil && !(errors.Is(err, io.EOF) && n == len(b)) {
		return fmt.Errorf("temporary file in %s: %w", s.dir, err)
	}
	return nil
}
