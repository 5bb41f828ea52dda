package tagged_test

import (
	"context"
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

func TestOnly(t *testing.T) {
	wrapped := fmt.Errorf("read: %w", context.Canceled)
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false}, {context.Canceled, true}, {wrapped, true}, {io.EOF, false}, {errors.Join(wrapped, context.Canceled), true},
		{errors.Join(wrapped, io.EOF), false}, {fmt.Errorf("%w; %w", wrapped, io.EOF), false}, {tagged.Errorf(io.EOF, "x: %w", wrapped), false},
	} {
		if got := tagged.Only(c.err, context.Canceled); got != c.want {
			t.Errorf("%v: found %v", c.err, got)
		}
	}
}
