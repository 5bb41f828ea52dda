package appending

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// says whether the name of the source says what it does to the store, in place of adding to it: drop or change, before its ending or as its ending.
func (s *followed) says(what string) bool {
	return strings.HasSuffix(s.name, "."+what) || strings.Contains(s.name, "."+what+".")
}

// adds says whether the source adds to the store.
func (s *followed) adds() bool { return !s.says("drop") && !s.says("change") }

// followQueries appends the new rows of the queries of a graph.yaml, o.Follow: what a segment took is in its marks.
func followQueries(ctx context.Context, dir string, o option.Append) (last *report.Report, err error) {
	one := o
	one.Follow, one.Every = "", 0
	for {
		r, done, err := appendFrom(ctx, dir, o.Follow, one, "")
		if err != nil {
			return last, err
		}
		last = r
		if done.some {
			operation.Note(&o.Run, "appended the new rows of %s", filepath.Base(o.Follow))
		}
		if done.due {
			if err := compactAfter(ctx, dir, &o, r); err != nil {
				return last, err
			}
		}
		if o.Every == 0 {
			return last, nil
		}
		select {
		case <-ctx.Done():
			return last, context.Cause(ctx)
		case <-time.After(o.Every):
		}
	}
}

// follow appends the sources that come to the folder o.Follow, in the order of their names: the files of edges that are there at a time as one segment, and each folder, and each source that drops or changes, as one. What a
// segment took is in its inputs, by its name below the folder, so that it is taken once, whatever ends the process. Where o.Every is 0, it ends with the report of the last
// segment, and otherwise with ctx.
func follow(ctx context.Context, dir string, o option.Append) (last *report.Report, err error) {
	folder := o.Follow
	if info, err := vfs.OS.Stat(folder); err == nil && info.Mode().IsRegular() {
		return followQueries(ctx, dir, o)
	}
	unchanged, empty := map[string]string{}, map[string]bool{}
	last = operation.NewReport(&o.Run, "append", operation.Titled(dir))
	for {
		sources, err := newSources(ctx, dir, folder, unchanged)
		if err != nil {
			return last, err
		}
		sources = slices.DeleteFunc(sources, func(s followed) bool { return empty[s.name] })
		for len(sources) > 0 {
			n := 1
			for n < len(sources) && !sources[0].folder && !sources[n].folder && sources[0].adds() && sources[n].adds() {
				n++
			}
			one := o
			one.Follow, one.Every = "", 0
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
			r, done, err := appendFrom(ctx, dir, source, one, folder)
			if err != nil {
				return last, err
			}
			if last = r; done.some {
				operation.Note(&o.Run, "appended %s%s", sources[0].name, more(n-1))
			} else {
				operation.Note(&o.Run, "%s%s: %s", sources[0].name, more(n-1), nothingNew)
			}
			if done.due {
				if err := compactAfter(ctx, dir, &o, r); err != nil {
					return last, err
				}
			}
			for _, s := range sources[:n] { // no segment names those that had nothing new
				empty[s.name] = !done.some
			}
			sources = sources[n:]
		}
		if o.Every == 0 {
			return last, nil
		}
		select {
		case <-ctx.Done():
			return last, context.Cause(ctx)
		case <-time.After(o.Every):
		}
	}
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
