package store

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
)

// TestFileNames checks that names of any length are path elements that leave room for an ending, that no two names share one,
// and that short ones are as they always were. The checksums come from Python's xxhash package, 4.1.0.
func TestFileNames(t *testing.T) {
	for name, want := range map[string]string{
		"paper":                       "paper",
		".a/b":                        "%2Ea%2Fb",
		strings.Repeat("a", 200):      strings.Repeat("a", 200),
		strings.Repeat("a", 201):      strings.Repeat("a", 180) + "~9ba5e943ffc97e50",
		strings.Repeat("é", 40):       strings.Repeat("%C3%A9", 30) + "~14ae820ba4cb0999",
		"x" + strings.Repeat("é", 40): "x" + strings.Repeat("%C3%A9", 29) + "%C3~f31ad36d1c18700c",
	} {
		if got := FileName(name); got != want {
			t.Errorf("%q: found %s, expected %s", name, got, want)
		}
	}
	seen := map[string]string{}
	rapid.Check(t, func(r *rapid.T) {
		part := rapid.StringMatching(`[a-c%~é関]{0,12}`).Draw(r, "part")
		name := strings.Repeat(part, rapid.IntRange(1, 40).Draw(r, "times")) + rapid.StringMatching(`[ab]{0,2}`).Draw(r, "end")
		got := FileName(name)
		if other, ok := seen[got]; ok && other != name {
			r.Fatalf("%q and %q: found the element %s twice", name, other, got)
		}
		seen[got] = name
		if len(got) > longestName || strings.Contains(got, "/") {
			r.Errorf("%q: found %s", name, got)
		}
		e := graph.EdgeType{Src: name, Rel: "r", Dst: name}
		if got := EdgesDir(e); len(got) > len("edges/")+longestName {
			r.Errorf("%s: found %d bytes", e, len(got))
		}
		if s := Shortened(name, name, 60); utf8.ValidString(name) && !utf8.ValidString(s) {
			r.Errorf("%q: found %q, which cuts a character", name, s)
		}
	})
}
