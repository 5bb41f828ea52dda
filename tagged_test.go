package graphmill_test

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// taggedNames are the names that tests have which only build tags bring, by the tags. The Makefile runs them by these names, so that what
// make test has run does not run again.
var taggedNames = map[string]*regexp.Regexp{
	"interop":                regexp.MustCompile("^TestPeer[A-Z]"),
	"interop || interopdata": regexp.MustCompile("^TestGolden"),
	"interopdata":            regexp.MustCompile("^Test(Golden|Data)"),
	"cluster":                regexp.MustCompile("^Test(Flink|Spark|Ray)"),
	"large":                  regexp.MustCompile("^TestLarge"),
}

// TestTaggedNames checks the names of the tests that need a build tag, in all modules. A test with another name would never run.
func TestTaggedNames(t *testing.T) {
	found := map[string]int{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != "." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		tags := ""
		for _, group := range f.Comments {
			if group.Pos() < f.Package && constraint.IsGoBuild(group.List[0].Text) {
				tags = strings.TrimSpace(strings.TrimPrefix(group.List[0].Text, "//go:build"))
			}
		}
		names := taggedNames[tags]
		for _, x := range f.Decls {
			test, ok := x.(*ast.FuncDecl)
			if !ok || test.Recv != nil || !strings.HasPrefix(test.Name.Name, "Test") || test.Name.Name == "TestMain" {
				continue
			}
			found[tags]++
			if names != nil && !names.MatchString(test.Name.Name) {
				t.Errorf("%s: found %s with the tags %q, expected a name that begins with %s", set.Position(test.Pos()), test.Name.Name, tags, names)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for tags := range taggedNames {
		if found[tags] == 0 {
			t.Errorf("found no tests with the tags %q, expected some", tags)
		}
	}
}
