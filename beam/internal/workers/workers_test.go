package workers_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/graphmill/graphmill/beam/internal/workers"
)

// TestMain makes the test program a worker and a worker service.
func TestMain(m *testing.M) {
	beam.Init()
	var err error
	switch {
	case len(os.Args) == 2 && os.Args[1] == "harness":
		err = workers.Child(context.Background(), os.Stdin)
	case len(os.Args) == 2 && os.Args[1] == "service":
		var p *workers.Pool
		if p, err = workers.Process(context.Background(), workers.Options{Build: "b1"}, "localhost:0", argv()); err == nil {
			fmt.Println(p.Endpoint())
			err = p.Serve()
		}
	default:
		goleak.VerifyTestMain(m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func argv() []string {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return []string{self, "harness"}
}

// runner is the side of a TaskManager: it serves the endpoints that a worker connects to.
type runner struct {
	fnpb.UnimplementedBeamFnControlServer
	fnpb.UnimplementedBeamFnLoggingServer
	fnpb.UnimplementedProvisionServiceServer

	endpoint string
	options  *structpb.Struct
	began    chan string   // ids of workers that connected
	ended    chan string   // ids of workers that disconnected
	release  chan struct{} // closes to end the control streams
}

func newRunner(t *testing.T, build string) *runner {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{endpoint: l.Addr().String(), began: make(chan string, 10), ended: make(chan string, 10), release: make(chan struct{})}
	own := map[string]any{"hookOrder": "[]", "hooks": "{}"}
	if build != "" {
		own[workers.BuildOption] = build
	}
	if r.options, err = structpb.NewStruct(map[string]any{"beam:option:go_options:v1": map[string]any{"options": own}}); err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	fnpb.RegisterBeamFnControlServer(s, r)
	fnpb.RegisterBeamFnLoggingServer(s, r)
	fnpb.RegisterProvisionServiceServer(s, r)
	go s.Serve(l)
	t.Cleanup(s.Stop)
	return r
}

func (r *runner) Control(stream fnpb.BeamFnControl_ControlServer) error {
	id, err := grpcx.ReadWorkerID(stream.Context())
	if err != nil {
		return err
	}
	r.began <- id
	defer func() { r.ended <- id }()
	select {
	case <-r.release:
	case <-stream.Context().Done():
	}
	return nil
}

func (r *runner) GetProvisionInfo(ctx context.Context, _ *fnpb.GetProvisionInfoRequest) (*fnpb.GetProvisionInfoResponse, error) {
	if _, err := grpcx.ReadWorkerID(ctx); err != nil {
		return nil, err
	}
	return &fnpb.GetProvisionInfoResponse{Info: &fnpb.ProvisionInfo{PipelineOptions: r.options}}, nil
}

// start asks a service for a worker, and returns its refusal.
func (r *runner) start(t *testing.T, service, id string) string {
	t.Helper()
	conn, err := grpc.NewClient(service, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	e := &pipepb.ApiServiceDescriptor{Url: r.endpoint}
	res, err := fnpb.NewBeamFnExternalWorkerPoolClient(conn).StartWorker(t.Context(), &fnpb.StartWorkerRequest{WorkerId: id, ControlEndpoint: e, LoggingEndpoint: e, ProvisionEndpoint: e})
	if err != nil {
		t.Fatal(err)
	}
	return res.GetError()
}

// receive takes a value from a channel that must have one soon.
func receive[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute): // against a hang
		t.Fatalf("found no %s after 20 s, expected one", what)
	}
	return v
}

// pool serves a pool of build b1 until the end of the test. ended receives its messages about workers that ended.
func pool(t *testing.T) (p *workers.Pool, ended <-chan string) {
	t.Helper()
	c := make(chan string, 100)
	p, err := workers.Process(t.Context(), workers.Options{Build: "b1", Message: func(_ slog.Level, text string) {
		if strings.Contains(text, "ended") {
			c <- text
		}
	}}, "localhost:0", argv())
	if err != nil {
		t.Fatal(err)
	}
	go p.Serve()
	t.Cleanup(func() { p.Close(context.Background()) })
	return p, c
}

// A worker connects to its runner, and ends with its control stream.
func TestWorker(t *testing.T) {
	p, ended := pool(t)
	r := newRunner(t, "b1")
	if refusal := r.start(t, p.Endpoint(), "1-1"); refusal != "" {
		t.Fatal(refusal)
	}
	if id := receive(t, "connection", r.began); id != "1-1" {
		t.Errorf("found worker %s, expected 1-1", id)
	}
	close(r.release)
	if text := receive(t, "end of the worker", ended); text != "worker 1-1 of "+r.endpoint+" ended" {
		t.Errorf("found %q", text)
	}
}

// Two TaskManagers of a machine number their workers alike.
func TestSameID(t *testing.T) {
	p, _ := pool(t)
	one, two := newRunner(t, "b1"), newRunner(t, "b1")
	for _, r := range []*runner{one, two} {
		if refusal := r.start(t, p.Endpoint(), "1-1"); refusal != "" {
			t.Fatal(refusal)
		}
		receive(t, "connection", r.began)
	}
	if refusal := one.start(t, p.Endpoint(), "1-1"); !strings.Contains(refusal, "found a second request for worker 1-1") {
		t.Errorf("found refusal %q, expected one of the second worker with an id and an endpoint", refusal)
	}
	close(one.release)
	receive(t, "end", one.ended)
	select {
	case <-two.ended:
		t.Error("found that the worker of another TaskManager ended, expected it to go on")
	case <-time.After(100 * time.Millisecond): // time for a wrong end
	}
}

func TestRefused(t *testing.T) {
	p, _ := pool(t)
	for _, c := range []struct{ name, build, endpoint, want string }{
		{"another build", "b2", "", "found a worker of build b1, submitter has b2; install the same graphmill-beam on all machines"},
		{"no build", "", "", "found a worker of build b1, submitter has none; install"},
		{"a runner on another machine", "b1", "192.0.2.7:1234", "found endpoint 192.0.2.7:1234 of a runner on another machine, expected a loopback address"},
		{"no runner", "b1", "localhost:1", "provision endpoint localhost:1: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRunner(t, c.build)
			if c.endpoint != "" {
				r.endpoint = c.endpoint
			}
			if refusal := r.start(t, p.Endpoint(), "1-1"); !strings.Contains(refusal, c.want) {
				t.Errorf("found refusal %q, expected %q", refusal, c.want)
			}
			if len(r.began) > 0 {
				t.Error("found a worker, expected none")
			}
		})
	}
	if c := p.Counts(); c != (workers.Counts{Refused: 4}) {
		t.Errorf("found %+v, expected four refusals", c)
	}
}

// Close ends the workers.
func TestClose(t *testing.T) {
	p, _ := pool(t)
	r := newRunner(t, "b1")
	if refusal := r.start(t, p.Endpoint(), "1-1"); refusal != "" {
		t.Fatal(refusal)
	}
	receive(t, "connection", r.began)
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	receive(t, "end", r.ended)
}

// A worker does not outlive a service that is killed.
func TestKilledService(t *testing.T) {
	cmd := exec.Command(argv()[0], "service")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	r := newRunner(t, "b1")
	if refusal := r.start(t, lines.Text(), "1-1"); refusal != "" {
		t.Error(refusal)
	} else {
		receive(t, "connection", r.began)
	}
	cmd.Process.Kill()
	cmd.Wait()
	receive(t, "end", r.ended)
}

func TestListen(t *testing.T) {
	for _, c := range []struct {
		address, want string
		o             workers.Options
	}{
		{"0.0.0.0:0", "found `Listen` 0.0.0.0:0, which other machines can reach, expected a loopback address", workers.Options{Build: "b"}},
		{":0", "found `Listen` :0, which other machines can reach", workers.Options{Build: "b"}},
		{"example.org:1", "found `Listen` example.org:1, which other machines can reach", workers.Options{Build: "b"}},
		{"localhost:0", "found no `Build`", workers.Options{}},
	} {
		p, err := workers.Process(t.Context(), c.o, c.address, argv())
		if err == nil {
			p.Close(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q", c.address, err, c.want)
		}
	}
	p, err := workers.Process(t.Context(), workers.Options{Build: "b", Insecure: true}, "0.0.0.0:0", argv())
	if err != nil {
		t.Fatal(err)
	}
	p.Close(t.Context())
}

func TestLoopback(t *testing.T) {
	for endpoint, want := range map[string]bool{"localhost:1": true, "LOCALHOST:1": true, "127.0.0.1:1": true, "127.9.9.9:1": true, "[::1]:1": true, "[::ffff:127.0.0.1]:1": true,
		"0.0.0.0:1": false, "[::]:1": false, ":1": false, "localhost": false, "localhost.example.org:1": false, "10.0.0.1:1": false, "": false} {
		if found := workers.Loopback(endpoint); found != want {
			t.Errorf("%q: found %v, expected %v", endpoint, found, want)
		}
	}
}
