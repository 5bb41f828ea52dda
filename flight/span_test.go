package flight

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// The log names the trace of a call that failed, also where no spans are made.
func TestTraceInLog(t *testing.T) {
	var log lines
	address, stop := start(t, source(t), Options{Log: log.log()})
	defer stop()
	c := dial(t, address)
	ctx := metadata.AppendToOutgoingContext(t.Context(), traceHeader, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")
	if _, err := c.GetSchema(ctx, &flight.FlightDescriptor{Type: flight.DescriptorPATH}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("found %v, expected a refusal", err)
	}
	log.has(t, "127.0.0.1:", " of trace 0af7651916cd43dd8448eb211c80319c: ")
}
