package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/graphmill/graphmill/internal/vfs"
)

// linked is an object that a staged file stands for.
type linked struct {
	at address
	version
}

// mostCopied is the size of the largest object that a server copies by one request.
const mostCopied = 5 << 30

// Link implements vfs.FS for an object and a name in the staging folder of its bucket: when the file is sent, the server copies the object. Until then it must stay. Other
// links are errors.ErrUnsupported.
func (f *FS) Link(oldname, newname string) error {
	from, s, old, err := f.of(oldname)
	if err != nil {
		return err
	}
	to, _, staged, err := f.of(newname)
	if err != nil {
		return err
	}
	// Google takes other names for the headers of a copy, if the credentials are not those of S3.
	if old != "" || staged == "" || from.bucket != to.bucket || f.scheme != "s3" {
		return &fs.PathError{Op: "link", Path: newname, Err: errors.ErrUnsupported}
	}
	v, err := s.head(context.Background(), from.key)
	if err != nil {
		return failed("link", from, err)
	}
	if there, err := vfs.Exists(vfs.OS, staged); there || err != nil {
		return failed("link", to, cmp.Or(err, fs.ErrExist))
	}
	var file vfs.File
	if err := inFolder(staged, func() (err error) {
		file, err = vfs.OS.Create(staged)
		return err
	}); err != nil {
		return err
	}
	if err := errors.Join(file.Truncate(v.size), file.Close()); err != nil { // a file without blocks, of the size of the object
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.links[staged] = linked{from, v}
	return nil
}

// linkOf is the object that a staged file stands for.
func (f *FS) linkOf(staged string) (linked, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, ok := f.links[staged]
	return l, ok
}

// stagedIn says whether a staged path is dir, or in it.
func stagedIn(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

// unlink forgets the links at a staged path, and in it.
func (f *FS) unlink(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.links, func(at string, _ linked) bool { return stagedIn(at, path) })
}

// moveLinks has the links of two staged paths change places, as the files do.
func (f *FS) moveLinks(a, b string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	moved := map[string]linked{}
	for at, l := range f.links {
		switch {
		case stagedIn(at, a):
			at = b + at[len(a):]
		case stagedIn(at, b):
			at = a + at[len(b):]
		}
		moved[at] = l
	}
	f.links = moved
}

// sendObject reads the object that a staged file stands for, and sends it.
func (f *FS) sendObject(ctx context.Context, l linked, key string, s service, only bool) (err error) {
	file, err := f.Open(l.at.String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return s.write(ctx, key, file, l.size, only)
}

// copyObject implements service.
func (s *s3) copyObject(ctx context.Context, from string, v version, key string, only bool) error {
	if only {
		if err := s.absent(ctx, key); err != nil {
			return err
		}
	}
	source := minio.CopySrcOptions{Bucket: s.bucket, Object: from, MatchETag: v.tag}
	to := minio.CopyDestOptions{Bucket: s.bucket, Object: key, ReplaceMetadata: true, UserMetadata: map[string]string{runKey: s.run}}
	var err error
	if v.size <= mostCopied {
		_, err = s.core.Client.CopyObject(ctx, to, source)
	} else {
		_, err = s.core.ComposeObject(ctx, to, source)
	}
	if minio.ToErrorResponse(err).Code == "NotImplemented" {
		return errors.ErrUnsupported
	}
	if err != nil && (ctx.Err() != nil || errors.Is(s.explained(err), fs.ErrPermission)) {
		return s.explained(err)
	}
	// An answer may be lost, and a server that does not know copies makes an empty object.
	made, unknown := s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{})
	if unknown == nil && made.UserMetadata[runKey] == s.run && made.Size == v.size {
		return nil
	}
	if err == nil {
		err = cmp.Or(unknown, fmt.Errorf("%w: found a copy of %d bytes, expected %d; update the server, which does not know copies of objects", errAnswer, made.Size, v.size))
	}
	return s.explained(err)
}

// absent is an error that wraps fs.ErrExist if there is an object.
func (s *s3) absent(ctx context.Context, key string) error {
	switch _, err := s.head(ctx, key); {
	case err == nil:
		return fmt.Errorf("%w: another run made it", fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// copyObject implements service.
func (s *web) copyObject(context.Context, string, version, string, bool) error { return errReadOnly }
