package extsort

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/graphmill/graphmill/internal/fsx"
)

// blockBytes is the unit in which a Spill takes memory.
const blockBytes = 1 << 20

// Spill stores extents of bytes. Put and Get may be called from several
// goroutines; Close ends it.
type Spill struct {
	fs    fsx.FS
	dir   string
	limit int64 // bytes of memory

	mu     sync.Mutex
	blocks [][]byte // blockBytes each; addresses below limit are theirs
	used   int64    // of the blocks, rounded up where an extent did not fit
	file   fsx.File
	end    int64 // of the file
}

// Extent is where bytes lie: addresses below Spill.limit are memory, those above
// are the file.
type Extent struct {
	at int64
	n  int
}

// Len is the number of bytes.
func (e Extent) Len() int { return e.n }

// NewSpill makes a Spill that holds up to memory bytes in memory and the rest in
// an unnamed file in dir, made when it is needed.
func NewSpill(fsys fsx.FS, dir string, memory int64) *Spill {
	return &Spill{fs: fsys, dir: dir, limit: max(memory, 0) / blockBytes * blockBytes}
}

// Close gives everything back.
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

// Spilled is the number of bytes in the file.
func (s *Spill) Spilled() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end
}

// place finds room for n bytes.
func (s *Spill) place(n int) (e Extent, mem []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n <= blockBytes {
		at := s.used
		if at/blockBytes != (at+int64(n)-1)/blockBytes {
			at = (at + blockBytes - 1) / blockBytes * blockBytes
		}
		if at+int64(n) <= s.limit {
			i := int(at / blockBytes)
			if i == len(s.blocks) {
				b, err := Slab(blockBytes)
				if err != nil {
					return e, nil, err
				}
				s.blocks = append(s.blocks, b)
			}
			s.used = at + int64(n)
			return Extent{at, n}, s.blocks[i][at%blockBytes:][:n], nil
		}
	}
	if s.file == nil {
		if s.file, err = s.fs.Temp(s.dir); err != nil {
			return e, nil, err
		}
	}
	e = Extent{s.limit + s.end, n}
	s.end += int64(n)
	return e, nil, nil
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
	if e.at < s.limit {
		copy(b, s.blocks[e.at/blockBytes][e.at%blockBytes:][:e.n])
		return nil
	}
	if n, err := s.file.ReadAt(b, e.at-s.limit); err != nil && !(errors.Is(err, io.EOF) && n == len(b)) {
		return fmt.Errorf("temporary file in %s: %w", s.dir, err)
	}
	return nil
}
