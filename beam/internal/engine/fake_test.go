package engine_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/grpc"
)

// fake is a job server that takes a job and then tells what a test wants.
type fake struct {
	jobpb.UnimplementedJobServiceServer
	jobpb.UnimplementedArtifactStagingServiceServer

	endpoint, staging string
	tell              []*jobpb.JobMessagesResponse // the messages of the job; then its stream ends, unless
	stay              bool                         // the stream stays open until the job is cancelled
	cancelled         chan struct{}                // closes when the job is cancelled
	prepared          *jobpb.PrepareJobRequest
}

func newFake(t *testing.T, tell ...*jobpb.JobMessagesResponse) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{endpoint: l.Addr().String(), tell: tell, cancelled: make(chan struct{})}
	f.staging = f.endpoint
	s := grpc.NewServer(grpc.WaitForHandlers(true))
	jobpb.RegisterJobServiceServer(s, f)
	jobpb.RegisterArtifactStagingServiceServer(s, f)
	served := make(chan struct{})
	go func() { s.Serve(l); close(served) }()
	t.Cleanup(func() { s.Stop(); <-served })
	return f
}

func state(s jobpb.JobState_Enum) *jobpb.JobMessagesResponse {
	return &jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_StateResponse{StateResponse: &jobpb.JobStateEvent{State: s}}}
}

func text(i jobpb.JobMessage_MessageImportance, s string) *jobpb.JobMessagesResponse {
	return &jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_MessageResponse{MessageResponse: &jobpb.JobMessage{Importance: i, MessageText: s}}}
}

func (f *fake) Prepare(_ context.Context, r *jobpb.PrepareJobRequest) (*jobpb.PrepareJobResponse, error) {
	f.prepared = r
	return &jobpb.PrepareJobResponse{PreparationId: "p", StagingSessionToken: "t", ArtifactStagingEndpoint: &pipepb.ApiServiceDescriptor{Url: f.staging}}, nil
}

func (f *fake) ReverseArtifactRetrievalService(s jobpb.ArtifactStagingService_ReverseArtifactRetrievalServiceServer) error {
	_, err := s.Recv()
	return err
}

func (f *fake) Run(context.Context, *jobpb.RunJobRequest) (*jobpb.RunJobResponse, error) {
	return &jobpb.RunJobResponse{JobId: "graphmill-1_2"}, nil
}

func (f *fake) GetMessageStream(_ *jobpb.JobMessagesRequest, s jobpb.JobService_GetMessageStreamServer) error {
	for _, m := range f.tell {
		if err := s.Send(m); err != nil {
			return err
		}
	}
	if f.stay {
		select {
		case <-f.cancelled:
			return s.Send(state(jobpb.JobState_CANCELLED))
		case <-s.Context().Done():
		}
	}
	return nil
}

func (f *fake) GetState(context.Context, *jobpb.GetJobStateRequest) (*jobpb.JobStateEvent, error) {
	select {
	case <-f.cancelled:
		return &jobpb.JobStateEvent{State: jobpb.JobState_CANCELLED}, nil
	default:
		return &jobpb.JobStateEvent{State: jobpb.JobState_RUNNING}, nil
	}
}

func (f *fake) Cancel(context.Context, *jobpb.CancelJobRequest) (*jobpb.CancelJobResponse, error) {
	close(f.cancelled)
	return &jobpb.CancelJobResponse{State: jobpb.JobState_CANCELLING}, nil
}

// restFake is Flink's REST interface with two jobs, of which one is ours.
type restFake struct {
	url string

	mu     sync.Mutex
	calls  []string
	states map[string]string // by id
}

func newRESTFake(t *testing.T) *restFake {
	t.Helper()
	f := &restFake{states: map[string]string{"a1": "RUNNING", "b2": "RUNNING"}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if call := r.Method + " " + r.URL.String(); !slices.Contains(f.calls, call) {
			f.calls = append(f.calls, call)
		}
		if r.Method == http.MethodPatch {
			f.states["b2"] = "CANCELED"
			w.WriteHeader(http.StatusAccepted)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"jobs": []map[string]string{
			{"jid": "a1", "name": "graphmill-0", "state": f.states["a1"]}, {"jid": "b2", "name": "graphmill-1", "state": f.states["b2"]}}})
	}))
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}
