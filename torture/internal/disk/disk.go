package disk

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Disk is a mounted folder.
type Disk struct {
	mu     sync.Mutex
	bad    string // the file that fails, by its path in the folder
	from   int64
	failed bool
	opened []string
}

// Variable is the environment variable that, as "off", leaves out tests that need FUSE.
const Variable = "TORTURE_FUSE"

// Mount shows the folder real at the empty folder at, until the test ends. Without FUSE the test fails, or is left out if the user
// asked for that.
func Mount(tb testing.TB, real, at string) *Disk {
	tb.Helper()
	if os.Getenv(Variable) == "off" {
		tb.Skipf("left out: %s=off", Variable)
	}
	d := &Disk{}
	var st syscall.Stat_t
	if err := syscall.Stat(real, &st); err != nil {
		tb.Fatal(err)
	}
	//nolint:staticcheck // WrapChild would copy the lock of a LoopbackNode
	root := &fs.LoopbackRoot{Path: real, Dev: st.Dev, NewNode: func(root *fs.LoopbackRoot, _ *fs.Inode, _ string, _ *syscall.Stat_t) fs.InodeEmbedder {
		return &node{fs.LoopbackNode{RootData: root}, d}
	}}
	top := &node{fs.LoopbackNode{RootData: root}, d}
	root.RootNode = top
	second := time.Second
	server, err := fs.Mount(at, top, &fs.Options{MountOptions: fuse.MountOptions{DirectMount: true, FsName: "torture", Name: "torture"}, AttrTimeout: &second, EntryTimeout: &second})
	if err != nil {
		tb.Fatalf("found no way to mount a FUSE file system (%v), expected /dev/fuse, and root or fusermount3; run modprobe fuse, install fuse3, give a container --device /dev/fuse --cap-add SYS_ADMIN, or set %s=off to leave this test out", err, Variable)
	}
	tb.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			tb.Errorf("%s: %v; unmount it by hand: umount %s", at, err, at)
		}
	})
	return d
}

// Fail makes reads of a file fail from a byte on. No other file fails.
func (d *Disk) Fail(path string, from int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bad, d.from, d.failed, d.opened = path, from, false, nil
}

// Heal makes all files good again.
func (d *Disk) Heal() { d.Fail("", 0) }

// Failed reports whether a read failed since Fail.
func (d *Disk) Failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// Opened are the files that were opened since Fail or Heal, by their paths in the folder.
func (d *Disk) Opened() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Clone(d.opened)
	slices.Sort(all)
	return slices.Compact(all)
}

type node struct {
	fs.LoopbackNode
	disk *Disk
}

// Open implements fs.NodeOpener. The pages of the file that are cached are forgotten.
func (n *node) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	path := n.Path(n.Root())
	f, err := os.OpenFile(filepath.Join(n.RootData.Path, path), int(flags)&^(syscall.O_APPEND|syscall.O_DIRECT), 0)
	if err != nil {
		return nil, 0, fs.ToErrno(err)
	}
	n.disk.mu.Lock()
	n.disk.opened = append(n.disk.opened, path)
	n.disk.mu.Unlock()
	return &file{f, path, n.disk}, 0, 0
}

// file is an open file.
type file struct {
	f    *os.File
	path string
	disk *Disk
}

// Read implements fs.FileReader. A read that ends after the first bad byte fails whole: FUSE takes a short one for the end of the file.
func (f *file) Read(_ context.Context, b []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	f.disk.mu.Lock()
	fails := f.path == f.disk.bad && off+int64(len(b)) > f.disk.from
	f.disk.failed = f.disk.failed || fails
	f.disk.mu.Unlock()
	if fails {
		return nil, syscall.EIO
	}
	n, err := f.f.ReadAt(b, off)
	if n == 0 && err != nil && err.Error() != "EOF" {
		return nil, fs.ToErrno(err)
	}
	return fuse.ReadResultData(b[:n]), 0
}

// Release implements fs.FileReleaser.
func (f *file) Release(context.Context) syscall.Errno { return fs.ToErrno(f.f.Close()) }
