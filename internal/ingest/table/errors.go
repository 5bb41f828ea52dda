package table

import (
	"errors"

	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrFormat is the kind of every error about the bytes of an input table, for errors.Is. The texts of the errors do
// not contain its text; they start with the place.
var ErrFormat = errors.New("bad input table")

// badf is fmt.Errorf for errors of kind ErrFormat.
func badf(format string, a ...any) error { return tagged.Errorf(ErrFormat, format, a...) }

// errFound ends the scan of Where.
var errFound = errors.New("found")
