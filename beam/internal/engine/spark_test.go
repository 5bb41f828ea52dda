//go:build cluster

package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/graphmill/graphmill/beam/internal/engine"
	"github.com/graphmill/graphmill/internal/proof"
)

func spark(t *testing.T) engine.Options {
	t.Helper()
	o := flink(t)
	o.Runner = engine.Spark
	return o
}

// TestSpark runs everything on one Spark of a master and a worker of two cores. A job takes 12 CPU seconds, because
// Spark starts a JVM for it.
func TestSpark(t *testing.T) {
	proof.OnlyLong(t, "a Spark, whose jobs take 12 CPU seconds each")
	dir := up(t, "spark", "--master-port", "18077", "--page-port", "18080")
	o := spark(t)
	o.Workers = "localhost:15000"
	t.Run("job", func(t *testing.T) { counts(t, o) })
	t.Run("cancel", func(t *testing.T) {
		cancels(t, o)
		noWorkers(t, dir)
	})
	t.Run("time limit", func(t *testing.T) {
		// A second job needs the cores of the first, and Spark allows one of a job server at a time.
		limited := o
		limited.TimeLimit = 20 * time.Second
		if _, err := engine.Run(t.Context(), sleeping(filepath.Join(t.TempDir(), "begun")), limited); !errors.Is(err, engine.ErrTimeLimit) {
			t.Errorf("found %v, expected the end of the time limit", err)
		}
		noWorkers(t, dir)
	})
	t.Run("another build", func(t *testing.T) { refused(t, o) })
	t.Run("kill", func(t *testing.T) { workerKilled(t, dir, o) })
	t.Run("failure", func(t *testing.T) { fails(t, o) })
}

func TestSparkEmbedded(t *testing.T) {
	proof.OnlyLong(t, "a second Spark, inside the job server")
	up(t, "spark", "--embedded")
	counts(t, spark(t))
	cancels(t, spark(t))
	fails(t, spark(t))
}

// workerKilled kills the worker process that runs a stage: Spark runs its tasks again.
func workerKilled(t *testing.T, dir string, o engine.Options) {
	t.Helper()
	out := t.TempDir()
	killed := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { killed <- killWorker(ctx, dir, out) }()
	_, err := engine.Run(t.Context(), countingSlowly(out, 100), o)
	cancel()
	if err := <-killed; err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	counted(t, out)
}

// killWorker waits for the first file of a job, and kills the worker processes.
func killWorker(ctx context.Context, dir, out string) error {
	for {
		files, err := os.ReadDir(out)
		if err != nil {
			return err
		}
		if len(files) > 0 {
			break
		}
		select {
		case <-time.After(10 * time.Millisecond): // between two looks
		case <-ctx.Done():
			return errors.New("found no file of the job, expected one")
		}
	}
	if err := onLoopback(dir); err != nil {
		return err
	}
	all, err := workerProcesses(dir)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("found no worker process, expected one that runs the job")
	}
	for _, pid := range all {
		err = errors.Join(err, syscall.Kill(pid, syscall.SIGKILL))
	}
	return err
}

// noWorkers fails where workers of a job run on after it.
func noWorkers(t *testing.T, dir string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		all, err := workerProcesses(dir)
		switch {
		case err != nil:
			t.Fatal(err)
		case len(all) == 0:
			return
		case time.Now().After(end): // against a hang
			t.Fatalf("found worker processes %v 20 s after the job was cancelled, expected none", all)
		}
		time.Sleep(100 * time.Millisecond) // between two looks
	}
}

// workerProcesses are the children of the worker service.
func workerProcesses(dir string) ([]int, error) {
	b, err := os.ReadFile(filepath.Join(dir, "processes"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); f[0] == "worker" {
			return children(f[1])
		}
	}
	return nil, errors.New("found no worker service, expected one")
}
