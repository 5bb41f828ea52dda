package stages

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/objects"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// A step that has found a job ends when the submitter removes the work folder, and not when another submitter empties it and begins anew.
func TestStepAfterSubmitter(t *testing.T) {
	server := objectstest.New(t, "bkt")
	for name, c := range map[string]struct {
		fs   vfs.FS
		dir  string
		lock func() // begins the lock of an object store
	}{
		"disk":   {vfs.OS, filepath.Join(t.TempDir(), "work"), func() {}},
		"bucket": {objects.New("s3", objects.Options{Cache: t.TempDir()}), "s3://bkt/_out.work", func() { server.Put("bkt/_out.work.lock", []byte("{}")) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Step{FS: c.fs, Dir: c.dir, Of: 1, found: true}
			c.lock()
			if err := errors.Join(c.fs.MkdirAll(c.dir), vfs.WriteFile(c.fs, filepath.Join(c.dir, "work.json"), []byte("{}")), workfolder.Clear(c.fs, c.dir)); err != nil {
				t.Fatal(err)
			}
			if done, _, err := s.once(t.Context()); done || !errors.As(err, new(errWait)) {
				t.Errorf("emptied: found %v, %v, expected to wait", done, err)
			}
			server.Delete("bkt/_out.work.lock")
			if err := workfolder.RemoveAll(c.fs, c.dir); err != nil {
				t.Fatal(err)
			}
			if done, _, err := s.once(t.Context()); !done || err != nil {
				t.Errorf("removed: found %v, %v, expected the end", done, err)
			}
		})
	}
}

// A step whose job is whole ends when it has told a submitter. One that was given again has looked for whole stages before, and would wait for the note for ever.
func TestStepTells(t *testing.T) {
	dir := t.TempDir()
	j := &Job{FS: vfs.OS, Dir: dir, Stages: []Stage{{Name: "alone", Tasks: 1}}, Do: func(context.Context, int, int64, func() ([]byte, bool), Emit) error { return nil }}
	s := &Step{FS: vfs.OS, Dir: dir, Of: 1}
	if err := j.Prepare(); err != nil {
		t.Fatal(err)
	}
	if done, _, err := s.share(t.Context(), dir, j); done || !errors.As(err, new(errWait)) {
		t.Errorf("no plan: found %v, %v, expected to wait", done, err)
	}
	if err := vfs.WriteFile(vfs.OS, filepath.Join(dir, workfolder.StepsFile), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if done, _, err := s.share(t.Context(), dir, j); !done || err != nil {
		t.Errorf("planned again: found %v, %v, expected the end", done, err)
	}
	if told, err := vfs.Exists(vfs.OS, filepath.Join(dir, endedFile)); !told || err != nil {
		t.Errorf("found %v, %v, expected a note for the submitter", told, err)
	}
}
