package vfs_test

import (
	"errors"
	"testing"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Reserved bytes without a file are an error of guard.Do that names the file, on every system, and the first ones can be read.
func TestReserve(t *testing.T) {
	b, unmap, err := vfs.Reserve(1<<20, []byte("head"), "object", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unmap(); err != nil {
			t.Error(err)
		}
	}()
	if string(b[:4]) != "head" {
		t.Errorf("found %q, expected the head", b[:4])
	}
	var sum byte
	err = guard.Do(func() error {
		sum += b[1<<19]
		return nil
	})
	var fault *guard.Error
	if !errors.As(err, &fault) || fault.Path != "object" || fault.Byte != 1<<19 {
		t.Errorf("found %v and %d, expected a fault of the file object", err, sum)
	}
}
