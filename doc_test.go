package graphmill_test

import (
	"errors"
	"io/fs"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

// The short listing of the package fits a page, and no public package shows an internal type.
func TestGoDoc(t *testing.T) {
	doc := func(args ...string) string {
		out, err := exec.Command("go", append([]string{"doc"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("go doc %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	lines := 0
	for line := range strings.Lines(doc("-short", ".")) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines > 60 {
		t.Errorf("found %d lines of go doc -short, expected at most 60", lines)
	}
	internal := regexp.MustCompile(`\b(store|feed|cluster|sample|outofcore|audit|layout|pack|partition|ingest|assemble|sampling|importing|operation)\.[A-Z]\w*`)
	for _, pkg := range []string{".", "./option", "./report"} {
		for line := range strings.Lines(doc("-all", pkg)) {
			code, _, _ := strings.Cut(line, "//")
			declares := strings.HasPrefix(code, "func ") || strings.HasPrefix(code, "type ") || strings.HasPrefix(code, "var ") || strings.HasPrefix(code, "\t")
			if m := internal.FindString(code); m != "" && declares && !strings.HasPrefix(code, "var Err") && !strings.Contains(code, "\tErr") {
				t.Errorf("%s: found the internal type %s in %q, expected types of public packages", pkg, m, strings.TrimSpace(line))
			}
		}
	}
}

// A path where nothing is can be told from other errors.
func TestAbsentPaths(t *testing.T) {
	absent, out := t.TempDir()+"/absent", t.TempDir()+"/out"
	for name, f := range map[string]func() error{
		"open":   func() error { _, err := graphmill.Open(absent); return err },
		"import": func() error { _, err := graphmill.Import(t.Context(), absent+".csv", out, option.Import{}); return err },
		"verify": func() error { _, err := graphmill.Verify(t.Context(), absent, option.Verify{}); return err },
		"partition": func() error {
			_, err := graphmill.Partition(t.Context(), absent, out, option.Partition{Parts: 2})
			return err
		},
		"dispatch": func() error {
			_, err := graphmill.Dispatch(t.Context(), absent, absent, out, option.Dispatch{})
			return err
		},
		"export": func() error {
			_, err := graphmill.Export(t.Context(), absent, out, option.Export{To: option.FormatTFRecord})
			return err
		},
		"walk":    func() error { _, err := graphmill.Walk(t.Context(), absent, out, option.Walk{}); return err },
		"render":  func() error { _, err := graphmill.RenderReport(absent); return err },
		"lineage": func() error { _, err := graphmill.TraceLineage(t.Context(), absent, option.Lineage{}); return err },
		"layout":  func() error { _, err := graphmill.DescribeLayout(absent); return err },
		"pack": func() error {
			_, err := graphmill.Pack(t.Context(), absent, out, option.Pack{Limits: []option.PackLimit{{Component: "num_nodes", Max: 9}}})
			return err
		},
		"fill": func() error { _, err := graphmill.Fill(t.Context(), absent, absent, out, option.Fill{}); return err },
	} {
		if err := f(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: found %v, expected fs.ErrNotExist", name, err)
		}
	}
}
