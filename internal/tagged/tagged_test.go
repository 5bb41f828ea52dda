package tagged_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/graphmill/graphmill/internal/tagged"
)

func TestErrorf(t *testing.T) {
	kind := errors.New("bad table")
	err := fmt.Errorf("import: %w", tagged.Errorf(kind, "t.csv:%d: %w", 3, io.ErrUnexpectedEOF))
	if !errors.Is(err, kind) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v is of neither kind", err)
	}
	if got := err.Error(); got != "import: t.csv:3: unexpected EOF" {
		t.Error(got)
	}
}
