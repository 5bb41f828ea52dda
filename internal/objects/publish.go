package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

// sendFiles is the number of files that are sent at a time, and copyObjects the number of objects that the server copies at a time, since each takes some
// requests and no bytes pass this machine.
const (
	sendFiles   = 4
	copyObjects = 32
)

// Rename implements vfs.FS. Within the staging folder it renames. From there to another path it sends a file or the files of a
// folder, the files of Options.Last after all others. Where one fails, the ones that were sent are removed.
func (f *FS) Rename(oldname, newname string) error {
	from, _, local, err := f.of(oldname)
	if err != nil {
		return err
	}
	to, s, staged, err := f.of(newname)
	if err != nil {
		return err
	}
	switch {
	case local == "":
		return only("rename", from)
	case staged != "":
		err := inFolder(staged, func() error { return vfs.OS.Rename(local, staged) })
		if err == nil {
			f.unlink(staged)
			f.moveLinks(local, staged)
		}
		return err
	}
	if err := f.publish(local, newname, to, s); err != nil {
		return err
	}
	f.unlink(local)
	if err := vfs.OS.RemoveAll(local); err != nil {
		return err
	}
	// The folders above are left where something else is in them.
	for dir := filepath.Dir(local); dir != f.o.Cache && vfs.OS.Remove(dir) == nil; dir = filepath.Dir(dir) {
	}
	return nil
}

// publish sends a file, or the files of a folder while no other process sends there.
func (f *FS) publish(local, newname string, to address, s service) (err error) {
	info, err := vfs.OS.Lstat(local)
	if err != nil {
		return err
	}
	if info.IsDir() {
		unlock, err := f.Lock(newname)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unlock()) }()
	}
	_, err = f.send(local, to, s, true)
	return err
}

// Sends implements vfs.Sender.
func (f *FS) Sends(name string) bool {
	a, err := parse(name)
	return err != nil || !a.staged() // Send says what is wrong
}

// Send implements vfs.Sender.
func (f *FS) Send(name string, file vfs.File, replace bool) error {
	a, s, staged, err := f.of(name)
	if err != nil {
		return err
	}
	if staged != "" || a.key == "" {
		return failed("send", a, fs.ErrInvalid)
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	err = s.write(context.Background(), a.key, file, info.Size(), !replace)
	if !replace && errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return failed("send", a, err)
}

// Exchange implements vfs.FS for a in the staging folder and b a folder of a bucket: b gets the files of a. It is not atomic: the files of
// Options.Last of b are removed first and sent last, so that b is at no time whole with files of both. Afterwards a has its own files,
// which the caller removes.
func (f *FS) Exchange(a, b string) (err error) {
	from, _, local, err := f.of(a)
	if err != nil {
		return err
	}
	to, s, staged, err := f.of(b)
	if err != nil {
		return err
	}
	switch {
	case local == "":
		return only("exchange", from)
	case staged != "":
		err := vfs.OS.Exchange(local, staged)
		if err == nil {
			f.moveLinks(local, staged)
		}
		return err
	}
	unlock, err := f.Lock(b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	ctx := context.Background()
	for _, name := range f.o.Last {
		if err := s.remove(ctx, path.Join(to.key, name)); err != nil {
			return failed("remove", to, err)
		}
	}
	var old []string
	if err := s.list(ctx, to.under(), true, func(e entry) error {
		old = append(old, e.key)
		return nil
	}); err != nil {
		return failed("list", to, err)
	}
	sent, err := f.send(local, to, s, false)
	if err != nil {
		return err
	}
	for _, key := range old {
		if !slices.Contains(sent, key) {
			if err := s.remove(ctx, key); err != nil {
				return failed("remove", to, err)
			}
		}
	}
	return nil
}

// local is a file to send.
type localFile struct{ path, key string }

// send sends a local file, or the files of a local folder, and returns the keys. With only, an object that is there already is an
// error, because another run makes the same output. Where one fails, the objects that this call has made are removed.
func (f *FS) send(local string, to address, s service, only bool) (keys []string, err error) {
	files, err := below(local, to.key)
	if err != nil {
		return nil, err
	}
	only = only && len(files) > 0 && files[0].key != to.key // a single file replaces another
	last := func(l localFile) bool {
		return slices.Contains(f.o.Last, path.Base(l.key)) && path.Dir(l.key) == to.key
	}
	var mu sync.Mutex
	defer func() {
		if err == nil {
			return
		}
		for _, key := range keys {
			err = errors.Join(err, failed("remove", address{to.scheme, to.bucket, key}, s.remove(context.Background(), key)))
		}
	}()
	sending := make(chan struct{}, sendFiles)
	one := func(ctx context.Context, l localFile) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := errors.ErrUnsupported
		from, link := f.linkOf(l.path)
		if link {
			err = s.copyObject(ctx, from.at.key, from.version, l.key, only)
		}
		if errors.Is(err, errors.ErrUnsupported) { // no link, or a server that cannot copy: this machine does
			sending <- struct{}{}
			defer func() { <-sending }()
			if link {
				err = f.sendObject(ctx, from, l.key, s, only)
			} else {
				err = f.sendFile(ctx, l, s, only)
			}
		}
		if !errors.Is(err, fs.ErrExist) { // after another error the object may be there or not
			mu.Lock()
			defer mu.Unlock()
			keys = append(keys, l.key)
		}
		return failed("send", address{to.scheme, to.bucket, l.key}, err)
	}
	g, ctx := guard.WithContext(context.Background())
	g.SetLimit(copyObjects)
	for _, l := range files {
		if !last(l) {
			g.Go(func() error { return one(ctx, l) })
		}
	}
	if err := g.Wait(); err != nil {
		return keys, err
	}
	for _, name := range f.o.Last { // in this order
		for _, l := range files {
			if last(l) && path.Base(l.key) == name {
				if err := one(context.Background(), l); err != nil {
					return keys, err
				}
			}
		}
	}
	return keys, nil
}

func (f *FS) sendFile(ctx context.Context, l localFile, s service, only bool) (err error) {
	file, err := vfs.OS.Open(l.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return s.write(ctx, l.key, file, info.Size(), only)
}

// below is a local file, or all files of a local folder, in order.
func below(local, key string) ([]localFile, error) {
	info, err := vfs.OS.Lstat(local)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: found a link, pipe or device, expected a file; remove it from the folder", local)
		}
		return []localFile{{local, key}}, nil
	}
	entries, err := vfs.OS.ReadDir(local)
	if err != nil {
		return nil, err
	}
	var files []localFile
	for _, e := range entries {
		more, err := below(filepath.Join(local, e.Name()), path.Join(key, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

// Remove implements vfs.FS.
func (f *FS) Remove(name string) error {
	a, s, staged, err := f.of(name)
	if err != nil {
		return err
	}
	if staged != "" {
		f.unlink(staged)
		return vfs.OS.Remove(staged)
	}
	if _, err := s.head(context.Background(), a.key); err != nil {
		return failed("remove", a, err)
	}
	return failed("remove", a, s.remove(context.Background(), a.key))
}

// removeFiles is the number of objects that are removed at a time.
const removeFiles = 16

// RemoveAll implements vfs.FS. Uploads below the folder that others began and did not end are ended, too.
func (f *FS) RemoveAll(name string) error {
	a, s, staged, err := f.of(name)
	if err != nil {
		return err
	}
	if staged != "" {
		f.unlink(staged)
		return vfs.OS.RemoveAll(staged)
	}
	if a.key == "" {
		return failed("remove", a, fs.ErrInvalid)
	}
	g, ctx := guard.WithContext(context.Background())
	g.SetLimit(removeFiles)
	g.Go(func() error { return s.remove(ctx, a.key) })
	g.Go(func() error {
		s.abandon(ctx, a.under())
		return nil
	})
	list := s.list(ctx, a.under(), true, func(e entry) error {
		g.Go(func() error { return s.remove(ctx, e.key) })
		return nil
	})
	return failed("remove", a, cmp.Or(g.Wait(), list))
}
