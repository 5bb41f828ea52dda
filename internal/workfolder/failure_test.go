package workfolder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

func TestFailures(t *testing.T) {
	dir := t.TempDir()
	if err := vfs.OS.MkdirAll(dir + "/" + failures); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{errors.New("a bad row"), errors.New("a bad row"), context.Canceled, &fs.PathError{Op: "read", Path: "f", Err: syscall.EIO}, fmt.Errorf("out of room: %w", syscall.ENOSPC)} {
		Fail(vfs.OS, dir, err)
	}
	final, other := Failures(vfs.OS, dir)
	slices.Sort(final)
	if len(final) != 2 || !strings.HasSuffix(final[0], ": a bad row") || !strings.Contains(final[1], "out of room") {
		t.Errorf("found %q as errors that end a job", final)
	}
	if len(other) != 1 || !strings.Contains(other[0], "read f") {
		t.Errorf("found %q as other errors", other)
	}
	err := Explain(vfs.OS, dir, errors.New("the job failed: a bad row"))
	if text := err.Error(); strings.Count(text, "a bad row") != 1 || !strings.Contains(text, "out of room") {
		t.Errorf("found %q", text)
	}
	if err := Explain(vfs.OS, dir, nil); err != nil {
		t.Errorf("found %v", err)
	}
}
