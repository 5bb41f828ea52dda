package direct_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/vfs"
)

// A read returns what was last written at its place.
func TestScratch(t *testing.T) {
	for _, system := range systems {
		t.Run(system.name, func(t *testing.T) {
			dir := folder(t, system.inMemory)
			buf := alloc(t, 4*direct.Align)
			rapid.Check(t, func(t *rapid.T) {
				s, err := direct.NewScratch(system.fsys, dir)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				var want []byte
				written := 0
				for i := range rapid.IntRange(1, 8).Draw(t, "writes") {
					at := rapid.IntRange(0, 16).Draw(t, "page") * direct.Align
					p := buf[:rapid.IntRange(1, 4).Draw(t, "pages")*direct.Align]
					for j := range p {
						p[j] = byte(i*31 + j + j>>12)
					}
					if err := s.WriteAt(p, int64(at)); err != nil {
						t.Fatal(err)
					}
					want = append(want, make([]byte, max(0, at+len(p)-len(want)))...)
					copy(want[at:], p)
					written += len(p)
				}
				read := 0
				for range 4 {
					at := rapid.IntRange(0, len(want)/direct.Align-1).Draw(t, "from") * direct.Align
					p := buf[:min(rapid.IntRange(1, 4).Draw(t, "length")*direct.Align, len(want)-at)]
					if err := s.ReadAt(p, int64(at)); err != nil || !bytes.Equal(p, want[at:][:len(p)]) {
						t.Fatalf("%d bytes at %d: %v, or others than were written", len(p), at, err)
					}
					read += len(p)
				}
				if s.Read() != int64(read) || s.Written() != int64(written) {
					t.Fatalf("counted %d read, %d written; were %d, %d", s.Read(), s.Written(), read, written)
				}
				if system.refuses && s.Direct() {
					t.Fatal("direct where the file system is not")
				}
			})
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Errorf("left %v, %v", entries, err)
			}
		})
	}
}

func TestScratchAtOnce(t *testing.T) {
	for _, system := range systems {
		t.Run(system.name, func(t *testing.T) {
			s, err := direct.NewScratch(system.fsys, folder(t, system.inMemory))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			buf := alloc(t, 8*direct.Align)
			var wg sync.WaitGroup
			for w := range 8 {
				wg.Go(func() {
					p := buf[w*direct.Align:][:direct.Align]
					for i := w; i < 80; i += 8 {
						for j := range p {
							p[j] = byte(i)
						}
						if err := s.WriteAt(p, int64(i)*direct.Align); err != nil {
							t.Error(err)
						}
						clear(p)
						if err := s.ReadAt(p, int64(i)*direct.Align); err != nil || p[0] != byte(i) || p[len(p)-1] != byte(i) {
							t.Errorf("extent %d: %v, or others than were written", i, err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

func TestScratchFaults(t *testing.T) {
	for _, system := range systems {
		t.Run(system.name, func(t *testing.T) {
			dir := folder(t, system.inMemory)
			buf := alloc(t, 2*direct.Align)
			everyFault(t, system.fsys, func(fsys vfs.FS) error {
				s, err := direct.NewScratch(fsys, dir)
				if err != nil {
					return err
				}
				err = s.WriteAt(buf, 0)
				if err == nil {
					err = s.ReadAt(buf, 0)
				}
				return errors.Join(err, s.Close())
			}, dir)
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Errorf("left %v, %v", entries, err)
			}
		})
	}
}

// The error of a full disk has the folder and the offset.
func TestScratchFull(t *testing.T) {
	dir := t.TempDir()
	fault := &vfs.Fault{FS: vfs.OS, FailAt: 4, Err: syscall.ENOSPC, Short: true} // temp, direct, write, write
	s, err := direct.NewScratch(fault, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	buf := alloc(t, 2*direct.Align)
	if err := s.WriteAt(buf, 0); err != nil {
		t.Fatal(err)
	}
	err = s.WriteAt(buf, 2*direct.Align)
	want := "temporary file in " + dir + ": no room for 4096 bytes after 12288; free space there or choose another folder: no space left on device"
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != want {
		t.Errorf("found %v\nexpected %s", err, want)
	}
}

func TestScratchHoldsNothing(t *testing.T) {
	dir := t.TempDir()
	s, err := direct.NewScratch(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	buf := alloc(t, 2*direct.Align)
	if err := s.WriteAt(buf[:direct.Align], 0); err != nil {
		t.Fatal(err)
	}
	err = s.ReadAt(buf, 0)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "byte offset 4096") {
		t.Errorf("found %v, expected io.ErrUnexpectedEOF at byte offset 4096 in %s", err, dir)
	}
}

// Space is reserved before the writes: never for the gaps that they leave, and never for more than as much again or 64
// MiB.
func TestScratchReserves(t *testing.T) {
	const mib = 1 << 20
	r := &reserving{FS: vfs.OS}
	s, err := direct.NewScratch(r, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	buf := alloc(t, 2*mib)
	for _, at := range []int64{0, 1, 2, 4, 100, 101, 300} {
		if err := s.WriteAt(buf, at*mib); err != nil {
			t.Fatal(err)
		}
	}
	want := [][2]int64{{0, 2 * mib}, {2 * mib, 2 * mib}, {4 * mib, 4 * mib}, {100 * mib, 8 * mib}, {300 * mib, 64 * mib}}
	if !slices.Equal(r.ranges, want) {
		t.Errorf("asked for %v, expected %v", r.ranges, want)
	}
}

// reserving is a file system that records the reserved ranges.
type reserving struct {
	vfs.FS
	ranges [][2]int64
}

type reservingFile struct {
	vfs.File
	r *reserving
}

func (r *reserving) Temp(dir string) (vfs.File, error) {
	f, err := r.FS.Temp(dir)
	return reservingFile{f, r}, err
}

func (f reservingFile) Reserve(off, n int64) { f.r.ranges = append(f.r.ranges, [2]int64{off, n}) }

// TestKeepScratch checks that a file with a name stays, and can be reopened with its first bytes.
func TestKeepScratch(t *testing.T) {
	name := filepath.Join(t.TempDir(), "kept")
	buf := alloc(t, 2*direct.Align)
	s, err := direct.KeepScratch(vfs.OS, name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range buf {
		buf[i] = byte(i / direct.Align)
	}
	if err := errors.Join(s.WriteAt(buf, 0), s.Sync(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := direct.KeepScratch(vfs.OS, name); !errors.Is(err, fs.ErrExist) {
		t.Errorf("found error %v, expected the file to be there", err)
	}
	if _, err := direct.ReopenScratch(vfs.OS, name, 1<<30); err == nil {
		t.Error("found no error for a file that is shorter")
	}
	s, err = direct.ReopenScratch(vfs.OS, name, direct.Align)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ReadAt(buf[:direct.Align], direct.Align); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("found error %v after the size, expected io.ErrUnexpectedEOF", err)
	}
	if err := s.WriteAt(buf[direct.Align:], direct.Align); err != nil || s.Size() != 2*direct.Align {
		t.Errorf("found %v and %d bytes, expected %d", err, s.Size(), 2*direct.Align)
	}
	clear(buf)
	if err := errors.Join(s.ReadAt(buf, 0), s.Close()); err != nil || buf[0] != 0 || buf[direct.Align] != 1 {
		t.Errorf("found %v, bytes %d and %d, expected 0 and 1", err, buf[0], buf[direct.Align])
	}
}
