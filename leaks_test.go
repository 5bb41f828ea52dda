package graphmill_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

// Every package of a library that starts goroutines, in all modules of the product, has a test binary that fails if goroutines are left after its
// tests.
func TestEveryPackageLooksForLeaks(t *testing.T) {
	starts, looks := map[string]token.Position{}, map[string]bool{}
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || slices.Contains([]string{"testdata", "bench", "torture", "examples"}, d.Name())) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if f.Name.Name == "main" {
			return nil // the goroutines of a program end with it
		}
		dir, test := filepath.Dir(path), strings.HasSuffix(path, "_test.go")
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				if !test {
					starts[dir] = files.Position(n.Pos())
				}
			case *ast.SelectorExpr:
				of, _ := n.X.(*ast.Ident)
				switch {
				case test && of != nil && of.Name == "goleak":
					looks[dir] = true
				case !test && (n.Sel.Name == "Go" || n.Sel.Name == "AfterFunc"):
					starts[dir] = files.Position(n.Pos())
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(starts) < 20 {
		t.Fatalf("found %d packages that start goroutines, expected more", len(starts))
	}
	for dir, at := range starts {
		if !looks[dir] {
			t.Errorf("%s: found a goroutine that starts, and no goleak in the tests of its package; add a TestMain with goleak.VerifyTestMain", at)
		}
	}
}

// descriptors are the open files of the process, by their numbers.
func descriptors(t *testing.T) map[string]string {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("found no /proc, expected Linux")
	}
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]string{}
	for _, d := range list {
		if to, err := os.Readlink("/proc/self/fd/" + d.Name()); err == nil {
			open[d.Name()] = to // the folder that was listed is closed by now
		}
	}
	return open
}

// An operation leaves no file open, however it ends: done, refused because the output is there or cannot be made, or
// interrupted before or in the middle of it.
func TestDescriptors(t *testing.T) {
	dir := inputs(t)
	st, err := graphmill.Open(dir + "/g.store")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	same := func(t *testing.T, how string, before map[string]string) {
		t.Helper()
		for number, to := range descriptors(t) {
			if before[number] != to {
				t.Errorf("%s: found descriptor %s (%s) open, expected it closed", how, number, to)
			}
		}
	}
	for name := range operations(st, dir, option.Run{}) {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			operation := operations(st, dir, option.Run{Threads: 2})[name]
			if err := operation(t.Context(), folder+"/warm"); err != nil { // the runtime opens files of its own
				t.Fatal(err)
			}
			before := descriptors(t)
			for how, out := range map[string]string{"done": folder + "/out", "the output is there": folder + "/warm", "no folder": folder + "/absent/deep/out"} {
				if err := operation(t.Context(), out); (err == nil) != (how == "done") && how != "no folder" {
					t.Errorf("%s: found error %v", how, err)
				}
				same(t, how, before)
			}
			for after := range 6 {
				ctx, cancel := context.WithCancel(t.Context())
				calls := 0
				run := option.Run{Threads: 1, Progress: func(option.Progress) {
					if calls++; calls > after {
						cancel()
					}
				}}
				_ = operations(st, dir, run)[name](ctx, fmt.Sprintf("%s/cancelled-%d", folder, after)) // it may end before
				cancel()
				same(t, fmt.Sprintf("interrupted at progress %d", after), before)
			}
		})
	}
}
