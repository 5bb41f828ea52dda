package answer

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// A value is closed once, after its last use, and never before another one was taken.
func TestVersions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var v Versions[int]
		closed := map[int]*atomic.Int32{}
		uses := map[int]int{}
		var held []*Held[int]
		newest := 0
		take := func() {
			newest++
			n := newest
			times := &atomic.Int32{}
			closed[n] = times
			v.Take(n, func() { times.Add(1) })
		}
		take()
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			switch i := rapid.IntRange(0, 3).Draw(t, "step"); {
			case i == 0:
				take()
			case i == 1 && len(held) > 0:
				k := rapid.IntRange(0, len(held)-1).Draw(t, "leaves")
				uses[held[k].Value]--
				held[k].Leave()
				held = append(held[:k], held[k+1:]...)
			default:
				h := v.Enter()
				if h.Value != newest {
					t.Fatalf("found value %d, expected the newest, %d", h.Value, newest)
				}
				uses[h.Value]++
				held = append(held, h)
			}
			v.closing.Wait()
			for n := 1; n <= newest; n++ {
				if want := n < newest && uses[n] == 0; (closed[n].Load() == 1) != want || closed[n].Load() > 1 {
					t.Fatalf("value %d of %d with %d uses: found it closed %d times", n, newest, uses[n], closed[n].Load())
				}
			}
		}
		v.Close()
		for _, h := range held {
			h.Leave()
		}
		v.closing.Wait()
		for n := 1; n <= newest; n++ {
			if closed[n].Load() != 1 {
				t.Fatalf("value %d of %d: found it closed %d times, expected once", n, newest, closed[n].Load())
			}
		}
	})
}

// Values change while many use them, and no use sees a closed one.
func TestVersionsTogether(t *testing.T) {
	var v Versions[*atomic.Bool]
	take := func() {
		open := &atomic.Bool{}
		open.Store(true)
		v.Take(open, func() { open.Store(false) })
	}
	take()
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for range 2000 {
				h := v.Enter()
				if !h.Value.Load() {
					t.Error("found a value that is closed, expected an open one")
				}
				h.Leave()
			}
		})
	}
	for range 500 {
		take()
	}
	users.Wait()
	v.Close()
}

// A question beyond the bound is refused at once; one within it waits for a place.
func TestPlaces(t *testing.T) {
	p := NewPlaces(1, 1)
	if err := p.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	waited := make(chan error)
	go func() { waited <- p.Enter(t.Context()) }()
	for p.Waiting() == 0 { // until it waits
	}
	if err := p.Enter(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("found %v, expected a refusal", err)
	}
	if p.Working() != 1 || p.Waiting() != 1 {
		t.Errorf("found %d working and %d waiting, expected 1 and 1", p.Working(), p.Waiting())
	}
	p.Leave()
	if err := <-waited; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Enter(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the end of the context", err)
	}
	p.Leave()
}
