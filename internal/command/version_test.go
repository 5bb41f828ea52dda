package command

import (
	"runtime/debug"
	"strings"
	"testing"
)

// The commit is the one that the release script gave, or else the commit of the clone, or else unknown.
func TestCommit(t *testing.T) {
	clone := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}
	for _, c := range []struct {
		name, commit string
		info         *debug.BuildInfo
		want         string
		modified     bool
		text         string
	}{
		{"release", "def", clone, "def", false, "def\n"},
		{"modified release", "def+modified", nil, "def", true, "def, with changes\n"},
		{"clone", "", clone, "abc", true, "abc, with changes\n"},
		{"archive", "", &debug.BuildInfo{}, "", false, "unknown\n"},
		{"no information", "", nil, "", false, "unknown\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := thisBuild(c.commit, c.info)
			if b.Commit != c.want || b.Modified != c.modified {
				t.Errorf("found %q, %v, expected %q, %v", b.Commit, b.Modified, c.want, c.modified)
			}
			var text strings.Builder
			if err := b.Text(&text); err != nil || !strings.Contains(text.String(), "\ncommit    "+c.text) {
				t.Errorf("found %q, %v, expected the commit %q", text.String(), err, c.text)
			}
		})
	}
}
