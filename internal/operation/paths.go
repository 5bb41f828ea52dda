package operation

import (
	"errors"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Worked returns the folder next to an output that the workers of a cluster share. In a bucket, names that begin with a dot are of this machine alone.
func Worked(out string) string {
	parent, base := filepath.Split(filepath.Clean(out))
	hidden := "."
	if vfs.Scheme(out) != "" {
		hidden = "_"
	}
	return filepath.Join(parent, hidden+base+".work")
}

// Exists says whether there is something at a path, or nobody can tell.
func Exists(path string) bool {
	_, err := vfs.OS.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// OpenGraph opens a store of one graph, with the segments that it has.
func OpenGraph(dir string) (*store.Store, error) {
	s, err := store.OpenMerged(vfs.OS, dir, -1)
	if err != nil {
		return nil, err
	}
	if s.Graph == nil {
		if err := s.Close(); err != nil {
			return nil, err
		}
		return nil, Usagef("%s: found a collection, expected a store; write its graphs with `To` tfrecord", dir)
	}
	return s, nil
}

// FolderOf returns the folder that an output is made in or, if it does not exist yet, the one that it will be in.
func FolderOf(out string) string {
	dir := filepath.Dir(filepath.Clean(out))
	for {
		info, err := vfs.OS.Stat(dir)
		if err == nil && info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir // one that cannot be looked at fails when it is used
		}
		dir = filepath.Dir(dir)
	}
}

// Below returns a function that names a file by its path relative to the source, or by its base name if it lies elsewhere.
// A source that does not exist is the common part of names: a glob, or a name with a number of shards.
func Below(source string) (func(file string) string, error) {
	root := source
	info, err := vfs.OS.Stat(source)
	if err != nil && !vfs.Absent(err) {
		return nil, err
	}
	if err == nil && !info.IsDir() {
		root = filepath.Dir(source)
	}
	return func(file string) string {
		if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) && rel != "." {
			return filepath.ToSlash(rel)
		}
		return filepath.Base(file)
	}, nil
}

// Relative returns the path of a folder from another one, with '/' between elements.
func Relative(from, to string) (string, error) {
	a, err := RealPath(from)
	if err != nil {
		return "", err
	}
	b, err := RealPath(to)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(a, b)
	return filepath.ToSlash(rel), err
}

// Unanswered returns an error of a disk that does not answer. It returns nil for an absence, a refusal and damage: such a folder or file
// is not what is searched.
func Unanswered(err error) error {
	var call *fs.PathError
	if errors.As(err, &call) && !vfs.Absent(err) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// PageOf returns the address of the page of an output folder, or of the one that holds a file, from a page in the folder dir.
// It is "" where there is no such page, or one has no way to it.
func PageOf(dir, at string) string {
	if at == "" || vfs.Scheme(at) != "" || vfs.Scheme(dir) != "" {
		return ""
	}
	has := func(name string) bool {
		_, err := vfs.OS.Lstat(filepath.Join(at, name))
		return !vfs.Absent(err) // also where at is a file
	}
	if !has(store.ManifestFile) {
		at = filepath.Dir(at)
	}
	if !has(store.ManifestFile) || !has(store.ReportHTMLFile) {
		return ""
	}
	rel, err := Relative(dir, at)
	if err != nil {
		return ""
	}
	return EscapedPath(path.Join(rel, store.ReportHTMLFile))
}

// EscapedPath returns a path with '/' between elements as a relative address.
func EscapedPath(path string) string {
	u := url.URL{Path: path}
	return strings.TrimPrefix(u.EscapedPath(), "./")
}

// SharedWork is the absolute path of the folder in which the workers of a cluster leave what they made for the output out.
func SharedWork(out string) (string, error) {
	scheme := vfs.Scheme(out)
	switch {
	case strings.HasPrefix(scheme, "http"):
		return "", Usagef("found `Out` %s with a cluster, expected a folder that every machine can write, because workers leave their pieces beside it; give a folder on a disk that all machines share, or in a bucket", out)
	case scheme != "" && filepath.Dir(filepath.Clean(out)) == scheme+":":
		return "", Usagef("found `Out` %s, which is a bucket, expected a folder in it, because workers leave their pieces beside it", vfs.Spelled(filepath.Clean(out)))
	}
	return vfs.Abs(Worked(out))
}

// Keeps refuses an output folder that is an input, that holds one, or that lies inside an input folder with a manifest.
func Keeps(out string, inputs ...string) error {
	if out == "" {
		return Usagef("found no `Out`, expected a folder to write; give `Out`")
	}
	real, err := RealPath(out)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		path, err := RealPath(in)
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(real, path); err == nil && filepath.IsLocal(rel) {
			return Usagef("found `Out` %s, which is or contains the input %s, expected another folder; give an `Out` beside it", out, in)
		}
		if rel, err := filepath.Rel(path, real); err == nil && filepath.IsLocal(rel) {
			_, err := vfs.OS.Stat(filepath.Join(path, store.ManifestFile))
			switch {
			case err == nil:
				return Usagef("found `Out` %s, which lies in the input %s, expected a folder outside it; give an `Out` beside it", out, in)
			case !vfs.Absent(err): // an input that is a file holds none
				return err
			}
		}
	}
	return nil
}

// RealPath returns the absolute path, without symbolic links, of a file that exists or will exist.
func RealPath(path string) (string, error) {
	if vfs.Scheme(path) != "" {
		return filepath.Clean(path), nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !vfs.Absent(err) {
		return real, err
	}
	dir, base := filepath.Split(path)
	real, err = filepath.EvalSymlinks(dir)
	switch {
	case err == nil:
		return filepath.Join(real, base), nil
	case vfs.Absent(err):
		return path, nil
	}
	return "", err
}
