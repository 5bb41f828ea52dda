package table

import (
	"errors"
	"fmt"
)

// ErrFormat is what every error about the bytes of an input table is, by
// errors.Is. Its text is not in theirs, which start with the place.
var ErrFormat = errors.New("bad input table")

type formatError struct{ error }

func (e formatError) Unwrap() error      { return e.error }
func (formatError) Is(target error) bool { return target == ErrFormat }

// badf is fmt.Errorf for an ErrFormat.
func badf(format string, a ...any) error { return formatError{fmt.Errorf(format, a...)} }
