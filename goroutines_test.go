package graphmill_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// judged are the functions that start goroutines other than by guard.Group, and why a fault under a map does not end the
// process: a goroutine does not inherit the guard of its parent. A new one is judged before it is added.
var judged = map[string]string{
	"beam/cmd/graphmill-beam/worker.go: servePool":                     "serves processes of workers",
	"beam/internal/engine/prism.go: init":                              "serves processes of workers",
	"beam/internal/engine/run.go: host":                                "serves processes of workers",
	"beam/internal/engine/wait.go: follow":                             "waits for a job",
	"beam/internal/workers/pool.go: begin":                             "waits for a process",
	"beam/internal/workers/request.go: Child":                          "reads stdin",
	"format/npz/files.go: Unpack":                                      "reads files",
	"internal/answer/server.go: Serve":                                 "guards each answer",
	"internal/answer/versions.go: leave":                               "gives memory back",
	"internal/codec/serve.go: Serve":                                   "reads stdin",
	"internal/command/benchbatches.go: copyRows":                       "reads memory",
	"internal/dispatch/transport/sftptest/server.go: ServeAt":          "a machine of the tests",
	"internal/dispatch/transport/sftptest/server.go: accept":           "a machine of the tests",
	"internal/dispatch/transport/sftptest/server.go: session, 3 times": "a machine of the tests",
	"internal/feed/conn.go: serve":                                     "guards each batch (fill) and each sweep",
	"internal/feed/loopback.go: newLoopback":                           "writes a socket",
	"internal/feed/owners.go: add":                                     "reads sockets",
	"internal/feed/owners.go: NewOwners":                               "reads sockets",
	"internal/feed/pipes.go: newPipes":                                 "reads a pipe",
	"internal/feed/server.go: serve":                                   "reads sockets; conn.fill guards each batch",
	"internal/feed/source.go: Load":                                    "guards the copying",
	"internal/fuzzing/fuzzing.go: peak":                                "reads memory",
	"internal/host/server.go: Serve":                                   "guards each question",
	"internal/ingest/cluster/run.go: engine":                           "runs an engine, whose functions are guarded",
	"internal/ingest/table/each.go: Each":                              "guards each unit",
	"internal/ingest/table/textfiles/scan.go: next":                    "reads files",
	"internal/ingest/table/textfiles/scan.go: scan":                    "guards what takes the rows (unit)",
	"internal/ingest/table/examplefiles/tfrecord.go: plain":            "guards what takes the rows",
	"internal/ingest/table/views/instep.go: plain":                     "guards the scan",
	"internal/ingest/transform/nodes.go: eachUnit":                     "guards each unit",
	"internal/operation/appending/feed.go: read":                       "reads stdin",
	"internal/operation/serving/answering.go: Beside":                  "guards the opening of each version",
	"internal/metrics/http.go: Beside":                                 "serves counts",
	"internal/ordered/ordered.go: Run, 2 times":                        "guards Fill and Work",
	"internal/pack/slow.go: together":                                  "reads memory",
	"internal/pack/tune.go: Grid":                                      "reads memory",
	"internal/partition/multilevel/team.go: blocks":                    "reads memory",
	"internal/progress/progress.go: startLine":                         "writes the terminal",
	"internal/sample/bench.go: Bench":                                  "guards each batch (worker.run)",
	"internal/sample/cluster/write.go: hold":                           "runs an engine, whose functions are guarded",
	"internal/sample/executor.go: Run":                                 "guards each batch (worker.run)",
	"internal/sample/outofcore/pipeline.go: concurrently":              "guards both functions",
	"internal/stages/engine.go: RunJob":                                "runs an engine, whose functions are guarded",
	"internal/workfolder/pulse.go: StartPulse":                         "reads counters",
}

// Every start of a goroutine is by guard.Group or judged, and no file starts one through errgroup without being judged.
func TestGoroutines(t *testing.T) {
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && file != "." || slices.Contains([]string{"testdata", "bench", "examples", "torture", "guard"}, d.Name())) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		for name, n := range starts(f) {
			key := filepath.ToSlash(file) + ": " + name
			if n > 1 {
				key += fmt.Sprintf(", %d times", n)
			}
			found[key] = true
		}
		if misused(f) {
			t.Errorf("%s: found a guard.Catch in another form than: defer guard.Catch(&err)()", file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range slices.Sorted(maps.Keys(found)) {
		if judged[start] == "" {
			t.Errorf("%s starts a goroutine: use guard.Group, or guard its units of work inside and add it to the list", start)
		}
	}
	for start := range judged {
		if !found[start] {
			t.Errorf("%s starts no goroutine: remove it from the list", start)
		}
	}
}

// starts counts the goroutines that the functions of a file start. Calls of Go count unless all groups of the file come from
// package guard.
func starts(f *ast.File) map[string]int {
	count := map[string]int{}
	ours, others := false, false
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if p, ok := s.X.(*ast.Ident); ok {
				ours = ours || p.Name == "guard" && (s.Sel.Name == "Group" || s.Sel.Name == "WithContext")
				others = others || p.Name == "errgroup" || p.Name == "sync" && s.Sel.Name == "WaitGroup"
			}
		}
		return true
	})
	for _, d := range f.Decls {
		name := "init"
		if fn, ok := d.(*ast.FuncDecl); ok {
			name = fn.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				count[name]++
			case *ast.CallExpr:
				s, ok := n.Fun.(*ast.SelectorExpr)
				if ok && s.Sel.Name == "Go" && (!ours || others) {
					count[name]++
				}
				if ok && s.Sel.Name == "Pull" {
					if p, ok := s.X.(*ast.Ident); ok && p.Name == "iter" {
						count[name]++
					}
				}
			}
			return true
		})
	}
	return count
}

// misused says whether a file calls guard.Catch in another form than its own: deferred, and called.
func misused(f *ast.File) bool {
	all, right := 0, 0
	is := func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		s, ok := c.Fun.(*ast.SelectorExpr)
		if !ok || s.Sel.Name != "Catch" {
			return false
		}
		p, ok := s.X.(*ast.Ident)
		return ok && p.Name == "guard"
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if is(n) {
			all++
		}
		if d, ok := n.(*ast.DeferStmt); ok && is(d.Call.Fun) {
			right++
		}
		return true
	})
	return all != right
}
