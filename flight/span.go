package flight

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/graphmill/graphmill/internal/answer"
)

// Spans are made where a client asks for them: a call whose header traceparent (W3C Trace Context) has the flag of a sampled trace has one, and so has a question of an exchange whose key of this
// name has it. A traceparent that cannot be read is as if it was not there, as the specification has it.

// traceHeader is the header and the key of questions that name the caller's span.
const traceHeader = "traceparent"

// carrier has what propagation looks for.
type carrier func(key string) string

// Get implements propagation.TextMapCarrier.
func (c carrier) Get(key string) string { return c(key) }

// Set implements propagation.TextMapCarrier.
func (c carrier) Set(string, string) {}

// Keys implements propagation.TextMapCarrier.
func (c carrier) Keys() []string { return nil }

// spanOfHeader is the caller's span that the header of a call names; an invalid one without.
func spanOfHeader(ctx context.Context) trace.SpanContext {
	md, _ := metadata.FromIncomingContext(ctx)
	if len(md.Get(traceHeader)) != 1 {
		return trace.SpanContext{}
	}
	return spanOf(func(key string) string { return strings.Join(md.Get(key), ",") })
}

// spanOf is the caller's span that a carrier names.
func spanOf(c carrier) trace.SpanContext {
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), c))
}

// spans makes spans.
type spans struct{ tracer trace.Tracer } // nil: none

func newSpans(p trace.TracerProvider) spans {
	if p == nil {
		return spans{}
	}
	return spans{p.Tracer("github.com/graphmill/graphmill/flight")}
}

// begin begins a span below a caller's, if that one asks for it. Otherwise nothing is recorded in the span that it returns.
func (x spans) begin(caller trace.SpanContext, name string, attributes func() []attribute.KeyValue) trace.Span {
	if x.tracer == nil || !caller.IsSampled() {
		return trace.SpanFromContext(context.Background())
	}
	_, span := x.tracer.Start(trace.ContextWithRemoteSpanContext(context.Background(), caller), name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes()...))
	return span
}

// call begins the span of a call.
func (x spans) call(ctx context.Context, method string) trace.Span {
	method = strings.TrimPrefix(method, "/")
	return x.begin(spanOfHeader(ctx), method, func() []attribute.KeyValue {
		service, name, _ := strings.Cut(method, "/")
		return []attribute.KeyValue{attribute.String("rpc.system", "grpc"), attribute.String("rpc.service", service), attribute.String("rpc.method", name), attribute.String("client.address", from(ctx))}
	})
}

// endCall ends the span of a call.
func endCall(span trace.Span, err error) {
	if span.IsRecording() {
		s := status.Convert(err)
		span.SetAttributes(attribute.Int("rpc.grpc.status_code", int(s.Code())))
		if err != nil {
			span.SetStatus(otelcodes.Error, s.Message())
		}
	}
	span.End()
}

// question is a question of an exchange, which can name the span of its caller.
type question struct {
	answer.Question
	Traceparent string `json:"traceparent,omitempty"`
}

// parseQuestion reads a question.
func parseQuestion(text []byte) (*question, error) {
	q := &question{}
	return q, answer.Parse(text, q, answer.ExampleQuestion)
}

// question begins the span of a question.
func (x spans) question(q *question, p *servedPlan) trace.Span {
	if x.tracer == nil || q.Traceparent == "" {
		return trace.SpanFromContext(context.Background())
	}
	caller := spanOf(func(key string) string {
		if key == traceHeader {
			return q.Traceparent
		}
		return ""
	})
	return x.begin(caller, "question", func() []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("graphmill.plan", p.Name), attribute.String("graphmill.store", p.version),
			attribute.Int("graphmill.seeds", (len(q.Seeds)+len(q.IDs))/len(p.Source.SeedTypes())), attribute.Int64("graphmill.epoch", int64(q.Epoch)), attribute.Int64("graphmill.batch", int64(q.Batch))}
	})
}

// describeAnswer says in the span of a question in how many bytes it was answered, or why it was not.
func describeAnswer(span trace.Span, size int, code string, err error) {
	if span.IsRecording() {
		if err != nil {
			span.SetAttributes(attribute.String("graphmill.code", code))
			span.SetStatus(otelcodes.Error, err.Error())
		} else {
			span.SetAttributes(attribute.Int("graphmill.answer.bytes", size))
		}
	}
}

// traced names a client in the log, with the trace that its call belongs to.
func traced(ctx context.Context) string {
	if span := spanOfHeader(ctx); span.IsValid() {
		return from(ctx) + " of trace " + span.TraceID().String()
	}
	return from(ctx)
}
