package layout_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/vfs"
)

// layoutFiles are the files that Open reads, in the order of FuzzOpen's first argument.
var layoutFiles = []string{"layout.json", "shape_size.npy", "shape_count.npy", "pattern_packs.npy", "pattern_ptr.npy", "part_shape.npy", "part_copies.npy", "oversize_size.npy", "oversize_count.npy"}

// Any content of a layout's files is either an error or deals every graph once.
func FuzzOpen(f *testing.F) {
	l := reservedOf(f, sizesOf(12), []int{5, 12}, 5, layout.Alone)
	whole := map[string][]byte{}
	dir := write(f, l)
	for i, name := range layoutFiles {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		whole[name] = b
		f.Add(uint8(i), b)
		for k := range 8 { // the last value is changed
			bad := append([]byte(nil), b...)
			bad[len(bad)-1-k] ^= 0x81
			f.Add(uint8(i), bad)
		}
	}
	f.Fuzz(func(t *testing.T, file uint8, data []byte) {
		fuzzing.Check(t, len(data), func() {
			dir := t.TempDir()
			for i, name := range layoutFiles {
				b := whole[name]
				if i == int(file) {
					b = data
				}
				if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			l, err := layout.Open(vfs.OS, dir)
			if err != nil {
				if !errors.Is(err, layout.ErrLayout) {
					t.Fatalf("found error %v, expected %v", err, layout.ErrLayout)
				}
				return
			}
			var sizes [][]int
			if graphs := l.Problem.Graphs() + l.Over.Graphs(); graphs > 1000 {
				return
			}
			for s, n := range l.Problem.Counts {
				for range n {
					sizes = append(sizes, l.Problem.Shape(s))
				}
			}
			fit := len(sizes)
			for s, n := range l.Over.Counts {
				for range n {
					sizes = append(sizes, l.Over.Shape(s))
				}
			}
			g, err := l.NewGraphs(uint64(len(sizes)), func(i uint64, to []int) { copy(to, sizes[i]) })
			if err != nil {
				t.Fatal(err)
			}
			seen := make([]bool, fit)
			d := l.Deal(g, 1, 2)
			for p := range d.Packs() {
				for _, id := range d.Pack(p, nil) {
					if id >= uint64(fit) || seen[id] {
						t.Fatalf("pack %d: found graph %d, expected each below %d once", p, id, fit)
					}
					seen[id] = true
				}
			}
			for id, ok := range seen {
				if !ok {
					t.Fatalf("found no pack with graph %d", id)
				}
			}
		})
	})
}
