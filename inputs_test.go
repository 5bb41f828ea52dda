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

// TestOneWayToOpen holds the source to one way to open an input: vfs.FS.Open, which refuses pipes and devices. Package os is
// for vfs, and for files of the system. OpenStream is for what is read once.
func TestOneWayToOpen(t *testing.T) {
	opens := []string{"Open", "OpenFile", "OpenInRoot", "OpenRoot", "ReadFile", "DirFS"}
	system := map[string]string{"internal/fuzzing/fuzzing.go": "a log of the fuzz targets", "internal/proof/proof.go": "a log of the tests", "internal/reftest/reftest.go": "answers of references in tests", "report/rss_linux.go": "/proc", "cmd/graphmill/faults.go": "a log of the test build", "internal/vfs/open.go": "vfs", "internal/vfs/vfs.go": "vfs", "internal/vfs/reopen.go": "vfs", "internal/vfs/lock.go": "vfs", "internal/vfs/lock_unix.go": "vfs", "internal/vfs/temp_windows.go": "vfs",
		"internal/dispatch/transport/sftptest/server.go": "the disk of a machine of the tests"}
	streams := []string{"internal/operation/packing/pack.go", "internal/operation/packing/stream.go"}
	stream := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || slices.Contains([]string{"bench", "examples", "testdata", "torture", "python"}, d.Name())):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "os" && slices.Contains(opens, s.Sel.Name) && system[filepath.ToSlash(path)] == "" {
				t.Errorf("%s: found os.%s, expected a call of package vfs", fset.Position(n.Pos()), s.Sel.Name)
			}
			if s.Sel.Name == "OpenStream" && !strings.HasPrefix(filepath.ToSlash(path), "internal/vfs/") {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "textfiles" {
					return true
				}
				stream[path] = true
				if !slices.Contains(streams, path) {
					t.Errorf("%s: found OpenStream, expected Open; add the file to the list if a pipe is meant", fset.Position(n.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(stream) != len(streams) {
		t.Errorf("found OpenStream in %v, expected %v", stream, streams)
	}
}
