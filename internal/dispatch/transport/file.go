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

// sender sends one machine its files.
type sender struct {
	*place
	fs    vfs.FS
	dir   string
	own   []byte // manifest of dir
	login *login
	o     *Options
	sent  *Sent

	mine, theirs []byte // a block of the local file and of the remote file
	current      *file  // the file being sent, for errors
	whole        bool   // the remote folder is whole: its files are compared and not written
	// at is the number of bytes that this connection has verified. far is the largest such number of any connection so far.
	at, far int64
}

// syncBytes is the number of bytes written between syncs of the remote file: few enough that a slow disk
// answers before the machine counts as silent.
const syncBytes = 256 << 20

// send sends everything that is missing.
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
	// A folder with a manifest counts as whole, so the manifest comes last, after its checksum.
	if err := s.put(c, store.ManifestSumFile, s.sum); err != nil {
		return err
	}
	return s.put(c, store.ManifestFile, s.manifest)
}

func (s *sender) remote(name string) string { return path.Join(s.o.RemoteDir, name) }

// prepare creates the remote folder and checks its content.
func (s *sender) prepare(c *conn) error {
	if err := c.MkdirAll(s.o.RemoteDir); err != nil {
		return fmt.Errorf("%s cannot be made: %w; choose another `RemoteDir`", s.o.RemoteDir, err)
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
		return fmt.Errorf("%s: %w there and holds other parts; choose another `RemoteDir`, or give `Overwrite` to replace them", s.o.RemoteDir, store.ErrExists)
	default:
		// While files are replaced, the folder must not look whole.
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

// room checks that the remote disk has room for the missing bytes.
func (s *sender) room(c *conn) error {
	free, known := s.free(c)
	if !known {
		return nil
	}
	var need int64
	for _, f := range s.files {
		have := int64(0)
		for _, name := range []string{s.remote(f.name), partial(s.remote(f.name))} {
			info, err := c.Stat(name)
			if err == nil {
				have = max(have, info.Size())
			} else if !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		need += max(f.want.Bytes-have, 0)
	}
	if uint64(need) > free {
		return fmt.Errorf("%s: found %s free, expected %s for the missing files; make room there or choose another `RemoteDir`",
			s.o.RemoteDir, human.Bytes(int64(free)), human.Bytes(need))
	}
	return nil
}

// free is the free space of the remote disk, if the server tells it.
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

// partial is the name of a file while it is written.
func partial(name string) string {
	return path.Join(path.Dir(name), "."+path.Base(name)+".partial")
}

// sendFile makes sure that the remote file is whole and equal to the local one.
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
		return fmt.Errorf("%s: %w: found %d bytes, expected %d; run 'graphmill verify %s'", local.Name(), store.ErrDamaged, info.Size(), f.want.Bytes, s.dir)
	}
	name := s.remote(f.name)
	info, err = c.Stat(name)
	if err == nil {
		same, err := s.compare(ctx, c, f, local, name, info.Size())
		if same || err != nil {
			return err
		}
		if s.whole {
			return fmt.Errorf("%s: %w: found other bytes there than here, although the manifests are equal; remove %s there and send again", name, store.ErrDamaged, s.o.RemoteDir)
		}
		if !s.o.Force {
			return fmt.Errorf("%s: %w there and is another file; choose another `RemoteDir`, or give `Overwrite` to replace it", name, store.ErrExists)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, err)
	} else if s.whole {
		return fmt.Errorf("%s: %w: found no file, expected one, because the manifest names it; remove %s there and send again", name, store.ErrDamaged, s.o.RemoteDir)
	}
	if err := c.MkdirAll(path.Dir(name)); err != nil {
		return fmt.Errorf("%s cannot be made: %w", path.Dir(name), err)
	}
	return s.write(ctx, c, f, local, name)
}

// compare reports whether the remote file equals the local one.
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

// closed closes a file. An earlier error takes precedence over the error of closing, which adds nothing if the
// connection is lost.
func closed(there *sftp.File, err error) error {
	if closing := there.Close(); err == nil {
		err = closing
	}
	return err
}

// write continues the partial file and renames it when it is whole.
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

// explained adds the likely reason to an answer of the server as short as "Failure".
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

// blocks goes through a file. Of the have bytes that the remote file has, it reads each block back and keeps
// it while it equals the local one. From the first block that differs, it writes all blocks and reads them
// back; without write it returns same == false instead. At the end it checks the checksum of the bytes that
// were read back.
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
				return false, fmt.Errorf("%w: found other bytes between %d and %d when they were read back, expected those that were written; see whether the disk or the memory of the machine is faulty",
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
		return false, fmt.Errorf("%s: %w: found checksum %s, expected %s of %s; run 'graphmill verify %s'",
			local.Name(), store.ErrDamaged, got, f.want.XXH3, store.ManifestFile, s.dir)
	}
	return true, nil
}

// went counts verified bytes. Bytes that an earlier connection already verified are not reported again.
func (s *sender) went(n int64) {
	s.at += n
	if s.at > s.far {
		if s.o.Progress != nil {
			s.o.Progress(s.at - s.far)
		}
		s.far = s.at
	}
}

// readBack reports whether the remote bytes at off equal mine. The bytes of a file that ends early do not.
func readBack(there *sftp.File, mine, theirs []byte, off int64) (bool, error) {
	n, err := there.ReadAt(theirs, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return n == len(mine) && bytes.Equal(mine, theirs), nil
}

// put writes a small file in one piece.
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
			err = fmt.Errorf("%w: found other bytes when they were read back, expected those that were written; the disk or the network there loses bytes; check the machine, then send again", store.ErrDamaged)
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

// small reads a file of about n bytes. A longer file is cut at n+1 bytes, so that it equals no expected
// content.
func (c *conn) small(name string, n int) (b []byte, err error) {
	f, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	b, err = io.ReadAll(io.LimitReader(f, int64(n)+1))
	return b, closed(f, err)
}

// sync flushes a file to the disk, if the server can.
func (c *conn) sync(f *sftp.File) error {
	if _, ok := c.HasExtension("fsync@openssh.com"); !ok {
		return nil
	}
	return f.Sync()
}

// rename replaces name in one step, if the server can.
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
