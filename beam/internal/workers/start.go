package workers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// starter begins a worker and returns a function that waits for its end. The end of ctx ends the worker.
type starter func(ctx context.Context, r *request) (wait func() error, err error)

// inProcess starts workers in goroutines of this process.
func inProcess(ctx context.Context, r *request) (func() error, error) {
	return func() error { return r.run(ctx) }, nil
}

// killTime is the time from asking a child to end until it is killed.
const killTime = 5 * time.Second

// process returns a starter of child processes, which run argv and end in Child.
func process(argv []string) starter {
	return func(ctx context.Context, r *request) (func() error, error) {
		b, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Stderr = os.Stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = killTime
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("cannot start a worker: %w", err)
		}
		// The pipe stays open until the child ends. A child that ends at once makes the write fail, and Wait says why.
		_, writeErr := stdin.Write(b)
		return func() error {
			err := cmd.Wait()
			if err == nil {
				err = writeErr
			}
			return err
		}, nil
	}
}
