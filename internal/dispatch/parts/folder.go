package parts

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ErrFormat is the kind of errors about the content of a folder: malformed files and missing parts.
var ErrFormat = dgl.ErrFormat

func badf(format string, a ...any) error { return tagged.Errorf(ErrFormat, format, a...) }

// metadata is the name that DGL's dispatch gives to every configuration.
const metadata = "metadata.json"

// Find returns the configuration of a folder, or path itself if it is a file; it returns "" if there is none.
// If a folder has a second configuration besides metadata.json, Find returns that one, as both are equal.
func Find(fsys vfs.FS, path string) (string, error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		if filepath.Ext(path) != ".json" {
			return "", nil
		}
		if ok, err := dgl.IsConfig(fsys, path); !ok {
			return "", err
		}
		return path, nil
	}
	entries, err := fsys.ReadDir(path)
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || filepath.Ext(name) != ".json" {
			continue
		}
		ok, err := dgl.IsConfig(fsys, filepath.Join(path, name))
		if err != nil {
			return "", err
		}
		if ok {
			found = append(found, name)
		}
	}
	if len(found) > 1 {
		found = slices.DeleteFunc(found, func(n string) bool { return n == metadata })
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return filepath.Join(path, found[0]), nil
	}
	return "", badf("%s: found the configurations %s, expected one partitioned graph; give the path of one of them", path, strings.Join(found, ", "))
}

// Folder is an open partitioned graph.
type Folder struct {
	Name   string // the file name of the configuration
	Config *dgl.Config
	Parts  []*Part
	// Files lists the configuration and the files of all parts.
	Files []string
	// Nodes and Edges map new ids to part, type and type-wise id.
	Nodes, Edges Book
	// NodeIDs and EdgeIDs are the original ids of nodes and edges, by type and type-wise new id; nil if they
	// are not stored.
	NodeIDs, EdgeIDs []Pieces

	touched atomic.Int64
}

// Open opens the parts of a configuration. Files outside its folder, and symbolic links, are errors unless
// outside is set.
func Open(fsys vfs.FS, name string, outside bool) (_ *Folder, err error) {
	c, err := dgl.ReadConfig(fsys, name, outside)
	if err != nil {
		return nil, err
	}
	f := &Folder{Name: name, Config: c, Files: []string{name}, Nodes: newBook(c.Nodes, len(c.Parts)), Edges: newBook(c.Edges, len(c.Parts))}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	defer guard.Catch(&err)()
	dir := filepath.Dir(name)
	for p, files := range c.Parts {
		x := &Part{Index: p, config: c}
		f.Parts = append(f.Parts, x)
		for _, file := range []struct {
			name string
			to   *string
		}{{files.Graph, &x.GraphFile}, {files.NodeFeats, &x.NodeFile}, {files.EdgeFeats, &x.EdgeFile}} {
			*file.to = file.name
			if !filepath.IsAbs(file.name) {
				*file.to = filepath.Join(dir, file.name)
			}
			if !outside {
				if err := inside(fsys, dir, *file.to); err != nil {
					return nil, err
				}
			}
			f.Files = append(f.Files, *file.to)
		}
		if err := x.open(fsys); err != nil {
			return nil, err
		}
	}
	if f.NodeIDs, err = f.originals(fsys, "orig_nids.dgl", c.Nodes, outside); err != nil {
		return nil, err
	}
	f.EdgeIDs, err = f.originals(fsys, "orig_eids.dgl", c.Edges, outside)
	return f, err
}

// inside rejects symbolic links in the path from a folder to a file.
func inside(fsys vfs.FS, dir, path string) error {
	err := vfs.Inside(fsys, dir, path)
	if _, link := errors.AsType[*vfs.LinkError](err); link {
		return badf("%w", err)
	}
	return err
}

// Close unmaps and closes all files.
func (f *Folder) Close() error {
	var errs []error
	for _, p := range f.Parts {
		for _, c := range p.closers {
			errs = append(errs, c())
		}
		p.closers = nil
	}
	return errors.Join(errs...)
}

// Release releases the memory of mapped pages.
func (f *Folder) Release() error {
	var errs []error
	for _, p := range f.Parts {
		for _, m := range p.maps {
			errs = append(errs, vfs.Release(m))
		}
	}
	return errors.Join(errs...)
}

// TouchedBytes bounds the bytes of mapped pages in memory when a caller reports its reads to Touched.
const TouchedBytes = 64 << 20

// Touched counts bytes of mapped files that were read, and releases the pages when they exceed TouchedBytes. A
// release takes a system call per file, so it is not done after each part. Touched may be called concurrently.
func (f *Folder) Touched(bytes int64) error {
	if f.touched.Add(bytes) < TouchedBytes {
		return nil
	}
	f.touched.Store(0)
	return f.Release()
}

// originals opens files of original ids: one next to the configuration, or one in the folder of each part.
func (f *Folder) originals(fsys vfs.FS, name string, types []dgl.TypeRanges, outside bool) ([]Pieces, error) {
	exists := func(path string) (bool, error) {
		_, err := fsys.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	dir := filepath.Dir(f.Name)
	var files []string
	whole, err := exists(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	if whole {
		files = []string{filepath.Join(dir, name)}
	} else {
		for _, p := range f.Parts {
			path := filepath.Join(filepath.Dir(p.GraphFile), name)
			ok, err := exists(path)
			if err != nil {
				return nil, err
			}
			if ok {
				files = append(files, path)
			}
		}
		if len(files) == 0 {
			return nil, nil
		}
		if len(files) < len(f.Parts) {
			return nil, badf("%s: found %s in %d of %d parts, expected it in all or none; copy the missing files, or partition the graph again", f.Name, name, len(files), len(f.Parts))
		}
	}
	ids := make([]Pieces, len(types))
	for p, file := range files {
		if !outside {
			if err := inside(fsys, filepath.Dir(file), file); err != nil {
				return nil, err
			}
		}
		d, m, err := f.Parts[p].dict(fsys, file)
		if err != nil {
			return nil, err
		}
		f.Files = append(f.Files, file)
		for t := range types {
			rows := types[t].Count()
			if !whole {
				rows = types[t].Ranges[p][1] - types[t].Ranges[p][0]
			}
			a, ok := d.Find(types[t].Name)
			if !ok && rows == 0 {
				continue
			}
			if !ok || a.DType != dgl.Int64 || len(a.Shape) != 1 || a.Rows() != rows {
				return nil, badf("%s: found %s, expected int64 [%d], the original ids of %s; write them with DGL's partition_graph(..., return_mapping=True)", file, describe(a, ok), rows, types[t].Name)
			}
			ids[t].add(file, m, a)
		}
	}
	return ids, nil
}

func describe(a dgl.Array, ok bool) string {
	if !ok {
		return "no tensor"
	}
	return fmt.Sprintf("%s %v", a.DType, a.Shape)
}
