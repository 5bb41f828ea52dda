//go:build unix

package extsort

import (
	"bytes"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/vfs"
)

// discards records what is given back of temporary files. With lose it overwrites it, as a file system may. The disk has room for
// free bytes.
type discards struct {
	vfs.FS
	lose  bool
	free  int64
	mu    sync.Mutex
	bytes int64
}

type discardFile struct {
	vfs.File
	d *discards
}

func (d *discards) Temp(dir string) (vfs.File, error) {
	f, err := d.FS.Temp(dir)
	return discardFile{f, d}, err
}

func (d *discards) Free(string) (int64, error) { return d.free, nil }

func (f discardFile) Discard(off, n int64) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	f.d.bytes += n
	if f.d.lose {
		_, _ = f.WriteAt(bytes.Repeat([]byte{0xdb}, int(n)), off)
	}
}

// Freed extents of a large file on a disk with room for less than twice the file are given back, each once, and no other byte is
// lost: extents that take a freed place later have their bytes.
func TestDiscard(t *testing.T) {
	defer func(before int64) { discardFrom = before }(discardFrom)
	discardFrom = 64 << 10
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		fsys := &discards{FS: vfs.OS, lose: true, free: rapid.Int64Range(0, 2<<20).Draw(t, "free")}
		s := NewSpill(fsys, dir, rapid.SampledFrom([]int64{0, blockBytes}).Draw(t, "memory"))
		defer func() {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}()
		type kept struct {
			e Extent
			b []byte
		}
		var all []kept
		freed := int64(0)
		for i := range rapid.IntRange(0, 60).Draw(t, "steps") {
			if len(all) > 0 && rapid.IntRange(0, 2).Draw(t, "free") == 0 {
				k := rapid.IntRange(0, len(all)-1).Draw(t, "extent")
				if x := all[k].e; x.at >= s.limit && s.end >= discardFrom && fsys.free < 2*s.end {
					freed += int64(pages(x.n))
				}
				s.Free(all[k].e)
				all = append(all[:k], all[k+1:]...)
				continue
			}
			b := bytes.Repeat([]byte{byte(i)}, rapid.SampledFrom([]int{0, 1, 5000, 60000}).Draw(t, "bytes"))
			e, err := s.Put(b)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, kept{e, b})
		}
		for _, x := range all {
			got := make([]byte, x.e.Len())
			if err := s.Get(x.e, got); err != nil || !bytes.Equal(got, x.b) {
				t.Fatalf("%v: found other bytes", err)
			}
		}
		if fsys.bytes != freed {
			t.Fatalf("found %d bytes given back, expected %d", fsys.bytes, freed)
		}
	})
}

// While buckets are merged, the file takes fewer and fewer blocks of the disk.
func TestDiscardGivesBlocksBack(t *testing.T) {
	defer func(before int64) { discardFrom = before }(discardFrom)
	discardFrom = 0
	s := NewSpill(&fullDisk{vfs.OS}, t.TempDir(), 0)
	defer func() {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	const buckets = 8
	p := NewPartition(s, buckets, 16<<10, 0)
	w, err := p.Writer()
	if err != nil {
		t.Fatal(err)
	}
	for i := range buckets * 4096 {
		slot, err := w.Slot(uint64(i%buckets), 64)
		if err != nil {
			t.Fatal(err)
		}
		slot[0] = 1
	}
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	blocks := func() int64 {
		if err := s.file.Sync(); err != nil {
			t.Fatal(err)
		}
		info, err := s.file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			t.Skip("the system counts no blocks")
		}
		return stat.Blocks * 512
	}
	if !punches(t) {
		t.Skip("the file system gives no space back")
	}
	before := blocks()
	for b := range buckets {
		if _, err := p.Load(b, make([]byte, p.Bytes(b))); err != nil {
			t.Fatal(err)
		}
		p.Free(b)
		if got, most := blocks(), before*int64(buckets-b-1)/buckets+before/buckets/4; got > most {
			t.Errorf("after %d of %d buckets: found %d of %d bytes on the disk, expected at most %d", b+1, buckets, got, before, most)
		}
	}
}

// fullDisk is a disk without room.
type fullDisk struct{ vfs.FS }

func (*fullDisk) Free(string) (int64, error) { return 0, nil }

// punches says whether a file gives the space of a range back.
func punches(t *testing.T) bool {
	t.Helper()
	f, err := vfs.OS.Temp(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes.Repeat([]byte{1}, 1<<20), 0); err != nil {
		t.Fatal(err)
	}
	f.Discard(0, 1<<20)
	var b [1]byte
	if _, err := f.ReadAt(b[:], 0); err != nil {
		t.Fatal(err)
	}
	return b[0] == 0
}
