package flight

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/graphmill/graphmill/internal/answer"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/metrics"
	"github.com/graphmill/graphmill/internal/secret"
)

// Options bound the resources of a server and restrict its users.
type Options struct {
	// Threads is the number of batches that are made at a time.
	Threads int
	// Streams is the largest number of concurrent streams.
	Streams int
	// Waiting is the most questions of exchanges that wait for a thread; further ones are refused at once.
	Waiting int
	// MaxMessage bounds the bytes of a batch; it is at most MostMessage.
	MaxMessage int64
	// Token, if not empty, must be in the header of every call: "authorization: Bearer TOKEN".
	Token string
	// TLS, if not nil, has the certificate of the server.
	TLS *tls.Config
	// SendTime bounds the time for which a client can take no batch before its stream ends; 0 means an hour.
	SendTime time.Duration
	// Log gets the name of each client that was refused or cut off, and the reason. It may be nil.
	Log *feed.Log
	// Metrics gets the metrics of the server; nil: nobody asks for them before there is a server.
	Metrics *metrics.Set
	// Spans makes the spans of calls and questions whose clients ask for them (traceparent); nil: none.
	Spans trace.TracerProvider
}

// MostMessage is the upper bound of MaxMessage: a batch is one gRPC message, and these end at 2 GiB.
const MostMessage = math.MaxInt32 - 1<<20

// ErrExposed is the kind of errors about an address that other machines reach, without encryption and a token.
var ErrExposed = secret.ErrExposed

// Server serves the batches of the newest version of a store that it has.
type Server struct {
	options  Options
	versions answer.Versions[*served]
	places   *answer.Places // for each batch that is made
	metrics  *answer.Metrics
	spans    spans
	streams  chan struct{}
	// connections is mostConnections, except in tests.
	connections int
}

// NewServer returns a server of the batches of a version, which it owns, also after an error.
func NewServer(v answer.Version, o Options) (_ *Server, err error) {
	if err := errors.Join(o.check(), v.Check()); err != nil {
		v.Discard()
		return nil, err
	}
	s := &Server{options: o, connections: mostConnections, places: answer.NewPlaces(o.Threads, o.Waiting), streams: make(chan struct{}, o.Streams), spans: newSpans(o.Spans)}
	s.metrics = answer.NewMetrics(o.Metrics, s.places, v.Names())
	s.metrics.Gauge("graphmill_streams", func() float64 { return float64(len(s.streams)) })
	if err := s.Take(v); err != nil {
		return nil, err
	}
	return s, nil
}

func (o *Options) check() error {
	switch {
	case o.Threads < 1:
		return fmt.Errorf("found %d threads, expected at least 1", o.Threads)
	case o.Streams < 1:
		return fmt.Errorf("found %d streams, expected at least 1", o.Streams)
	case o.Waiting < 0:
		return fmt.Errorf("found %d questions that may wait, expected at least 0", o.Waiting)
	case o.SendTime < 0:
		return fmt.Errorf("found a time for sending of %s, expected a positive one", o.SendTime)
	case o.MaxMessage < 1 || o.MaxMessage > MostMessage:
		return fmt.Errorf("found a largest message of %d bytes, expected 1 to %d", o.MaxMessage, MostMessage)
	}
	return nil
}

// Metrics returns the counters of questions.
func (s *Server) Metrics() *answer.Metrics { return s.metrics }

// Listen listens on host:port. Unless o has TLS and a token, it accepts only loopback addresses and otherwise
// returns ErrExposed.
func Listen(ctx context.Context, address string, o Options) (net.Listener, error) {
	return secret.Listen(ctx, address, o.TLS != nil && o.Token != "")
}

// Serve answers calls until ctx ends. It then closes l and returns when all work has ended. A server can serve
// once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	creds := insecure.NewCredentials()
	if s.options.TLS != nil {
		creds = credentials.NewTLS(s.options.TLS)
	}
	options := append(limitCalls(s.options.Token, cmp.Or(s.options.SendTime, time.Hour), s.options.Log, s.spans),
		codecOption(),
		grpc.Creds(greeting{creds, s.options.Log}),
		grpc.MaxRecvMsgSize(maxRequest),
		grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.MaxHeaderListSize(16<<10),
		// A call that the bound of streams rejects gets an answer. Those of other methods are short.
		grpc.MaxConcurrentStreams(uint32(s.options.Streams)+16),
		// The window bounds what a client can send before its call is looked at.
		grpc.InitialWindowSize(64<<10),
		grpc.InitialConnWindowSize(64<<10),
		grpc.WriteBufferSize(256<<10),
		grpc.ConnectionTimeout(greetingTime),
		// A machine that vanished must not hold a stream, and a client without calls must not hold a connection.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 20 * time.Second, MaxConnectionIdle: idleTime}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.WaitForHandlers(true),
	)
	server := grpc.NewServer(options...)
	server.RegisterService(&service, s)
	bounded := &listener{Listener: l, most: s.connections, log: s.options.Log, open: map[*conn]bool{}}
	stop := context.AfterFunc(ctx, func() {
		bounded.hangUp()
		server.Stop()
	})
	err := server.Serve(bounded)
	if stop() {
		bounded.hangUp()
		server.Stop()
		return err
	}
	// server.Serve can return before Stop has waited for the handlers.
	server.Stop()
	return nil
}

// greetingTime is the time that a client has to finish its greeting, and idleTime the time after which a connection without
// calls is closed. gRPC clients connect again by themselves.
const (
	greetingTime = 10 * time.Second
	idleTime     = 5 * time.Minute
)

// maxRequest bounds the bytes of a request.
const maxRequest = 1 << 20

// ListFlights lists epoch 0 of each plan.
func (s *Server) ListFlights(c *flight.Criteria, stream grpc.ServerStreamingServer[flight.FlightInfo]) error {
	if len(c.GetExpression()) > 0 {
		return status.Error(codes.InvalidArgument, "found criteria, expected none, because there is one flight per plan")
	}
	held := s.versions.Enter()
	defer held.Leave()
	for _, x := range held.Value.plans.All() {
		info, err := x.info(&Request{Plan: x.Name, World: 1})
		if err == nil {
			err = stream.Send(info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// GetFlightInfo describes the stream of a request, which is the command of the descriptor.
func (s *Server) GetFlightInfo(ctx context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	held := s.versions.Enter()
	defer held.Leave()
	x, r, err := held.Value.request(ctx, d)
	if err != nil {
		return nil, err
	}
	return x.info(r)
}

// GetSchema returns the schema of batches, which is the same for all requests of a plan.
func (s *Server) GetSchema(ctx context.Context, d *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	held := s.versions.Enter()
	defer held.Leave()
	x, _, err := held.Value.request(ctx, d)
	if err != nil {
		return nil, err
	}
	return &flight.SchemaResult{Schema: flight.SerializeSchema(x.schema, memory.DefaultAllocator)}, nil
}

// request parses the command of a descriptor.
func (v *served) request(ctx context.Context, d *flight.FlightDescriptor) (*servedPlan, *Request, error) {
	if d.GetType() != flight.DescriptorCMD {
		return nil, nil, status.Error(codes.InvalidArgument, "found a descriptor that is no command, expected a command with the JSON of a request")
	}
	return v.parse(ctx, d.GetCmd())
}

// parse reads a request, and finds its plan.
func (v *served) parse(ctx context.Context, text []byte) (*servedPlan, *Request, error) {
	r, err := parseRequest(text)
	var x *servedPlan
	if err == nil {
		x, err = v.planFor(ctx, r.Plan)
	}
	if err == nil {
		err = r.check(x.Plan)
	}
	if err != nil {
		return nil, nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return x, r, nil
}

// info describes a stream. Its endpoint is this server, at whichever address the client used.
func (x *servedPlan) info(r *Request) (*flight.FlightInfo, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return &flight.FlightInfo{
		Schema:           flight.SerializeSchema(x.schema, memory.DefaultAllocator),
		FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: text},
		Endpoint:         []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: text}}},
		TotalRecords:     int64(r.batches(x.Source)),
		TotalBytes:       -1,
		Ordered:          true,
	}, nil
}
