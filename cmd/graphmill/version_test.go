package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/store/storetest"
)

// The versions of files are those that a new store has, and of the manifest the one that a store in shards has.
func TestFormats(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	for _, args := range [][]string{
		{"graphmill", "generate", "rmat", "--scale", "4", "--out", "g.store"},
		{"graphmill", "chunk", "g.store", "--out", "g.chunks"},
		{"graphmill", "version", "--json"},
	} {
		out.Reset()
		if code := runCommand(args, &out, &errs); code != exitDone {
			t.Fatalf("%v: found status %d: %s", args, code, errs.String())
		}
	}
	if err := storetest.Divide("g.store", "shards.store", 2, 8); err != nil {
		t.Fatal(err)
	}
	var b struct {
		Version string
		DrawLaw int `json:"draw_law"`
		Formats map[string]int
	}
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]int{"g.store/graph.json": b.Formats["store"], "shards.store/manifest.json": b.Formats["manifest"], "g.store/report.json": b.Formats["report"], "g.chunks/chunks.json": b.Formats["chunk"]} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var found struct{ Format int }
		if err := json.Unmarshal(text, &found); err != nil || found.Format != want || want < 1 {
			t.Errorf("%s: found format %d, %v, expected %d", file, found.Format, err, want)
		}
	}
	if b.Version != graphmill.Version() || b.DrawLaw < 2 || b.Formats["feed"] < 2 || b.Formats["packs"] < 1 {
		t.Errorf("found %+v", b)
	}
}

// One version is in the command, in the Python package and at the top of the changelog.
func TestOneVersion(t *testing.T) {
	for file, pattern := range map[string]string{
		"../../internal/operation/version.go":    `(?m)^const release = "(.*)"$`,
		"../../python/src/graphmill/_version.py": `^__version__ = "(.*)"\n$`,
		"../../CHANGELOG.md":                     `(?m)^## \[(\d.*)\] - \d{4}-\d\d-\d\d$`,
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(pattern).FindSubmatch(text)
		if m == nil || string(m[1]) != graphmill.Version() {
			t.Errorf("%s: found %q, expected %s", file, m, graphmill.Version())
		}
	}
}
