package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	arrowflight "github.com/apache/arrow-go/v18/arrow/flight"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// collecting is a collector of spans, as OpenTelemetry's protocol has it.
type collecting struct {
	collector.UnimplementedTraceServiceServer
	mu       sync.Mutex
	spans    []*otlp.Span
	resource map[string]string
}

// Export implements the service.
func (c *collecting) Export(_ context.Context, r *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range r.GetResourceSpans() {
		c.resource = attributesOf(of.GetResource().GetAttributes())
		for _, scope := range of.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// overGRPC serves the collector, and says where.
func (c *collecting) overGRPC(t *testing.T) (endpoint string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, c)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		<-ended
	})
	return "http://" + l.Addr().String()
}

// overHTTP is overGRPC by the protocol http/protobuf.
func (c *collecting) overHTTP(t *testing.T) (endpoint string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request collector.ExportTraceServiceRequest
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = proto.Unmarshal(body, &request)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("found a request of %s, %v, expected spans", r.URL, err)
		}
		_, _ = c.Export(r.Context(), &request)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func attributesOf(list []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range list {
		out[a.GetKey()] = strings.Trim(a.GetValue().String()[strings.Index(a.GetValue().String(), ":")+1:], `"`)
	}
	return out
}

const (
	traceOfCall     = "0af7651916cd43dd8448eb211c80319c"
	traceOfQuestion = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan     = "b7ad6b7169203331"
)

// Calls and questions have spans where their clients ask for them, below the clients' own, and none elsewhere; a collector gets them by either protocol.
func TestSpans(t *testing.T) {
	for protocol, serve := range map[string]func(*collecting, *testing.T) string{"grpc": (*collecting).overGRPC, "http/protobuf": (*collecting).overHTTP} {
		t.Run(protocol, func(t *testing.T) {
			c := &collecting{}
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", serve(c, t))
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=tests")
			client, stop := running(t, testStore(t), "--fanout", "2,2", "--batch_size", "4")
			asks := func(header string, questions ...string) {
				t.Helper()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if header != "" {
					ctx = metadata.AppendToOutgoingContext(ctx, "traceparent", header)
				}
				stream, err := client.DoExchange(ctx)
				if err != nil {
					t.Fatal(err)
				}
				for i := range len(questions) + 1 { // the schema first
					if _, err := stream.Recv(); err != nil {
						t.Fatal(err)
					}
					if i < len(questions) {
						if err := stream.Send(&arrowflight.FlightData{AppMetadata: []byte(questions[i])}); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := stream.CloseSend(); err != nil {
					t.Fatal(err)
				}
				if d, err := stream.Recv(); err == nil {
					t.Errorf("found %v, expected the end", d)
				}
			}
			asks("00-"+traceOfCall+"-"+callersSpan+"-01", `{"seeds":[1]}`, `{"seeds":[1,2],"traceparent":"00-`+traceOfQuestion+`-`+callersSpan+`-01"}`)
			asks("00-"+traceOfCall+"-"+callersSpan+"-00", `{"seeds":[1],"traceparent":"00-`+traceOfQuestion+`-`+callersSpan+`-00"}`) // traces that are not sampled
			asks("", `{"seeds":[1]}`, `{"seeds":[1],"traceparent":"no such thing"}`, `{"seeds":[-7],"batch":5,"traceparent":"00-`+traceOfQuestion+`-`+callersSpan+`-01"}`)
			asks("00-00000000000000000000000000000000-"+callersSpan+"-01", `{"seeds":[1]}`) // an invalid one
			stop()                                                                          // which sends all
			c.mu.Lock()
			defer c.mu.Unlock()
			var found []string
			for _, s := range c.spans {
				found = append(found, s.GetName()+" "+hex.EncodeToString(s.GetTraceId()))
				if hex.EncodeToString(s.GetParentSpanId()) != callersSpan || s.GetEndTimeUnixNano() < s.GetStartTimeUnixNano() || s.GetKind() != otlp.Span_SPAN_KIND_SERVER {
					t.Errorf("found the span %v, expected one below the caller's", s)
				}
				of := attributesOf(s.GetAttributes())
				switch {
				case s.GetName() != "question":
					if of["rpc.method"] != "DoExchange" || of["rpc.grpc.status_code"] != "0" {
						t.Errorf("found the attributes %v of a call", of)
					}
				case of["graphmill.batch"] == "5":
					if s.GetStatus().GetCode() != otlp.Status_STATUS_CODE_ERROR || of["graphmill.code"] != "question" || !strings.Contains(s.GetStatus().GetMessage(), "found node -7") {
						t.Errorf("found the status %v and the attributes %v, expected a failure", s.GetStatus(), of)
					}
				case of["graphmill.seeds"] != "2" || of["graphmill.answer.bytes"] == "" || of["graphmill.store"] == "" || len(s.GetEvents()) != 1:
					t.Errorf("found the attributes %v and the events %v of an answer", of, s.GetEvents())
				}
			}
			slices.Sort(found)
			if want := []string{"arrow.flight.protocol.FlightService/DoExchange " + traceOfCall, "question " + traceOfQuestion, "question " + traceOfQuestion}; !slices.Equal(found, want) {
				t.Errorf("found the spans %q, expected %q", found, want)
			}
			if c.resource["service.name"] != "graphmill-flight" || c.resource["deployment.environment.name"] != "tests" {
				t.Errorf("found the resource %v, expected the program, and what the environment says", c.resource)
			}
		})
	}
}

// A collector that is not there changes no answer, is said in the log, and does not hold the end up; a protocol that nobody speaks is refused.
func TestNoCollector(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_BSP_EXPORT_TIMEOUT", "100")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	client, stop := running(t, testStore(t), "--fanout", "2,2")
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-"+traceOfCall+"-"+callersSpan+"-01")
	if _, err := client.GetFlightInfo(ctx, &arrowflight.FlightDescriptor{Type: arrowflight.DescriptorCMD}); err != nil {
		t.Error(err)
	}
	stop()
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
	var stdout, stderr bytes.Buffer
	if status := runCommand([]string{"graphmill-flight", testStore(t), "--fanout", "2"}, &stdout, &stderr); status != exitUsage || !strings.Contains(stderr.String(), "expected grpc or http/protobuf") {
		t.Errorf("found status %d and %q, expected a refusal", status, stderr.String())
	}
}
