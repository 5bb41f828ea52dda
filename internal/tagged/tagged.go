// Package tagged makes errors that belong to a kind without the text of the kind: a program asks with errors.Is, and a
// person reads "edges.csv:3:3: found ...". It imports only the standard library.
package tagged

import (
	"fmt"
	"slices"
)

// Errorf is fmt.Errorf for an error that is also of the given kind.
func Errorf(kind error, format string, a ...any) error {
	return &tagged{kind, fmt.Errorf(format, a...)}
}

type tagged struct{ kind, err error }

func (t *tagged) Error() string   { return t.err.Error() }
func (t *tagged) Unwrap() []error { return []error{t.kind, t.err} }

// Only says whether every error that err consists of is one of the kinds. It is false for nil.
func Only(err error, kinds ...error) bool {
	switch e := err.(type) { //nolint:errorlint // this walks the tree itself
	case nil:
		return false
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if !Only(part, kinds...) {
				return false
			}
		}
		return true
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return Only(inner, kinds...)
		}
	}
	return slices.Contains(kinds, err)
}
