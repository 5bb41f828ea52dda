package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/beam/internal/engine"
	"github.com/graphmill/graphmill/beam/internal/workers"
)

// TestMain makes the test program a worker service and a worker, which have the functions of the tests: scripts/flink runs it
// as it runs graphmill-beam.
func TestMain(m *testing.M) {
	engine.Init()
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var err error
	switch os.Args[1] {
	case "worker": // --listen HOST:PORT
		err = service(ctx, os.Args[3])
	case "harness":
		err = workers.Child(ctx, os.Stdin)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func service(ctx context.Context, address string) error {
	build, err := engine.Build()
	if err != nil {
		return err
	}
	o := workers.Options{Build: build, Message: func(level slog.Level, text string) { fmt.Fprintln(os.Stderr, level, text) }}
	pool, err := workers.Process(ctx, o, address, []string{"/proc/self/exe", "harness"})
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"addr": pool.Endpoint()}); err != nil {
		return err
	}
	go func() {
		<-ctx.Done()
		pool.Close(context.Background())
	}()
	return pool.Serve()
}
