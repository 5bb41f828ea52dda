// Package sites shares the open work of a folder among the functions of a pipeline in one process.
package sites

import (
	"io"
	"sync"
)

// Sites are the works that this process has open, by folder.
type Sites[S io.Closer] struct {
	// Open opens the work of a folder. It tells the submitter of its error.
	Open func(dir string) (S, error)

	mu   sync.Mutex
	open map[string]*site[S]
}

type site[S io.Closer] struct {
	once sync.Once
	site S
	err  error
	uses int
}

// Use opens the work of a folder, or takes the open one. Each use ends with Release, also after an error.
func (s *Sites[S]) Use(dir string) (S, error) {
	s.mu.Lock()
	if s.open == nil {
		s.open = map[string]*site[S]{}
	}
	o := s.open[dir]
	if o == nil {
		o = &site[S]{}
		s.open[dir] = o
	}
	o.uses++
	s.mu.Unlock()
	o.once.Do(func() { o.site, o.err = s.Open(dir) })
	return o.site, o.err
}

// Release ends a use. The last one closes the work.
func (s *Sites[S]) Release(dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[dir]
	if o == nil {
		return nil
	}
	if o.uses--; o.uses > 0 {
		return nil
	}
	delete(s.open, dir)
	if o.err != nil {
		return nil
	}
	return o.site.Close()
}

// All is a function that returns the records of an iterator of Beam, one after the other.
func All(next func(*[]byte) bool) func() ([]byte, bool) {
	return func() ([]byte, bool) {
		var b []byte
		ok := next(&b)
		return b, ok
	}
}
