package appending

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Snapshot makes the folder out the store in the folder dir as it was. Its files are hard links to those of the store or, where there are no links, copies.
func Snapshot(ctx context.Context, dir, out string, of option.Snapshot) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	o, segments := of.Run, of.Segments
	if err := operation.CheckRun(&o); err != nil {
		return nil, err
	}
	if of.AsOf != "" && segments != 0 {
		return nil, operation.Usagef("found `AsOf` and `Segments`, expected one of them")
	}
	if err := operation.Keeps(out, dir); err != nil {
		return nil, err
	}
	s, _, err := openStore(dir, store.OpenOutline)
	if err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, dir, s.Close)
	if of.AsOf != "" {
		if segments, err = asOf(s, dir, of.AsOf); err != nil {
			return nil, err
		}
	}
	if segments < 0 || segments > s.Segments() {
		return nil, operation.Usagef("%s: found `Segments` %d, expected 0 to %d, as many as the store has", dir, segments, s.Segments())
	}
	r := operation.NewReport(&o, "snapshot", fmt.Sprintf("%s after %d of %d segments", operation.Titled(dir), segments, s.Segments()))
	if _, err := operation.InputFolder(r, dir); err != nil {
		return nil, err
	}
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return nil, err
	}
	defer operation.EndWith(&err, w)
	copied, err := linkVersion(ctx, w, s, segments, o.Threads)
	if err != nil {
		return nil, err
	}
	if copied > 0 {
		r.Note(fmt.Sprintf("the file system has no hard links, so %s of the store were copied", human.Bytes(copied)))
	}
	r.Stage("link", time.Since(start), 0, "")
	r.Head("segments", report.Count(segments, "segments"))
	if err := operation.OnDisk(r, w.Dir()); err != nil {
		return nil, err
	}
	return r, operation.Publish(&o, w, r, start)
}

// linkVersion makes w, which is empty, a sealed store of the first segments of another, with the times of its versions. It returns the number of bytes that are copied, as the file
// system has no links.
func linkVersion(ctx context.Context, w *store.Writer, s *store.Store, segments, threads int) (copied int64, err error) {
	m, err := store.ReadManifest(vfs.OS, s.Dir)
	if err != nil {
		return 0, err
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		if name == store.MetaFile || store.SegmentOf(name) > segments {
			continue
		}
		n, err := w.Link(ctx, name, s.Dir, m.Files[name])
		if err != nil {
			return 0, err
		}
		copied += n
	}
	if err := w.Seal(ctx, s.After(segments), threads); err != nil {
		return 0, err
	}
	c, err := store.OpenOutline(vfs.OS, w.Dir())
	if err != nil {
		return 0, err
	}
	if err := c.Close(); err != nil {
		return 0, err
	}
	versions, err := store.ReadHistory(vfs.OS, s.Dir)
	if err != nil {
		return 0, err
	}
	if versions = slices.DeleteFunc(versions, func(v store.Version) bool { return v.Segments > segments }); len(versions) > 0 {
		return copied, w.WriteHistory(versions)
	}
	return copied, nil
}
