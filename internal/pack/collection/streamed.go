package collection

import (
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
)

// StreamWriter writes the packs of a stream as they come, as the arrays of Fill. Graph ids have 64 bits,
// because the number of graphs is not known.
type StreamWriter struct {
	w        *store.Writer
	ptr, ids *store.Array
	alone    *store.Array // nil: Alone was not called
	at       uint64
	bytes    []byte
}

// NewStreamWriter creates the arrays. The caller closes it, then seals w.
func NewStreamWriter(w *store.Writer) (s *StreamWriter, err error) {
	s = &StreamWriter{w: w}
	if s.ptr, err = w.Array(PackPtrFile, graph.Uint64); err != nil {
		return nil, err
	}
	if _, err = s.ptr.Write(make([]byte, 8)); err == nil {
		s.ids, err = w.Array(GraphIDFile, graph.Uint64)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Write appends a pack.
func (s *StreamWriter) Write(ids []int64) error {
	s.at += uint64(len(ids))
	s.bytes = binary.LittleEndian.AppendUint64(s.bytes[:0], s.at)
	if _, err := s.ptr.Write(s.bytes); err != nil {
		return err
	}
	_, err := s.ids.Write(graph.Bytes(ids))
	return err
}

// Alone appends a graph that is larger than a pack to AloneFile.
func (s *StreamWriter) Alone(id int64) (err error) {
	if s.alone == nil {
		if s.alone, err = s.w.Array(AloneFile, graph.Uint64); err != nil {
			return err
		}
	}
	s.bytes = binary.LittleEndian.AppendUint64(s.bytes[:0], uint64(id))
	_, err = s.alone.Write(s.bytes)
	return err
}

// Finish completes the arrays and writes FillFile. Graphs that the stream skipped are alone if they were given
// to Alone, else left out.
func (s *StreamWriter) Finish(of *pack.Stream) error {
	meta := FillMeta{Format: 1, Epochs: 1, Packs: of.Packs, Graphs: of.Graphs, OversizeGraphs: of.Skipped}
	switch {
	case s.alone != nil:
		meta.Oversize = layout.Alone
	case of.Skipped > 0:
		meta.Oversize = layout.Skip
	}
	text, err := json.MarshalIndent(meta, "", " ")
	if err != nil {
		return err
	}
	return errors.Join(s.Close(), s.w.WriteFile(FillFile, append(text, '\n')))
}

// Close closes open files. It does nothing after Finish.
func (s *StreamWriter) Close() error {
	var err error
	for _, a := range []*store.Array{s.ptr, s.ids, s.alone} {
		if a != nil {
			err = errors.Join(err, a.Close())
		}
	}
	s.ptr, s.ids, s.alone = nil, nil, nil
	return err
}
