package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/util/hooks"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/graphmill/graphmill/beam/internal/workers"
)

// server is a connection to a job server.
type server struct {
	o    *Options
	conn *grpc.ClientConn
	jobs jobpb.JobServiceClient
}

// connect reaches the job server, or fails within connectTime.
func (o *Options) connect(ctx context.Context) (*server, error) {
	conn, err := o.dial(o.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("`Endpoint` %s: %w", o.Endpoint, err)
	}
	s := &server{o, conn, jobpb.NewJobServiceClient(conn)}
	call, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	_, err = s.jobs.GetJobs(call, &jobpb.GetJobsRequest{})
	if err == nil || status.Code(err) == codes.Unimplemented {
		return s, nil
	}
	s.close()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("`Endpoint` %s: found no job server of Beam: %s; start one, or give the HOST:PORT of the one that runs", o.Endpoint, plain(err))
}

// plain is the text of an error of gRPC without what it adds to an error of the network.
func plain(err error) string {
	text := status.Convert(err).Message()
	if t, ok := strings.CutPrefix(text, `connection error: desc = "transport: `); ok {
		return strings.TrimSuffix(strings.TrimPrefix(t, "Error while dialing: "), `"`)
	}
	return text
}

func (s *server) close() { _ = s.conn.Close() }

// dial makes a connection without waiting for it. A peer that vanishes is noticed within about a minute.
func (o *Options) dial(endpoint string) (*grpc.ClientConn, error) {
	creds := insecure.NewCredentials()
	if o.TLS != nil {
		creds = credentials.NewTLS(o.TLS)
	}
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}}
	return grpc.NewClient(endpoint, grpc.WithTransportCredentials(creds),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
}

// start submits a pipeline and returns the id of its job.
func (s *server) start(ctx context.Context, pipeline *pipepb.Pipeline) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, callTime, fmt.Errorf("the job server did not take the job within %s", callTime))
	defer cancel()
	options, err := s.o.pipelineOptions()
	if err != nil {
		return "", err
	}
	prepared, err := s.jobs.Prepare(ctx, &jobpb.PrepareJobRequest{Pipeline: pipeline, PipelineOptions: options, JobName: s.o.JobName})
	if err != nil {
		return "", s.refused(ctx, "prepare", err)
	}
	token := prepared.GetStagingSessionToken()
	if err := s.stage(ctx, prepared.GetArtifactStagingEndpoint().GetUrl(), token); err != nil {
		return "", s.refused(ctx, "stage", err)
	}
	r, err := s.jobs.Run(ctx, &jobpb.RunJobRequest{PreparationId: prepared.GetPreparationId(), RetrievalToken: token})
	if err != nil {
		return "", s.refused(ctx, "run", err)
	}
	return r.GetJobId(), nil
}

func (s *server) refused(ctx context.Context, step string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("the job server at %s refused the job (%s): %s", s.o.Endpoint, step, cause(plain(err)))
}

// stage opens and ends the staging session that a job server expects. There is no file to stage.
func (s *server) stage(ctx context.Context, endpoint, token string) error {
	if err := s.o.allowed("an artifact endpoint", endpoint, s.o.TLS != nil, ""); err != nil {
		return err
	}
	conn, err := s.o.dial(endpoint)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stream, err := jobpb.NewArtifactStagingServiceClient(conn).ReverseArtifactRetrievalService(metadata.AppendToOutgoingContext(ctx, "worker_id", token))
	if err != nil {
		return err
	}
	if err := stream.Send(&jobpb.ArtifactResponseWrapper{StagingToken: token}); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if m.GetResolveArtifact() == nil {
			return fmt.Errorf("found a request for an artifact, expected none: %T", m.GetRequest())
		}
		err = stream.Send(&jobpb.ArtifactResponseWrapper{Response: &jobpb.ArtifactResponseWrapper_ResolveArtifactResponse{
			ResolveArtifactResponse: &jobpb.ResolveArtifactsResponse{Replacements: m.GetResolveArtifact().GetArtifacts()}}})
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
}

// pipelineOptions are the options of a job: the options that the Go workers read, and the options of the runner.
func (o *Options) pipelineOptions() (*structpb.Struct, error) {
	hooks.SerializeHooksToOptions() // into the global options
	own := map[string]any{workers.BuildOption: o.Build}
	for k, v := range beam.PipelineOptions.Export().Options {
		own[k] = v
	}
	all := map[string]any{
		"beam:option:go_options:v1":  map[string]any{"options": own},
		"beam:option:app_name:v1":    o.JobName,
		"beam:option:experiments:v1": []any{"beam_fn_api"},
	}
	if o.Runner == Flink {
		all["beam:option:object_reuse:v1"] = true
		all["beam:option:faster_copy:v1"] = true
		if o.Parallelism > 0 {
			all["beam:option:parallelism:v1"] = o.Parallelism
		}
	}
	return structpb.NewStruct(all)
}
