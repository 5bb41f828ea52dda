package cluster

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestWriteFaults checks that a run whose workers write the output goes on from what is whole: after the submitter failed, after a piece lost its end, and that a
// damaged piece is no output.
func TestWriteFaults(t *testing.T) {
	defer func(n int64) { limits.ShardAlign = n }(limits.ShardAlign)
	limits.ShardAlign = 8
	s := testStores(t)["typed"]
	p := &sample.Plan{SeedType: []string{"a"}, Scope: sample.ScopeSeed, Ops: []sample.Op{{From: []int{0}, Edges: "a:aa:a", Dir: graph.In, Take: 3}}}
	job := sample.Job{BatchSize: 10, Epochs: 1}
	for v := range uint32(200) {
		job.Seeds = append(job.Seeds, v)
	}
	m, work := samplerAndWork(t, s, p)
	dir := filepath.Join(t.TempDir(), "work")
	calls := 0
	e := newEngine(1)
	e.Fail = func(int) error { calls++; return nil }
	run := func(fail error) (files map[string]store.ManifestFor, err error) {
		files = map[string]store.ManifestFor{}
		r := &Run{FS: vfs.OS, Dir: dir, Engine: e, Sampler: m, Work: work, Options: Options{Method: Local, GroupSeeds: 50, Shards: 3, ShardBytes: 8}}
		err = r.Write(t.Context(), job, func(folder string, part *output.Written) error {
			for name, f := range part.Files {
				if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() != f.Bytes {
					t.Errorf("%s: found %v, %v, expected %d bytes", name, info, err, f.Bytes)
				}
			}
			maps.Copy(files, part.Files)
			return fail
		})
		return files, err
	}
	broken := errors.New("the disk of the submitter is full")
	if _, err := run(broken); !errors.Is(err, broken) {
		t.Errorf("found %v, expected the error of the submitter", err)
	}
	done := calls
	want, err := run(nil)
	if err != nil || calls != done || len(want) < 20 {
		t.Fatalf("found %d files, %v and %d tasks after the first run, expected some files and no task", len(want), err, calls-done)
	}
	pieces, err := filepath.Glob(filepath.Join(dir, "pieces-*", "0*"))
	if err != nil || len(pieces) != 4 {
		t.Fatalf("found %v, %v, expected four pieces", pieces, err)
	}
	if err := os.Truncate(pieces[1], 20); err != nil {
		t.Fatal(err)
	}
	if got, err := run(nil); err != nil || !maps.Equal(got, want) || calls == done {
		t.Errorf("found %v and %v after a piece lost its end, expected the same files", got, err)
	}
	// All tasks that write are gone, and a piece has another byte.
	b, err := os.ReadFile(pieces[2])
	if err != nil {
		t.Fatal(err)
	}
	b[100] ^= 1
	if err := errors.Join(os.WriteFile(pieces[2], b, 0o600), removeGlob(filepath.Join(dir, "records-*"))); err != nil {
		t.Fatal(err)
	}
	if _, err := run(nil); err == nil || !strings.Contains(err.Error(), "found a damaged piece") {
		t.Errorf("found %v, expected that the piece is damaged", err)
	}
}

func removeGlob(pattern string) error {
	names, err := filepath.Glob(pattern)
	for _, name := range names {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}

// TestWriteIsCancelled checks that a run ends with the error of its context, and that the engine has ended then.
func TestWriteIsCancelled(t *testing.T) {
	s := testStores(t)["plain"]
	p := &sample.Plan{SeedType: []string{graph.HomogeneousNode}, Scope: sample.ScopeSeed}
	m, work := samplerAndWork(t, s, p)
	ctx, cancel := context.WithCancel(t.Context())
	e := newEngine(1)
	e.Fail = func(stage int) error {
		if stage == 1 {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	r := &Run{FS: vfs.OS, Dir: filepath.Join(t.TempDir(), "work"), Engine: e, Sampler: m, Work: work, Options: Options{Method: Local, Shards: 2}}
	err := r.Write(ctx, sample.Job{Seeds: []uint32{1, 2, 3}, BatchSize: 2}, func(string, *output.Written) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected context.Canceled", err)
	}
}
