// Package tagged makes errors that belong to a kind without saying so: a program
// asks with errors.Is, a person reads "edges.csv:3:3: found ...". It imports the
// standard library alone.
package tagged

import "fmt"

// Errorf is fmt.Errorf, its error being of the kind too.
func Errorf(kind error, format string, a ...any) error {
	return &tagged{kind, fmt.Errorf(format, a...)}
}

type tagged struct{ kind, err error }

func (t *tagged) Error() string   { return t.err.Error() }
func (t *tagged) Unwrap() []error { return []error{t.kind, t.err} }
