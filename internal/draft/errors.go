package draft

import (
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/tagged"
)

// sourcef is fmt.Errorf for errors about the source.
func sourcef(format string, a ...any) error { return tagged.Errorf(ingest.ErrSource, format, a...) }
