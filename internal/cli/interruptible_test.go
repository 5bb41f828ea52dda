//go:build unix

package cli

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"
)

// The cause of a context that a signal ended is context.Canceled, so that every error of it is known as such.
func TestInterruptible(t *testing.T) {
	ctx, stop := Interruptible()
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute): // against a hang
		t.Fatal("the signal did not end the context")
	}
	if cause := context.Cause(ctx); cause != context.Canceled { //nolint:errorlint // it is not wrapped
		t.Errorf("found cause %v, expected context.Canceled", cause)
	}
}
