// Package flags holds the flags that more than one program of the product has: what to
// sample, which columns batches bring, and sizes in bytes. Each set of flags turns what was given
// into what the library takes, and says what is wrong in words of the command line.
//
// Alone among the internal packages it imports stages: it is the commands' common part.
package flags

import (
	"errors"

	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrUsage is a fault of the command line, not of what it names.
var ErrUsage = errors.New("wrong usage")

func usagef(format string, a ...any) error { return tagged.Errorf(ErrUsage, format, a...) }
