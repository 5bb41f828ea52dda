package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Options say where an FS keeps files, and how it sends them.
type Options struct {
	// Cache is the local folder of the blocks that were read and of outputs until they are sent. It is made when it is needed.
	Cache string
	// CacheSize is the most bytes of blocks, such as 20GiB; "": half of what is free on the disk of Cache.
	CacheSize string
	// Last are the names of the files of a folder that are sent last, and in an exchange removed first: without them the folder is not whole.
	Last []string
}

// FS is a file system over the objects of one scheme. It may be used by several goroutines.
type FS struct {
	scheme string
	o      Options
	cache  *cache
	grant  *Grant // of a part; nil: the credentials of the environment
	whole  *FS    // that a part was made from; nil: it is none

	mu       sync.Mutex
	services map[string]service // by bucket
	objects  map[string]*object // by address
	links    map[string]linked  // by staged path
	idle     []*object          // with blocks and, perhaps, without users, the oldest first
	sized    bool               // cache has its bound
	parts    []*FS              // that Granted made
}

var _ vfs.Sender = (*FS)(nil)

// idleFiles is the number of objects without users whose blocks stay in the cache. Each has an open file.
const idleFiles = 128

// New returns the file system of a scheme: s3, gs, https or http.
func New(scheme string, o Options) *FS {
	f := newFS(scheme, o)
	f.cache = &cache{idle: f.dropIdle}
	return f
}

func newFS(scheme string, o Options) *FS {
	return &FS{scheme: scheme, o: o, services: map[string]service{}, objects: map[string]*object{}, links: map[string]linked{}}
}

// of is the service and the address of a path. Exactly one of service and staged is set; staged is a local path.
func (f *FS) of(name string) (a address, s service, staged string, err error) {
	if a, err = parse(name); err != nil {
		return a, nil, "", err
	}
	if a.staged() {
		if f.scheme != "s3" && f.scheme != "gs" {
			return a, nil, "", failed("write", a, errReadOnly)
		}
		if f.o.Cache == "" {
			return a, nil, "", fmt.Errorf("%s: found no folder for caches, expected one; set GRAPHMILL_CACHE", a)
		}
		return a, nil, filepath.Join(f.o.Cache, "staging", a.scheme, a.bucket, filepath.FromSlash(a.key)), nil
	}
	s, err = f.connect(a)
	return a, s, "", err
}

func (f *FS) connect(a address) (s service, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.services[a.bucket]; s != nil {
		return s, nil
	}
	switch {
	case f.grant != nil:
		s, err = f.grant.connect(f.scheme, a.bucket)
	case f.scheme == "s3":
		s, err = newS3(a.bucket)
	case f.scheme == "gs":
		s, err = newGoogle(a.bucket)
	default:
		s = newWeb(f.scheme, a.bucket)
	}
	if err == nil {
		f.services[a.bucket] = s
	}
	return s, err
}

// temp makes a file for blocks.
func (f *FS) temp() (vfs.File, error) {
	if err := vfs.OS.MkdirAll(f.o.Cache); err != nil {
		return nil, err
	}
	return vfs.OS.Temp(f.o.Cache)
}

// size sets the bound of the cache.
func (f *FS) size() error {
	if f.whole != nil {
		return f.whole.size()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sized {
		return nil
	}
	if f.o.Cache == "" {
		return errors.New("found no folder for caches, expected one; set GRAPHMILL_CACHE")
	}
	if f.o.CacheSize != "" {
		n, err := human.ParseBytes(f.o.CacheSize)
		if err != nil {
			return fmt.Errorf("GRAPHMILL_CACHE_SIZE: %w", err)
		}
		f.cache.bound = n
	} else {
		if err := vfs.OS.MkdirAll(f.o.Cache); err != nil {
			return err
		}
		free, err := vfs.OS.Free(f.o.Cache)
		if err != nil {
			return err
		}
		f.cache.bound = free / 2
	}
	f.cache.bound = max(f.cache.bound, leastCache)
	f.sized = true
	return nil
}

func failed(op string, a address, err error) error {
	if err == nil {
		return nil
	}
	if e := (*net.OpError)(nil); errors.As(err, &e) && e.Op == "dial" {
		err = fmt.Errorf("the server does not answer: %w; correct the address, or try again later", err)
	}
	return &fs.PathError{Op: op, Path: a.String(), Err: err}
}

// Open implements vfs.FS.
func (f *FS) Open(name string) (vfs.File, error) {
	a, s, staged, err := f.of(name)
	if err != nil {
		return nil, err
	}
	if l, ok := f.linkOf(staged); ok {
		return f.Open(l.at.String())
	}
	if staged != "" {
		return vfs.OS.Open(staged)
	}
	if err := f.size(); err != nil {
		return nil, failed("open", a, err)
	}
	v, err := s.head(context.Background(), a.key)
	if errors.Is(err, fs.ErrNotExist) {
		// An answer to HEAD has no text. That to a list says whether the bucket and the credentials are good.
		folder, listErr := f.isFolder(a, s)
		if folder {
			return nil, fmt.Errorf("%s: found a folder, expected a file; name a file in it", a)
		}
		err = cmp.Or(listErr, err)
	}
	if err != nil {
		return nil, failed("open", a, err)
	}
	o := f.object(a, s, v)
	file := o.open()
	if v.whole {
		if err := o.once(file.ctx); err != nil {
			return nil, errors.Join(failed("open", a, err), file.Close())
		}
	}
	return file, nil
}

// object is the object of a version, with one more user.
func (f *FS) object(a address, s service, v version) *object {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[a.String()]
	if o == nil || o.version != v && !o.whole {
		// An older version goes when its users have gone.
		o = &object{fs: f, at: a, service: s, version: v, blocks: map[int64]*block{}, last: -1}
		f.objects[a.String()] = o
	}
	o.users++
	return o
}

// enter and leave count the users of an object.
func (f *FS) enter(o *object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o.users++
}

func (f *FS) leave(o *object) {
	f.mu.Lock()
	o.users--
	drop := f.unused(o)
	f.mu.Unlock()
	for _, o := range drop {
		f.cache.give(o.drop())
	}
}

// unused returns the objects that go after o has lost a user: itself where it is an old version or has no block, and those that nobody has used for
// long where there are many. f.mu is held.
func (f *FS) unused(o *object) (drop []*object) {
	name := o.at.String()
	switch {
	case o.users > 0:
		return nil
	case f.objects[name] != o:
		return []*object{o}
	case o.whole: // it could be another version when it is read again
		return nil
	case o.empty():
		delete(f.objects, name)
		return []*object{o}
	}
	f.idle = append(slices.DeleteFunc(f.idle, func(x *object) bool { return x == o }), o)
	for len(f.idle) > idleFiles {
		x := f.idle[0]
		f.idle = f.idle[1:]
		if x.users == 0 && f.objects[x.at.String()] == x {
			delete(f.objects, x.at.String())
			drop = append(drop, x)
		}
	}
	return drop
}

// dropIdle gives the blocks of an object back that nobody uses. It returns their bytes; ok is false where all are in use.
func (f *FS) dropIdle() (bytes int64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for name, o := range f.objects {
		if o.users == 0 && !o.whole { // a whole one is not counted, and could be another version when it is read again
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		for _, p := range f.parts {
			if bytes, ok := p.dropIdle(); ok {
				return bytes, true
			}
		}
		return 0, false
	}
	name := slices.Min(names)
	o := f.objects[name]
	delete(f.objects, name)
	return o.drop(), true
}

// OpenStream implements vfs.FS.
func (f *FS) OpenStream(name string) (vfs.File, error) { return f.Open(name) }

// only is an error about a path that is not in the staging folder.
func only(op string, a address) error {
	return failed(op, a, errWhole)
}

// Create implements vfs.FS in the staging folder.
func (f *FS) Create(name string) (vfs.File, error) {
	a, _, staged, err := f.of(name)
	if err != nil {
		return nil, err
	}
	if staged == "" {
		return nil, only("create", a)
	}
	var file vfs.File
	err = inFolder(staged, func() (err error) {
		file, err = vfs.OS.Create(staged)
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

// inFolder makes the folder of a local path, and calls make, which makes the path. Another run can remove the folder in between, when it is empty.
func inFolder(path string, make func() error) error {
	for tries := 1; ; tries++ {
		if err := vfs.OS.MkdirAll(filepath.Dir(path)); err != nil {
			return err
		}
		if err := make(); tries == 3 || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// Reopen implements vfs.FS in the staging folder.
func (f *FS) Reopen(name string, size int64) (vfs.File, error) {
	a, _, staged, err := f.of(name)
	if err != nil {
		return nil, err
	}
	if staged == "" {
		return nil, only("reopen", a)
	}
	if l, ok := f.linkOf(staged); ok {
		return nil, only("reopen", l.at)
	}
	return vfs.OS.Reopen(staged, size)
}

// Temp implements vfs.FS: the file lies in the cache.
func (f *FS) Temp(string) (vfs.File, error) { return f.temp() }

// Mkdir implements vfs.FS. A folder of a bucket needs not be made.
func (f *FS) Mkdir(name string) error {
	_, _, staged, err := f.of(name)
	if err != nil || staged == "" {
		return err
	}
	return inFolder(staged, func() error { return vfs.OS.Mkdir(staged) })
}

// MkdirAll implements vfs.FS.
func (f *FS) MkdirAll(name string) error {
	_, _, staged, err := f.of(name)
	if err != nil || staged == "" {
		return err
	}
	return vfs.OS.MkdirAll(staged)
}

// isFolder says whether an object lies in a folder.
func (f *FS) isFolder(a address, s service) (found bool, err error) {
	if a.key == "" && (f.scheme == "s3" || f.scheme == "gs") {
		return true, nil
	}
	err = s.list(context.Background(), a.under(), false, func(entry) error { return errFound })
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

var errFound = errors.New("found")

// Stat implements vfs.FS.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	a, s, staged, err := f.of(name)
	if err != nil {
		return nil, err
	}
	if staged != "" {
		return vfs.OS.Stat(staged)
	}
	err = fs.ErrNotExist
	if a.key != "" {
		var v version
		if v, err = s.head(context.Background(), a.key); err == nil {
			if v.size < 0 { // known after it was read
				file, err := f.Open(name)
				if err != nil {
					return nil, err
				}
				info, err := file.Stat()
				return info, errors.Join(err, file.Close())
			}
			return &info{name: a.String(), version: v}, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		folder, listErr := f.isFolder(a, s)
		if folder {
			return &info{name: a.String(), folder: true}, nil
		}
		if listErr != nil {
			err = listErr
		}
	}
	return nil, failed("stat", a, err)
}

// Lstat implements vfs.FS: there are no links.
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.Stat(name) }

// ReadDir implements vfs.FS.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	a, s, staged, err := f.of(name)
	if err != nil {
		return nil, err
	}
	if staged != "" {
		return vfs.OS.ReadDir(staged)
	}
	var entries []fs.DirEntry
	err = s.list(context.Background(), a.under(), false, func(e entry) error {
		rest := strings.TrimPrefix(e.key, a.under())
		base, folder := strings.CutSuffix(rest, "/")
		// An object with such a name stands for a folder, or could not be opened by its path.
		if base == "" || base == "." || base == ".." || strings.ContainsAny(base, "/\x00") {
			return nil
		}
		entries = append(entries, fs.FileInfoToDirEntry(&info{name: base, version: e.version, folder: folder}))
		return nil
	})
	if err == nil && len(entries) == 0 {
		if err = fs.ErrNotExist; a.key != "" {
			if _, headErr := s.head(context.Background(), a.key); headErr == nil {
				err = errors.New("not a directory")
			}
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, failed("readdir", a, err)
}

// SyncDir implements vfs.FS. An object that was sent is durable.
func (f *FS) SyncDir(name string) error {
	_, _, staged, err := f.of(name)
	if err != nil || staged == "" {
		return err
	}
	return vfs.OS.SyncDir(staged)
}

// Free implements vfs.FS: what is free in the cache, where outputs lie until they are sent.
func (f *FS) Free(string) (int64, error) {
	if err := vfs.OS.MkdirAll(f.o.Cache); err != nil {
		return 0, err
	}
	return vfs.OS.Free(f.o.Cache)
}

func baseOf(name string) string { return path.Base(filepath.ToSlash(name)) }

// CacheFolder is GRAPHMILL_CACHE, or the folder graphmill in the folder for caches of the user; "" if neither is known.
func CacheFolder() string {
	if dir := os.Getenv("GRAPHMILL_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "graphmill")
}
