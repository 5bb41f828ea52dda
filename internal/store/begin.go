package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/graphmill/graphmill/internal/vfs"
)

// lock makes a Writer with the partial folder as it is. Where it fails, it leaves no folder that it made.
func lock(fsys vfs.FS, out string, force bool) (*Writer, error) {
	out = filepath.Clean(out)
	if err := removeUnsent(fsys, out); err != nil {
		return nil, err
	}
	if err := replaceable(fsys, out, force); err != nil {
		return nil, err
	}
	parent, base := filepath.Split(out)
	dir := filepath.Join(parent, "."+base+".partial")
	unmade := func(err error) error {
		return fmt.Errorf("%s: cannot be made: %w; choose another `Out`", out, err)
	}
	if parent != "" {
		if err := fsys.MkdirAll(filepath.Clean(parent)); err != nil {
			return nil, unmade(err)
		}
	}
	err := fsys.Mkdir(dir)
	made := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, unmade(err)
	}
	unlock, err := fsys.Lock(dir)
	if err != nil {
		what := "cannot be locked"
		if errors.Is(err, vfs.ErrLocked) {
			what = "another run is writing it"
		}
		// The run that holds a folder has it open. Where a file is the lock, it has not begun with the folder made here.
		if made && (!errors.Is(err, vfs.ErrLocked) || errors.Is(err, vfs.ErrLockFile)) {
			err = errors.Join(err, fsys.Remove(dir))
		}
		return nil, fmt.Errorf("%s: %s: %w", out, what, err)
	}
	return &Writer{fs: fsys, out: out, dir: dir, force: force, unlock: unlock, files: map[string]bool{}, dirs: map[string]bool{".": true}}, nil
}

// removeUnsent removes an output that a killed process had sent in part to an object store: a folder without a manifest, beside which lies the lock of that process.
func removeUnsent(fsys vfs.FS, out string) (err error) {
	if vfs.SenderOf(fsys, out) == nil {
		return nil
	}
	if locked, err := vfs.Exists(fsys, out+vfs.LockSuffix); !locked || err != nil {
		return err
	}
	unlock, err := fsys.Lock(out)
	if errors.Is(err, vfs.ErrLocked) {
		return fmt.Errorf("%s: another run is writing it: %w", out, err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if whole, err := vfs.Exists(fsys, filepath.Join(out, ManifestFile)); whole || err != nil {
		return err
	}
	return fsys.RemoveAll(out)
}

// replaceable is an error where Publish must not make the folder out.
func replaceable(fsys vfs.FS, out string, force bool) error {
	if base := filepath.Base(out); base == "." || base == ".." || base == string(filepath.Separator) {
		return fmt.Errorf("%s: %w and cannot be replaced; give `Out` by its name in the folder above", out, ErrExists)
	}
	entries, err := fsys.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err := fsys.Lstat(out)
		switch {
		case err == nil:
			return fmt.Errorf("%s: %w: found a broken link, expected a new name; remove the link, or give another `Out`", out, ErrExists)
		case errors.Is(err, fs.ErrNotExist):
			return nil
		}
		return err
	case err != nil:
		return existing(fsys, out, err)
	case vfs.IsMount(out):
		return fmt.Errorf("%s: found a folder on which a file system is mounted, expected one that can be replaced; give a new folder in it as `Out`", out)
	case len(entries) == 0:
		return nil
	}
	if _, err := fsys.Stat(filepath.Join(out, ManifestFile)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w and has no %s, so it is no output of graphmill and is not replaced; choose another `Out`", out, ErrExists, ManifestFile)
	} else if err != nil {
		return err
	}
	if !force {
		return fmt.Errorf("%s: %w; choose another `Out`, or give `Overwrite` to replace it", out, ErrExists)
	}
	return nil
}

// existing is the error of an output that cannot be listed, as err says.
func existing(fsys vfs.FS, out string, err error) error {
	if info, statErr := fsys.Stat(out); statErr == nil && !info.IsDir() {
		return fmt.Errorf("%s: %w: found a file, expected a new name; choose another `Out` (%w)", out, ErrExists, err)
	}
	return err
}
