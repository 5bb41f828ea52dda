package vfs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
)

// Schemes are the beginnings of paths that file systems other than the operating system's can have, such as s3://BUCKET/KEY.
var Schemes = []string{"s3", "gs", "https", "http", "iceberg+https", "iceberg+http"}

var mounted = map[string]FS{}

// Mount makes a file system a part of OS, for paths that begin with SCHEME:/, one of Schemes. It is called before OS is used.
func Mount(scheme string, fsys FS) { mounted[scheme] = fsys }

// Scheme is the scheme of a path, "" for a path of the operating system. Package filepath makes s3:/BUCKET of s3://BUCKET,
// so either has the scheme s3.
func Scheme(name string) string {
	for _, scheme := range Schemes {
		if rest, ok := strings.CutPrefix(name, scheme); ok && strings.HasPrefix(rest, ":/") {
			return scheme
		}
	}
	return ""
}

// Abs is filepath.Abs. A path with a scheme is absolute.
func Abs(name string) (string, error) {
	if Scheme(name) != "" {
		return filepath.Clean(name), nil
	}
	return filepath.Abs(name)
}

var shortened = regexp.MustCompile(`\b(s3|gs|https?):/([^/\s])`)

// Spelled returns a text with both slashes in each address, where package filepath has left one.
func Spelled(text string) string { return shortened.ReplaceAllString(text, "$1://$2") }

// mounts is the file system of the operating system together with the ones of Mount.
type mounts struct{}

// fsOf is the file system of a path.
func fsOf(name string) FS {
	if fsys := mounted[Scheme(name)]; fsys != nil {
		return fsys
	}
	return osFS{}
}

// Open implements FS.
func (mounts) Open(name string) (File, error) { return fsOf(name).Open(name) }

// OpenStream implements FS.
func (mounts) OpenStream(name string) (File, error) { return fsOf(name).OpenStream(name) }

// Create implements FS.
func (mounts) Create(name string) (File, error) { return fsOf(name).Create(name) }

// Reopen implements FS.
func (mounts) Reopen(name string, size int64) (File, error) { return fsOf(name).Reopen(name, size) }

// Temp implements FS.
func (mounts) Temp(dir string) (File, error) { return fsOf(dir).Temp(dir) }

// Mkdir implements FS.
func (mounts) Mkdir(name string) error { return fsOf(name).Mkdir(name) }

// MkdirAll implements FS.
func (mounts) MkdirAll(name string) error { return fsOf(name).MkdirAll(name) }

// Rename implements FS. Names of different file systems are an error of the file system of the new name.
func (mounts) Rename(oldname, newname string) error { return fsOf(newname).Rename(oldname, newname) }

// Link implements FS. Names of different file systems are errors.ErrUnsupported.
func (mounts) Link(oldname, newname string) error {
	if Scheme(oldname) != Scheme(newname) {
		return &fs.PathError{Op: "link", Path: newname, Err: errors.ErrUnsupported}
	}
	return fsOf(newname).Link(oldname, newname)
}

// Remove implements FS.
func (mounts) Remove(name string) error { return fsOf(name).Remove(name) }

// RemoveAll implements FS.
func (mounts) RemoveAll(name string) error { return fsOf(name).RemoveAll(name) }

// Stat implements FS.
func (mounts) Stat(name string) (fs.FileInfo, error) { return fsOf(name).Stat(name) }

// Lstat implements FS.
func (mounts) Lstat(name string) (fs.FileInfo, error) { return fsOf(name).Lstat(name) }

// ReadDir implements FS.
func (mounts) ReadDir(name string) ([]fs.DirEntry, error) { return fsOf(name).ReadDir(name) }

// SyncDir implements FS.
func (mounts) SyncDir(name string) error { return fsOf(name).SyncDir(name) }

// Exchange implements FS.
func (mounts) Exchange(a, b string) error { return fsOf(b).Exchange(a, b) }

// Free implements FS.
func (mounts) Free(dir string) (int64, error) { return fsOf(dir).Free(dir) }

// Lock implements FS.
func (mounts) Lock(dir string) (func() error, error) { return fsOf(dir).Lock(dir) }
