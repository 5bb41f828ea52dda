//go:build unix

package feed

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// joining is a socket at which owners join, and a function that joins.
func joining(t *testing.T) (*net.UnixListener, func() net.Conn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "") // t.TempDir may be longer than the path of a socket can be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	address := &net.UnixAddr{Name: filepath.Join(dir, "join"), Net: "unix"}
	l, err := net.ListenUnix("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	return l, func() net.Conn {
		t.Helper()
		c, err := net.DialUnix("unix", nil, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
}

// closed waits until the other end of a lifeline is closed.
func closed(t *testing.T, lifeline net.Conn) {
	t.Helper()
	_ = lifeline.SetReadDeadline(time.Now().Add(time.Minute)) // against a hang
	if n, err := lifeline.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Fatalf("found %d bytes and %v on a lifeline, expected its end", n, err)
	}
}

// open fails if the other end of a lifeline is closed.
func open(t *testing.T, lifeline net.Conn) {
	t.Helper()
	_ = lifeline.SetReadDeadline(time.Now().Add(50 * time.Millisecond)) // time for a wrong end
	if n, err := lifeline.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("found %d bytes and %v on a lifeline, expected it to stay open", n, err)
	}
}

// Owners join before and after the server is ready, and learn the same address. It serves until the last one leaves, in
// whichever order and way they do, and then nobody can join.
func TestOwners(t *testing.T) {
	for _, c := range []struct {
		name  string
		leave func(first, early, late net.Conn) []net.Conn // the order in which they leave
	}{
		{"first leaves first", func(first, early, late net.Conn) []net.Conn { return []net.Conn{first, early, late} }},
		{"first leaves last", func(first, early, late net.Conn) []net.Conn { return []net.Conn{late, early, first} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, join := joining(t)
			first, theirs := lifelines(t)
			early := join()
			owners := NewOwners(t.Context(), theirs, l, nil)
			ended := serving(source(t, Features{}, false), owners)
			ready := told(t, first)
			late := join()
			for _, o := range []net.Conn{early, late} {
				if got := told(t, o); got != ready {
					t.Errorf("found %+v, expected what the first owner was told: %+v", got, ready)
				}
			}
			order := c.leave(first, early, late)
			for i, o := range order[:2] {
				if err := o.(*net.UnixConn).CloseWrite(); err != nil {
					t.Fatal(err)
				}
				closed(t, o)
				for _, other := range order[i+1:] {
					open(t, other)
				}
				_ = connect(t, ready, hello{}).Close() // it still serves
			}
			last := order[2]
			if err := last.(*net.UnixConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			closed(t, last)
			if _, err := net.Dial("unix", l.Addr().String()); err == nil {
				t.Error("found a server that can be joined after its end")
			}
		})
	}
}

// If a server cannot start, every owner learns why.
func TestOwnersAreRefused(t *testing.T) {
	l, join := joining(t)
	first, theirs := lifelines(t)
	second := join()
	owners := NewOwners(t.Context(), theirs, l, nil)
	owners.Refuse(Failure{"found no store", CodeStart})
	third := join()
	for _, o := range []net.Conn{first, second, third} {
		var buf [200]byte
		n, err := o.Read(buf[:])
		if want := `{"error":"found no store","code":"start"}` + "\n"; err != nil || string(buf[:n]) != want {
			t.Errorf("found %q and %v, expected %q", buf[:n], err, want)
		}
	}
	owners.Close()
}

// A server that is still starting ends when nobody is left.
func TestOwnersWhoLeaveEarly(t *testing.T) {
	l, join := joining(t)
	first, theirs := lifelines(t)
	second := join()
	owners := NewOwners(t.Context(), theirs, l, nil)
	defer owners.Close()
	for joined := 0; joined < 2; time.Sleep(time.Millisecond) { // between two looks
		owners.mu.Lock()
		joined = len(owners.lifelines)
		owners.mu.Unlock()
	}
	_ = first.Close()
	select {
	case <-owners.Context().Done():
		t.Fatal("found a server that ended with an owner left")
	case <-time.After(50 * time.Millisecond): // time for a wrong end
	}
	_ = second.Close()
	select {
	case <-owners.Context().Done():
	case <-time.After(time.Minute): // against a hang
		t.Fatal("found a server that goes on without owners")
	}
}
