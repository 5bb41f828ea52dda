package transport

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestCut cuts connections at many places: the parts still arrive, and verified blocks are not written again.
func TestCut(t *testing.T) {
	dir := parts(t, 2, 4)
	for _, after := range []int64{1, 2000, 4000, 20_000, 60_000, 100_000} {
		s, o := serve(t)
		s.Cut(func(n int64) int64 {
			if n > 3 {
				return 0
			}
			return after
		})
		var progress atomic.Int64
		o.Progress = func(n int64) { progress.Add(n) }
		r, err := send(t, dir, here, o)
		if err != nil { // the connection was too short to log in
			if after >= 20_000 || s.Conns.Load() != 1 {
				t.Errorf("cut after %d: %v, %d connections", after, err, s.Conns.Load())
			}
			s.notWhole(t)
			continue
		}
		s.holds(t, dir, 0, 1)
		m := r.Machines[0]
		size := load(t, vfs.OS, dir, here).Bytes()
		if m.Connections < 2 || progress.Load() != size || s.Written.Load() > size+int64(m.Connections)*(o.block+2000) {
			t.Errorf("cut after %d: %+v, progress %d of %d, %d bytes written", after, m, progress.Load(), size, s.Written.Load())
		}
	}
}

// TestCutForever gives up after some connections without progress, and continues in the next run.
func TestCutForever(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 1, 5)
	s.Cut(func(n int64) int64 {
		if n == 1 {
			return 20_000
		}
		return 2000
	})
	_, err := send(t, dir, here, o)
	if err == nil || !strings.Contains(err.Error(), "machine 127.0.0.1, part 0, part0/graph.dgl") || !strings.Contains(err.Error(), "6 times in a row") {
		t.Errorf("got %v", err)
	}
	if n := s.Conns.Load(); n != 1+6 && n != 6 {
		t.Errorf("%d connections", n)
	}
	s.notWhole(t)
	s.Cut(nil)
	r := mustSend(t, dir, here, o)
	if r.Machines[0].Kept < 8192 {
		t.Errorf("the second run kept %d bytes", r.Machines[0].Kept)
	}
	s.holds(t, dir, 0)
}

func TestSilence(t *testing.T) {
	dir := parts(t, 2, 8)
	for name, tell := range map[string]func(*server){
		"server": func(s *server) { s.Silent.Store(true) },
		"sftp":   func(s *server) { s.Stuck.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			s, o := serve(t)
			tell(s)
			o.Timeout = 200 * time.Millisecond
			_, err := send(t, dir, here, o)
			if !errors.Is(err, errSilent) || !strings.Contains(err.Error(), "machine 127.0.0.1, parts 0, 1: no answer within 200ms") {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("nobody", func(t *testing.T) {
		s, o := serve(t)
		s.Deaf()
		if _, err := send(t, dir, here, o); err == nil || !strings.Contains(err.Error(), "is it up") {
			t.Errorf("got %v", err)
		}
	})
}

func TestDisk(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 2, 9)
	s.Free.Store(1000)
	if _, err := send(t, dir, here, o); err == nil || !strings.Contains(err.Error(), "found 1000 B free") || s.Written.Load() > 0 {
		t.Errorf("too little room: %v, %d bytes written", err, s.Written.Load())
	}
	s.Free.Store(1 << 40)
	s.Full.Store(80_000)
	_, err := send(t, dir, here, o)
	if err == nil || !strings.Contains(err.Error(), "part 1, part1/") || !strings.Contains(err.Error(), "has 1.00 TiB free") || s.Conns.Load() != 2 {
		t.Errorf("a full disk: %v", err)
	}
	s.notWhole(t)
	s.Full.Store(0)
	mustSend(t, dir, here, o)
	s.holds(t, dir, 0, 1)
}

func TestCorruptedThere(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 1, 10)
	s.Flip.Store(true)
	if _, err := send(t, dir, here, o); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "when they were read back") {
		t.Errorf("got %v", err)
	}
	s.notWhole(t)
	s.Flip.Store(false)
	mustSend(t, dir, here, o)
	s.holds(t, dir, 0)
}

// TestDamagedHere changes a local file after its manifest was written: the file is not sent.
func TestDamagedHere(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, name string){
		"flipped": func(t *testing.T, name string) { flipByte(t, name, 77) },
		"cut": func(t *testing.T, name string) {
			if err := os.Truncate(name, 40_000); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := serve(t)
			dir := parts(t, 1, 11)
			damage(t, filepath.Join(dir, "part0/graph.dgl"))
			if _, err := send(t, dir, here, o); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "graphmill verify") {
				t.Errorf("got %v", err)
			}
			s.notWhole(t)
			if _, err := os.Stat(filepath.Join(s.Root, "parts/part0/graph.dgl")); err == nil {
				t.Error("the damaged file has its name there")
			}
		})
	}
	dir := parts(t, 1, 12)
	writeFile(t, filepath.Join(dir, "part0/new.dgl"), nil)
	if _, err := Load(t.Context(), vfs.OS, dir, here, 1); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "does not name") {
		t.Errorf("a file that the manifest does not name: %v", err)
	}
}

// TestForceCut replaces parts over a connection that is cut: the folder never looks whole with files of both.
func TestForceCut(t *testing.T) {
	s, o := serve(t)
	first, second := parts(t, 1, 15), parts(t, 1, 16)
	mustSend(t, first, here, o)
	o.Force = true
	s.Cut(func(n int64) int64 {
		if n == 2 {
			return 30_000
		}
		return 1
	})
	if _, err := send(t, second, here, o); err == nil {
		t.Fatal("sent over a line that is cut")
	}
	s.notWhole(t)
	s.Cut(nil)
	mustSend(t, second, here, o)
	s.holds(t, second, 0)
}

func TestCancel(t *testing.T) {
	for _, after := range []int64{0, 4096, 60_000} {
		s, o := serve(t)
		dir := parts(t, 2, 18)
		ctx, cancel := context.WithCancel(t.Context())
		var at int64
		o.Progress = func(n int64) {
			if at += n; at >= after {
				cancel()
			}
		}
		if after == 0 {
			s.Silent.Store(true)
			time.AfterFunc(50*time.Millisecond, cancel) // any moment while the server is silent
		}
		if _, err := load(t, vfs.OS, dir, here).Send(ctx, o); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		s.notWhole(t)
	}
}

// A context that ends when all machines have their parts stops nothing.
func TestCancelTooLate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if err := callAll(ctx, 1, []func() error{func() error { return nil }, func() error { cancel(); return nil }}); err != nil {
		t.Errorf("found %v", err)
	}
	if err := callAll(ctx, 1, []func() error{func() error { return nil }}); !errors.Is(err, context.Canceled) {
		t.Errorf("of a context that had ended: found %v", err)
	}
}

// TestLocalFaults fails each call of the local file system in turn.
func TestLocalFaults(t *testing.T) {
	s, o := serve(t)
	dir := parts(t, 1, 19)
	o.block = 1 << 20
	for at := int64(1); ; at++ {
		fault := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: syscall.EIO}
		loaded, err := Load(t.Context(), fault, dir, here, 1)
		if err == nil {
			_, err = loaded.Send(t.Context(), o)
		}
		if fault.Calls() < at {
			if err != nil {
				t.Fatal(err)
			}
			s.holds(t, dir, 0)
			return
		}
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("call %d failed: %v", at, err)
		}
		if _, err := os.Stat(filepath.Join(s.Root, "parts", store.ManifestFile)); err == nil {
			t.Errorf("call %d failed, and the folder there looks whole", at)
		}
		if err := os.RemoveAll(filepath.Join(s.Root, "parts")); err != nil {
			t.Fatal(err)
		}
	}
}

func flipByte(t *testing.T, name string, at int) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b[at] ^= 1
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
