package ingest

import (
	"errors"
	"fmt"
)

// What errors are, by errors.Is; the texts of these are not in theirs, which
// start with the place.
var (
	// ErrSource: what a source says or lacks. Errors about the bytes of its tables
	// are of package table.
	ErrSource = errors.New("bad source")
	// ErrUsage: options that do not fit the source.
	ErrUsage = errors.New("wrong options")
)

type kindError struct {
	error
	kind error
}

func (e kindError) Unwrap() error        { return e.error }
func (e kindError) Is(target error) bool { return target == e.kind }

// sourcef and usagef are fmt.Errorf for an ErrSource and an ErrUsage.
func sourcef(format string, a ...any) error { return kindError{fmt.Errorf(format, a...), ErrSource} }
func usagef(format string, a ...any) error  { return kindError{fmt.Errorf(format, a...), ErrUsage} }
