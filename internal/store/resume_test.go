package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// disk does not wait for the disk: these tests are not about crashes.
var disk vfs.FS = vfs.Unsynced{FS: vfs.OS}

// TestResume interrupts a run after one of three files and resumes it, in ways that must or must not find that file.
func TestResume(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		key  string
		harm func(t *testing.T, dir string)
		kept bool
	}{
		{name: "as it was", key: "k", kept: true},
		{name: "another key", key: "other"},
		{name: "flipped byte", key: "k", harm: func(t *testing.T, dir string) { write(t, dir+"/a/one", "0ne") }},
		{name: "longer", key: "k", harm: func(t *testing.T, dir string) { write(t, dir+"/a/one", "one!") }},
		{name: "missing", key: "k", harm: func(t *testing.T, dir string) { os.Remove(dir + "/a/one") }},
		{name: "no list", key: "k", harm: func(t *testing.T, dir string) { write(t, dir+"/"+resumeFile, "{") }},
		{name: "ended at once", key: "k", kept: true, harm: func(t *testing.T, dir string) {
			w, err := Resume(ctx, disk, filepath.Join(filepath.Dir(dir), "out"), false, "k", 1)
			must(t, err)
			must(t, w.Leave())
		}},
		{name: "ended between Seal and Publish", key: "k", kept: true, harm: func(t *testing.T, dir string) {
			w, err := Resume(ctx, disk, filepath.Join(filepath.Dir(dir), "out"), false, "k", 1)
			must(t, err)
			must(t, w.Seal(ctx, nil, 1))
			must(t, w.Leave())
		}},
		{name: "list that leads out", key: "k", harm: func(t *testing.T, dir string) {
			write(t, dir+"/"+resumeFile, `{"key": "k", "kept": {"first": {"../../victim": {"bytes": 0, "xxh3": ""}}}}`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := t.TempDir()
			out := filepath.Join(base, "out")
			victim := filepath.Join(filepath.Dir(base), "victim")
			write(t, victim, "")
			w, err := Resume(ctx, disk, out, false, "k", 2)
			if err != nil {
				t.Fatal(err)
			}
			if w.Kept("first") {
				t.Fatal("found something kept of no run")
			}
			must(t, w.WriteFile("a/one", []byte("one")))
			must(t, w.Keep(ctx, "first", []string{"a/one"}, 2))
			must(t, w.WriteFile("b/c/two", []byte("half")))
			must(t, w.Leave())
			if _, err := os.Stat(out); err == nil {
				t.Fatal("found an output of a run that did not end")
			}
			if c.harm != nil {
				c.harm(t, w.Dir())
			}
			w, err = Resume(ctx, disk, out, false, c.key, 2)
			if err != nil {
				t.Fatal(err)
			}
			if w.Kept("first") != c.kept {
				t.Fatalf("found kept %v, expected %v", w.Kept("first"), c.kept)
			}
			if !c.kept {
				must(t, w.WriteFile("a/one", []byte("one")))
			}
			must(t, w.WriteFile("b/c/two", []byte("two")))
			must(t, w.Seal(ctx, nil, 2))
			must(t, w.Publish())
			m, err := ReadManifest(vfs.OS, out)
			if err != nil || len(m.Files) != 2 {
				t.Fatalf("found %v (%v), expected two files", m, err)
			}
			v, err := Verify(ctx, vfs.OS, out, 1, nil)
			if err != nil || len(v.Damage) > 0 || len(v.Unknown) > 0 {
				t.Fatalf("found %+v (%v)", v, err)
			}
			if _, err := os.Stat(victim); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func write(t *testing.T, name, text string) { must(t, os.WriteFile(name, []byte(text), 0o644)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
