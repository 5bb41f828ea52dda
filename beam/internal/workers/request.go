package workers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// BuildOption is the name of the pipeline option with the build of the submitter.
const BuildOption = "graphmill_build"

// request is what a worker needs to begin. A service sends it to a child process as JSON.
type request struct {
	ID           string            `json:"id"`
	Control      string            `json:"control"`
	Logging      string            `json:"logging"`
	Status       string            `json:"status,omitempty"`
	Capabilities []string          `json:"capabilities,omitempty"`
	Options      map[string]string `json:"options,omitempty"` // options of the Go SDK
}

// provisionTime bounds the wait for the provision endpoint, which lies next to the runner that just called.
const provisionTime = 20 * time.Second

// provision completes a request by what the runner's provision endpoint says about the job.
func (r *request) provision(ctx context.Context, endpoint string) error {
	if endpoint == "" {
		return errors.New("found no provision endpoint, expected one; use a runner that has it")
	}
	ctx, cancel := context.WithTimeout(grpcx.WriteWorkerID(ctx, r.ID), provisionTime)
	defer cancel()
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("provision endpoint %s: %w", endpoint, err)
	}
	defer func() { _ = conn.Close() }()
	response, err := fnpb.NewProvisionServiceClient(conn).GetProvisionInfo(ctx, &fnpb.GetProvisionInfoRequest{})
	if err != nil {
		return fmt.Errorf("provision endpoint %s: %w", endpoint, err)
	}
	info := response.GetInfo()
	var o runtime.RawOptionsWrapper
	if err := tools.ProtoToOptions(info.GetPipelineOptions(), &o); err != nil {
		return fmt.Errorf("provision endpoint %s: options of the pipeline: %w", endpoint, err)
	}
	r.Options = o.Options.Options
	r.Status = info.GetStatusEndpoint().GetUrl()
	r.Capabilities = info.GetRunnerCapabilities()
	return nil
}

// run is the worker itself. It returns when the control stream or ctx ends.
func (r *request) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(grpcx.WriteWorkerID(ctx, r.ID))
	defer cancel()
	return harness.MainWithOptions(ctx, r.Logging, r.Control, harness.Options{RunnerCapabilities: r.Capabilities, StatusEndpoint: r.Status})
}

// Child is the main function of a child process of Process: stdin has its request, and ends when the service does. The process
// must have called beam.Init, and ends after Child returns.
func Child(ctx context.Context, stdin io.Reader) error {
	var r request
	d := json.NewDecoder(stdin)
	if err := d.Decode(&r); err != nil {
		return fmt.Errorf("standard input: %w; this command is run by the worker service alone", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, stdin)
		cancel()
	}()
	runtime.GlobalOptions.Import(runtime.RawOptions{Options: r.Options})
	err := r.run(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// newRequest checks and converts what the runner sent.
func newRequest(m *fnpb.StartWorkerRequest, insecure bool) (*request, error) {
	r := &request{ID: m.GetWorkerId(), Control: m.GetControlEndpoint().GetUrl(), Logging: m.GetLoggingEndpoint().GetUrl()}
	switch {
	case r.ID == "":
		return nil, errors.New("found no worker id, expected one")
	case r.Control == "":
		return nil, errors.New("found no control endpoint, expected one")
	case r.Logging == "":
		return nil, errors.New("found no logging endpoint, expected one")
	case m.GetControlEndpoint().GetAuthentication() != nil || m.GetLoggingEndpoint().GetAuthentication() != nil:
		return nil, errors.New("found an endpoint with authentication, expected none; Beam's Go worker has no authentication")
	}
	if insecure {
		return r, nil
	}
	for _, endpoint := range []string{r.Control, r.Logging, m.GetProvisionEndpoint().GetUrl()} {
		if endpoint != "" && !Loopback(endpoint) {
			return nil, fmt.Errorf("found endpoint %s of a runner on another machine, expected a loopback address; run a worker service on that machine, or allow it by `Insecure` of the worker service", endpoint)
		}
	}
	return r, nil
}
