package dispatch

import (
	"io"

	"github.com/graphmill/graphmill/graph"
)

// stream writes int64 values to a run of a file, front to back.
type stream struct {
	file io.WriterAt
	at   int64 // offset of the next byte
	buf  []uint64
	n    int
}

// put appends a value.
func (s *stream) put(v uint64) error {
	if s.n == len(s.buf) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.buf[s.n] = v
	s.n++
	return nil
}

// flush writes the buffered values.
func (s *stream) flush() error {
	b := graph.Bytes(s.buf[:s.n])
	s.n = 0
	return s.raw(b)
}

// raw writes bytes after the flushed ones.
func (s *stream) raw(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := s.file.WriteAt(b, s.at)
	s.at += int64(len(b))
	return err
}

// iota puts the numbers from up to, but not including, to.
func (s *stream) iota(from, to uint64) error {
	for from < to {
		if s.n == len(s.buf) {
			if err := s.flush(); err != nil {
				return err
			}
		}
		run := s.buf[s.n:]
		run = run[:min(uint64(len(run)), to-from)]
		for i := range run {
			run[i] = from + uint64(i)
		}
		s.n += len(run)
		from += uint64(len(run))
	}
	return nil
}

// fill writes v n times.
func fill[T graph.Numbers](s *stream, v T, n int) error {
	if err := s.flush(); err != nil || n == 0 {
		return err
	}
	run := graph.View[T](graph.Bytes(s.buf))
	for i := range run[:min(n, len(run))] {
		run[i] = v
	}
	for n > 0 {
		k := min(n, len(run))
		if err := s.raw(graph.Bytes(run[:k])); err != nil {
			return err
		}
		n -= k
	}
	return nil
}
