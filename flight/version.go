package flight

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/graphmill/graphmill/internal/feed"
)

// Find finds the number of a node of a type by its original id.
type Find func(nodeType, id string) (node int64, ok bool)

// Version is a version of a store that calls are answered from.
type Version struct {
	Source *feed.Source
	// Find is for requests with ids; nil refuses these. Several goroutines call it.
	Find Find
	// Name is in the metadata of the schema: the checksum of the store's manifest. "" leaves it out.
	Name string
	// Close, if not nil, is called once: when no call uses the version any more, and the server has another one or is closed.
	Close func()
}

// served is a version that a server has, until its last call has ended.
type served struct {
	Version
	schema *arrow.Schema
	makers chan *maker

	mu      sync.Mutex
	calls   int
	retired bool
}

// newServed prepares a version for calls that make up to threads batches at a time.
func newServed(v Version, threads int) (*served, error) {
	schema, err := schemaOf(v.Source, v.Name)
	if err != nil {
		return nil, err
	}
	x := &served{Version: v, schema: schema, makers: make(chan *maker, threads)}
	for range threads {
		x.makers <- &maker{Maker: v.Source.Maker()}
	}
	return x, nil
}

// leave ends a call, or with retire the time in which calls begin. The last one closes the version.
func (x *served) leave(retire bool) {
	x.mu.Lock()
	if retire {
		x.retired = true
	} else {
		x.calls--
	}
	last := x.retired && x.calls == 0
	x.mu.Unlock()
	if last && x.Close != nil {
		x.Close()
	}
}

// enter begins a call. It says false for a version that is retired.
func (x *served) enter() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.retired {
		return false
	}
	x.calls++
	return true
}

// enter begins a call of the newest version.
func (s *Server) enter() *served {
	for {
		if x := s.newest.Load(); x.enter() {
			return x
		}
	}
}

// Take makes a version the one that new calls are answered from, without a pause; calls that are under way go on with theirs. The server owns it, also after an error.
func (s *Server) Take(v Version) error {
	x, err := s.prepare(v)
	if err != nil {
		return err
	}
	s.newest.Swap(x).leave(true)
	return nil
}

// prepare checks a version, and closes one that cannot be served.
func (s *Server) prepare(v Version) (x *served, err error) {
	if v.Source.Streamed() {
		err = errStreamed
	} else {
		x, err = newServed(v, s.options.Threads)
	}
	if err != nil && v.Close != nil {
		v.Close()
	}
	return x, err
}

// Close retires the version that the server has. It is called once, after Serve.
func (s *Server) Close() { s.newest.Load().leave(true) }
