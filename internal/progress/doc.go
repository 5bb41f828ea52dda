// Package progress shows on a terminal how far long work is: one line on stderr
// with a bar, the rate and the time left, gone when the work is done.
//
// Start gives nil where nobody looks (w is no terminal, or a dumb one), and a
// nil *Line does nothing, so a library takes a *Line and never asks. Add is one
// atomic addition; call it once a block of rows, not once a row. Done returns
// when the line is cleared and its goroutine has ended.
//
// A terminal shows one line at a time; what else is written there meanwhile
// lands behind it, so messages wait until Done. NO_COLOR turns off the dimming
// of the parts beside the number.
//
// The package imports internal/human and golang.org/x/term.
package progress
