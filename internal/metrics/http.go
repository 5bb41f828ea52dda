package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// patience is the time that a client has for a request, and for taking the answer.
const patience = 10 * time.Second

// Listen listens on host:port for ServeHTTP; it returns nil for "".
func Listen(ctx context.Context, address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("`HTTP`: found %q, expected HOST:PORT of this machine that is free, such as 127.0.0.1:9090: %w", address, err)
	}
	return l, nil
}

// Address is the address of a listener; "" of nil.
func Address(l net.Listener) string {
	if l == nil {
		return ""
	}
	return l.Addr().String()
}

// ServeHTTP answers what operators and schedulers ask until ctx ends, and then closes l:
//
//	/healthz	200 while the process runs
//	/readyz		200 once the process does its work, before that 503
//	/metrics	the metrics of s, in Prometheus's text format
func (s *Set) ServeHTTP(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !s.ready.Load() {
			http.Error(w, "the store is not open yet", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.Write(w)
	})
	// A client that does not go on holds nothing for long, and sends next to nothing.
	server := &http.Server{Handler: mux, ReadHeaderTimeout: patience, ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving HTTP: %w", err)
	}
	return nil
}

// Beside runs work, which ends soon after its context, and beside it ServeHTTP at l, if it is not nil. Both have ended when it returns: the page ends with the work, and a page that
// fails ends the work.
func (s *Set) Beside(ctx context.Context, l net.Listener, work func(ctx context.Context) error) error {
	if l == nil {
		return work(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() {
		err := s.ServeHTTP(ctx, l)
		cancel()
		served <- err
	}()
	err := work(ctx)
	cancel()
	return errors.Join(err, <-served)
}
