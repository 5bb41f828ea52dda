package direct_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) {
	proof.OnDisk()
	goleak.VerifyTestMain(m)
}

// refusing is a file system without direct reads and writes. It refuses them at once with atOnce, else at each read or
// write of a file.
type refusing struct {
	vfs.FS
	atOnce error
}

type refusingFile struct {
	vfs.File
	atOnce error
	mu     sync.RWMutex
	on     bool
}

func (r refusing) Open(name string) (vfs.File, error) { return r.wrap(r.FS.Open(name)) }
func (r refusing) Temp(dir string) (vfs.File, error)  { return r.wrap(r.FS.Temp(dir)) }
func (r refusing) wrap(f vfs.File, err error) (vfs.File, error) {
	return &refusingFile{File: f, atOnce: r.atOnce}, err
}

func (f *refusingFile) SetDirect(on bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if on && f.atOnce != nil {
		return &fs.PathError{Op: "direct", Path: f.Name(), Err: f.atOnce}
	}
	f.on = on
	return nil
}

func (f *refusingFile) refuse(op string) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.on {
		return &fs.PathError{Op: op, Path: f.Name(), Err: syscall.EINVAL}
	}
	return nil
}

func (f *refusingFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.refuse("read"); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *refusingFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.refuse("write"); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

// systems are file systems of every kind that this machine has.
var systems = []struct {
	name     string
	fsys     vfs.FS
	inMemory bool // in a folder that is kept in memory, if there is one
	refuses  bool
}{
	{name: "disk", fsys: vfs.OS},
	{name: "tmpfs", fsys: vfs.OS, inMemory: true},
	{name: "EINVAL at once", fsys: refusing{vfs.OS, syscall.EINVAL}, refuses: true},
	{name: "EINVAL at the first read", fsys: refusing{FS: vfs.OS}, refuses: true},
	{name: "another system", fsys: refusing{vfs.OS, errors.ErrUnsupported}, refuses: true},
}

func folder(t *testing.T, inMemory bool) string {
	const shm = "/dev/shm"
	if _, err := os.Stat(shm); !inMemory || err != nil {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(shm, "graphmill-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func alloc(t testing.TB, n int) []byte {
	t.Helper()
	b, free, err := direct.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(free)
	return b
}

// content is n bytes of which no two aligned pages are the same.
func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>12*13)
	}
	return b
}

func write(t testing.TB, dir string, b []byte) string {
	t.Helper()
	name := filepath.Join(dir, "file")
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// A read returns the bytes of the file from the offset on, as many as the buffer or the file has, for any size and
// offset.
func TestFile(t *testing.T) {
	for _, system := range systems {
		t.Run(system.name, func(t *testing.T) {
			dir := folder(t, system.inMemory)
			buf := alloc(t, 16*direct.Align)
			rapid.Check(t, func(t *rapid.T) {
				want := content(rapid.IntRange(0, 10*direct.Align).Draw(t, "size"))
				name := filepath.Join(dir, "file")
				if err := os.WriteFile(name, want, 0o644); err != nil {
					t.Fatal(err)
				}
				f, err := direct.Open(system.fsys, name)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if f.Size() != int64(len(want)) || f.Name() != name {
					t.Fatalf("found %s of %d bytes, expected %s of %d", f.Name(), f.Size(), name, len(want))
				}
				sum := 0
				for range rapid.IntRange(1, 5).Draw(t, "reads") {
					at := rapid.IntRange(0, 12).Draw(t, "page") * direct.Align
					p := buf[:rapid.IntRange(1, 16).Draw(t, "pages")*direct.Align]
					n, err := f.ReadAt(p, int64(at))
					if at >= len(want) {
						if n != 0 || !errors.Is(err, io.EOF) {
							t.Fatalf("%d bytes at %d of %d: found %d, %v, expected io.EOF", len(p), at, len(want), n, err)
						}
						continue
					}
					if expected := want[at:min(at+len(p), len(want))]; err != nil || !bytes.Equal(p[:n], expected) {
						t.Fatalf("%d bytes at %d of %d: found %d, %v, expected %d and the file's", len(p), at, len(want), n, err, len(expected))
					}
					sum += n
				}
				if f.Read() != int64(sum) {
					t.Fatalf("%d bytes counted, %d read", f.Read(), sum)
				}
				if system.refuses && sum > 0 && f.Direct() {
					t.Fatal("direct reads where the file system has none")
				}
			})
		})
	}
}

func TestFileAtOnce(t *testing.T) {
	for _, system := range systems {
		t.Run(system.name, func(t *testing.T) {
			want := content(64*direct.Align + 17)
			f, err := direct.Open(system.fsys, write(t, folder(t, system.inMemory), want))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			buf := alloc(t, 8*2*direct.Align)
			var wg sync.WaitGroup
			for w := range 8 {
				wg.Go(func() {
					p := buf[w*2*direct.Align:][:2*direct.Align]
					for page := w; page <= 64; page += 8 {
						at := page * direct.Align
						n, err := f.ReadAt(p, int64(at))
						if err != nil || !bytes.Equal(p[:n], want[at:min(at+len(p), len(want))]) {
							t.Errorf("page %d: %d bytes, %v", page, n, err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// Each call that fails returns its error, with the name of the file, and leaves no file open.
func TestFileFaults(t *testing.T) {
	for _, system := range systems {
		t.Run(system.name, func(t *testing.T) {
			name := write(t, folder(t, system.inMemory), content(3*direct.Align))
			buf := alloc(t, direct.Align)
			read := func(fsys vfs.FS) error {
				f, err := direct.Open(fsys, name)
				if err != nil {
					return err
				}
				_, err = f.ReadAt(buf, direct.Align)
				return errors.Join(err, f.Close())
			}
			everyFault(t, system.fsys, read, name)
		})
	}
}

// everyFault runs a job once for each of its calls, which then fails.
func everyFault(t *testing.T, fsys vfs.FS, job func(vfs.FS) error, named string) {
	t.Helper()
	before := openFiles(t)
	for at := int64(1); ; at++ {
		fault := &vfs.Fault{FS: fsys, FailAt: at, Err: syscall.EIO, Short: true}
		err := job(fault)
		if at > fault.Calls() {
			if err != nil {
				t.Fatalf("no call failed: %v", err)
			}
			break
		}
		if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), named) {
			t.Fatalf("call %d: found %v, expected an I/O error of %s", at, err, named)
		}
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files were open before, %d are now", before, after)
	}
}

// openFiles is the number of files that this process has open, where the system
// lists them.
func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestFileIsNoFile(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{dir: "expected a file", filepath.Join(dir, "none"): "no such file", os.DevNull: "expected a regular file"} {
		if f, err := direct.Open(vfs.OS, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, %v, expected an error with %q", name, f, err, want)
		}
	}
}

func TestFileCut(t *testing.T) {
	for _, system := range systems {
		t.Run(system.name, func(t *testing.T) {
			name := write(t, folder(t, system.inMemory), content(8*direct.Align))
			f, err := direct.Open(system.fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := os.Truncate(name, 3*direct.Align); err != nil {
				t.Fatal(err)
			}
			buf := alloc(t, 8*direct.Align)
			for at, want := range map[int64]int{0: 3 * direct.Align, 4 * direct.Align: 0} {
				n, err := f.ReadAt(buf[:4*direct.Align], at)
				if n != want || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), name) {
					t.Errorf("offset %d: found %d, %v, expected %d and io.ErrUnexpectedEOF of %s", at, n, err, want, name)
				}
			}
		})
	}
}

func TestUnaligned(t *testing.T) {
	dir := t.TempDir()
	f, err := direct.Open(refusing{vfs.OS, syscall.EINVAL}, write(t, dir, content(4*direct.Align)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := direct.NewScratch(refusing{vfs.OS, syscall.EINVAL}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	buf := alloc(t, 2*direct.Align)
	for _, c := range []struct {
		name string
		p    []byte
		off  int64
	}{
		{"address", buf[512:][:direct.Align], 0},
		{"length", buf[:direct.Align+8], 0},
		{"offset", buf[:direct.Align], 8},
		{"negative offset", buf[:direct.Align], -direct.Align},
	} {
		if n, err := f.ReadAt(c.p, c.off); err == nil {
			t.Errorf("%s: %d bytes were read", c.name, n)
		}
		if err := s.WriteAt(c.p, c.off); err == nil {
			t.Errorf("%s: written", c.name)
		}
		if err := s.ReadAt(c.p, c.off); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: read: %v", c.name, err)
		}
	}
}
