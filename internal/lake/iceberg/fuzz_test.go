package iceberg

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/lake"
)

// addFiles adds the files of testdata that a pattern names to the corpus.
func addFiles(f *testing.F, pattern string) {
	paths, err := filepath.Glob("testdata/*/metadata/" + pattern)
	if err != nil || len(paths) == 0 {
		f.Fatal("found no files ", pattern, err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

// checkKind fails on an error that is not about the bytes.
func checkKind(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, lake.ErrFormat) {
		t.Errorf("found %v, expected an error about the bytes", err)
	}
}

// FuzzMetadata reads any bytes as the metadata of a table.
func FuzzMetadata(f *testing.F) {
	addFiles(f, "*.metadata.json")
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			m, err := parseMetadata(b)
			checkKind(t, err)
			if err != nil {
				return
			}
			_, err = m.nameMapping()
			checkKind(t, err)
			for i := range m.Schemas {
				_, err := m.Schemas[i].columns(nil)
				checkKind(t, err)
			}
			_, _, err = m.choose(lake.Ref{})
			if !errors.Is(err, errNoSnapshot) {
				checkKind(t, err)
			}
		})
	})
}

// FuzzManifest reads any bytes as a list of manifests, and as a manifest.
func FuzzManifest(f *testing.F) {
	addFiles(f, "*.avro")
	table := &metadata{PartitionSpecs: []partitionSpec{{Fields: []partitionField{{Source: 1, ID: 1000, Name: "day", Transform: "identity"}}}}}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			checkKind(t, decodeRecords(bytes.NewReader(b), int64(len(b)), nil, func(m *manifest) error { return m.check() }))
			d := entryDecoder{t: table, m: &manifest{}}
			checkKind(t, decodeRecords(bytes.NewReader(b), int64(len(b)), d.head, func(e *entry) error { return d.complete(e) }))
		})
	})
}
