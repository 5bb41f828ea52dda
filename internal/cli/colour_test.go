package cli

import (
	"bytes"
	"os"
	"testing"
)

// --color comes first, then NO_COLOR, CLICOLOR_FORCE, CLICOLOR, and at last whether stderr is a terminal, which a pipe is not.
func TestColours(t *testing.T) {
	for _, c := range []struct {
		flag                      colour
		no, force, clicolor, dumb string
		want                      bool
	}{
		{colourAlways, "1", "", "0", "dumb", true},
		{colourNever, "", "1", "1", "", false},
		{colourAuto, "", "", "", "", false},
		{colourAuto, "", "1", "", "", true},
		{colourAuto, "", "0", "", "", false},
		{colourAuto, "1", "1", "", "", false},
		{colourAuto, "", "1", "0", "", true},
		{colourAuto, "", "", "1", "", false},
	} {
		t.Setenv("NO_COLOR", c.no)
		t.Setenv("CLICOLOR_FORCE", c.force)
		t.Setenv("CLICOLOR", c.clicolor)
		t.Setenv("TERM", c.dumb)
		term := &Terminal{colour: c.flag}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if got := term.colours(w); got != c.want {
			t.Errorf("%+v: found %v", c, got)
		}
		if r.Close() != nil || w.Close() != nil {
			t.Error("close")
		}
	}
	var c colour
	if err := c.Set("sometimes"); err == nil {
		t.Error("found no error")
	}
}

// The prefix of an error is red, the word of a warning yellow, and a note plain.
func TestPaint(t *testing.T) {
	var b bytes.Buffer
	term := &Terminal{Stderr: &b, colour: colourAlways}
	term.Fail(Usagef("wrong"))
	term.Warn("late")
	term.Note("so")
	want := "\x1b[31mgraphmill:\x1b[0m wrong\ngraphmill: \x1b[33mwarning:\x1b[0m late\ngraphmill: so\n"
	if b.String() != want {
		t.Errorf("found %q, expected %q", b.String(), want)
	}
	b.Reset()
	quiet := &Terminal{Stderr: &b, Quiet: true}
	quiet.Note("so")
	quiet.Warn("late")
	if b.String() != "graphmill: warning: late\n" {
		t.Errorf("found %q", b.String())
	}
}
