package graphmill_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWaits holds tests to waiting for events: each pause, timeout and look at the clock says in a comment on its line or before it why
// it is there. A timeout is there against a hang and is generous, a pause is between two looks at something, and no test
// judges how fast it ran. Bubbles of testing/synctest have a clock of their own. The list of all is
// git grep -nE 'time\.(Sleep|After|Since)|WithTimeout|SetDeadline|SetReadDeadline' -- '*_test.go'.
func TestWaits(t *testing.T) {
	waits := []string{"Sleep", "After", "AfterFunc", "Tick", "Since", "WithTimeout", "WithDeadline", "SetDeadline", "SetReadDeadline", "SetWriteDeadline"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		said := map[int]bool{} // the lines with a comment, and those after one
		for _, c := range f.Comments {
			for line := fset.Position(c.Pos()).Line; line <= fset.Position(c.End()).Line+1; line++ {
				said[line] = true
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			s, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, _ := s.X.(*ast.Ident)
			switch {
			case x != nil && x.Name == "synctest", x != nil && x.Name == "t" && strings.HasPrefix(s.Sel.Name, "Log"), x != nil && x.Name == "b":
				return false
			case slices.Contains(waits, s.Sel.Name) && (x == nil || x.Name != "errors") && !said[fset.Position(n.Pos()).Line]:
				t.Errorf("%s: found %s, expected a comment that says why the test waits or looks at the clock", fset.Position(n.Pos()), s.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The tests of the Python client likewise.
func TestWaitsInPython(t *testing.T) {
	waits := regexp.MustCompile(`\btime\.(sleep|time|monotonic|perf_counter)\(|\btimeout=[0-9]|\.(join|wait)\([0-9]`)
	files, err := filepath.Glob("python/tests/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files, %v", len(files), err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if waits.MatchString(line) && !strings.Contains(line, "  # ") {
				t.Errorf("%s:%d: found %s, expected a comment that says why the test waits or looks at the clock", path, i+1, strings.TrimSpace(line))
			}
		}
	}
}
