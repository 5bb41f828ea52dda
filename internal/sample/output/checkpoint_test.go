package output

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// outcome is what a test compares of an output.
type outcome struct {
	stats        sample.Stats
	nodes, edges string
	told         int    // subgraphs, by Progress
	before       uint64 // subgraphs that the checkpoint had
}

// form makes an output of jobs in w.
type form func(ctx context.Context, w *store.Writer, jobs []sample.Job) (outcome, *store.Meta, error)

func collectionForm(s *sample.Sampler, ops bool) form {
	return func(ctx context.Context, w *store.Writer, jobs []sample.Job) (o outcome, meta *store.Meta, err error) {
		c, err := NewCollection(w, s, CollectionOptions{Ops: ops, Checkpoint: 1, Progress: func(n int) { o.told += n }})
		if err != nil {
			return o, nil, err
		}
		defer func() { err = errors.Join(err, c.Close()) }()
		for _, j := range jobs {
			if o.stats, err = c.Run(ctx, j); err != nil {
				return o, nil, err
			}
		}
		o.nodes, o.edges = printSizes(c.Sizes())
		meta, err = c.Finish(store.Made{Command: "sample"})
		return o, meta, err
	}
}

func recordsForm(s *sample.Sampler, opt RecordsOptions) form {
	return func(ctx context.Context, w *store.Writer, jobs []sample.Job) (o outcome, _ *store.Meta, err error) {
		opt := opt
		opt.Checkpoint, opt.Progress = 1, func(n int) { o.told += n }
		for _, j := range jobs {
			opt.Examples += Examples(s, j, opt.Components) * uint64(max(j.Epochs, 1))
		}
		r, err := NewRecords(w, s, opt)
		if err != nil {
			return o, nil, err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		for _, j := range jobs {
			if o.stats, err = r.Run(ctx, j); err != nil {
				return o, nil, err
			}
		}
		o.nodes, o.edges = printSizes(r.Sizes())
		return o, nil, r.Finish(store.Made{})
	}
}

func printSizes(nodes, edges *report.Histogram) (string, string) {
	n, _ := json.Marshal(nodes)
	e, _ := json.Marshal(edges)
	return string(n), string(e)
}

// write makes a whole output, or resumes one.
func (f form) write(ctx context.Context, fsys vfs.FS, dir string, jobs []sample.Job) (o outcome, err error) {
	w, err := store.Continue(fsys, dir, false)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	if err := w.Begin(ctx, map[string]string{}, 1, func(err error) { panic(err) }); err != nil {
		return o, err
	}
	before := Saved(w)
	o, meta, err := f(ctx, w, jobs)
	o.before = before
	if err != nil {
		return o, err
	}
	if err := w.Seal(ctx, meta, 1); err != nil {
		return o, err
	}
	return o, w.Publish()
}

// An output that is killed at any call, once or several times, or that loses its power, and is resumed, has the bytes
// and the counts of an uninterrupted one.
func TestGoOn(t *testing.T) {
	g := typed(60)
	disk := vfs.Unsynced{FS: vfs.OS}
	resumed, killed := 0, 0
	r := newRand()
	for i := range 30 {
		one := func(n int) int { return 1 + r.IntN(n) }
		scope := []sample.Scope{sample.ScopeEpoch, sample.ScopeBatch, sample.ScopeSeed}[i%3]
		job := sample.Job{
			Seeds: slices.Repeat(seeds(60), one(3)), BatchSize: 12 * one(3), Seed: 9, Shuffle: r.IntN(2) > 0,
			Epoch: 4, Epochs: one(2), Ranks: one(2), Threads: one(3),
		}
		jobs := []sample.Job{job}
		if r.IntN(3) == 0 {
			job.Epoch, job.Shuffle = 20, !job.Shuffle
			jobs = append(jobs, job)
		}
		ops := i%2 == 0 && r.IntN(2) == 0
		s := sampler(t, g, "2,1", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: scope}, ops)
		f, name := collectionForm(s, ops), fmt.Sprintf("case %d, scope %s, %d jobs", i, scope, len(jobs))
		if i%2 == 1 {
			opt := RecordsOptions{Shards: one(5), Gzip: r.IntN(2) > 0}
			if scope == sample.ScopeSeed {
				opt.Components = []int{1, 4}[r.IntN(2)]
			}
			f, name = recordsForm(s, opt), fmt.Sprintf("%s, %+v", name, opt)
		}
		dir := t.TempDir()
		count := &vfs.Fault{FS: disk}
		want, err := f.write(context.Background(), count, filepath.Join(dir, "at-once"), jobs)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "out")
		var got outcome
		for {
			volatile := &vfs.Volatile{FS: disk}
			dies := &vfs.Fault{FS: volatile, Err: errors.New("killed"), Dead: true, Short: true, FailAt: 1 + r.Int64N(2*count.Calls())}
			if got, err = f.write(context.Background(), dies, out, jobs); err == nil {
				break
			}
			if dies.Calls() < dies.FailAt {
				t.Fatalf("%s: %v", name, err)
			}
			if killed++; killed%2 == 0 {
				if err := volatile.Crash(); err != nil {
					t.Fatal(err)
				}
			}
			if _, there := os.Lstat(out); there == nil {
				got = want // killed after the rename
				break
			}
		}
		if got.before > 0 {
			resumed++
		}
		got.before = 0
		if got != want {
			t.Errorf("%s: found %+v, expected %+v", name, got, want)
		}
		if uint64(want.told) != want.stats.Subgraphs || want.stats.Subgraphs == 0 {
			t.Errorf("%s: found %d subgraphs in Progress, expected %d", name, want.told, want.stats.Subgraphs)
		}
		if a, b := tree(t, filepath.Join(dir, "at-once")), tree(t, out); !maps.Equal(a, b) {
			t.Errorf("%s: found other bytes in %v", name, differing(a, b))
		}
	}
	if resumed < 10 {
		t.Errorf("found %d outputs that resumed from a checkpoint, of %d that were killed", resumed, killed)
	}
}

// tree is all files below a folder.
func tree(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func differing(a, b map[string]string) (names []string) {
	for name := range a {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, both := a[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A checkpoint with the state of another output is an error.
func TestGoOnWithAnotherState(t *testing.T) {
	s := sampler(t, typed(30), "2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed}, false)
	jobs := []sample.Job{{Seeds: seeds(30), BatchSize: 7}}
	for _, c := range []struct{ state, collection, records string }{
		{`{"totals":[1]}`, "found 1 lists, expected 5", "found none of records"},
		{`{"shards":{"shard":2}}`, "found 0 lists, expected 5", "found shard 2 and 0 records in the checkpoint, expected at most 1 and 30"},
		{`{"shards":{"shard":0,"records":31}}`, "found 0 lists", "found shard 0 and 31 records"},
		{`{"shards":{"shard":-2}}`, "found 0 lists", "found shard -2"},
		{`{"rest":1}`, `unknown field "rest"`, `unknown field "rest"`},
		{`[]`, "cannot unmarshal", "cannot unmarshal"},
	} {
		for want, f := range map[string]form{c.collection: collectionForm(s, false), c.records: recordsForm(s, RecordsOptions{Shards: 2})} {
			out := filepath.Join(t.TempDir(), "out")
			w, err := store.Continue(vfs.OS, out, false)
			if err == nil {
				err = errors.Join(w.Begin(context.Background(), map[string]string{}, 1, nil), w.Checkpoint(json.RawMessage(c.state)), w.Abort())
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.write(context.Background(), vfs.OS, out, jobs); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("state %s: found %v, expected %s", c.state, err, want)
			}
		}
	}
}

// Without a time between checkpoints there are none, and nothing is left behind.
func TestNoCheckpoints(t *testing.T) {
	s := sampler(t, typed(30), "2", sample.FanoutOptions{SeedType: []string{"paper"}, Scope: sample.ScopeSeed}, false)
	for _, every := range []time.Duration{0, 1, time.Hour} {
		w, err := store.Create(vfs.OS, filepath.Join(t.TempDir(), "out"), false)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Begin(context.Background(), nil, 1, nil); err != nil {
			t.Fatal(err)
		}
		c, err := NewCollection(w, s, CollectionOptions{Checkpoint: every})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Run(context.Background(), sample.Job{Seeds: seeds(30), BatchSize: 7})
		if err := errors.Join(err, c.Close(), w.Abort()); err != nil {
			t.Fatal(err)
		}
		kept, unknown := w.Resumable()
		if _, err := os.Lstat(w.Dir()); (err == nil) != (every == 1) || kept != (every == 1) || unknown != nil {
			t.Errorf("every %s: found checkpoint %v (%v), folder %v", every, kept, unknown, err)
		}
	}
}
