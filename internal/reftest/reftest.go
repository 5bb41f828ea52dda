// Package reftest asks references in Python for their answers, for tests that compare this program with them.
package reftest

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Python is a Python with NumPy: the one of GRAPHMILL_PYTHON, which must work, else python3, else "".
func Python(tb testing.TB) string {
	tb.Helper()
	named := os.Getenv("GRAPHMILL_PYTHON")
	name := cmp.Or(named, "python3")
	if out, err := exec.CommandContext(tb.Context(), name, "-c", "import numpy").CombinedOutput(); err != nil {
		if named != "" {
			tb.Fatalf("GRAPHMILL_PYTHON=%s: %v\n%s; expected a Python with numpy", name, err, out)
		}
		return ""
	}
	return name
}

// NeedPython is Python; a test without one fails.
func NeedPython(tb testing.TB) string {
	tb.Helper()
	name := Python(tb)
	if name == "" {
		tb.Fatal("found no Python with numpy, which this needs; set GRAPHMILL_PYTHON")
	}
	return name
}

// Answers runs a reference over all cases in one process, which reads them as a list in JSON and writes one answer per case.
func Answers[Answer, Case any](tb testing.TB, python, script string, cases []Case) []Answer {
	tb.Helper()
	dir := tb.TempDir()
	in, out := filepath.Join(dir, "cases.json"), filepath.Join(dir, "answers.json")
	b, err := json.Marshal(cases)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(in, b, 0o600); err != nil {
		tb.Fatal(err)
	}
	if msg, err := exec.CommandContext(tb.Context(), python, "-B", script, in, out).CombinedOutput(); err != nil {
		tb.Fatalf("%s: %v\n%s", script, err, msg)
	}
	if b, err = os.ReadFile(out); err != nil {
		tb.Fatal(err)
	}
	var answers []Answer
	if err := json.Unmarshal(b, &answers); err != nil {
		tb.Fatal(err)
	}
	if len(answers) != len(cases) {
		tb.Fatalf("found %d answers of %s, expected %d", len(answers), script, len(cases))
	}
	return answers
}
