package graphmill_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// genericNames are names that do not say what a function acts on.
var genericNames = []string{
	"add", "all", "begin", "check", "close", "do", "each", "end", "find", "get", "made", "make", "named", "new", "next", "of", "open", "place", "put", "read", "run", "set", "start",
	"take", "told", "write",
}

// TestGenericNames checks the names of unexported functions in all modules: in another file of a package, writeBatch says what is
// written and write does not. Methods have a receiver that says it.
func TestGenericNames(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, x := range f.Decls {
			fn, ok := x.(*ast.FuncDecl)
			if ok && fn.Recv == nil && slices.Contains(genericNames, fn.Name.Name) {
				t.Errorf("%s: found the function %s, expected a name that says what it acts on", set.Position(fn.Pos()), fn.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
