package flight

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/graphmill/graphmill/internal/vfs"
)

// A batch that needs a page of a file that another program cut ends its stream with the path, and no other stream.
func TestMapFaults(t *testing.T) {
	name := filepath.Join(t.TempDir(), "values")
	src := sourceOf(t, func(column string, values []byte) []byte {
		if column != "f32" { // of two pages
			return values
		}
		if err := os.WriteFile(name, values, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := vfs.OS.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		b, unmap, err := f.Map()
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := unmap(); err != nil {
				t.Error(err)
			}
		})
		return b
	})
	if err := os.Truncate(name, int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	address, stop := start(t, src, Options{Streams: 2})
	defer stop()
	c := dial(t, address)
	whole, failed := 0, 0
	for seed := 0; seed < testNodes; seed += 3 {
		err := failure(t, c, fmt.Sprintf(`{"seeds":[%d]}`, seed))
		switch {
		case errors.Is(err, io.EOF):
			whole++
		case status.Code(err) == codes.DataLoss && strings.Contains(err.Error(), name+": byte ") && strings.Contains(err.Error(), "the file was cut while it was read"):
			failed++
		default:
			t.Fatalf("seed %d: found %v, expected an error of %s", seed, err, name)
		}
	}
	if whole == 0 || failed == 0 {
		t.Errorf("found %d streams and %d errors, expected some of both", whole, failed)
	}
}
