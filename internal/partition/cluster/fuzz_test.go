package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/vfs"
)

// FuzzWork reads any text as the work that a submitter left.
func FuzzWork(f *testing.F) {
	f.Add(`{"format":2,"parts":2,"trainers":1,"id":"a","imbalance":[1.03],"ranges":2,"pieces":3}`)
	f.Add(`{"format":2,"parts":-1,"trainers":0,"imbalance":[]}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			if err := os.WriteFile(filepath.Join(dir, workFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if w, err := readWork(vfs.OS, dir); err == nil && (w.Parts < 1 || w.Parts > undirected.MaxParts || w.Trainers < 1 || w.Ranges < 1 || w.Pieces < 1 || len(w.Imbalance) == 0) {
				t.Fatalf("accepted %+v", w)
			}
		})
	})
}

// FuzzParts reads any bytes as the parts of nodes. They are refused, or below the number of parts.
func FuzzParts(f *testing.F) {
	f.Add([]byte{0, 0, 3, 0})
	f.Add([]byte{0, 0, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			for _, n := range []int{-1, 2} {
				part, err := partsOf(b, n, 4)
				for _, p := range part {
					if err == nil && (p >= 4 || n >= 0 && len(part) != n) {
						t.Fatalf("accepted %v", part)
					}
				}
			}
		})
	})
}

// FuzzMeasures reads any bytes as the measures that a worker told. They are refused, or can be added up.
func FuzzMeasures(f *testing.F) {
	f.Add([]byte(`{"parts":{"parts":[{"nodes":1},{}],"between":[0,1,1,0]},"degrees":{"1":2},"relations":[{"type":"a:b:c","owned":[1,2]}]}`))
	f.Add([]byte(`{"parts":{"parts":[{},{}]},"degrees":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			m, err := readMeasures(b, 2, 1, 1)
			if err != nil {
				return
			}
			x, err := readMeasures(b, 2, 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			if m.Add(x); len(m.Parts.Parts) != 2 || len(m.Relations) != 1 || len(m.Relations[0].Owned) != 2 {
				t.Fatalf("accepted %+v", m)
			}
		})
	})
}
