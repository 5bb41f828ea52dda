package flight

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/graphmill/graphmill/internal/answer"
)

// served is a version that calls are answered from.
type served struct {
	answer.Version
	schema *arrow.Schema
	makers chan *maker
}

// Take makes a version the one that new calls are answered from, without a pause; calls that are under way go on with theirs. The server owns it, also after an error.
func (s *Server) Take(v answer.Version) error {
	x, err := s.prepare(v)
	if err != nil {
		if v.Close != nil {
			v.Close()
		}
		return err
	}
	s.versions.Take(x, v.Close)
	s.metrics.Took(v.Name)
	return nil
}

// prepare prepares a version for calls.
func (s *Server) prepare(v answer.Version) (*served, error) {
	if v.Source.Streamed() {
		return nil, answer.ErrStreamed
	}
	schema, err := schemaOf(v.Source, v.Name)
	if err != nil {
		return nil, err
	}
	x := &served{Version: v, schema: schema, makers: make(chan *maker, s.options.Threads)}
	for range s.options.Threads {
		x.makers <- &maker{Maker: v.Source.Maker()}
	}
	return x, nil
}

// Close retires the version that the server has. It is called once, after Serve.
func (s *Server) Close() { s.versions.Close() }
