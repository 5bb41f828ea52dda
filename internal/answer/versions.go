package answer

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Find finds the number of a node of a type by its original id. Several goroutines call it.
type Find func(nodeType, id string) (node int64, ok bool)

// Version is a version of a store that questions are answered from.
type Version struct {
	// Plans are the plans that questions can name, the default one first. The next version has plans with the same names.
	Plans []Plan
	// Name names the version in answers: the checksum of the store's manifest. "" leaves it out.
	Name string
	// Segments is the number of segments that the store has, and Merged the bytes of memory that hold what they changed.
	Segments int
	Merged   int64
	// Close, if not nil, is called once: when nobody uses the version any more, and there is another one or the server is closed.
	Close func()
}

// Names are the names of the plans.
func (v *Version) Names() (names []string) {
	for i := range v.Plans {
		names = append(names, v.Plans[i].Name)
	}
	return names
}

// Check refuses a version that no server can answer from.
func (v *Version) Check() error {
	if len(v.Plans) == 0 {
		return errors.New("found a version without a plan, expected one at least")
	}
	for i := range v.Plans {
		if v.Plans[i].Source.Streamed() {
			return ErrStreamed
		}
	}
	return nil
}

// Discard closes a version that nobody uses.
func (v *Version) Discard() {
	if v.Close != nil {
		v.Close()
	}
}

// Versions holds the newest of several values. A value that was replaced is closed after its last use, in a goroutine of its own. T is what a server makes of a Version.
type Versions[T any] struct {
	newest  atomic.Pointer[Held[T]]
	closing sync.WaitGroup
}

// Held is a value of Versions that is in use.
type Held[T any] struct {
	Value T
	of    *Versions[T]
	close func()

	mu      sync.Mutex
	uses    int
	retired bool
}

// Take makes a value the one that Enter gives, without a pause for those that use the value before. close may be nil.
func (v *Versions[T]) Take(value T, close func()) {
	if old := v.newest.Swap(&Held[T]{Value: value, of: v, close: close}); old != nil {
		old.leave(true)
	}
}

// Enter is the newest value, until its Leave.
func (v *Versions[T]) Enter() *Held[T] {
	for {
		if h := v.newest.Load(); h.enter() {
			return h
		}
	}
}

// Close retires the value that is the newest, and returns when all values without a use are closed. Enter must not be called afterwards.
func (v *Versions[T]) Close() {
	if h := v.newest.Load(); h != nil {
		h.leave(true)
	}
	v.closing.Wait()
}

// Leave ends a use.
func (h *Held[T]) Leave() { h.leave(false) }

// enter begins a use. It says false for a value that is retired.
func (h *Held[T]) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.retired {
		return false
	}
	h.uses++
	return true
}

// leave ends a use, or with retire the time in which uses begin. The last one closes the value.
func (h *Held[T]) leave(retire bool) {
	h.mu.Lock()
	if retire {
		h.retired = true
	} else {
		h.uses--
	}
	last := h.retired && h.uses == 0
	h.mu.Unlock()
	if last && h.close != nil {
		h.of.closing.Go(h.close) // which can take long: the memory of a version is given back
	}
}
