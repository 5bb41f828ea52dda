package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// A run that resumes gives the bytes of one that was not interrupted, whichever stage failed, and does not do again what is done. Runs
// that may not remove pieces leave them.
func TestResume(t *testing.T) {
	dir := write(t, small())
	path := filepath.Join(dir, "graph.yaml")
	for _, both := range []bool{false, true} {
		opt := assemble.Options{DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep, Both: both}
		want, _, err := alone(t, path, ingest.Options{}, opt)
		if err != nil {
			t.Fatal(err)
		}
		lost := &fs.PathError{Op: "write", Path: "x", Err: syscall.EIO}
		for _, after := range []int{3, 9, 14, 17, 20, 1 << 20} { // tasks; the last is the end of the job
			t.Run(fmt.Sprint("both ", both, ", after ", after), func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "out")
				work := filepath.Join(filepath.Dir(out), ".work")
				calls := 0
				e := newEngine(1)
				e.Fail = func(int) error {
					if calls++; calls > after {
						return lost
					}
					return nil
				}
				// run ends with the error of a full disk after the job, where interrupted is set.
				run := func(e *engine, path string, both, interrupted bool) (sum string, kept bool, err error) {
					src, err := ingest.Open(t.Context(), vfs.OS, path, ingest.Options{})
					if err != nil {
						t.Fatal(err)
					}
					if err := src.Collect(t.Context(), 1, 0, false); err != nil {
						t.Fatal(err)
					}
					w, err := store.Create(unsynced, out, true)
					if err != nil {
						t.Fatal(err)
					}
					r := Run{FS: unsynced, Dir: work, Engine: e, Source: src, Local: -1, PartBytes: 64, BucketBytes: 64, RangeBytes: 64,
						Work: Work{Source: path, Inputs: map[string]string{"path": path}, Rules: Rules{Both: both, DanglingEdges: opt.DanglingEdges, DuplicateNodes: opt.DuplicateNodes, DuplicateEdges: opt.DuplicateEdges, SelfLoops: opt.SelfLoops}}}
					res, err := r.Build(t.Context(), w)
					if err == nil && interrupted {
						err = lost
					}
					kept, unknown := r.End(err)
					if err != nil || unknown != nil {
						return "", kept, errors.Join(err, unknown, w.Abort())
					}
					return sums(t, w, res.Meta, out), kept, nil
				}
				if _, kept, err := run(e, path, both, true); !kept || !errors.Is(err, lost) {
					t.Fatalf("found %v, kept %v, expected the error and pieces", err, kept)
				}
				e.Fail = nil
				if _, kept, err := run(e, path, !both, false); !kept || !errors.Is(err, workfolder.ErrEarlier) || !strings.Contains(err.Error(), "rules.Both") {
					t.Errorf("another run: found %v, kept %v", err, kept)
				}
				e.jobs = nil
				sum, kept, err := run(e, path, both, false)
				if err != nil || kept || sum != want {
					t.Errorf("found %v, kept %v, and\n%s\nexpected\n%s", err, kept, sum, want)
				}
				if _, err := os.Stat(work); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("found the work folder after the run: %v", err)
				}
				if after == 1<<20 && len(e.jobs) > 0 {
					t.Errorf("found the jobs %v, expected none: all pieces were there", e.jobs)
				}
			})
		}
	}
}
