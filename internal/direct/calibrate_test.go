package direct_test

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestCalibrate(t *testing.T) {
	for _, size := range []int{0, 1, direct.Align, 1<<20 + 5, 9 << 20} {
		f, err := direct.Open(vfs.OS, write(t, t.TempDir(), content(size)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s, err := direct.Calibrate(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		if size == 0 {
			if s != (direct.Speed{}) || s.Pages() != 0 {
				t.Errorf("an empty file: %+v, %d pages", s, s.Pages())
			}
			continue
		}
		for _, v := range []float64{s.Sequential, s.Random} {
			if !(v > 0) || math.IsInf(v, 0) {
				t.Errorf("%d bytes: %+v", size, s)
			}
		}
		// Each byte once in sequence, and every page once.
		if most := 2*int64(size) + direct.Align; f.Read() < int64(size) || f.Read() > most {
			t.Errorf("%d bytes: read %d", size, f.Read())
		}
	}
}

func TestCalibrateStops(t *testing.T) {
	name := write(t, t.TempDir(), content(9<<20))
	cause := errors.New("enough")
	for _, at := range []int64{1, 5, 100} {
		ctx, cancel := context.WithCancelCause(t.Context())
		f, err := direct.Open(&cancelling{FS: vfs.OS, at: at, cancel: func() { cancel(cause) }}, name)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := direct.Calibrate(ctx, f); !errors.Is(err, cause) {
			t.Errorf("cancelled at read %d: found %+v, %v", at, s, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// cancelling is a file system that cancels at its at-th read.
type cancelling struct {
	vfs.FS
	at, reads int64
	cancel    func()
}

type cancellingFile struct {
	vfs.File
	c *cancelling
}

func (c *cancelling) Open(name string) (vfs.File, error) {
	f, err := c.FS.Open(name)
	return cancellingFile{f, c}, err
}

func (f cancellingFile) ReadAt(p []byte, off int64) (int, error) {
	if atomic.AddInt64(&f.c.reads, 1) == f.c.at {
		f.c.cancel()
	}
	return f.File.ReadAt(p, off)
}

func TestCalibrateFails(t *testing.T) {
	name := write(t, t.TempDir(), content(9<<20))
	for _, at := range []int64{5, 12, 100} { // the calls before the reads are four
		f, err := direct.Open(&vfs.Fault{FS: vfs.OS, FailAt: at, Err: syscall.EIO}, name)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := direct.Calibrate(t.Context(), f); !errors.Is(err, syscall.EIO) {
			t.Errorf("call %d fails: found %+v, %v", at, s, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPages(t *testing.T) {
	for _, c := range []struct {
		s    direct.Speed
		want int
	}{
		{direct.Speed{Sequential: 2 << 30, Random: 60000}, 29},
		{direct.Speed{Sequential: 1 << 20, Random: 0.5}, 0},
		{direct.Speed{Random: 100}, 0},
		{direct.Speed{}, 0},
	} {
		if found := c.s.Pages(); found != c.want {
			t.Errorf("%+v: found %d, expected %d", c.s, found, c.want)
		}
	}
}
