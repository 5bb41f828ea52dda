package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestVerifyFindsEveryChange flips single bits and cuts files of a real store and
// of TFRecords, a thousand times each: every change is found, and named.
func TestVerifyFindsEveryChange(t *testing.T) {
	dir := t.TempDir()
	graphmill := func(args ...string) {
		var stderr bytes.Buffer
		if status := runCommand(append([]string{"graphmill"}, args...), io.Discard, &stderr); status != exitDone {
			t.Fatalf("%v: status %d: %s", args, status, stderr.String())
		}
	}
	q := filepath.Join(dir, "q")
	graphmill("quickstart", "--out", q)
	g, samples := filepath.Join(q, "debian.store"), filepath.Join(dir, "samples")
	graphmill("sample", g, "--sampling-spec", filepath.Join(q, "tables", "sampling_spec.pbtxt"),
		"--limit-seeds", "300", "--format", "tfrecord", "--shards", "3", "--out", samples)
	for _, out := range []string{g, samples} {
		var files []string
		err := filepath.WalkDir(out, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, p)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(7, 7))
		for i := range proof.Count(t, 300, 1000) {
			change(t, r, out, files[r.IntN(len(files))], i%3 == 2)
		}
	}
}

// change damages a file, verifies, and puts the file back.
func change(t *testing.T, r *rand.Rand, out, file string, cut bool) {
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Clone(good)
	at := r.IntN(len(bad))
	if cut {
		bad = bad[:at]
	} else {
		bad[at] ^= 1 << r.IntN(8)
	}
	if err := os.WriteFile(file, bad, 0o644); err != nil {
		t.Fatal(err)
	}
	v, err := store.Verify(context.Background(), vfs.OS, out, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(out, file)
	if err != nil {
		t.Fatal(err)
	}
	// A manifest and its sum, a report and its sum accuse each other.
	named := false
	for _, d := range v.Damage {
		named = named || d.File == rel || strings.HasPrefix(rel, d.File+".") || strings.HasPrefix(rel, "report.") && strings.HasPrefix(d.File, "report.")
	}
	if !named {
		t.Fatalf("%s: a change at byte %d (cut: %v) was not found: %+v", rel, at, cut, v.Damage)
	}
	if err := os.WriteFile(file, good, 0o644); err != nil {
		t.Fatal(err)
	}
}
