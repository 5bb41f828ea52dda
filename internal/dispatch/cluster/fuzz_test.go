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
	f.Add(`{"format":1,"parts":2,"slices":1,"id":"a"}`)
	f.Add(`{"format":1,"parts":-1,"slices":9223372036854775807,"segments":[]}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			if err := os.WriteFile(filepath.Join(dir, workFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if w, err := readWork(vfs.OS, dir); err == nil && (w.Parts < 1 || w.Parts > assign.MaxParts || w.Slices < 1 || w.Steps() < 1) {
				t.Fatalf("accepted %+v", w)
			}
		})
	})
}

// FuzzSlices reads any bytes as the slice of a part: its records are the whole file, or there is an error.
func FuzzSlices(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00a\x00\x00\x00\x00"))
	f.Add([]byte("\xff\xff\xff\xffa"))
	s := &Site{Dir: f.TempDir(), Work: &Work{Parts: 2, Slices: 2, ID: "a"}, fs: vfs.OS}
	if err := os.Mkdir(filepath.Join(s.Dir, s.Work.slicesDir()), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			if err := os.WriteFile(s.sliceFile(3), b, 0o644); err != nil {
				t.Fatal(err)
			}
			n, r := 0, s.slices(1)
			for record, ok := r.next(); ok; record, ok = r.next() {
				n += 4 + len(record)
			}
			if err := r.close(); err == nil && n != len(b) || n > len(b) {
				t.Fatalf("found records of %d bytes, %v, expected %d", n, err, len(b))
			}
		})
	})
}
