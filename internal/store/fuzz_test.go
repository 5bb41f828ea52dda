package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// FuzzOpen opens a folder with any text as graph.json and any bytes as an array, under a manifest with their checksums, as a
// hostile sender can make it. A store that opens can be checked and read.
func FuzzOpen(f *testing.F) {
	array := []byte("\x93NUMPY\x01\x00v\x00{'descr': '<u4', 'fortran_order': False, 'shape': (2,), }                                                          \n\x00\x00\x00\x00\x01\x00\x00\x00")
	f.Add(`{"format":1,"kind":"store","nodes":{"a":{"count":1,"columns":{}}},"edges":{"a:r:a":{"count":1,"primary":"in","arrays":{"indptr":"x.npy","far":"x.npy"},"columns":{}}}}`, array)
	f.Add(`{"format":1,"kind":"store","nodes":{"a":{"count":2,"columns":{"x":{"dtype":"uint32","shape":[],"file":"x.npy"}}}},"edges":{}}`, array)
	f.Add(`{"format":1,"kind":"store","nodes":{"a":{"count":9223372036854775807,"columns":{"x":{"dtype":"string","shape":[-1,3],"file":"x.npy","row_offsets":["x.npy"],"string_offsets":"x.npy"}}}},"edges":{}}`, array)
	f.Add(`{"format":1,"kind":"collection","context":{"count":1,"columns":{},"arrays":{"component_ptr":"x.npy"}},"nodes":{"a":{"count":1,"columns":{},"arrays":{"graph_ptr":"x.npy","component_ptr":"x.npy"}}},"edges":{}}`, array)
	f.Add(`{"format":1,"kind":"store","schema":"../out","nodes":{"a":{"count":1,"columns":{"x":{"dtype":"int32","shape":[],"file":"/etc/passwd"}}}},"edges":{}}`, array)
	const grows = `{"format":2,"kind":"store","nodes":{"a":{"count":1,"columns":{}}},"edges":{"a:r:a":{"count":1,"primary":"in","arrays":{"indptr":"x.npy","far":"x.npy"},"columns":{}}},"segments":[`
	f.Add(grows+`{"nodes":{"a":{"count":1,"columns":{}}},"edges":{"a:r:a":{"count":1,"primary":"in","arrays":{"nodes":"x.npy","starts":"x.npy","far":"x.npy"},"columns":{}}}}]}`, array)
	f.Add(grows+`{"nodes":{"a":{"count":1,"columns":{"x":{"file":"x.npy","dtype":"uint32","shape":[]}}}},"edges":{"a:r:a":{"count":0,"primary":"in","arrays":{"dropped_nodes":"x.npy","dropped_starts":"x.npy","dropped":"x.npy"},"columns":{}}}}]}`, array)
	f.Add(grows+`{"nodes":{"a":null,"b":{"count":4611686018427387904,"columns":{}}},"edges":{"a:r:a":null,"b:s:b":{"count":1,"primary":"out","arrays":{"far":"x.npy"},"columns":{}}}}]}`, array)
	f.Add(grows+`{"replaced":{"x.npy":{"file":"x.npy","blocks":"x.npy"}}},{"replaced":{"x.npy":{"file":"x.npy"},"y.npy":{"file":"x.npy","blocks":"y.npy"}},"changed_nodes":{"a":-1}}]}`, array)
	f.Fuzz(func(t *testing.T, meta string, array []byte) {
		fuzzing.Check(t, len(meta)+len(array), func() {
			dir, err := os.MkdirTemp(t.TempDir(), "")
			if err != nil {
				t.Fatal(err)
			}
			put := func(name string, b []byte) {
				if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			put(store.MetaFile, []byte(meta))
			put("x.npy", array)
			m, err := store.SumFiles(t.Context(), vfs.OS, dir, []string{store.MetaFile, "x.npy"}, 1)
			if err != nil {
				t.Fatal(err)
			}
			text, sum, err := m.Encode()
			if err != nil {
				t.Fatal(err)
			}
			put(store.ManifestFile, text)
			put(store.ManifestSumFile, sum)
			if s, err := store.OpenMerged(vfs.OS, dir, -1); err == nil {
				_ = s.Check(t.Context())
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := store.Verify(t.Context(), vfs.OS, dir, 1, nil); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// FuzzManifest reads any text as a manifest whose checksum is right. No file outside the folder is named.
func FuzzManifest(f *testing.F) {
	f.Add(`{"format":1,"files":{"graph.json":{"bytes":1,"xxh3":"0"}}}`)
	f.Add(`{"format":1,"files":{"../graph.json":{"bytes":1,"xxh3":"0"},"/a":{},"a//b":{},"a/./b":{}}}`)
	f.Add(`{"format":1,"files":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, store.ManifestFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			m, err := store.SumFiles(t.Context(), vfs.OS, dir, []string{store.ManifestFile}, 1)
			if err != nil {
				t.Fatal(err)
			}
			sum := m.Files[store.ManifestFile].XXH3 + "  " + store.ManifestFile + "\n"
			if err := os.WriteFile(filepath.Join(dir, store.ManifestSumFile), []byte(sum), 0o644); err != nil {
				t.Fatal(err)
			}
			if m, err := store.ReadManifest(vfs.OS, dir); err == nil {
				for name := range m.Files {
					if !filepath.IsLocal(filepath.FromSlash(name)) {
						t.Errorf("found file name %q", name)
					}
				}
			}
			_, _ = store.Verify(t.Context(), vfs.OS, dir, 1, nil)
		})
	})
}
