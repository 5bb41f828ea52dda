package graphmill_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/store/storetest"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// content are the checksums of the files of an output, but for those that name its inputs. A folder without a manifest has its files as they are.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	m, err := store.ReadManifest(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range m.Files {
		if !strings.HasSuffix(name, ".json") {
			sums[name] = f.XXH3
		}
	}
	return sums
}

// Every operation makes the same files from a store or collection in shards as from a whole one.
func TestShards(t *testing.T) {
	whole, divided := inputs(t), t.TempDir()
	for _, name := range []string{"g.store", "g.coll"} {
		if err := storetest.Divide(filepath.Join(whole, name), filepath.Join(divided, name), 4, os.Getpagesize()); err != nil {
			t.Fatal(err)
		}
		m, err := store.ReadManifest(vfs.OS, filepath.Join(divided, name))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(m.Files)), func(file string) bool { return store.FileOf(file) != file }) {
			t.Fatalf("found no shard in %s, expected some", name)
		}
		if v, err := graphmill.Verify(t.Context(), filepath.Join(divided, name), option.Verify{}); err != nil || !v.OK {
			t.Fatalf("found %+v, %v, expected a sound folder", v, err)
		}
	}
	for _, name := range []string{"g.parts", "plan", "divided.store"} {
		if err := os.CopyFS(filepath.Join(divided, name), os.DirFS(filepath.Join(whole, name))); err != nil {
			t.Fatal(err)
		}
	}
	open := func(dir string) *graphmill.Store {
		st, err := graphmill.Open(filepath.Join(dir, "g.store"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		return st
	}
	a, b := operations(open(whole), whole, option.Run{}), operations(open(divided), divided, option.Run{})
	stream := func(st *graphmill.Store) func(ctx context.Context, out string) error {
		return func(ctx context.Context, out string) error {
			o := option.Sample{Draw: option.Draw{Fanout: []int{3, 2}, Executor: option.ExecutorStream}, Batching: option.Batching{BatchSize: 10}}
			_, err := graphmill.Sample(ctx, st, out, o)
			return err
		}
	}
	a["stream"], b["stream"] = stream(open(whole)), stream(open(divided))
	for name := range a {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := errors.Join(a[name](t.Context(), dir+"/a"), b[name](t.Context(), dir+"/b")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(content(t, dir+"/a"), content(t, dir+"/b")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Join gives the manifest of the whole store, refuses one without shards, and names a shard that is lost.
func TestJoin(t *testing.T) {
	dir := inputs(t)
	if _, err := graphmill.Join(t.Context(), dir+"/divided.store", dir+"/joined.store", option.Run{}); err != nil {
		t.Fatal(err)
	}
	want, err := store.Sum(vfs.OS, dir+"/g.store")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := store.Sum(vfs.OS, dir+"/joined.store"); err != nil || got != want {
		t.Errorf("found manifest %s, %v, expected %s", got, err, want)
	}
	if _, err := graphmill.Join(t.Context(), dir+"/g.store", dir+"/again.store", option.Run{}); !errors.Is(err, store.ErrJoined) {
		t.Errorf("found %v, expected that the store has no shards", err)
	}
	m, err := store.ReadManifest(vfs.OS, dir+"/divided.store")
	if err != nil {
		t.Fatal(err)
	}
	for name := range m.Files {
		if store.FileOf(name) == name || !strings.Contains(name, ".00001-of-") {
			continue
		}
		if err := os.Remove(filepath.Join(dir, "divided.store", name)); err != nil {
			t.Fatal(err)
		}
		if _, err := graphmill.Join(t.Context(), dir+"/divided.store", dir+"/lost.store", option.Run{}); err == nil || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("found %v, expected an error that names %s", err, name)
		}
		if _, err := os.Lstat(dir + "/lost.store"); !os.IsNotExist(err) {
			t.Errorf("found %v, expected no output", err)
		}
		return
	}
	t.Error("found no shard, expected some")
}
