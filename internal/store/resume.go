package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"sort"

	"github.com/graphmill/graphmill/internal/vfs"
)

// resumeFile lists the finished files of a partial folder. Publish removes it.
const resumeFile = ".resume.json"

// resumable is the JSON of resumeFile: for the run with this key, the finished files by the name that the caller gave
// to them together.
type resumable struct {
	Key  string                            `json:"key"`
	Kept map[string]map[string]ManifestFor `json:"kept"`
}

// Resume is Create, but it keeps the files that an interrupted run with the same key passed to Keep, if their checksums
// are right. It removes all others.
func Resume(ctx context.Context, fsys vfs.FS, out string, force bool, key string, threads int) (*Writer, error) {
	w, err := lock(fsys, out, force)
	if err != nil {
		return nil, err
	}
	if err := w.recover(ctx, key, threads); err != nil {
		return nil, errors.Join(err, w.Leave())
	}
	return w, nil
}

func (w *Writer) recover(ctx context.Context, key string, threads int) error {
	w.resume = &resumable{Key: key, Kept: map[string]map[string]ManifestFor{}}
	keep := map[string]bool{}
	var old resumable
	b, err := vfs.ReadFile(w.fs, filepath.Join(w.dir, resumeFile), maxMeta)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// The output begins anew where the list belongs to another run or cannot be read.
	if err == nil && DecodeJSON(b, &old) == nil && old.Key == key {
		keep[resumeFile] = true // for a run that ends before it keeps anything
		for name, files := range old.Kept {
			whole, err := w.whole(ctx, files, threads)
			if err != nil {
				return err
			}
			if !whole {
				continue
			}
			w.resume.Kept[name] = files
			for file := range files {
				keep[file], w.files[file] = true, false
				for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
					w.dirs[dir] = true
				}
			}
		}
	}
	all, _, err := list(w.fs, w.dir)
	if err != nil {
		return err
	}
	for _, file := range all {
		if !keep[file] {
			if err := w.fs.Remove(filepath.Join(w.dir, filepath.FromSlash(file))); err != nil {
				return err
			}
		}
	}
	return w.emptyDirs("")
}

// whole says whether files match their sizes and checksums.
func (w *Writer) whole(ctx context.Context, files map[string]ManifestFor, threads int) (bool, error) {
	var names []string
	for name := range files {
		if checkLocal(name) != nil {
			return false, nil
		}
		names = append(names, name)
	}
	sort.Strings(names)
	same := make([]bool, len(names))
	err := hashAll(ctx, w.fs, w.dir, names, threads, func(i int, got ManifestFor, err error) error {
		same[i] = err == nil && got == files[names[i]]
		return ctx.Err()
	})
	for _, ok := range same {
		if !ok {
			return false, err
		}
	}
	return true, err
}

// emptyDirs removes the folders below rel that have no kept file.
func (w *Writer) emptyDirs(rel string) error {
	entries, err := w.fs.ReadDir(filepath.Join(w.dir, filepath.FromSlash(rel)))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(rel, e.Name())
		if !e.IsDir() {
			continue
		}
		if !w.dirs[name] {
			err = w.fs.RemoveAll(filepath.Join(w.dir, filepath.FromSlash(name)))
		} else {
			err = w.emptyDirs(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Keep marks closed files, under a common name, as finished, so that a run that resumes this one finds them. It reads
// them for their checksums. It does nothing for a Writer from Create.
func (w *Writer) Keep(ctx context.Context, name string, files []string, threads int) error {
	if w.resume == nil {
		return nil
	}
	kept := make([]ManifestFor, len(files))
	err := hashAll(ctx, w.fs, w.dir, files, threads, func(i int, got ManifestFor, err error) error {
		kept[i] = got
		return err
	})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resume.Kept[name] = map[string]ManifestFor{}
	for i, file := range files {
		if open, made := w.files[file]; open || !made {
			return fmt.Errorf("%s: found a file that is open or not there, expected one that was closed", file)
		}
		w.resume.Kept[name][file] = kept[i]
	}
	b, err := EncodeJSON(w.resume)
	if err != nil {
		return err
	}
	return vfs.WriteFile(w.fs, filepath.Join(w.dir, resumeFile), b)
}

// Kept says whether an earlier run kept the files of that name.
func (w *Writer) Kept(name string) bool {
	return w.resume != nil && w.resume.Kept[name] != nil
}
