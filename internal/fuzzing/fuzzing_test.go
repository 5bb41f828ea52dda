package fuzzing

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

var sink []byte

// TestBadParsers checks that the harness finds parsers that take too much, and no others.
func TestBadParsers(t *testing.T) {
	for name, c := range map[string]struct {
		input int
		parse func()
		bad   bool
	}{
		"little":                     {100, func() { sink = make([]byte, 1<<20) }, false},
		"what the bound allows":      {20 << 20, func() { sink = make([]byte, 100<<20) }, false},
		"a header's number, kept":    {100, func() { sink = make([]byte, 256<<20) }, true},
		"a header's number, dropped": {100, func() { grow(256 << 20) }, true},
		"growth": {100, func() {
			kept := [][]byte{}
			for range 200 {
				kept = append(kept, touched(1<<20))
			}
			sink = kept[100]
		}, true},
		"much in all, little at a time": {100, func() {
			for range 300 {
				sink = touched(1 << 20)
			}
		}, false},
	} {
		sink = nil
		problem := checkCost(c.input, c.parse)
		if (problem != "") != c.bad || c.bad && !strings.Contains(problem, "bytes of memory") {
			t.Errorf("%s: found %q", name, problem)
		}
		sink = nil
	}
}

//go:noinline
func grow(n int) { sink = make([]byte, n); sink = nil }

func touched(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	return b
}

// TestTargets checks that every fuzz target of the repository runs its parser in Check.
func TestTargets(t *testing.T) {
	targets := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" || d.Name() == "torture"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); !ok || s.Sel.Name != "Fuzz" {
				return true
			}
			if property, ok := call.Args[0].(*ast.CallExpr); ok {
				if s, ok := property.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "MakeFuzz" { // a property of rapid parses nothing
					return true
				}
			}
			body, ok := call.Args[0].(*ast.FuncLit)
			if !ok {
				t.Errorf("%s: found a target that is no function literal, expected one that calls fuzzing.Check", set.Position(n.Pos()))
				return true
			}
			targets++
			checked := false
			for _, s := range body.Body.List {
				if e, ok := s.(*ast.ExprStmt); ok {
					if c, ok := e.X.(*ast.CallExpr); ok {
						if s, ok := c.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Check" {
							x, ok := s.X.(*ast.Ident)
							checked = checked || ok && x.Name == "fuzzing"
						}
					}
				}
			}
			if !checked {
				t.Errorf("%s: found a target without fuzzing.Check, expected its parser in it", set.Position(n.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if targets == 0 {
		t.Error("found no fuzz targets")
	}
}

// fuzzedElsewhere are packages that decode bytes and have no fuzz target of their own, with the reason.
var fuzzedElsewhere = map[string]string{
	"format/tfgnn/tfgnnpb":              "format/tfgnn FuzzSchema and FuzzBinarySchema",
	"internal/ingest/transform":         "values of tables, which packages below table have made",
	"internal/ingest/table/views":       "values of tables, which packages below table have made",
	"internal/ingest/table/tabletest":   "what peers print, in tests",
	"beam/internal/engine":              "the Beam runner's answers, from the endpoint that the user gives",
	"internal/operation/appending":      "values of tables, which packages below table have made",
	"internal/lake/catalog/catalogtest": "answers of a test's own server",
	"internal/draft":                    "temporary files of the same run",
	"internal/export/dglchunks":         "values of a store, whose files are checked before",
	"internal/export/graphar":           "values of a store, whose files are checked before",
	"internal/export/predictions":       "numbers of .npy files, whose headers format/npy FuzzRead has",
	"internal/export/tables":            "temporary files of the same run",
	"internal/export/unigraph":          "values of a store, whose files are checked before",
	"internal/features/widening":        "values of a store, whose files are checked before, and features.json, internal/features FuzzFile",
	"internal/partition":                "values of a store, whose files are checked before",
	"internal/partition/outofcore":      "temporary files of the same run",
	"internal/sample/outofcore":         "temporary files of the same run",
	"internal/store/shards":             "internal/sample/output FuzzPiece",
	"internal/reftest":                  "what references print, in tests",
	"internal/database/databasetest":    "what a server says of itself, in tests",
}

// decoders are functions that decode bytes, by package or variable.
var decoders = map[string][]string{
	"json":         {"Unmarshal", "NewDecoder"},
	"xml":          {"NewDecoder"},
	"yaml":         {"Unmarshal", "NewDecoder"},
	"csv":          {"NewReader"},
	"gob":          {"NewDecoder"},
	"proto":        {"Unmarshal"},
	"prototext":    {"Unmarshal"},
	"protojson":    {"Unmarshal"},
	"protowire":    {"ConsumeTag", "ConsumeBytes", "ConsumeVarint"},
	"binary":       {"Uvarint", "Varint", "Read"},
	"LittleEndian": {"Uint16", "Uint32", "Uint64"},
	"BigEndian":    {"Uint16", "Uint32", "Uint64"},
}

// TestParsers checks that each package that decodes bytes, and each package of a format, has a fuzz target or a reason to have none.
func TestParsers(t *testing.T) {
	decodes, fuzzed := map[string]string{}, map[string]bool{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch name := d.Name(); {
			case strings.HasPrefix(name, ".") && name != "..", name == "testdata", name == "torture", name == "bench", name == "examples":
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, "_test.go") {
			for _, x := range f.Decls {
				if fn, ok := x.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Fuzz") {
					fuzzed[folder] = true
				}
			}
			return nil
		}
		if strings.HasPrefix(folder, "format/") {
			decodes[folder] = path
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of := ""
			switch x := s.X.(type) {
			case *ast.Ident:
				of = x.Name
			case *ast.SelectorExpr:
				of = x.Sel.Name
			}
			if slices.Contains(decoders[of], s.Sel.Name) {
				decodes[folder] = set.Position(n.Pos()).String()
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, at := range decodes {
		if _, ok := fuzzedElsewhere[folder]; !fuzzed[folder] && !ok {
			t.Errorf("%s: package %s decodes bytes, and has no fuzz target; add one, or a reason to fuzzedElsewhere", at, folder)
		}
	}
	for folder := range fuzzedElsewhere {
		if decodes[folder] == "" || fuzzed[folder] {
			t.Errorf("found %s in fuzzedElsewhere, which has a fuzz target or decodes nothing", folder)
		}
	}
}
