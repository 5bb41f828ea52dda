package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/objects"
	"github.com/graphmill/graphmill/internal/vfs"
)

// FS is the file system over the tables of catalogs of one protocol. It may be used by several goroutines, and writes nothing.
type FS struct {
	readOnly
	stores map[string]*objects.FS

	mu      sync.Mutex
	clients map[string]*client // by endpoint and warehouse
	tables  map[string]*table  // by folder
}

// New returns the file system of catalogs. stores are the file systems of buckets by scheme, which read with credentials of tables.
func New(stores map[string]*objects.FS) *FS {
	return &FS{stores: stores, clients: map[string]*client{}, tables: map[string]*table{}}
}

// metadataFolder is the folder of the metadata in the folder of a table.
const metadataFolder = "metadata"

// outsideFolder begins paths of objects that need no credentials of the catalog.
const outsideFolder = "outside:"

// Outside is the path, in the folder of a table of a catalog, of an object that lies outside of the location of the table. Unless anywhere is set, only
// objects that the catalog gives credentials for can be read. The address has no .. in its path.
func Outside(folder, uri string, anywhere bool) string {
	if anywhere {
		return filepath.Join(folder, outsideFolder, uri)
	}
	return filepath.Join(folder, uri)
}

// table is the table of a path, and the path in its folder.
func (f *FS) table(name string) (*table, string, error) {
	a, err := parseAddress(name)
	if err != nil {
		return nil, "", err
	}
	known, given, err := choose(configured(os.Environ()), &a)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", a.endpoint, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	// A client has the credentials that the environment has now.
	key := a.endpoint + "\n" + a.warehouse
	c := f.clients[key]
	if c == nil || c.name != known || !maps.Equal(c.given, given) {
		if c, err = newClient(&a, known, given); err != nil {
			return nil, "", err
		}
		f.clients[key] = c
	}
	if t := f.tables[a.folder]; t != nil && t.client == c {
		return t, a.rest, nil
	}
	t := &table{address: a, client: c, stores: f.stores, parts: map[string]*objects.FS{}}
	f.tables[a.folder] = t
	return t, a.rest, nil
}

// place is where a file of a table lies. A file of metadata that the catalog returned is that answer.
func (f *FS) place(name string) (answer *loaded, fsys vfs.FS, at string, err error) {
	t, rest, err := f.table(name)
	if err != nil {
		return nil, nil, "", err
	}
	if dir, base := path.Split(rest); dir == metadataFolder+"/" {
		if l := t.named(base); l != nil {
			return l, nil, "", nil
		}
	}
	l, err := t.newest(context.Background())
	if err != nil {
		return nil, nil, "", err
	}
	var uri string
	switch below, outside := strings.CutPrefix(rest, outsideFolder+"/"); {
	case outside:
		uri, _ = storageAddress(below)
	case strings.HasPrefix(rest, "s3:/") || strings.HasPrefix(rest, "gs:/"):
		uri, _ = storageAddress(rest)
		// Credentials of the environment, or for a whole scheme, may open more than the table.
		if g, scheme := l.grantOf(uri), vfs.Scheme(uri); g.prefix == "" || g.prefix == scheme+"://" || !g.properties.have(scheme) {
			return nil, nil, "", lake.Badf("%s: found the file %s in the metadata, which lies outside of the location of the table (%s), expected files there, or where the catalog gives credentials for; allow it with `AllowOutside`", t.address.folder, uri, l.location)
		}
	default:
		uri = l.location + "/" + rest
	}
	fsys, err = t.fileSystem(uri)
	return nil, fsys, filepath.Clean(uri), err
}

// Open implements vfs.FS.
func (f *FS) Open(name string) (vfs.File, error) {
	answer, fsys, at, err := f.place(name)
	if err != nil {
		return nil, err
	}
	if answer != nil {
		return newMemoryFile(name, answer), nil
	}
	return fsys.Open(at)
}

// OpenStream implements vfs.FS.
func (f *FS) OpenStream(name string) (vfs.File, error) { return f.Open(name) }

// Stat implements vfs.FS. Of a table, it asks the catalog.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	t, rest, err := f.table(name)
	if err != nil {
		return nil, err
	}
	if rest == "" || rest == metadataFolder {
		if _, err := t.newest(context.Background()); err != nil {
			return nil, err
		}
		return folderInfo(path.Base(t.address.name())), nil
	}
	if isCatalogs(rest) && t.named(path.Base(rest)) == nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	answer, fsys, at, err := f.place(name)
	if err != nil {
		return nil, err
	}
	if answer != nil {
		return answer.info(), nil
	}
	return fsys.Stat(at)
}

// isCatalogs says whether a path is of what the catalog knows itself: which metadata is the newest.
func isCatalogs(rest string) bool {
	return strings.HasPrefix(rest, metadataFolder+"/") && (strings.Contains(path.Base(rest), ".metadata.json") || path.Base(rest) == "version-hint.text")
}

// Lstat implements vfs.FS.
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.Stat(name) }

// ReadDir implements vfs.FS. A list of metadata asks the catalog again, and has the file that it returned.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	t, rest, err := f.table(name)
	if err != nil {
		return nil, err
	}
	switch rest {
	case "":
		if _, err := t.newest(context.Background()); err != nil {
			return nil, err
		}
		return []fs.DirEntry{fs.FileInfoToDirEntry(folderInfo(metadataFolder))}, nil
	case metadataFolder:
		l, err := t.load(context.Background())
		if err != nil {
			return nil, err
		}
		return []fs.DirEntry{fs.FileInfoToDirEntry(l.info())}, nil
	}
	_, fsys, at, err := f.place(name)
	if err != nil {
		return nil, err
	}
	if fsys == nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a directory")}
	}
	return fsys.ReadDir(at)
}

var errReadOnly = fmt.Errorf("%w: a table of a catalog is only read; write to a local folder, or to s3:// or gs://", errors.ErrUnsupported)

// readOnly refuses what writes.
type readOnly struct{}

func refuse(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: errReadOnly} }

// Create implements vfs.FS.
func (readOnly) Create(name string) (vfs.File, error) { return nil, refuse("create", name) }

// Reopen implements vfs.FS.
func (readOnly) Reopen(name string, _ int64) (vfs.File, error) { return nil, refuse("reopen", name) }

// Temp implements vfs.FS.
func (readOnly) Temp(dir string) (vfs.File, error) { return nil, refuse("create", dir) }

// Mkdir implements vfs.FS.
func (readOnly) Mkdir(name string) error { return refuse("mkdir", name) }

// MkdirAll implements vfs.FS.
func (readOnly) MkdirAll(name string) error { return refuse("mkdir", name) }

// Rename implements vfs.FS.
func (readOnly) Rename(_, name string) error { return refuse("rename", name) }

// Link implements vfs.FS.
func (readOnly) Link(_, name string) error { return refuse("link", name) }

// Remove implements vfs.FS.
func (readOnly) Remove(name string) error { return refuse("remove", name) }

// RemoveAll implements vfs.FS.
func (readOnly) RemoveAll(name string) error { return refuse("remove", name) }

// SyncDir implements vfs.FS.
func (readOnly) SyncDir(name string) error { return refuse("sync", name) }

// Exchange implements vfs.FS.
func (readOnly) Exchange(_, name string) error { return refuse("exchange", name) }

// Free implements vfs.FS.
func (readOnly) Free(name string) (int64, error) { return 0, refuse("write", name) }

// Lock implements vfs.FS.
func (readOnly) Lock(name string) (func() error, error) { return nil, refuse("lock", name) }

var _ vfs.FS = (*FS)(nil)
