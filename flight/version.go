package flight

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/graphmill/graphmill/internal/answer"
)

// served is a version that calls are answered from.
type served struct {
	plans *answer.Plans[*servedPlan]
}

// servedPlan is a plan of a version.
type servedPlan struct {
	*answer.Plan
	version string // its name
	schema  *arrow.Schema
	makers  chan *maker
}

// Take makes a version the one that new calls are answered from, without a pause; calls that are under way go on with theirs. The server owns it, also after an error.
func (s *Server) Take(v answer.Version) error {
	x, err := s.prepare(&v)
	if err != nil {
		v.Discard()
		return err
	}
	s.versions.Take(x, v.Close)
	s.metrics.Took(&v)
	return nil
}

// prepare prepares a version for calls.
func (s *Server) prepare(v *answer.Version) (*served, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	plans, err := answer.NewPlans(v.Plans, func(p *answer.Plan) (*servedPlan, error) {
		schema, err := schemaOf(p, v)
		if err != nil {
			return nil, err
		}
		x := &servedPlan{Plan: p, version: v.Name, schema: schema, makers: make(chan *maker, s.options.Threads)}
		for range s.options.Threads {
			x.makers <- &maker{Maker: p.Source.Maker()}
		}
		return x, nil
	})
	return &served{plans}, err
}

// Close retires the version that the server has. It is called once, after Serve.
func (s *Server) Close() { s.versions.Close() }
