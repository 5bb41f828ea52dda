package flight

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/graphmill/graphmill/internal/feed"
)

// Options bound the resources of a server and restrict its users.
type Options struct {
	// Threads is the number of batches that are made at a time.
	Threads int
	// Streams is the largest number of concurrent streams.
	Streams int
	// MaxMessage bounds the bytes of a batch; it is at most MostMessage.
	MaxMessage int64
	// Token, if not empty, must be in the header of every call: "authorization: Bearer TOKEN".
	Token string
	// TLS, if not nil, has the certificate of the server.
	TLS *tls.Config
}

// MostMessage is the upper bound of MaxMessage: a batch is one gRPC message, and these end at 2 GiB.
const MostMessage = math.MaxInt32 - 1<<20

// ErrExposed is the kind of errors about an address that other machines reach, without encryption and a token.
var ErrExposed = errors.New("address open to other machines")

// Server serves the batches of a source.
type Server struct {
	flight.BaseFlightServer
	src     *feed.Source
	options Options
	schema  *arrow.Schema
	makers  chan *maker
	streams chan struct{}
}

// NewServer returns a server of the batches of src.
func NewServer(src *feed.Source, o Options) (*Server, error) {
	switch {
	case o.Threads < 1:
		return nil, fmt.Errorf("found %d threads, expected at least 1", o.Threads)
	case o.Streams < 1:
		return nil, fmt.Errorf("found %d streams, expected at least 1", o.Streams)
	case o.MaxMessage < 1 || o.MaxMessage > MostMessage:
		return nil, fmt.Errorf("found a largest message of %d bytes, expected 1 to %d", o.MaxMessage, MostMessage)
	}
	schema, err := schemaOf(src)
	if err != nil {
		return nil, err
	}
	s := &Server{src: src, options: o, schema: schema, makers: make(chan *maker, o.Threads), streams: make(chan struct{}, o.Streams)}
	for range o.Threads {
		s.makers <- &maker{Maker: src.Maker()}
	}
	return s, nil
}

// Listen listens on host:port. Unless o has TLS and a token, it accepts only loopback addresses and otherwise
// returns ErrExposed.
func Listen(ctx context.Context, address string, o Options) (net.Listener, error) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("found address %q, expected HOST:PORT such as 127.0.0.1:8815: %w", address, err)
	}
	if !a.IP.IsLoopback() && (o.TLS == nil || o.Token == "") {
		return nil, fmt.Errorf("found address %q, which other machines reach, without TLS and a token: %w", address, ErrExposed)
	}
	// Listen on the address that was checked, because the name may resolve to another one by now.
	return (&net.ListenConfig{}).Listen(ctx, "tcp", a.String())
}

// Serve answers calls until ctx ends. It then closes l and returns when all work has ended. A server can serve
// once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	options := []grpc.ServerOption{
		codecOption(),
		grpc.MaxRecvMsgSize(maxRequest),
		grpc.MaxSendMsgSize(math.MaxInt32),
		grpc.MaxHeaderListSize(16 << 10),
		grpc.WriteBufferSize(256 << 10),
		grpc.ConnectionTimeout(10 * time.Second),
		// A machine that vanished must not hold a stream.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 20 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.WaitForHandlers(true),
	}
	if s.options.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.options.TLS)))
	}
	if s.options.Token != "" {
		options = append(options, needToken(s.options.Token)...)
	}
	server := grpc.NewServer(options...)
	flight.RegisterFlightServiceServer(server, s)
	stop := context.AfterFunc(ctx, server.Stop)
	err := server.Serve(l)
	if stop() {
		server.Stop()
		return err
	}
	// server.Serve can return before Stop has waited for the handlers.
	server.Stop()
	return nil
}

// maxRequest bounds the bytes of a request.
const maxRequest = 1 << 20

// ListFlights lists the only flight, epoch 0.
func (s *Server) ListFlights(c *flight.Criteria, stream flight.FlightService_ListFlightsServer) error {
	if len(c.GetExpression()) > 0 {
		return status.Error(codes.InvalidArgument, "found criteria, expected none, because there is only one flight")
	}
	info, err := s.info(&Request{World: 1})
	if err != nil {
		return err
	}
	return stream.Send(info)
}

// GetFlightInfo describes the stream of a request, which is the command of the descriptor.
func (s *Server) GetFlightInfo(_ context.Context, d *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	r, err := s.request(d)
	if err != nil {
		return nil, err
	}
	return s.info(r)
}

// GetSchema returns the schema of batches, which is the same for all requests.
func (s *Server) GetSchema(_ context.Context, d *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	if _, err := s.request(d); err != nil {
		return nil, err
	}
	return &flight.SchemaResult{Schema: flight.SerializeSchema(s.schema, memory.DefaultAllocator)}, nil
}

// request parses the command of a descriptor.
func (s *Server) request(d *flight.FlightDescriptor) (*Request, error) {
	if d.GetType() != flight.DescriptorCMD {
		return nil, status.Error(codes.InvalidArgument, "found a descriptor that is no command, expected a command with the JSON of a request")
	}
	r, err := parseRequest(d.GetCmd(), s.src)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return r, nil
}

// info describes a stream. Its endpoint is this server, at whichever address the client used.
func (s *Server) info(r *Request) (*flight.FlightInfo, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return &flight.FlightInfo{
		Schema:           flight.SerializeSchema(s.schema, memory.DefaultAllocator),
		FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: text},
		Endpoint:         []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: text}}},
		TotalRecords:     int64(r.batches(s.src)),
		TotalBytes:       -1,
		Ordered:          true,
	}, nil
}
