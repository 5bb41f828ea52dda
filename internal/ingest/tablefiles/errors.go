package tablefiles

import (
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
)

// badf is fmt.Errorf for errors of kind table.ErrFormat.
func badf(format string, a ...any) error { return tagged.Errorf(table.ErrFormat, format, a...) }
