package cli

import (
	"bytes"
	"strings"
	"testing"
)

// A message shows what its input holds: no byte of it acts on the terminal, and a
// value of megabytes does not hide what is wrong with it.
func TestSay(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ message, want string }{
		{"found a", "graphmill: found a\n"},
		{"one\ntwo", "graphmill: one\ngraphmill: two\n"},
		{"\x1b[2J\xff", `graphmill: \x1b[2J\xff` + "\n"},
		{"begin" + long + "end", "graphmill: begin" + long[:longestLine/2-5] + "[1044584 bytes]" + long[:longestLine/2-3] + "end\n"},
	} {
		var out bytes.Buffer
		(&Terminal{Stderr: &out}).Say("%s", c.message)
		if out.String() != c.want {
			t.Errorf("%.20q: found %.60q, expected %.60q", c.message, out.String(), c.want)
		}
	}
}
