package ingest

import (
	"errors"

	"github.com/graphmill/graphmill/internal/tagged"
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

// sourcef and usagef are fmt.Errorf for an ErrSource and an ErrUsage.
func sourcef(format string, a ...any) error { return tagged.Errorf(ErrSource, format, a...) }
func usagef(format string, a ...any) error  { return tagged.Errorf(ErrUsage, format, a...) }
