package cluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/vfs"
)

// FuzzWork reads any text as the work that a submitter left.
func FuzzWork(f *testing.F) {
	f.Add(`{"format":2,"job":2,"tasks":[{"nodes":true,"index":0,"part":{}}],"ranges":[[1,1]]}`)
	f.Add(`{"format":1}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			if err := os.WriteFile(filepath.Join(dir, workFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if w, err := readWork(vfs.OS, dir); err == nil && w.Format != format {
				t.Fatalf("accepted %+v", w)
			}
		})
	})
}

// FuzzRecords gives each stage any bytes as the record of a key. The stage refuses it, or makes its files of it.
func FuzzRecords(f *testing.F) {
	files := small()
	files["e.csv"] = "src,dst,w,s\na1,5,1,x\n\"a\n3\",7,2,\na1,7,3,yz\na1,5,4,x\n"
	made, work := write(f, files), filepath.Join(f.TempDir(), "work")
	whole := false
	e := newEngine(1)
	e.opened = func(s *Site) {
		if s.Work.Job != Build {
			return
		}
		do := s.job.Do
		s.job.Do = func(ctx context.Context, stage int, key int64, records func() ([]byte, bool), emit stages.Emit) error {
			if stage == len(s.stages)-1 && !whole { // all files that a stage reads are there
				whole = true
				if err := os.CopyFS(work, os.DirFS(s.Dir)); err != nil {
					f.Fatal(err)
				}
			}
			return do(ctx, stage, key, func() ([]byte, bool) {
				b, ok := records()
				if len(b) > 0 {
					f.Add(uint8(stage-1), key, bytes.Clone(b))
				}
				return b, ok
			}, emit)
		}
	}
	opt := assemble.Options{Both: true, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep}
	e.Slots = 1
	if _, _, err := together(f, made, ingest.Options{}, opt, e, Run{}); err != nil || !whole {
		f.Fatal(err)
	}
	s, err := Open(f.Context(), unsynced, work)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	f.Fuzz(func(t *testing.T, stage uint8, key int64, b []byte) {
		fuzzing.Check(t, len(b), func() {
			n := 1 + int(stage)%(len(s.stages)-1) // stage 0 takes no records
			list := [][]byte{b}
			err := s.do(context.Background(), n, key, func() ([]byte, bool) {
				if len(list) == 0 {
					return nil, false
				}
				b := append([]byte(nil), list[0]...)
				list = list[1:]
				return b, true
			}, func(int, int64, []byte) {})
			if fault := (*os.PathError)(nil); errors.As(err, &fault) && !strings.HasPrefix(fault.Path, work) {
				t.Fatalf("found %v, expected files of the work folder", err)
			}
		})
	})
}
