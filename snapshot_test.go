package graphmill_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// A version of a store is found by the checksum that outputs name and by the time at which it had appeared, and a snapshot of it has that checksum again.
func TestSnapshotAsOf(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "g.store")
	edges := func(name, rows string) string {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, []byte("src,dst,w\n"+rows), 0o644); err != nil {
			t.Fatal(err)
		}
		return at
	}
	s, err := graphmill.Import(t.Context(), edges("0.csv", "0,1,1\n1,2,2\n"), in, option.Import{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	sum := func(at string) string {
		t.Helper()
		sum, err := store.Sum(vfs.OS, at)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	sums := []string{sum(in)}
	snapshots := 0
	snapshot := func(asOf, want string) {
		t.Helper()
		snapshots++
		out := filepath.Join(dir, fmt.Sprint(snapshots, ".store"))
		if _, err := graphmill.Snapshot(t.Context(), in, out, option.Snapshot{AsOf: asOf}); err != nil {
			t.Fatal(err)
		}
		if got := sum(out); got != want {
			t.Errorf("%s: found the version %s, expected %s", asOf, got, want)
		}
	}
	fails := func(o option.Snapshot, want string) {
		t.Helper()
		if _, err := graphmill.Snapshot(t.Context(), in, filepath.Join(dir, "none.store"), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	fails(option.Snapshot{AsOf: "2026-11-30"}, "found no times of versions, expected those that appends write; give `Segments`")
	snapshot(sums[0], sums[0])
	for i, o := range []option.Append{{}, {Change: edges("2.csv", "0,1,5\n")}, {Drop: edges("3.csv", "1,2,0\n")}} {
		source := ""
		if i == 0 {
			source = edges("1.csv", "2,3,4\n")
		}
		if _, err := graphmill.Append(t.Context(), in, source, o); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sum(in))
	}
	versions, err := store.ReadHistory(vfs.OS, in)
	if err != nil || len(versions) != 3 {
		t.Fatalf("found the versions %v, %v, expected three", versions, err)
	}
	for i, v := range versions {
		if v.Segments != i+1 || v.Manifest != sums[i+1] {
			t.Errorf("found version %v, expected %d segments and %s", v, i+1, sums[i+1])
		}
		snapshot(v.Manifest, sums[i+1])
		snapshot(strings.TrimPrefix(v.Manifest, "xxh3:"), sums[i+1])
		if i == 2 || v.At.Before(versions[i+1].At) {
			snapshot(v.At.Format(time.RFC3339Nano), sums[i+1])
		}
	}
	snapshot(versions[0].At.Add(-time.Millisecond).Format(time.RFC3339Nano), sums[0])
	snapshot("1999-12-31", sums[0])
	snapshot("2999-01-01", sums[3])
	fails(option.Snapshot{AsOf: "yesterday"}, "found `AsOf` \"yesterday\", expected a time such as")
	fails(option.Snapshot{AsOf: "xxh3:0123456789abcdef"}, "found no version with the checksum xxh3:0123456789abcdef")
	fails(option.Snapshot{AsOf: sums[1], Segments: 1}, "found `AsOf` and `Segments`, expected one of them")
	if r, err := graphmill.Verify(t.Context(), in, option.Verify{}); err != nil {
		t.Errorf("%v: %v", err, r)
	}
	// A snapshot keeps the times of its versions, and a compaction the time of the last one.
	old, err := store.ReadHistory(vfs.OS, filepath.Join(dir, "2.store"))
	if err != nil || len(old) != 1 || !old[0].At.Equal(versions[0].At) {
		t.Errorf("found the versions %v, %v of a snapshot, expected the first one", old, err)
	}
	if _, err := graphmill.Compact(t.Context(), in, option.Run{}); err != nil {
		t.Fatal(err)
	}
	compacted := sum(in)
	snapshot("2999-01-01", compacted)
	snapshot(compacted, compacted)
	fails(option.Snapshot{AsOf: "1999-12-31"}, "found no version of 1999-12-31, expected a time from")
	if err := errors.Join(os.WriteFile(filepath.Join(in, store.HistoryFile), []byte("[{}"), 0o644)); err != nil {
		t.Fatal(err)
	}
	fails(option.Snapshot{AsOf: "2999-01-01"}, "history.json")
}
