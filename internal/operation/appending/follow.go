package appending

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// followed is a source in a folder that is followed: a file of edges, or a folder with a graph.yaml.
type followed struct {
	name   string // in the folder
	folder bool
}

// says tells whether the name of the source ends in ".drop" or ".change", which says what it does to the store in place of adding to it. The ending of its kind may follow.
func (s *followed) says(what string) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(s.name, ".gz"), ".zst")
	return strings.HasSuffix(name, "."+what) || strings.HasSuffix(strings.TrimSuffix(name, filepath.Ext(name)), "."+what)
}

// adds tells whether the source adds to the store.
func (s *followed) adds() bool { return !s.says("drop") && !s.says("change") }

// following is a run of follow.
type following struct {
	dir  string // of the store
	o    option.Append
	last *report.Report
	// unchanged has the size and time of each file whose bytes were compared with those that were taken, and empty the sources that had nothing new, which no segment names.
	unchanged map[string]string
	empty     map[string]bool
}

// follow appends the sources that come to the folder o.Follow, in the order of their names: the files of edges that are there at a time as one segment, and each folder, and each source that drops or changes, as one. What a
// segment took is in its inputs, by its name below the folder, so that it is taken once, whatever ends the process. Of a graph.yaml it appends the new rows of its queries, which
// the marks of segments tell, and of a lake's table its new rows. Where o.Every is 0, it ends with the report of the last segment, and otherwise with ctx.
func follow(ctx context.Context, dir string, o option.Append) (*report.Report, error) {
	f := &following{dir: dir, o: o, last: operation.NewReport(&o.Run, "append", operation.Titled(dir)), unchanged: map[string]string{}, empty: map[string]bool{}}
	if err := removeLeft(dir); err != nil && !errors.Is(err, vfs.ErrLocked) {
		return nil, err
	}
	look := f.folder
	if isLake, err := tablefiles.IsLake(vfs.OS, o.Follow); err != nil {
		return nil, err
	} else if info, err := vfs.OS.Stat(o.Follow); isLake || err == nil && info.Mode().IsRegular() {
		look = f.queries
	}
	for {
		if err := look(ctx); err != nil || o.Every == 0 {
			return f.last, err
		}
		select {
		case <-ctx.Done():
			return f.last, context.Cause(ctx)
		case <-time.After(o.Every):
		}
	}
}

// queries appends the new rows of a lake's table, or of the queries and lakes of a graph.yaml.
func (f *following) queries(ctx context.Context) error {
	some, err := f.take(ctx, f.o.Follow, f.o, "")
	if some {
		operation.Note(&f.o.Run, "appended the new rows of %s", filepath.Base(f.o.Follow))
	}
	return err
}

// folder appends what is new in a folder.
func (f *following) folder(ctx context.Context) error {
	folder := f.o.Follow
	sources, err := newSources(ctx, f.dir, folder, f.unchanged)
	if err != nil {
		return err
	}
	sources = slices.DeleteFunc(sources, func(s followed) bool { return f.empty[s.name] })
	for len(sources) > 0 {
		n := 1
		for n < len(sources) && !sources[0].folder && !sources[n].folder && sources[0].adds() && sources[n].adds() {
			n++
		}
		one := f.o
		for _, s := range sources[1:n] {
			one.More = append(one.More, filepath.Join(folder, s.name))
		}
		source := filepath.Join(folder, sources[0].name)
		switch {
		case sources[0].says("drop"):
			source, one.Drop = "", source
		case sources[0].says("change"):
			one.Change = source
		}
		some, err := f.take(ctx, source, one, folder)
		if err != nil {
			return err
		}
		if some {
			operation.Note(&f.o.Run, "appended %s%s", sources[0].name, more(n-1))
		} else {
			operation.Note(&f.o.Run, "%s%s: %s", sources[0].name, more(n-1), nothingNew)
		}
		for _, s := range sources[:n] {
			f.empty[s.name] = !some
		}
		sources = sources[n:]
	}
	return nil
}

// take appends a source, and compacts the store if that is due. It says whether there was anything new.
func (f *following) take(ctx context.Context, source string, one option.Append, root string) (some bool, err error) {
	one.Follow, one.Every = "", 0
	r, done, err := appendFrom(ctx, f.dir, source, one, taking{root: root})
	if err != nil {
		return false, err
	}
	if f.last = r; done.due {
		err = compactAfter(ctx, f.dir, &f.o, r)
	}
	return done.some, err
}

// more says how many sources are not named.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// newSources lists the sources of a folder that no segment has taken. Names that begin with a dot or '_', or end in .tmp or .partial, are still being written. unchanged has
// the size and time of each file whose bytes were compared with those that were taken.
func newSources(ctx context.Context, dir, folder string, unchanged map[string]string) (sources []followed, err error) {
	entries, err := vfs.OS.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	s, err := store.OpenOutline(vfs.OS, dir)
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, s.Close)
	taken := takenBy(s)
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".partial") {
			continue
		}
		sum, known := taken[name]
		switch {
		case e.IsDir():
			if _, err := vfs.OS.Stat(filepath.Join(folder, name, "graph.yaml")); err == nil && !known {
				sources = append(sources, followed{name, true})
			} else if err != nil && !vfs.Absent(err) {
				return nil, err
			}
		case e.Type()&fs.ModeType != 0:
		case !known:
			sources = append(sources, followed{name, false})
		default:
			info, err := e.Info()
			if err != nil {
				return nil, err
			}
			is := fmt.Sprint(info.Size(), info.ModTime())
			if unchanged[name] == is {
				continue
			}
			now, err := store.Fingerprint(ctx, vfs.OS, filepath.Join(folder, name))
			if err != nil {
				return nil, err
			}
			unchanged[name] = is
			if now != sum {
				return nil, fmt.Errorf("%s: found other bytes than those that the store took, expected files that do not change; give what is new another name", filepath.Join(folder, name))
			}
		}
	}
	return sources, nil
}

// takenBy are the first elements of the names of all inputs of a store; of files with their fingerprints.
func takenBy(s *store.Store) map[string]string {
	taken := map[string]string{}
	add := func(inputs map[string]string) {
		for name, sum := range inputs {
			name = strings.TrimPrefix(strings.TrimPrefix(name, dropPrefix), changePrefix)
			first, _, below := strings.Cut(name, "/")
			if below {
				sum = ""
			}
			taken[first] = cmp.Or(sum, taken[first])
		}
	}
	made := s.Meta.History()
	add(made.Inputs)
	for _, inputs := range made.AppendedInputs() {
		add(inputs)
	}
	return taken
}
