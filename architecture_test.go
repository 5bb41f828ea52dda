package graphmill_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/graphmill/graphmill"

// imports are the packages of this module that each of its packages imports, by their paths in the repository, without
// tests.
func imports(t *testing.T) map[string][]string {
	all := map[string][]string{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != "." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(file))
		for _, i := range f.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			if name == module {
				all[dir] = append(all[dir], ".")
			} else if below, ok := strings.CutPrefix(name, module+"/"); ok {
				all[dir] = append(all[dir], below)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The drawing in docs/architecture.md has every package, each of its arrows is an import, and every import is an arrow or
// follows from arrows.
func TestArchitecture(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	node := map[string]string{} // by path in the repository
	for _, m := range regexp.MustCompile(`(?m)^    (\w+)\["<b>([^<]+)</b>`).FindAllStringSubmatch(string(page), -1) {
		for _, p := range strings.Split(m[2], ", ") {
			if p == "graphmill" {
				p = "."
			}
			node[p] = m[1]
		}
	}
	of := func(dir string) string {
		for p := dir; ; p = path.Dir(p) {
			if n := node[p]; n != "" && (p != "." || dir == ".") {
				return n
			}
			if p == "." {
				return ""
			}
		}
	}
	real := map[string]map[string]bool{}
	for dir, list := range imports(t) {
		if top, _, _ := strings.Cut(dir, "/"); top == "bench" || top == "examples" || top == "torture" {
			continue
		}
		from := of(dir)
		if from == "" {
			t.Errorf("found no node of package %s", dir)
			continue
		}
		for _, p := range list {
			if to := of(p); to != from {
				if real[from] == nil {
					real[from] = map[string]bool{}
				}
				real[from][to] = true
			}
		}
	}
	drawn := map[string]map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^    (\w+) --> (\w+)$`).FindAllStringSubmatch(string(page), -1) {
		if drawn[m[1]] == nil {
			drawn[m[1]] = map[string]bool{}
		}
		drawn[m[1]][m[2]] = true
		if !real[m[1]][m[2]] {
			t.Errorf("found the arrow %s --> %s, and no such import", m[1], m[2])
		}
	}
	// reach reports whether arrows lead from one node to another. With through, it does not count an arrow that goes there
	// directly.
	var reach func(from, to string, through bool) bool
	reach = func(from, to string, through bool) bool {
		for next := range drawn[from] {
			if next == to && !through || next != to && reach(next, to, false) {
				return true
			}
		}
		return false
	}
	for _, from := range slices.Sorted(maps.Keys(real)) {
		for _, to := range slices.Sorted(maps.Keys(real[from])) {
			if !reach(from, to, false) {
				t.Errorf("found an import of %s by %s, and no arrow", to, from)
			}
			if drawn[from][to] && reach(from, to, true) {
				t.Errorf("found the arrow %s --> %s, which follows from others: leave it out", from, to)
			}
		}
		if reach(from, from, false) {
			t.Errorf("found a circle through %s", from)
		}
	}
}

// stages are the packages that do the work of operations, and know no run, flag or message for people.
var stages = []string{"internal/database", "internal/dispatch", "internal/export", "internal/features", "internal/feed", "internal/generate", "internal/ingest", "internal/pack", "internal/partition",
	"internal/sample", "internal/store", "internal/structure", "internal/subset", "internal/survey", "internal/walk"}

// Imports that no drawing may allow: a command calls operations and no stage; an operation does not know the front door; a stage knows
// neither operations nor their options; the front door has functions and no wiring.
func TestNever(t *testing.T) {
	below := func(dir string, of ...string) bool {
		return slices.ContainsFunc(of, func(p string) bool { return dir == p || p != "." && strings.HasPrefix(dir, p+"/") })
	}
	all, met := imports(t), map[string]bool{}
	for _, rule := range []struct {
		from, never []string
		why         string
	}{
		{[]string{"internal/command", "cmd/graphmill"}, stages, "a command calls operations"},
		{[]string{"internal/operation"}, []string{".", "internal/command", "internal/cli"}, "an operation does not know who calls it"},
		{stages, []string{".", "option", "internal/operation", "internal/command", "internal/cli"}, "a stage takes plain data"},
		{[]string{"option", "report", "graph", "draw"}, append([]string{".", "internal/operation"}, stages...), "the vocabulary is below all that uses it"},
		{[]string{"."}, slices.DeleteFunc(slices.Clone(stages), func(s string) bool { return s == "internal/store" }), "the front door calls operations"},
	} {
		for _, dir := range slices.Sorted(maps.Keys(all)) {
			if !below(dir, rule.from...) {
				continue
			}
			met[rule.why] = true
			for _, p := range all[dir] {
				if below(p, rule.never...) {
					t.Errorf("%s: found an import of %s, expected none: %s", dir, p, rule.why)
				}
			}
		}
		if !met[rule.why] {
			t.Errorf("found no package of %v: is the test looking at the right place?", rule.from)
		}
	}
}
