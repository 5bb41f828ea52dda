package table

import (
	"errors"

	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrFormat is what every error about the bytes of an input table is, by
// errors.Is. Its text is not in theirs, which start with the place.
var ErrFormat = errors.New("bad input table")

// badf is fmt.Errorf for an ErrFormat.
func badf(format string, a ...any) error { return tagged.Errorf(ErrFormat, format, a...) }
