package options

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of the Python client")

// The Python client has what the table says about the keywords of its loaders whose values are one of a few.
func TestPython(t *testing.T) {
	var choices, defaults, flags strings.Builder
	for _, o := range slices.Concat(Sampling, OfColumns, Order, Batches, Feed) {
		if o.Keyword != "" {
			fmt.Fprintf(&flags, "    %q: %q,\n", o.Keyword, o.FlagName())
		}
		if len(o.Choices) == 0 || o.Value != "" {
			continue
		}
		fmt.Fprintf(&choices, "    %q: %s,\n", o.KeywordName(), pythonTuple(o.Choices))
		fmt.Fprintf(&defaults, "    %q: %q,\n", o.KeywordName(), o.Default)
	}
	want := fmt.Sprintf(`"""What the table of the options says about keywords of loaders. make generate writes this file, from internal/options."""

CHOICES = {
%s}
DEFAULTS = {
%s}
FLAGS = {  # of keywords whose flags have other names
%s}
SETS = %s  # samplers whose batches are the subgraphs of sets of nodes
`, &choices, &defaults, &flags, pythonTuple(samplersOfSets))
	const file = "../../python/src/graphmill/_table.py"
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil { //nolint:gosec // the file is source
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); string(got) != want || err != nil {
		t.Errorf("%s: found %v and another text than the table makes, expected it; run make generate", file, err)
	}
}

// pythonTuple writes texts as a tuple of Python.
func pythonTuple(texts []string) string { return `("` + strings.Join(texts, `", "`) + `")` }
