package appending

import (
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// writeHistory adds the sealed store in w to the versions before it, as one that appears now.
func writeHistory(w *store.Writer, before []store.Version, segments int) error {
	return writeVersion(w, before, segments, now(before))
}

// now is the time of a version that appears now, after others.
func now(before []store.Version) time.Time {
	at := time.Now().UTC().Truncate(time.Millisecond)
	if n := len(before); n > 0 && at.Before(before[n-1].At) { // the clock was set back
		at = before[n-1].At
	}
	return at
}

// writeVersion is writeHistory of a version that appeared at a time.
func writeVersion(w *store.Writer, before []store.Version, segments int, at time.Time) error {
	sum, err := store.Sum(vfs.OS, w.Dir())
	if err != nil {
		return err
	}
	return w.WriteHistory(append(slices.Clip(before), store.Version{Segments: segments, Manifest: sum, At: at}))
}

// asOf finds the number of segments of a version: the one with a checksum, as outputs name it in their lineage, or the last one that had appeared at a time.
func asOf(s *store.Store, dir, text string) (int, error) {
	if hex := strings.TrimPrefix(text, "xxh3:"); len(hex) == 16 && strings.Trim(hex, "0123456789abcdef") == "" {
		m, err := store.ReadManifest(vfs.OS, dir)
		if err != nil {
			return 0, err
		}
		for n := s.Segments(); n >= 0; n-- {
			sum, err := s.SumOf(m, n)
			if err != nil {
				return 0, err
			}
			if sum == "xxh3:"+hex {
				return n, nil
			}
		}
		return 0, operation.Usagef("%s: found no version with the checksum %s, expected one since its import or last compaction; graphmill info lists when they came", dir, text)
	}
	at, err := timeOf(text)
	if err != nil {
		return 0, err
	}
	versions, err := store.ReadHistory(vfs.OS, dir)
	if err != nil {
		return 0, err
	}
	if len(versions) == 0 {
		return 0, operation.Usagef("%s: found no times of versions, expected those that appends write; give `Segments`", dir)
	}
	if first := versions[0]; at.Before(first.At) {
		if first.Segments == 0 {
			return 0, operation.Usagef("%s: found no version of %s, expected a time from %s on; make a snapshot before a compaction to keep what is older", dir, text, first.At.Format(time.RFC3339))
		}
		return first.Segments - 1, nil
	}
	n := 0
	for _, v := range versions {
		if !v.At.After(at) {
			n = v.Segments
		}
	}
	return n, nil
}

// timeOf is a time with its zone, or a date, which is its first moment in UTC.
func timeOf(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, operation.Usagef("found `AsOf` %q, expected a time such as 2026-11-30T12:00:00Z, a date, which is its first moment in UTC, or the checksum of a version", text)
}
