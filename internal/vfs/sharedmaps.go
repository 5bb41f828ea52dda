package vfs

import (
	"io/fs"
	"os"
	"sync"
)

// SharedMaps returns fsys with the rule that a file which is mapped several times is mapped once: its bytes have one place, whichever of its names it was opened
// by, until the last map is removed. So versions of a store that share files also share their pages.
func SharedMaps(fsys FS) FS { return &sharedMaps{FS: fsys, open: map[int64][]*sharedMap{}} }

type sharedMaps struct {
	FS
	mu   sync.Mutex
	open map[int64][]*sharedMap // by size
}

// sharedMap is the map of a file.
type sharedMap struct {
	info  fs.FileInfo
	bytes []byte
	unmap func() error
	uses  int
}

// Open implements FS.
func (s *sharedMaps) Open(name string) (File, error) {
	f, err := s.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return sharedFile{f, s}, nil
}

type sharedFile struct {
	File
	maps *sharedMaps
}

// Map implements File.
func (f sharedFile) Map() ([]byte, func() error, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	s := f.maps
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.open[info.Size()] {
		if os.SameFile(m.info, info) && m.info.ModTime().Equal(info.ModTime()) {
			m.uses++
			return m.bytes, s.removes(m), nil
		}
	}
	b, unmap, err := f.File.Map()
	if err != nil || len(b) == 0 {
		return b, unmap, err
	}
	m := &sharedMap{info, b, unmap, 1}
	s.open[info.Size()] = append(s.open[info.Size()], m)
	return b, s.removes(m), nil
}

// removes is the function that ends a use of a map.
func (s *sharedMaps) removes(m *sharedMap) func() error {
	return func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if m.uses--; m.uses > 0 {
			return nil
		}
		of := s.open[m.info.Size()]
		for i := range of {
			if of[i] == m {
				s.open[m.info.Size()] = append(of[:i:i], of[i+1:]...)
			}
		}
		if len(s.open[m.info.Size()]) == 0 {
			delete(s.open, m.info.Size())
		}
		return m.unmap()
	}
}
