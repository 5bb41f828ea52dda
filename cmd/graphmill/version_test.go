package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
)

// The commit is that of the release script, else that of the clone, else unknown.
func TestCommit(t *testing.T) {
	clone := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}
	for _, c := range []struct {
		name, commit string
		info         *debug.BuildInfo
		want         string
		modified     bool
		text         string
	}{
		{"release", "def", clone, "def", false, "def\n"},
		{"modified release", "def+modified", nil, "def", true, "def, with changes\n"},
		{"clone", "", clone, "abc", true, "abc, with changes\n"},
		{"archive", "", &debug.BuildInfo{}, "", false, "unknown\n"},
		{"no information", "", nil, "", false, "unknown\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := thisBuild(c.commit, c.info)
			if b.Commit != c.want || b.Modified != c.modified {
				t.Errorf("found %q, %v, expected %q, %v", b.Commit, b.Modified, c.want, c.modified)
			}
			var text strings.Builder
			if err := b.Text(&text); err != nil || !strings.Contains(text.String(), "\ncommit    "+c.text) {
				t.Errorf("found %q, %v, expected the commit %q", text.String(), err, c.text)
			}
		})
	}
}

// The versions of files are those that a new store has.
func TestFormats(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	for _, args := range [][]string{
		{"graphmill", "generate", "rmat", "--scale", "4", "--out", "g.store"},
		{"graphmill", "chunk", "g.store", "--out", "g.chunks"},
		{"graphmill", "version", "--json"},
	} {
		out.Reset()
		if code := run(args, &out, &errs); code != exitDone {
			t.Fatalf("%v: found status %d: %s", args, code, errs.String())
		}
	}
	var b build
	if err := json.Unmarshal(out.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]int{"g.store/graph.json": b.Formats.Store, "g.store/manifest.json": b.Formats.Manifest, "g.store/report.json": b.Formats.Report, "g.chunks/chunks.json": b.Formats.Chunk} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var found struct{ Format int }
		if err := json.Unmarshal(text, &found); err != nil || found.Format != want || want < 1 {
			t.Errorf("%s: found format %d, %v, expected %d", file, found.Format, err, want)
		}
	}
	if b.Version != graphmill.Version() || b.DrawLaw < 2 || b.Formats.Feed < 2 || b.Formats.Packs < 1 {
		t.Errorf("found %+v", b)
	}
}

// One version is in the command, in the Python package and at the top of the changelog.
func TestOneVersion(t *testing.T) {
	for file, pattern := range map[string]string{
		"../../version.go":                       `(?m)^const release = "(.*)"$`,
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
