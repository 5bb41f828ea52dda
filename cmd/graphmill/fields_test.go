package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
)

// flagsOfAll are the names of the flags of all commands.
func flagsOfAll() map[string]bool {
	all := map[string]bool{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { all[f.Name] = true })
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(newRoot(&cli.Terminal{Stdout: io.Discard, Stderr: io.Discard}))
	return all
}

// flagCall is a call that adds a flag.
var flagCall = regexp.MustCompile(`Var(?:P)?\([^"]*"([a-z][a-z-]*)"`)

// addFlagsOf adds the names of the flags of a command in a module of its own, which its source has.
func addFlagsOf(t *testing.T, all map[string]bool, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: found %d files and %v, expected a command", dir, len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range flagCall.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = true
		}
	}
}

// literals calls f with each string of the library's source: of all packages but commands and tests.
func literals(t *testing.T, f func(where token.Position, text string)) {
	set := token.NewFileSet()
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := filepath.ToSlash(strings.TrimPrefix(file, "../../")); {
		case d.IsDir() && (name == "cmd" || name == "flight/cmd" || name == "beam/cmd" || name == "internal/cli" || name == "internal/options" || name == "internal/command" || name == "bench" || name == "examples" || name == "torture" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil {
					f(set.Position(l.Pos()), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ownFields are fields of options that no command has flags for.
var ownFields = []string{"`Bucketed`", "`Build`", "`CountRows`", "`Input`", "`More`", "`Scratch`"}

// clientLine is a whole command line of the Python client.
var clientLine = regexp.MustCompile(`python -m graphmill import FILE( --kind [a-z]+)? --out STORE`)

// The library names fields in backquotes, each of which some command has as a flag; it names no flags.
func TestFieldsNotFlags(t *testing.T) {
	known := flagsOfAll()
	addFlagsOf(t, known, "../../beam/cmd/graphmill-beam")
	flag := regexp.MustCompile(`(^|[\s(])--[a-z]`)
	quoted := regexp.MustCompile("`[A-Z][A-Za-z]*`")
	fields := 0
	literals(t, func(where token.Position, text string) {
		text = clientLine.ReplaceAllString(text, "")
		if flag.MatchString(text) {
			t.Errorf("%s: found a flag in %q, expected the field in backquotes", where, text)
		}
		for _, name := range quoted.FindAllString(text, -1) {
			fields++
			if slices.Contains(ownFields, name) {
				continue
			}
			if got := options.Flags(name, func(flag string) bool { return known[flag] }); !strings.Contains(got, "--") {
				t.Errorf("%s: found the field %s in %q, and no command has a flag for it", where, name, text)
			}
		}
	})
	if fields < 50 {
		t.Errorf("found %d fields in the library's texts, expected more: is the test looking at the right place?", fields)
	}
}
