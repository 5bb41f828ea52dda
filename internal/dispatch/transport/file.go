package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/pkg/sftp"
	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// sender brings one machine what it gets.
type sender struct {
	*place
	fs    vfs.FS
	dir   string
	own   []byte // manifest of dir
	login *login
	o     *Options
	sent  *Sent

	mine, theirs []byte // a block here and there
	current      *file  // what is being sent, for errors
	whole        bool   // the folder there is whole: it is compared, not written
	// at is how many bytes this connection went through, far the most that any did.
	at, far int64
}

// syncBytes is written before the machine is asked to bring it to its disk: few
// enough that a slow disk answers before it is taken for silent.
const syncBytes = 256 << 20

// send does all that is not done yet.
func (s *sender) send(ctx context.Context, c *conn) error {
	s.current = nil
	if err := s.prepare(c); err != nil {
		return err
	}
	for i := range s.files {
		s.current = &s.files[i]
		if err := s.sendFile(ctx, c, s.current); err != nil {
			return err
		}
	}
	s.current = nil
	if s.whole {
		return nil
	}
	// With a manifest a folder is whole, so its sum comes first.
	if err := s.put(c, store.ManifestSumFile, s.sum); err != nil {
		return err
	}
	return s.put(c, store.ManifestFile, s.manifest)
}

func (s *sender) remote(name string) string { return path.Join(s.o.RemoteDir, name) }

// prepare makes the folder and looks at what is in it.
func (s *sender) prepare(c *conn) error {
	if err := c.MkdirAll(s.o.RemoteDir); err != nil {
		return fmt.Errorf("%s cannot be made: %w; choose another --remote-dir", s.o.RemoteDir, err)
	}
	there, err := c.small(s.remote(store.ManifestFile), max(len(s.manifest), len(s.own)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case s.own != nil && bytes.Equal(there, s.own), bytes.Equal(there, s.manifest) && !s.o.Force:
		s.whole = true
		return nil
	case !s.o.Force:
		return fmt.Errorf("%s: %w there and holds other parts; choose another --remote-dir, or give --force to replace them", s.o.RemoteDir, store.ErrExists)
	default:
		// While files are replaced nothing there may look whole.
		names := []string{store.ManifestFile, store.ManifestSumFile}
		for _, f := range s.files {
			if f.part == noPart {
				names = append(names, f.name)
			}
		}
		for _, name := range names {
			if err := c.Remove(s.remote(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: %w", s.remote(name), err)
			}
		}
	}
	return s.room(c)
}

// room says whether the disk there holds what is missing.
func (s *sender) room(c *conn) error {
	free, known := s.free(c)
	if !known {
		return nil
	}
	var need int64
	for _, f := range s.files {
		have := int64(0)
		for _, name := range []string{s.remote(f.name), partial(s.remote(f.name))} {
			if info, err := c.Stat(name); err == nil {
				have = max(have, info.Size())
			}
		}
		need += max(f.want.Bytes-have, 0)
	}
	if uint64(need) > free {
		return fmt.Errorf("%s: found %s free, expected %s for what is missing; make room there or choose another --remote-dir",
			s.o.RemoteDir, human.Bytes(int64(free)), human.Bytes(need))
	}
	return nil
}

// free is what the disk there has left, where the server tells.
func (s *sender) free(c *conn) (bytes uint64, known bool) {
	if _, ok := c.HasExtension("statvfs@openssh.com"); !ok {
		return 0, false
	}
	disk, err := c.StatVFS(s.o.RemoteDir)
	if err != nil {
		return 0, false
	}
	return disk.Bavail * disk.Frsize, true
}

// partial is where a file is written.
func partial(name string) string {
	return path.Join(path.Dir(name), "."+path.Base(name)+".partial")
}

// sendFile makes a file be there, whole and compared.
func (s *sender) sendFile(ctx context.Context, c *conn, f *file) (err error) {
	local, err := s.fs.Open(filepath.Join(s.dir, filepath.FromSlash(f.name)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	info, err := local.Stat()
	if err != nil {
		return err
	}
	if info.Size() != f.want.Bytes {
		return fmt.Errorf("%s: %w: found %d bytes, expected %d; run `graphmill verify %s`", local.Name(), store.ErrDamaged, info.Size(), f.want.Bytes, s.dir)
	}
	name := s.remote(f.name)
	info, err = c.Stat(name)
	if err == nil {
		same, err := s.compare(ctx, c, f, local, name, info.Size())
		if same || err != nil {
			return err
		}
		if s.whole {
			return fmt.Errorf("%s: %w: found other bytes there than here, where the manifest is the same; remove %s there and send again", name, store.ErrDamaged, s.o.RemoteDir)
		}
		if !s.o.Force {
			return fmt.Errorf("%s: %w there and is another file; choose another --remote-dir, or give --force to replace it", name, store.ErrExists)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, err)
	} else if s.whole {
		return fmt.Errorf("%s: %w: found no file, expected one, for the manifest names it; remove %s there and send again", name, store.ErrDamaged, s.o.RemoteDir)
	}
	if err := c.MkdirAll(path.Dir(name)); err != nil {
		return fmt.Errorf("%s cannot be made: %w", path.Dir(name), err)
	}
	return s.write(ctx, c, f, local, name)
}

// compare says whether the file there is the one here.
func (s *sender) compare(ctx context.Context, c *conn, f *file, local vfs.File, name string, have int64) (same bool, err error) {
	if have != f.want.Bytes {
		return false, nil
	}
	there, err := c.Open(name)
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	at, kept := s.at, s.sent.Kept
	same, err = s.blocks(ctx, c, f, local, there, have, false)
	if !same {
		s.at, s.sent.Kept = at, kept
	}
	return same, closed(there, err)
}

// closed closes a file; an error that was there before says more than that of a
// close over a connection that is lost.
func closed(there *sftp.File, err error) error {
	if closing := there.Close(); err == nil {
		err = closing
	}
	return err
}

// write continues the partial file and gives it its name.
func (s *sender) write(ctx context.Context, c *conn, f *file, local vfs.File, name string) error {
	there, err := c.OpenFile(partial(name), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("%s: %w", partial(name), err)
	}
	err = func() error {
		info, err := there.Stat()
		if err != nil {
			return err
		}
		if info.Size() > f.want.Bytes {
			if err := there.Truncate(f.want.Bytes); err != nil {
				return err
			}
		}
		if _, err := s.blocks(ctx, c, f, local, there, info.Size(), true); err != nil {
			return err
		}
		return c.sync(there)
	}()
	if err = closed(there, err); err != nil {
		return s.explained(c, partial(name), err)
	}
	return c.rename(partial(name), name)
}

// explained adds to an answer as short as "Failure" what can be known of its
// reason.
func (s *sender) explained(c *conn, name string, err error) error {
	var status *sftp.StatusError
	if !errors.As(err, &status) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if free, known := s.free(c); known {
		return fmt.Errorf("%s: %w (its disk has %s free)", name, err, human.Bytes(int64(free)))
	}
	return fmt.Errorf("%s: %w; see whether its disk is full", name, err)
}

// blocks goes through a file. The blocks of the first have bytes there are read
// back and kept while they are equal; from the first that is not, all are written
// and read back, or, without write, same is false. In the end the checksum of what
// was read back is the one expected.
func (s *sender) blocks(ctx context.Context, c *conn, f *file, local vfs.File, there *sftp.File, have int64, write bool) (same bool, err error) {
	h := xxh3.New()
	unsynced := int64(0)
	for off := int64(0); off < f.want.Bytes; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n := min(s.o.block, f.want.Bytes-off)
		mine, theirs := s.mine[:n], s.theirs[:n]
		if _, err := local.ReadAt(mine, off); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		c.watch.here()
		equal := false
		if off+n <= have {
			if equal, err = readBack(there, mine, theirs, off); err != nil {
				return false, err
			}
		}
		switch {
		case equal:
			if s.at >= s.far {
				s.sent.Kept += n
			}
		case !write:
			return false, nil
		default:
			have = 0
			if _, err := there.WriteAt(mine, off); err != nil {
				return false, err
			}
			if equal, err = readBack(there, mine, theirs, off); err != nil {
				return false, err
			}
			if !equal {
				return false, fmt.Errorf("%w: found other bytes between %d and %d when they were read back, expected those that were written; see whether the disk or memory of the machine is in order",
					store.ErrDamaged, off, off+n)
			}
			s.sent.Bytes += n
			if unsynced += n; unsynced >= syncBytes {
				if err := c.sync(there); err != nil {
					return false, err
				}
				unsynced = 0
			}
		}
		_, _ = h.Write(theirs) // a hash never fails
		off += n
		s.went(n)
	}
	if got := fmt.Sprintf("%016x", h.Sum64()); got != f.want.XXH3 {
		return false, fmt.Errorf("%s: %w: found checksum %s, expected %s of %s; run `graphmill verify %s`",
			local.Name(), store.ErrDamaged, got, f.want.XXH3, store.ManifestFile, s.dir)
	}
	return true, nil
}

// went counts bytes that are verified; those of a second connection over the same
// ground are not told again.
func (s *sender) went(n int64) {
	s.at += n
	if s.at > s.far {
		if s.o.Progress != nil {
			s.o.Progress(s.at - s.far)
		}
		s.far = s.at
	}
}

// readBack says whether the bytes there are mine. A file that ends early has
// others.
func readBack(there *sftp.File, mine, theirs []byte, off int64) (bool, error) {
	n, err := there.ReadAt(theirs, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return n == len(mine) && bytes.Equal(mine, theirs), nil
}

// put writes a small file whole.
func (s *sender) put(c *conn, name string, text []byte) error {
	to := s.remote(name)
	there, err := c.Create(partial(to))
	if err != nil {
		return fmt.Errorf("%s: %w", partial(to), err)
	}
	_, err = there.WriteAt(text, 0)
	if err == nil {
		back := make([]byte, len(text))
		var equal bool
		if equal, err = readBack(there, text, back, 0); err == nil && !equal {
			err = fmt.Errorf("%w: found other bytes when they were read back, expected those that were written", store.ErrDamaged)
		}
	}
	if err == nil {
		err = c.sync(there)
	}
	if err = closed(there, err); err != nil {
		return s.explained(c, partial(to), err)
	}
	return c.rename(partial(to), to)
}

// small reads a file of about n bytes; a longer one is cut, and so equal to none.
func (c *conn) small(name string, n int) (b []byte, err error) {
	f, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	b, err = io.ReadAll(io.LimitReader(f, int64(n)+1))
	return b, closed(f, err)
}

// sync brings a file to the disk where the server can.
func (c *conn) sync(f *sftp.File) error {
	if _, ok := c.HasExtension("fsync@openssh.com"); !ok {
		return nil
	}
	return f.Sync()
}

// rename replaces name in one step where the server can.
func (c *conn) rename(from, to string) error {
	_, posix := c.HasExtension("posix-rename@openssh.com")
	var err error
	if posix {
		err = c.PosixRename(from, to)
	} else {
		if err = c.Remove(to); err == nil || errors.Is(err, fs.ErrNotExist) {
			err = c.Rename(from, to)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return nil
}
