package iceberg

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// openHook calls opened with the path of each file of rows or keys that is opened.
type openHook struct {
	vfs.FS
	opened func(path string)
}

func (h openHook) Open(name string) (vfs.File, error) {
	if strings.HasSuffix(name, ".parquet") {
		h.opened(name)
	}
	return h.FS.Open(name)
}

// TestKeysByThreads finds the same deleted rows by any number of threads.
func TestKeysByThreads(t *testing.T) {
	for _, name := range []string{"keys", "key_partitions"} {
		s, err := Open(vfs.OS, "testdata/"+name, lake.Ref{}, "", false)
		if err != nil {
			t.Fatal(err)
		}
		if s.Resolve == nil {
			t.Fatalf("%s: found no deletions by keys, expected some", name)
		}
		want := ""
		for _, threads := range []int{1, 2, 8} {
			deleted, err := s.Resolve(t.Context(), threads)
			if err != nil {
				t.Fatal(err)
			}
			found := fmt.Sprint(deleted)
			if want == "" {
				want = found
			}
			if found != want {
				t.Errorf("%s, %d threads: found %s, expected %s as by one thread", name, threads, found, want)
			}
		}
	}
}

// TestSpans divides all row groups, in order and without gaps, into few parts, however many groups a footer has.
func TestSpans(t *testing.T) {
	for _, groups := range []int{0, 1, 4, 5, 255, 256, 257, 10_000, 1 << 20} {
		next := 0
		spans := spansOf(groups)
		for _, s := range spans {
			if s.first != next || s.end <= s.first {
				t.Fatalf("%d groups: found the span %v, expected one from %d on", groups, s, next)
			}
			next = s.end
		}
		if next < groups || len(spans) > maxSpans {
			t.Errorf("%d groups: found %d spans up to %d, expected at most %d to the end", groups, len(spans), next, maxSpans)
		}
	}
}

// TestKeysCancelled ends the search for deleted rows when its context ends, before and while it reads.
func TestKeysCancelled(t *testing.T) {
	cause := errors.New("stopped by the test")
	all := 0
	for stop := -1; stop < 4; stop++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		var opened atomic.Int64
		fsys := openHook{vfs.OS, func(string) {
			if opened.Add(1) == int64(stop) {
				cancel(cause)
			}
		}}
		s, err := Open(fsys, "testdata/keys", lake.Ref{}, "", false)
		if err != nil {
			t.Fatal(err)
		}
		opened.Store(0)
		if stop == 0 {
			cancel(cause)
		}
		_, err = s.Resolve(ctx, 2)
		switch {
		case stop == -1:
			all = int(opened.Load())
			if err != nil || all < 6 {
				t.Fatalf("found %v and %d files, expected more files", err, all)
			}
		case !errors.Is(err, cause):
			t.Errorf("stopped at file %d: found %v, expected the cause of the context", stop, err)
		case int(opened.Load()) > stop+1:
			t.Errorf("stopped at file %d: found %d files opened of %d, expected that none is opened after those that were on their way", stop, opened.Load(), all)
		}
		cancel(nil)
	}
}
