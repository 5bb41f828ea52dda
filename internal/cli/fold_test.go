package cli

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	for _, c := range []struct {
		line    string
		columns int
		want    string
	}{
		{"", 10, ""},
		{"one two", 10, "one two"},
		{"one two three", 10, "one two\n    three"},
		{"  note: one two", 12, "  note: one\n      two"},
		{"a  1 node · 22 edges · 3 MiB", 16, "a  1 node\n   22 edges\n   3 MiB"},
		{"a  1 node · 22 edges · 3 MiB", 21, "a  1 node · 22 edges\n   3 MiB"},
		{"user  5  x float32[2], y int64", 22, "user  5  x float32[2],\n         y int64"},
		{"user:likes:item  50000  1.25  x", 26, "user:likes:item  50000\n    1.25  x"},
		{"abcdefghijkl mn", 6, "abcdefghijkl\n   mn"},
		{"\x1b[1mab\x1b[0m cd", 5, "\x1b[1mab\x1b[0m cd"},
		{"\x1b[1mab\x1b[0m cde", 5, "\x1b[1mab\x1b[0m\n  cde"},
	} {
		if got := strings.Join(fold(c.line, c.columns), "\n"); got != c.want {
			t.Errorf("%q in %d:\nfound\n%s\nexpected\n%s", c.line, c.columns, got, c.want)
		}
	}
}

// Folded lines have the words of the text in its order, each whole, and are no wider than the terminal unless a single word is.
func TestFoldKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-zé0-9,:]{1,9}`)).Draw(t, "words")
		line := rapid.SampledFrom([]string{"", " ", "  "}).Draw(t, "indent")
		for i, w := range words {
			if i > 0 {
				line += rapid.SampledFrom([]string{" ", "  ", "   "}).Draw(t, "space")
			}
			line += w
		}
		columns := rapid.IntRange(1, 60).Draw(t, "columns")
		lines := fold(line, columns)
		for _, l := range lines {
			if width(l) > columns && len(strings.Fields(l)) > 1 {
				t.Fatalf("%q is wider than %d", l, columns)
			}
		}
		if got := strings.Fields(strings.Join(lines, " ")); strings.Join(got, " ") != strings.Join(words, " ") {
			t.Fatalf("found %q, expected %q", got, words)
		}
	})
}
