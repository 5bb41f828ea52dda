package lineage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// mostChildren bounds the folders beside each other that are looked at.
const mostChildren = 10_000

// errCrowded is the error of a folder with more than mostChildren files and folders.
var errCrowded = errors.New("too many files and folders")

// places finds inputs by their fingerprints in folders that were added, and in the folders in these.
type places struct {
	roots   []string // what was added, and the folders there
	added   map[string]bool
	folders map[string]string          // output folders, by fingerprint
	outputs []string                   // the same, in the order in which they were found
	files   map[string]*store.Manifest // of output folders; nil for those whose manifest is damaged
}

func newPlaces() *places {
	return &places{added: map[string]bool{}, folders: map[string]string{}, files: map[string]*store.Manifest{}}
}

// add adds a folder, and those that lie in it.
func (p *places) add(dir string) error {
	real, err := operation.RealPath(dir)
	if err != nil {
		return err
	}
	if p.added[real] || vfs.Scheme(dir) != "" { // a bucket may list millions of names
		return nil
	}
	p.added[real] = true
	entries, err := vfs.OS.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > mostChildren {
		return fmt.Errorf("%s: %w: found %d, expected at most %d to search; move the folders of the run to one of their own", dir, errCrowded, len(entries), mostChildren)
	}
	if err := p.look(dir); err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			if err := p.look(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// look notes a folder, and its fingerprint if it is an output folder.
func (p *places) look(dir string) error {
	p.roots = append(p.roots, dir)
	sum, err := store.Sum(vfs.OS, dir)
	if err == nil && p.folders[sum] == "" {
		p.folders[sum] = dir
		p.outputs = append(p.outputs, dir)
	}
	return operation.Unanswered(err)
}

// holder returns the output folder that holds all files of the given fingerprints, "" for none.
func (p *places) holder(ctx context.Context, fingerprints []string) (string, error) {
	for _, dir := range p.outputs {
		m, read := p.files[dir]
		if !read {
			var err error
			if m, err = store.ReadManifest(vfs.OS, dir); err != nil {
				m = nil // its fingerprint finds it, but nothing finds its files
				if err := operation.Unanswered(err); err != nil {
					return "", err
				}
			}
			p.files[dir] = m
		}
		if m == nil {
			continue
		}
		all := true
		for _, sum := range fingerprints {
			has, err := holds(ctx, dir, m, sum)
			if err != nil {
				return "", err
			}
			if all = has; !all {
				break
			}
		}
		if all {
			return dir, nil
		}
	}
	return "", nil
}

// holds says whether an output folder has a file of a fingerprint.
func holds(ctx context.Context, dir string, m *store.Manifest, fingerprint string) (bool, error) {
	for name, f := range m.Files {
		if fmt.Sprintf("xxh3:%s:%d", f.XXH3, f.Bytes) == fingerprint {
			return true, nil
		}
		if !strings.HasPrefix(fingerprint, "xxh3-sampled:") || !strings.HasSuffix(fingerprint, fmt.Sprintf(":%d", f.Bytes)) {
			continue
		}
		sum, err := store.Fingerprint(ctx, vfs.OS, filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || sum == fingerprint {
			return err == nil, err
		}
	}
	return false, nil
}

// hasFile says whether a file of a name and fingerprint lies in one of the folders.
func (p *places) hasFile(ctx context.Context, name, fingerprint string) (bool, error) {
	name = filepath.FromSlash(name)
	for _, root := range p.roots {
		for _, n := range []string{name, filepath.Base(name)} {
			file := filepath.Join(root, n)
			if !filepath.IsLocal(n) {
				continue
			}
			info, err := vfs.OS.Stat(file)
			if err := operation.Unanswered(err); err != nil {
				return false, err
			}
			if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(fingerprint, fmt.Sprintf(":%d", info.Size())) {
				continue
			}
			sum, err := store.Fingerprint(ctx, vfs.OS, file)
			if err != nil || sum == fingerprint {
				return err == nil, err
			}
		}
	}
	return false, nil
}
