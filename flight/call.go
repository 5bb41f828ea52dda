package flight

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/graphmill/graphmill/internal/feed"
)

// service is the Flight service. All its methods are streams, also those with one answer, which are the same on the wire:
// gRPC reads the whole request of another kind of method before a guard can look at the token.
var service = grpc.ServiceDesc{
	ServiceName: "arrow.flight.protocol.FlightService",
	HandlerType: (*any)(nil),
	Metadata:    "Flight.proto",
	Streams: []grpc.StreamDesc{
		answered("GetFlightInfo", (*Server).GetFlightInfo),
		answered("GetSchema", (*Server).GetSchema),
		streamed("ListFlights", (*Server).ListFlights),
		streamed("DoGet", (*Server).DoGet),
		exchanged(),
	},
}

// answered is a method with one answer.
func answered[In, Out any](name string, method func(*Server, context.Context, *In) (*Out, error)) grpc.StreamDesc {
	return grpc.StreamDesc{StreamName: name, ServerStreams: true, Handler: func(srv any, stream grpc.ServerStream) error {
		in := new(In)
		if err := stream.RecvMsg(in); err != nil {
			return err
		}
		out, err := method(srv.(*Server), stream.Context(), in)
		if err != nil {
			return err
		}
		return stream.SendMsg(out)
	}}
}

// streamed is a method with a stream of answers.
func streamed[In, Out any](name string, method func(*Server, *In, grpc.ServerStreamingServer[Out]) error) grpc.StreamDesc {
	return grpc.StreamDesc{StreamName: name, ServerStreams: true, Handler: func(srv any, stream grpc.ServerStream) error {
		in := new(In)
		if err := stream.RecvMsg(in); err != nil {
			return err
		}
		return method(srv.(*Server), in, &grpc.GenericServerStream[In, Out]{ServerStream: stream})
	}}
}

// unknown answers all other methods.
func unknown(_ any, stream grpc.ServerStream) error {
	name, _ := grpc.MethodFromServerStream(stream)
	return status.Errorf(codes.Unimplemented, "found a call of %s, expected GetFlightInfo, GetSchema, ListFlights, DoGet or DoExchange", name)
}

// clock ends a call whose client does not go on. One goroutine at a time uses it.
type clock struct {
	cancel context.CancelFunc
	late   error       // why the call was ended, if it was
	rang   atomic.Bool // it was
}

// limited is a context that a clock can end. gRPC sends its error to the client, so it must say that the time has passed.
type limited struct {
	context.Context
	clock *clock
}

// Err implements context.Context.
func (l limited) Err() error {
	err := l.Context.Err()
	if err != nil && l.clock.rang.Load() {
		return context.DeadlineExceeded
	}
	return err
}

// Value implements context.Context.
func (l limited) Value(key any) any {
	if key == (clockKey{}) {
		return l.clock
	}
	return l.Context.Value(key)
}

type clockKey struct{}

// wind gives every call a context that its clock can end.
func wind(ctx context.Context, _ *tap.Info) (context.Context, error) {
	ctx, cancel := context.WithCancel(ctx)
	return limited{ctx, &clock{cancel: cancel}}, nil
}

// within runs f, and ends the call if f takes longer than limit.
func (c *clock) within(limit time.Duration, late error, f func() error) error {
	ended := make(chan struct{})
	timer := time.AfterFunc(limit, func() {
		c.late = late
		c.rang.Store(true)
		close(ended)
		c.cancel()
	})
	err := f()
	if !timer.Stop() {
		<-ended
		return c.late
	}
	return err
}

// timed is the stream of a call with a clock.
type timed struct {
	grpc.ServerStream
	clock *clock
	send  time.Duration
	late  error // of a client that takes nothing for the time send
}

// requestTime is the time that a client has to send a request after it began the call. Tests shorten it.
var requestTime = 10 * time.Second

func (s *timed) RecvMsg(m any) error {
	late := status.Errorf(codes.DeadlineExceeded, "found no request within %s after the call began, expected one", requestTime)
	return s.clock.within(requestTime, late, func() error { return s.ServerStream.RecvMsg(m) })
}

func (s *timed) SendMsg(m any) error {
	return s.clock.within(s.send, s.late, func() error { return s.ServerStream.SendMsg(m) })
}

// limitCalls rejects calls without the token, bounds the time for which a client can stop a call, and logs failed calls. The
// time of a rejection reveals nothing about the token, not even its length.
func limitCalls(token string, send time.Duration, log *feed.Log, spans spans) []grpc.ServerOption {
	want := sha256.Sum256([]byte("Bearer " + token))
	check := func(ctx context.Context) error {
		if token == "" {
			return nil
		}
		md, _ := metadata.FromIncomingContext(ctx)
		if have := md.Get("authorization"); len(have) == 1 { // of several, what stands between may have looked at another one
			sum := sha256.Sum256([]byte(have[0]))
			if subtle.ConstantTimeCompare(sum[:], want[:]) == 1 {
				return nil
			}
		}
		return status.Error(codes.Unauthenticated, `found no token, a wrong one or several, expected the one header "authorization: Bearer TOKEN" with the server's token`)
	}
	late := status.Errorf(codes.DeadlineExceeded, "found a client that took no batch for %s, expected one that reads; start again at the next batch, or raise the bound on the server", send)
	return []grpc.ServerOption{
		grpc.InTapHandle(wind),
		grpc.UnknownServiceHandler(unknown),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			ctx := stream.Context()
			called(ctx)
			err := check(ctx)
			if err == nil {
				span := spans.call(ctx, info.FullMethod)
				clock := ctx.Value(clockKey{}).(*clock)
				err = handler(srv, &timed{stream, clock, send, late})
				if clock.late != nil {
					err = clock.late // also where the end of the context was noticed first
				}
				endCall(span, err)
			}
			if err != nil && status.Code(err) != codes.Canceled && !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) {
				log.Client(traced(ctx), err)
			}
			return err
		}),
	}
}

// from is the address of the client of a call.
func from(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok {
		return p.Addr.String()
	}
	return "unknown"
}

// called notes that the connection of a call is a client's.
func called(ctx context.Context) {
	if p, ok := peer.FromContext(ctx); ok {
		if c, ok := p.AuthInfo.(authenticated); ok {
			c.conn.called.Store(true)
		}
	}
}
