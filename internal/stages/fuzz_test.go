package stages

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
)

// FuzzSegment reads any bytes as the file of a task. They are refused, or their records lie within the file.
func FuzzSegment(f *testing.F) {
	s := &sorter{fs: vfs.OS, dir: f.TempDir(), memory: 1 << 20}
	for i, key := range []int64{3, -1, 3, 1 << 60} {
		if err := s.take(uint32(i%2), key, []byte("records")[:i]); err != nil {
			f.Fatal(err)
		}
	}
	records, err := s.sorted()
	if err != nil {
		f.Fatal(err)
	}
	var whole bytes.Buffer
	if err := writeFile(&whole, records, 2); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes(), uint8(0))
	f.Add(whole.Bytes()[:20], uint8(1))
	name := filepath.Join(f.TempDir(), "records")
	f.Fuzz(func(t *testing.T, b []byte, task uint8) {
		fuzzing.Check(t, len(b), func() {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			file, err := vfs.OS.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			read := 0
			_ = readSegment(file, int64(task%2), 2, func(_ int64, n int) ([]byte, error) {
				read += 2 + n
				return make([]byte, n), nil
			})
			if read > len(b) {
				t.Errorf("found records of %d bytes in a file of %d", read, len(b))
			}
		})
	})
}

// FuzzPlanned reads any text as what a submitter planned for steps.
func FuzzPlanned(f *testing.F) {
	f.Add(`{"id":"a","operation":"sample","build":"b","stages":[{"name":"start","tasks":2}]}`)
	f.Add(`{"stages":[{"tasks":-1}]}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			if err := os.WriteFile(filepath.Join(dir, workfolder.StepsFile), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := &Step{FS: vfs.OS, Dir: dir, Of: 1, Build: "none", Open: func(context.Context, string, string) (Site, error) {
				t.Error("found a job of another build that was opened")
				return nil, os.ErrInvalid
			}}
			if _, p, err := s.find(); err != nil || p == nil || p.Build == "none" {
				return
			}
			if err := s.Run(t.Context()); err == nil {
				t.Error("found no error for a job of another build")
			}
		})
	})
}
