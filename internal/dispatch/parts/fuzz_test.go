package parts

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/vfs"
)

// fuzzFiles are the files of the small partitioned graph, in the order of FuzzOpen's first argument.
var fuzzFiles = []string{"tiny.json", "part0/graph.dgl", "part1/graph.dgl", "part0/node_feat.dgl", "part0/edge_feat.dgl", "orig_nids.dgl"}

// FuzzOpen opens a partitioned graph of which a file has any content. The edges of each part can be read, or there is an error.
func FuzzOpen(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "parts")
	if err := os.CopyFS(dir, os.DirFS(tiny)); err != nil {
		f.Fatal(err)
	}
	sound := map[string][]byte{}
	for i, name := range fuzzFiles {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		sound[name] = b
		f.Add(uint8(i), b)
	}
	f.Fuzz(func(t *testing.T, file uint8, b []byte) {
		name := filepath.Join(dir, fuzzFiles[int(file)%len(fuzzFiles)])
		fuzzing.Check(t, len(b), func() {
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
			if p, err := Open(vfs.OS, filepath.Join(dir, "tiny.json"), false); err == nil {
				for _, x := range p.Parts {
					_ = x.Ends(t.Context())
				}
				for _, list := range slices.Concat(p.NodeIDs, p.EdgeIDs) {
					for i := range min(list.Len(), 100) {
						_ = list.At(i)
					}
				}
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(name, sound[fuzzFiles[int(file)%len(fuzzFiles)]], 0o644); err != nil {
				t.Fatal(err)
			}
		})
	})
}
