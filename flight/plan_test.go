package flight

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/graphmill/graphmill/internal/answer"
)

// twoPlans serves batches of two plans: "all" has every column, "some" the first three.
func twoPlans(t *testing.T) (c flight.Client, stop func()) {
	t.Helper()
	all := source(t)
	columns := columnShapes
	columnShapes = columns[:3]
	defer func() { columnShapes = columns }()
	s, err := NewServer(answer.Version{Plans: []answer.Plan{{Name: "all", Source: all}, {Name: "some", Source: source(t)}}, Name: "first"},
		Options{Threads: 1, Streams: 4, Waiting: 1, MaxMessage: MostMessage})
	if err != nil {
		t.Fatal(err)
	}
	address, stop := serve(t, s, Options{})
	return dial(t, address), stop
}

// columnsOf is the number of columns of the first batch of a ticket.
func columnsOf(ctx context.Context, c flight.Client, ticket *flight.Ticket) (int, error) {
	calls, err := c.DoGet(ctx, ticket)
	if err != nil {
		return 0, err
	}
	r, err := flight.NewRecordReader(calls)
	if err != nil {
		return 0, err
	}
	defer r.Release()
	n := r.Schema().NumFields()
	for r.Next() {
	}
	return n, r.Err()
}

// A request names its plan, or its call does; without either it gets the first one, and flights are listed by plan.
func TestPlans(t *testing.T) {
	c, stop := twoPlans(t)
	defer stop()
	flights, err := c.ListFlights(t.Context(), &flight.Criteria{})
	if err != nil {
		t.Fatal(err)
	}
	var widths []int
	for {
		info, err := flights.Recv()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		n, err := columnsOf(t.Context(), c, info.Endpoint[0].Ticket)
		if err != nil {
			t.Fatal(err)
		}
		widths = append(widths, n)
	}
	all, some := widths[0], widths[1]
	if len(widths) != 2 || all-some != len(columnShapes)-3 {
		t.Errorf("found flights with %v columns, expected those of two plans", widths)
	}
	for _, call := range []struct {
		header, request string
		want            int
		refused         string
	}{
		{"", ``, all, ""},
		{"", `{"plan":"some","seeds":[3]}`, some, ""},
		{"some", `{"seeds":[3]}`, some, ""},
		{"some", `{"plan":"some","seeds":[3]}`, some, ""},
		{"all", `{"plan":"some","seeds":[3]}`, 0, `found the plan "some" in a call with the header graphmill-plan: all`},
		{"", `{"plan":"none"}`, 0, `found the plan "none", expected one of all, some`},
		{"none", ``, 0, `found the plan "none", expected one of all, some`},
	} {
		ctx := t.Context()
		if call.header != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, planHeader, call.header)
		}
		got, err := columnsOf(ctx, c, &flight.Ticket{Ticket: []byte(call.request)})
		if call.refused != "" {
			if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), call.refused) {
				t.Errorf("%v: found %v, expected a refusal", call, err)
			}
		} else if err != nil || got != call.want {
			t.Errorf("%v: found %d columns, %v, expected %d", call, got, err, call.want)
		}
	}
	two := metadata.AppendToOutgoingContext(t.Context(), planHeader, "all", planHeader, "some")
	if _, err := c.GetSchema(two, &flight.FlightDescriptor{Type: flight.DescriptorCMD}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("found %v for two plans of one call, expected a refusal", err)
	}
}

// An exchange has one plan, which its header names; questions that name another one are refused one by one.
func TestPlanOfExchange(t *testing.T) {
	c, stop := twoPlans(t)
	defer stop()
	stream, err := c.DoExchange(metadata.AppendToOutgoingContext(t.Context(), planHeader, "some"))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := flight.NewRecordReader(stream)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Release()
	e := &exchanging{t: t, FlightService_DoExchangeClient: stream, reader: reader}
	for _, question := range []string{`{"seeds":[5]}`, `{"seeds":[5],"plan":"some"}`} {
		got, _ := e.ask(question)
		if want := get(t, c, Request{Plan: "some", Asked: answer.Asked{Seeds: []int64{5}}}); !want.Next() || !slices.Equal(columnNames(got), columnNames(want.RecordBatch())) {
			t.Errorf("%s: found the columns %v, expected those of the plan", question, columnNames(got))
		}
	}
	for plan, want := range map[string]string{"all": "in an exchange of another one", "none": "expected one of all, some"} {
		e.send(&flight.FlightData{AppMetadata: []byte(`{"seeds":[5],"plan":"` + plan + `"}`)})
		d, err := stream.Recv()
		if err != nil || !strings.Contains(string(d.AppMetadata), want) {
			t.Errorf("found %s, %v, expected %q", d.GetAppMetadata(), err, want)
		}
	}
	other, err := c.DoExchange(metadata.AppendToOutgoingContext(t.Context(), planHeader, "none"))
	if err == nil {
		_, err = other.Recv()
	}
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("found %v, expected a refusal", err)
	}
}

// columnNames are the names of the columns of a batch.
func columnNames(b arrow.RecordBatch) (names []string) {
	for _, f := range b.Schema().Fields() {
		names = append(names, f.Name)
	}
	return names
}
