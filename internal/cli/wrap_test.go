package cli

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    []string
	}{
		{"", 10, nil},
		{"one two  three", 7, []string{"one two", "three"}},
		{"one two", 3, []string{"one", "two"}},
		{"src,dst,weight", 8, []string{"src,dst,", "weight"}},
		{"abcdefghij x", 4, []string{"abcd", "efgh", "ij x"}},
		{"ä ö ü", 3, []string{"ä ö", "ü"}},
	} {
		if got := wrap(c.text, c.columns); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%q in %d: found %q, expected %q", c.text, c.columns, got, c.want)
		}
	}
}

// Wrapped lines fit, and have the characters of the text in its order.
func TestWrapKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, columns := rapid.String().Draw(t, "text"), rapid.IntRange(1, 40).Draw(t, "columns")
		lines := wrap(text, columns)
		for _, line := range lines {
			if width(line) > columns {
				t.Fatalf("%q is wider than %d", line, columns)
			}
		}
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got := bare(strings.Join(lines, "")); got != bare(text) {
			t.Fatalf("found %q, expected %q", got, bare(text))
		}
	})
}

// A list keeps its lines; other lines of a paragraph are filled.
func TestFill(t *testing.T) {
	if got, want := fill("one\ntwo\n  a  b\nthree\nfour", 9), "one two\n  a  b\nthree\nfour"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}

// A line of a list that does not fit goes on below its text.
func TestHang(t *testing.T) {
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{"  a  b", 9, "  a  b"},
		{"  a  one two three", 12, "  a  one two\n     three"},
		{"  one two three", 10, "  one\n    two\n    three"},
		{"  g sample FOLDER [flags]", 20, "  g sample FOLDER\n    [flags]"},
		{"  a long name  one two", 18, "  a long name\n    one two"},
	} {
		if got := strings.Join(hang(c.line, c.columns), "\n"); got != c.want {
			t.Errorf("%q in %d:\nfound    %q\nexpected %q", c.line, c.columns, got, c.want)
		}
	}
}

func TestExample(t *testing.T) {
	for _, c := range []struct {
		line         string
		columns, pad int
		want         string
	}{
		{"g info x  # print", 40, 0, "  g info x  # print"},
		{"g info x  # print", 40, 10, "  g info x    # print"},
		{"g info x  # print the types", 20, 0, "  # print the types\n  g info x"},
		{"g a --flag value --other 'a b' --yes", 24, 0, "  g a --flag value \\\n    --other 'a b' \\\n    --yes"},
		{"g --flag value --flag value", 24, 0, "  g --flag value \\\n    --flag value"},
	} {
		if got := example(c.line, c.columns, c.pad); got != c.want {
			t.Errorf("%q in %d:\nfound    %q\nexpected %q", c.line, c.columns, got, c.want)
		}
	}
	if got := exampleLines("  a \\\n    b\n  c"); strings.Join(got, "|") != "a b|c" {
		t.Errorf("found %q", got)
	}
}
