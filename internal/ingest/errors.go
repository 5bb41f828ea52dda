package ingest

import (
	"errors"

	"github.com/graphmill/graphmill/internal/tagged"
)

// The kinds of errors, for errors.Is. The texts of the errors do not contain these texts; they start with the place.
var (
	// ErrSource: a source has wrong or missing content. Errors about the bytes of its tables come from package
	// table.
	ErrSource = errors.New("bad source")
	// ErrUsage: the options do not fit the source.
	ErrUsage = errors.New("wrong options")
)

// sourcef and usagef are fmt.Errorf for errors of kind ErrSource and ErrUsage.
func sourcef(format string, a ...any) error { return tagged.Errorf(ErrSource, format, a...) }
func usagef(format string, a ...any) error  { return tagged.Errorf(ErrUsage, format, a...) }
