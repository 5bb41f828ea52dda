//go:build unix

package vfs_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/vfs"
)

// TestOpenIrregular opens what is no regular file. No open waits for another process.
func TestOpenIrregular(t *testing.T) {
	dir := t.TempDir()
	fifo, socket, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "socket"), filepath.Join(dir, "link")
	if err := errors.Join(unix.Mkfifo(fifo, 0o644), os.Symlink(fifo, link)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for name, want := range map[string]string{fifo: "found a pipe or device", link: "found a pipe or device", socket: "found a pipe or device",
		"/dev/zero": "found a pipe or device", dir: "found a folder"} {
		done := make(chan error, 2)
		go func() {
			_, err := vfs.OS.Open(name)
			done <- err
			_, err = vfs.ReadFile(vfs.OS, name, 10)
			done <- err
		}()
		for range 2 {
			select {
			case err := <-done:
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: found %v, expected %s", name, err, want)
				}
			case <-time.After(time.Minute): // against a hang
				t.Fatalf("%s: the call waits", name)
			}
		}
	}
	if _, err := vfs.OS.OpenStream(dir); err == nil {
		t.Error("a folder was opened as a stream")
	}
}

// TestOpenStream reads a pipe as a shell hands it over in a process substitution.
func TestOpenStream(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	go func() {
		if w, err := os.OpenFile(fifo, os.O_WRONLY, 0); err == nil {
			_, _ = w.WriteString("12345")
			_ = w.Close()
		}
	}()
	f, err := vfs.OS.OpenStream(fifo)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil || string(b) != "12345" {
		t.Errorf("found %q, %v", b, err)
	}
}

// TestExists tells absence, which the file system states, from a file system that does not answer.
func TestExists(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{file: true, dir: true, file + "2": false, filepath.Join(file, "below"): false, filepath.Join(dir, strings.Repeat("x", 300)): false} {
		if there, err := vfs.Exists(vfs.OS, name); there != want || err != nil {
			t.Errorf("%.40s: found %v, %v, expected %v", name, there, err, want)
		}
	}
	for _, errno := range []error{syscall.EIO, syscall.EACCES, syscall.EMFILE} {
		if there, err := vfs.Exists(&vfs.Fault{FS: vfs.OS, FailAt: 1, Err: errno}, file); there || !errors.Is(err, errno) {
			t.Errorf("%v: found %v, %v", errno, there, err)
		}
	}
}

// TestConfine opens files through links in a folder.
func TestConfine(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "dir")
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(at("sub"), 0o755), os.WriteFile(at("sub/real"), nil, 0o644), os.WriteFile(filepath.Join(top, "out"), nil, 0o644),
		os.Symlink("../out", at("out")), os.Symlink("..", at("up")), os.Symlink("sub", at("in")), os.Symlink(dir, filepath.Join(top, "named"))); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{dir, dir + "/", filepath.Join(top, "named")} {
		fsys := vfs.Confine(vfs.OS, from)
		for name, want := range map[string]bool{"sub/real": true, "out": false, "up/out": false, "in/real": false} {
			for range 2 { // once more with what was remembered
				_, statErr := fsys.Stat(filepath.Join(from, name))
				f, err := fsys.Open(filepath.Join(from, name))
				if err == nil {
					err = f.Close()
				}
				_, link := errors.AsType[*vfs.LinkError](err)
				if (err == nil) != want || link == want || (statErr == nil) != want {
					t.Errorf("%s in %s: open %v, stat %v", name, from, err, statErr)
				}
			}
		}
		if _, err := fsys.Stat(filepath.Join(top, "out")); err != nil {
			t.Errorf("a file beside the folder: %v", err)
		}
		if _, err := fsys.ReadDir(from); err != nil {
			t.Errorf("the folder itself: %v", err)
		}
		if _, err := fsys.ReadDir(filepath.Join(from, "up")); err == nil {
			t.Error("read a folder through a link")
		}
	}
	for _, dir := range []string{".", "./"} {
		t.Chdir(at(""))
		if _, err := vfs.Confine(vfs.OS, dir).Open("out"); err == nil {
			t.Errorf("opened a link in %q", dir)
		}
	}
	if err := vfs.Inside(vfs.OS, at(""), filepath.Join(top, "out")); err == nil {
		t.Error("a file beside the folder is inside")
	}
}

// A file that was written again between two opens is another version.
func TestUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	write := func(text string, at time.Time) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now()
	write("a", at)
	fsys := vfs.Unchanged(vfs.OS)
	for _, c := range []struct {
		text    string
		at      time.Time
		changed bool
	}{{"a", at, false}, {"b", at.Add(time.Second), true}, {"ab", at, true}, {"a", at, false}} {
		write(c.text, c.at)
		for _, open := range []func(string) (vfs.File, error){fsys.Open, fsys.OpenStream} {
			f, err := open(path)
			if errors.Is(err, vfs.ErrChanged) != c.changed || err != nil && !c.changed {
				t.Errorf("%q: found %v, expected changed %v", c.text, err, c.changed)
			}
			if err == nil && f.Close() != nil {
				t.Error("cannot close")
			}
		}
	}
}
