package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// makeTo is dispatchTo by a Maker, with records in the order of shuffle.
func makeTo(fsys vfs.FS, dir string, in *input, opt Options, each int, shuffle func([][]byte)) (*Report, error) {
	ctx := context.Background()
	w, err := store.Create(fsys, dir, false)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	s := &store.Store{Graph: in.g, Dir: "in.store"}
	lists := dir + ".lists"
	defer os.RemoveAll(lists)
	if err := os.Mkdir(lists, 0o755); err != nil {
		return nil, err
	}
	p, err := Count(ctx, fsys, s, in.a, w, opt, lists, each, 2)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	m, err := NewMaker(fsys, s, in.a, p.Places(), opt, lists)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	records := make([][][]byte, in.a.Parts)
	c := m.NewCutter()
	for i := range p.Places().Segments {
		if err := c.Cut(ctx, i, func(p int, b []byte) { records[p] = append(records[p], bytes.Clone(b)) }); err != nil {
			return nil, err
		}
	}
	root, temp := dir+".parts", dir+".temp"
	defer os.RemoveAll(root)
	defer os.RemoveAll(temp)
	for p, list := range records {
		shuffle(list)
		if err := m.Gather(ctx, p, root, replay(list)); err != nil {
			return nil, err
		}
	}
	for p := range records {
		if err := m.Finish(ctx, p, root, temp); err != nil {
			return nil, err
		}
		if err := os.Rename(filepath.Join(temp, Folder(p), GraphFile), filepath.Join(root, Folder(p), GraphFile)); err != nil {
			return nil, err
		}
	}
	r, err := p.Collect(ctx, root, func(part int) (map[string]store.ManifestFor, error) {
		m, err := store.SumFiles(ctx, vfs.OS, root, opt.PartFiles(part), 1)
		return m.Files, err
	})
	if err != nil {
		return nil, err
	}
	if err := w.Seal(ctx, nil, 1); err != nil {
		return nil, err
	}
	return r, w.Publish()
}

func replay(list [][]byte) func() ([]byte, bool) {
	return func() ([]byte, bool) {
		if len(list) == 0 {
			return nil, false
		}
		b := list[0]
		list = list[1:]
		return b, true
	}
}

// A Maker gives the files of Run, for any segments and any order of records.
func TestMakerEqualsRun(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		opt := Options{
			GraphName: "g", Hops: rapid.IntRange(0, 3).Draw(t, "hops"), Leaving: rapid.Bool().Draw(t, "leaving"), PartIDs: rapid.Bool().Draw(t, "part ids"),
			OriginalNodes: rapid.Bool().Draw(t, "nids"), OriginalEdges: rapid.Bool().Draw(t, "eids"), Formats: dgl.Formats(rapid.IntRange(1, 7).Draw(t, "formats")), Threads: 2,
		}
		n++
		var sums [2]string
		var reports [2]*Report
		for i := range sums {
			dir := filepath.Join(base, fmt.Sprint(n, i))
			defer os.RemoveAll(dir)
			var err error
			if i == 0 {
				reports[i], err = dispatchTo(vfs.Unsynced{FS: vfs.OS}, dir, in, opt)
			} else {
				reports[i], err = makeTo(vfs.Unsynced{FS: vfs.OS}, dir, in, opt, rapid.IntRange(1, 50).Draw(t, "segment"), func(list [][]byte) {
					for k := range list {
						o := rapid.IntRange(0, k).Draw(t, "order")
						list[k], list[o] = list[o], list[k]
					}
				})
			}
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(dir, store.ManifestFile))
			if err != nil {
				t.Fatal(err)
			}
			sums[i] = string(b)
		}
		if sums[0] != sums[1] {
			t.Fatalf("found\n%s\nexpected\n%s", sums[1], sums[0])
		}
		for p := range reports[0].Parts {
			if reports[0].Parts[p] != reports[1].Parts[p] {
				t.Fatalf("part %d: found %+v, expected %+v", p, reports[1].Parts[p], reports[0].Parts[p])
			}
		}
		if reports[0].Bytes != reports[1].Bytes {
			t.Fatalf("found %d bytes, expected %d", reports[1].Bytes, reports[0].Bytes)
		}
	})
}

// A record that is lost, or that comes twice, is an error.
func TestMakerLostRecord(t *testing.T) {
	in := rapid.Custom(drawInput).Filter(func(in *input) bool { return in.g.Nodes[0].Count > 5 }).Example(1)
	for name, change := range map[string]func([][]byte){
		"lost": func(list [][]byte) { list[0] = nil },
		"cut":  func(list [][]byte) { list[0] = list[0][:len(list[0])-1] },
	} {
		t.Run(name, func(t *testing.T) {
			done := false
			_, err := makeTo(vfs.OS, filepath.Join(t.TempDir(), "out"), in, Options{GraphName: "g", OriginalNodes: true}, 10, func(list [][]byte) {
				if len(list) > 0 && !done {
					change(list)
					done = true
				}
			})
			if err == nil || errors.Is(err, os.ErrNotExist) {
				t.Errorf("found %v, expected an error about the records", err)
			}
		})
	}
}

// FuzzSections reads any bytes as a record: it is refused, or its sections are whole.
func FuzzSections(f *testing.F) {
	c := &Cutter{out: make([][]byte, 1), emit: func(_ int, b []byte) { f.Add(bytes.Clone(b)) }}
	c.section(0, toLists, 8, []byte{1, 2, 3})
	c.section(0, toHalo, 0, make([]byte, haloRecord))
	c.flush(0)
	f.Add([]byte{0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			n := 0
			err := eachSection(b, func(_ int, at int64, data []byte) error {
				if n += sectionHead + len(data); at < 0 {
					t.Errorf("found offset %d", at)
				}
				return nil
			})
			if err == nil && n != len(b) {
				t.Errorf("found sections of %d bytes, expected %d", n, len(b))
			}
		})
	})
}
