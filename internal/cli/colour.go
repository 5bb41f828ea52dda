package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

const (
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// colour is the value of --color.
type colour string

const (
	colourAuto   colour = "auto"
	colourAlways colour = "always"
	colourNever  colour = "never"
)

// Set parses a choice.
func (c *colour) Set(s string) error {
	switch colour(s) {
	case colourAuto, colourAlways, colourNever:
		*c = colour(s)
		return nil
	}
	return fmt.Errorf("found %q, expected auto, always or never", s)
}

// String returns the choice.
func (c *colour) String() string { return string(*c) }

// Type returns the type, for the help.
func (c *colour) Type() string { return "string" }

// colours says whether text on w has colours: as --color says, else as NO_COLOR, CLICOLOR_FORCE and CLICOLOR say, else on a terminal.
func (t *Terminal) colours(w io.Writer) bool {
	switch t.colour {
	case colourAlways:
		return true
	case colourNever:
		return false
	}
	if os.Getenv("NO_COLOR") != "" {
		return false
	}
	if force := os.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	if os.Getenv("CLICOLOR") == "0" || os.Getenv("TERM") == "dumb" {
		return false
	}
	f := fileOf(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// paint is a text in a colour, if text on w has colours.
func (t *Terminal) paint(w io.Writer, code, text string) string {
	if !t.colours(w) {
		return text
	}
	return code + text + plain
}

// fileOf returns the file that a writer writes to, or nil.
func fileOf(w io.Writer) *os.File {
	if s, ok := w.(*Stdout); ok {
		w = s.w
	}
	f, _ := w.(*os.File)
	return f
}
