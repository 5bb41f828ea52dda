package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"

	"github.com/graphmill/graphmill/beam/internal/workers"
)

// Result says how a job ended.
type Result struct {
	JobID string // "" if the server did not take the job
	State string // state of the job as the server named it last, such as DONE; "" if it named none
}

// ErrTimeLimit is in the error of a job that was cancelled because of its time limit.
var ErrTimeLimit = errors.New("time limit exceeded")

// Times that bound single steps.
const (
	connectTime = 10 * time.Second // to reach an endpoint
	callTime    = time.Minute      // one call of the job server
	cancelTime  = 30 * time.Second // until a cancelled job has ended
	endTime     = 10 * time.Second // until the workers in this process have ended
)

// turn is held by the pipeline that runs.
var turn = make(chan struct{}, 1)

// Run runs a pipeline to its end. It fails if the job did.
func Run(ctx context.Context, p *beam.Pipeline, o Options) (res Result, err error) {
	if err := o.Check(); err != nil {
		return Result{}, err
	}
	if !beam.Initialized() {
		return Result{}, errors.New("found no call of engine.Init, expected one before the pipeline is built")
	}
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
	messages.Store(&o.Message)
	defer messages.Store(nil)
	if o.TimeLimit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.TimeLimit, fmt.Errorf("%w: found no end after `TimeLimit` %s; give more, or look for the cause on the pages of the runner", ErrTimeLimit, o.TimeLimit))
		defer cancel()
	}
	end, err := o.host(ctx)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, end()) }()
	pipeline, err := o.translate(ctx, p)
	if err != nil {
		return Result{}, err
	}
	return o.submit(ctx, pipeline)
}

// host sets Endpoint and Workers to what this process serves, if they are not given, and returns a function that ends that.
func (o *Options) host(ctx context.Context) (end func() error, err error) {
	end = func() error { return nil }
	bounded := func(f func(context.Context) error) func() error {
		return func() error {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
			defer cancel()
			return f(ctx)
		}
	}
	o.ownWorkers = o.Workers == ""
	switch {
	case o.Endpoint == "":
		s, err := prismOnce()
		if err != nil {
			return nil, err
		}
		o.Endpoint, o.Workers, o.TLS = s.endpoint, s.pool.Endpoint(), nil
		o.Record = "" // its jobs end with this process
		hooks.DisableHook(harness.DefaultRemoteLoggingHook)
		return bounded(s.pool.End), nil
	case o.ownWorkers:
		pool, err := workers.InProcess(workers.Options{Message: tell})
		if err != nil {
			return nil, err
		}
		go func() { _ = pool.Serve() }()
		o.Workers = pool.Endpoint()
		hooks.DisableHook(harness.DefaultRemoteLoggingHook)
		return bounded(pool.Close), nil
	default:
		// Workers in other processes log to their runner.
		return end, hooks.EnableHook(harness.DefaultRemoteLoggingHook)
	}
}

// translate converts a pipeline to what runners read. Its workers bring the functions along, so it has no files.
func (o *Options) translate(ctx context.Context, p *beam.Pipeline) (*pipepb.Pipeline, error) {
	edges, _, err := p.Build()
	if err != nil {
		return nil, fmt.Errorf("invalid pipeline: %w", err)
	}
	env, err := graphx.CreateEnvironment(ctx, graphx.URNEnvExternal, func(context.Context) string { return o.Workers })
	if err != nil {
		return nil, err
	}
	env.Dependencies = nil
	pipeline, err := graphx.Marshal(edges, &graphx.Options{Environment: env})
	if err != nil {
		return nil, fmt.Errorf("invalid pipeline: %w", err)
	}
	return pipeline, nil
}

// submit hands a pipeline to the job server, and waits for the end of the job.
func (o *Options) submit(ctx context.Context, pipeline *pipepb.Pipeline) (Result, error) {
	s, err := o.connect(ctx)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	id, err := s.start(ctx, pipeline)
	if err != nil {
		return Result{}, err
	}
	o.Message(slog.LevelInfo, "job "+id+" submitted")
	unrecorded := o.record(id)
	res, err := s.follow(ctx, id)
	if !mayRun(res, err) {
		unrecorded = errors.Join(unrecorded, o.forget())
	}
	return res, errors.Join(err, unrecorded)
}
