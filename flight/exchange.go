package flight

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/graphmill/graphmill/internal/answer"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/guard"
)

// DoExchange answers questions, one after the other, each with one message: the client sends the JSON of an answer.Question as the metadata of a message without data, and
// gets a record batch, or the metadata of a failure. The schema is sent once, at the start. A new version of the store is answered from as soon as there is one, while its batches have
// the same columns.
func (s *Server) DoExchange(stream *timed) error {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return s.tooMany()
	}
	e := &exchange{server: s, stream: stream, pool: &bodies{}}
	if err := e.begin(); err != nil {
		return err
	}
	for {
		err := e.answer()
		if errors.Is(err, io.EOF) {
			return nil // the client has no more questions
		} else if err != nil {
			return err
		}
	}
}

// exchange is a call of DoExchange.
type exchange struct {
	server  *Server
	stream  *timed
	pool    *bodies
	schema  *arrow.Schema // that the client has
	version string        // of the schema
	plan    string        // that is asked
	in      flight.FlightData
}

// begin sends the schema.
func (e *exchange) begin() error {
	held := e.server.versions.Enter()
	defer held.Leave()
	x, err := held.Value.planFor(e.stream.Context(), "")
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	e.plan, e.schema, e.version = x.Name, x.schema, x.version
	schema := ipc.GetSchemaPayload(e.schema, memory.DefaultAllocator)
	defer schema.Release()
	first, err := newMessage(&schema, nil, 0, e.pool)
	if err != nil {
		return err
	}
	return e.stream.SendMsg(&first)
}

// answer takes a question and answers it.
func (e *exchange) answer() error {
	e.in.Reset()
	if err := e.stream.recvQuestion(&e.in); err != nil {
		return err
	}
	if d := e.in.GetFlightDescriptor(); d != nil && (d.GetType() != flight.DescriptorCMD || strings.TrimSpace(strings.Trim(string(d.GetCmd()), "{}")) != "") {
		return status.Error(codes.InvalidArgument, "found a descriptor that says something, expected an empty command: questions are the metadata of messages")
	}
	switch {
	case len(e.in.GetDataBody()) > 0:
		return status.Error(codes.InvalidArgument, "found a message with data, expected messages with metadata alone, the JSON of a question")
	case len(e.in.GetAppMetadata()) == 0: // a descriptor, or a schema
		return nil
	}
	began := time.Now()
	held := e.server.versions.Enter()
	defer held.Leave()
	x, err := held.Value.plans.Of(e.plan)
	if err != nil {
		return err
	}
	if x.version != e.version && !sameColumns(x.schema, e.schema) {
		return status.Error(codes.Aborted, "found a new version of the store whose batches have other columns, expected the same in one exchange; begin another one")
	}
	q, wrong := parseQuestion(e.in.GetAppMetadata())
	span := e.server.spans.question(q, x)
	defer span.End()
	out, code, failed := e.message(held.Value, x, q, wrong, span)
	if failed != nil {
		if e.stream.Context().Err() != nil {
			return failed
		}
		text, err := json.Marshal(answer.Failure{Error: failed.Error(), Code: code})
		if err != nil {
			return err
		}
		out = message{head: appendField(nil, fieldMetadata, text)}
	}
	size := len(out.head)
	if out.body != nil {
		size += len(*out.body)
	}
	describeAnswer(span, size, code, failed)
	e.server.metrics.Question(x.Name, code, time.Since(began), size)
	return e.stream.SendMsg(&out)
}

// message makes the message of the answer to a question, or says why there is none; wrong is why the question could not be read.
func (e *exchange) message(v *served, x *servedPlan, q *question, wrong error, span trace.Span) (out message, code string, err error) {
	s := e.server
	err = wrong
	if err == nil {
		err = v.checkPlan(x, q.Plan)
	}
	if err == nil {
		err = q.Check(x.Plan)
	}
	if err != nil {
		return out, answer.CodeQuestion, err
	}
	if err := s.places.Enter(e.stream.Context()); err != nil {
		return out, answer.CodeBusy, err
	}
	defer s.places.Leave()
	span.AddEvent("began") // after it waited
	m := <-x.makers        // as many as places
	defer func() { x.makers <- m }()
	info := batchInfo{Epoch: q.Epoch, Batch: int(q.Batch)}
	if x.version != e.version {
		info.Store = x.version
	}
	err = guard.Do(func() (err error) {
		out, err = s.message(x, m, info, e.pool, func(m *feed.Maker) (int, error) { return q.Sample(m, x.Plan, q.Epoch, q.Batch) })
		return err
	})
	var fault *guard.Error
	switch {
	case errors.As(err, &fault):
		return out, answer.CodeFault, fault
	case status.Code(err) == codes.ResourceExhausted:
		return out, answer.CodeLarge, errors.New(status.Convert(err).Message())
	case err != nil:
		return out, answer.CodeQuestion, errors.New(status.Convert(err).Message())
	}
	return out, "", nil
}

// sameColumns says whether batches of two schemas have the same columns.
func sameColumns(a, b *arrow.Schema) bool {
	if a.NumFields() != b.NumFields() {
		return false
	}
	for i, f := range a.Fields() {
		if g := b.Field(i); f.Name != g.Name || !arrow.TypeEqual(f.Type, g.Type) || !f.Metadata.Equal(g.Metadata) {
			return false
		}
	}
	return true
}

// tooMany is the error of a call for which no stream is free.
func (s *Server) tooMany() error {
	return status.Errorf(codes.ResourceExhausted, "found %d streams open, expected fewer; end one, or allow more streams on the server", s.options.Streams)
}

// recvQuestion receives the next question of an exchange. A client that asks nothing for the time in which answers must be taken loses its stream.
func (s *timed) recvQuestion(m any) error {
	late := status.Errorf(codes.DeadlineExceeded, "found no question for %s, expected one, or the end of the exchange; begin another one", s.send)
	return s.clock.within(s.send, late, func() error { return s.ServerStream.RecvMsg(m) })
}

// exchanged is the method DoExchange.
func exchanged() grpc.StreamDesc {
	return grpc.StreamDesc{StreamName: "DoExchange", ServerStreams: true, ClientStreams: true, Handler: func(srv any, stream grpc.ServerStream) error {
		return srv.(*Server).DoExchange(stream.(*timed))
	}}
}
