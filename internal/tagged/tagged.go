// Package tagged makes errors that belong to a kind without the text of the kind: a program asks with errors.Is, and a
// person reads "edges.csv:3:3: found ...". It imports only the standard library.
package tagged

import "fmt"

// Errorf is fmt.Errorf for an error that is also of the given kind.
func Errorf(kind error, format string, a ...any) error {
	return &tagged{kind, fmt.Errorf(format, a...)}
}

type tagged struct{ kind, err error }

func (t *tagged) Error() string   { return t.err.Error() }
func (t *tagged) Unwrap() []error { return []error{t.kind, t.err} }
