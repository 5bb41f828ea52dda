package workers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"google.golang.org/grpc"
)

// Options are the options of a pool.
type Options struct {
	// Insecure allows a listener beyond loopback, and workers that connect beyond loopback.
	Insecure bool
	// Build is the build that the submitter of a job must have.
	Build string
	// Message receives what an operator wants to read. It may be called by several goroutines.
	Message func(level slog.Level, text string)
}

// key identifies a worker on this machine.
type key struct{ id, control string }

// Pool starts workers. Its zero value is not ready; use InProcess or Process.
type Pool struct {
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer

	o        Options
	start    starter
	own      bool // workers run in this process
	listener net.Listener
	server   *grpc.Server

	mu      sync.Mutex
	workers map[key]*worker
	counts  Counts
}

// Counts are the workers of a pool so far.
type Counts struct {
	Running int
	// Started counts all that were started, Refused requests for which none was, and Failed those that ended with an error before they were told to end.
	Started, Refused, Failed uint64
}

// Counts returns the workers so far.
func (p *Pool) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counts
	c.Running = len(p.workers)
	return c
}

// count changes the counts.
func (p *Pool) count(change func(c *Counts)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.counts)
}

// worker is one that begins or runs. done closes at its end.
type worker struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// InProcess returns a pool that listens on a free loopback port and runs workers in this process. It never refuses a request:
// Prism ends its process if it is refused a worker.
func InProcess(o Options) (*Pool, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := newPool(o, l, inProcess)
	p.own = true
	return p, nil
}

// Process returns a pool that listens on address, HOST:PORT, and runs workers in child processes with the command line argv,
// which must call Child.
func Process(ctx context.Context, o Options, address string, argv []string) (*Pool, error) {
	if o.Build == "" || len(argv) == 0 {
		return nil, errors.New("found no `Build` or no command line of workers, expected both")
	}
	if !o.Insecure && !Loopback(address) {
		return nil, fmt.Errorf("found `Listen` %s, which other machines can reach, expected a loopback address; Beam's runners call workers without TLS: run a worker service on each machine with `Listen` localhost:PORT, or allow it by `Insecure`", address)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("`Listen` %s: %w", address, err)
	}
	return newPool(o, l, process(argv)), nil
}

func newPool(o Options, l net.Listener, start starter) *Pool {
	if o.Message == nil {
		o.Message = func(slog.Level, string) {}
	}
	p := &Pool{o: o, start: start, listener: l, server: grpc.NewServer(grpc.WaitForHandlers(true)), workers: map[key]*worker{}}
	fnpb.RegisterBeamFnExternalWorkerPoolServer(p.server, p)
	return p
}

// Endpoint returns the address of the pool, HOST:PORT.
func (p *Pool) Endpoint() string { return p.listener.Addr().String() }

// Serve serves until Close, or until listening fails.
func (p *Pool) Serve() error { return p.server.Serve(p.listener) }

// Close ends the service and its workers, and waits for them until ctx ends.
func (p *Pool) Close(ctx context.Context) error {
	p.server.Stop()
	_ = p.listener.Close() // closed already if it was served
	return p.End(ctx)
}

// End ends the workers that run, and waits for them until ctx ends.
func (p *Pool) End(ctx context.Context) error {
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.workers))
	p.mu.Unlock()
	for _, w := range all {
		w.cancel()
	}
	for _, w := range all {
		select {
		case <-w.done:
		case <-ctx.Done():
			return fmt.Errorf("workers did not end: %w", context.Cause(ctx))
		}
	}
	return nil
}

// StartWorker implements the service. A refusal is a text in the response, which Flink reports as the cause of the job's end.
func (p *Pool) StartWorker(ctx context.Context, m *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	if err := p.begin(ctx, m); err != nil {
		p.count(func(c *Counts) { c.Refused++ })
		p.o.Message(slog.LevelWarn, fmt.Sprintf("worker %s refused: %v", m.GetWorkerId(), err))
		if !p.own {
			return &fnpb.StartWorkerResponse{Error: "graphmill-beam worker service: " + err.Error()}, nil
		}
	}
	return &fnpb.StartWorkerResponse{}, nil
}

// StopWorker implements the service. See the package comment for why it does nothing.
func (p *Pool) StopWorker(context.Context, *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	return &fnpb.StopWorkerResponse{}, nil
}

func (p *Pool) begin(call context.Context, m *fnpb.StartWorkerRequest) error {
	r, err := newRequest(m, p.o.Insecure)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(call)) // a worker outlives the call that starts it
	k, w := key{r.ID, r.Control}, &worker{cancel, make(chan struct{})}
	if !p.claim(k, w) {
		cancel()
		return fmt.Errorf("found a second request for worker %s at %s, expected one", k.id, k.control)
	}
	wait, err := p.started(call, ctx, r, m.GetProvisionEndpoint().GetUrl())
	if err != nil {
		p.release(k, w)
		return err
	}
	p.count(func(c *Counts) { c.Started++ })
	p.o.Message(slog.LevelInfo, fmt.Sprintf("worker %s of %s started", k.id, k.control))
	go func() {
		err := wait()
		if err != nil && ctx.Err() == nil {
			p.count(func(c *Counts) { c.Failed++ })
			p.o.Message(slog.LevelWarn, fmt.Sprintf("worker %s of %s ended: %v", k.id, k.control, err))
		} else {
			p.o.Message(slog.LevelInfo, fmt.Sprintf("worker %s of %s ended", k.id, k.control))
		}
		p.release(k, w)
	}()
	return nil
}

// started starts a worker that runs until ctx ends, if the call lives until then.
func (p *Pool) started(call, ctx context.Context, r *request, provision string) (func() error, error) {
	if err := r.provision(call, provision); err != nil && !p.own { // options of this process need no provision
		return nil, err
	}
	if !p.own {
		if err := p.sameBuild(r); err != nil {
			return nil, err
		}
	}
	return p.start(ctx, r)
}

func (p *Pool) sameBuild(r *request) error {
	if submitter := r.Options[BuildOption]; submitter != p.o.Build {
		if submitter == "" {
			submitter = "none"
		}
		return fmt.Errorf("found a worker of build %s, submitter has %s; install the same graphmill-beam on all machines", p.o.Build, submitter)
	}
	return nil
}

// claim takes a key for a worker. It reports whether the key was free.
func (p *Pool) claim(k key, w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers[k] != nil {
		return false
	}
	p.workers[k] = w
	return true
}

func (p *Pool) release(k key, w *worker) {
	w.cancel()
	p.mu.Lock()
	delete(p.workers, k)
	p.mu.Unlock()
	close(w.done)
}
