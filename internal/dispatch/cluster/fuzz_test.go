package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/vfs"
)

// FuzzWork reads any text as the work that a submitter left.
func FuzzWork(f *testing.F) {
	f.Add(`{"format":2,"parts":2,"id":"a"}`)
	f.Add(`{"format":2,"parts":-1,"segments":[]}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			if err := os.WriteFile(filepath.Join(dir, workFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if w, err := readWork(vfs.OS, dir); err == nil && (w.Parts < 1 || w.Parts > assign.MaxParts || w.steps() < 1) {
				t.Fatalf("accepted %+v", w)
			}
		})
	})
}
