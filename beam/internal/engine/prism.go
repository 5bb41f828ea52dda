package engine

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/graphmill/graphmill/beam/internal/workers"
)

// prismServer is the Prism of this process and its pool of workers.
type prismServer struct {
	endpoint string
	pool     *workers.Pool
}

// prismOnce starts Prism at its first call. Nothing can end it, and it ends the process if its pool refuses a worker; so the
// pool lives as long.
var prismOnce = sync.OnceValues(func() (*prismServer, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	pool, err := workers.InProcess(workers.Options{Message: tell})
	if err != nil {
		return nil, err
	}
	go func() { _ = pool.Serve() }()
	if _, err := prism.CreateJobServer(context.Background(), prism.Options{Port: port}); err != nil {
		return nil, fmt.Errorf("cannot start Prism: %w", err)
	}
	if err := loopbackOnly(port); err != nil {
		return nil, err
	}
	return &prismServer{fmt.Sprintf("localhost:%d", port), pool}, nil
})

// freePort returns a port that was free: Prism does not tell which port it chose itself.
func freePort() (int, error) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}
