package flight

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/graphmill/graphmill/internal/answer"
)

// exchanging is the client's end of an exchange.
type exchanging struct {
	t *testing.T
	flight.FlightService_DoExchangeClient
	reader *flight.Reader
}

func exchangeWith(t *testing.T, c flight.Client) *exchanging {
	t.Helper()
	stream, err := c.DoExchange(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e := &exchanging{t: t, FlightService_DoExchangeClient: stream}
	e.send(&flight.FlightData{FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorCMD}})
	if e.reader, err = flight.NewRecordReader(stream); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.reader.Release)
	return e
}

func (e *exchanging) send(d *flight.FlightData) {
	e.t.Helper()
	if err := e.Send(d); err != nil {
		e.t.Fatal(err)
	}
}

// ask is the answer to a question and its metadata; the answer is nil where there is none.
func (e *exchanging) ask(question string) (arrow.RecordBatch, string) {
	e.t.Helper()
	e.send(&flight.FlightData{AppMetadata: []byte(question)})
	if !e.reader.Next() {
		e.t.Fatalf("%s: found the end (%v), expected an answer", question, e.reader.Err())
	}
	return e.reader.RecordBatch(), string(e.reader.LatestAppMetadata())
}

// Answers of one exchange equal the batches of calls.
func TestExchange(t *testing.T) {
	src := source(t)
	address, stop := start(t, src, Options{Waiting: 1, Streams: 8})
	defer stop()
	c := dial(t, address)
	e := exchangeWith(t, c)
	for number, seeds := range [][]int64{{0}, {299, 7}, {7}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}} {
		text, _ := json.Marshal(answer.Question{Asked: answer.Asked{Seeds: seeds}, Epoch: 2, Batch: uint64(number)})
		got, metadata := e.ask(string(text))
		if want := fmt.Sprintf(`{"epoch":2,"batch":%d}`, number); metadata != want {
			t.Errorf("found metadata %s, expected %s", metadata, want)
		}
		want := get(t, c, Request{Epoch: 2, First: number, Asked: answer.Asked{Seeds: seeds}})
		if !want.Next() {
			t.Fatal(want.Err())
		}
		if record := want.RecordBatch(); !array.RecordApproxEqual(got, record, array.WithNaNsEqual(true), array.WithAbsTolerance(0)) {
			t.Errorf("seeds %v: found an answer that differs from the call's", seeds)
		}
		for want.Next() { // so that its place is free
		}
	}
	if err := e.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if e.reader.Next() || e.reader.Err() != nil && !errors.Is(e.reader.Err(), io.EOF) {
		t.Errorf("found %v, expected the end", e.reader.Err())
	}
}

// What cannot be answered is said in a message of its own, and the exchange goes on.
func TestExchangeWrongQuestions(t *testing.T) {
	address, stop := start(t, source(t), Options{MaxMessage: 20000, Streams: 5})
	defer stop()
	c := dial(t, address)
	stream, err := c.DoExchange(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, err := stream.Recv() // the schema comes without a question
	if err != nil || len(first.DataHeader) == 0 {
		t.Fatal(first, err)
	}
	for _, q := range []struct{ question, want string }{
		{`{}`, "question: found a question without seeds and ids"},
		{`{"seeds":[300]}`, "question: batch 0: seed 0: found node 300, expected 0 to 299"},
		{`{"ids":["a"]}`, "question: found ids, expected seeds: this server has no original ids"},
		{`{"seeds":[1],"first":3}`, "question: reading the request: json: unknown field"},
		{`{"seeds":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]}`, "large: batch 0: found"},
	} {
		if err := stream.Send(&flight.FlightData{AppMetadata: []byte(q.question)}); err != nil {
			t.Fatal(err)
		}
		d, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		var failure answer.Failure
		if err := json.Unmarshal(d.AppMetadata, &failure); err != nil || len(d.DataHeader) > 0 || !strings.HasPrefix(failure.Code+": "+failure.Error, q.want) {
			t.Errorf("%s: found %s, %v, expected %q", q.question, d.AppMetadata, err, q.want)
		}
	}
	for name, d := range map[string]*flight.FlightData{
		"found a message with data":               {AppMetadata: []byte(`{"seeds":[1]}`), DataBody: []byte("x")},
		"found a descriptor that says something":  {FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorPATH, Path: []string{"x"}}},
		"found a descriptor that says something,": {FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(`{"epoch":3}`)}},
	} {
		stream, err := c.DoExchange(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Send(d); err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = stream.Recv()
		}
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), name) {
			t.Errorf("found %v, expected %q", err, name)
		}
	}
}

// An exchange takes a place among the streams, and gives it back.
func TestExchangePlace(t *testing.T) {
	address, stop := start(t, source(t), Options{Streams: 1})
	defer stop()
	c := dial(t, address)
	e := exchangeWith(t, c)
	other, err := c.DoExchange(t.Context())
	if err == nil {
		_, err = other.Recv()
	}
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("found %v, expected no place", err)
	}
	if err := e.CloseSend(); err != nil {
		t.Fatal(err)
	}
	for e.reader.Next() {
	}
	got, _ := exchangeWith(t, c).ask(`{"seeds":[5]}`)
	if got == nil || got.NumRows() != 1 {
		t.Errorf("found %v, expected an answer", got)
	}
}

// A new version is answered from in the exchange that is open, and its answers name it; one with other columns ends it.
func TestExchangeTakes(t *testing.T) {
	s, err := NewServer(answer.Version{Plans: []answer.Plan{{Source: source(t)}}, Name: "first"}, Options{Threads: 1, Streams: 2, Waiting: 1, MaxMessage: MostMessage})
	if err != nil {
		t.Fatal(err)
	}
	address, stop := serve(t, s, Options{})
	defer stop()
	c := dial(t, address)
	e := exchangeWith(t, c)
	if _, metadata := e.ask(`{"seeds":[5]}`); metadata != `{"epoch":0,"batch":0}` {
		t.Errorf("found metadata %s", metadata)
	}
	if err := s.Take(answer.Version{Plans: []answer.Plan{{Source: source(t)}}, Name: "second"}); err != nil {
		t.Fatal(err)
	}
	if _, metadata := e.ask(`{"seeds":[5]}`); metadata != `{"epoch":0,"batch":0,"store":"second"}` {
		t.Errorf("found metadata %s, expected the name of the version", metadata)
	}
	columns := columnShapes
	defer func() { columnShapes = columns }()
	columnShapes = columns[:3]
	if err := s.Take(answer.Version{Plans: []answer.Plan{{Source: source(t)}}, Name: "third"}); err != nil {
		t.Fatal(err)
	}
	e.send(&flight.FlightData{AppMetadata: []byte(`{"seeds":[5]}`)})
	if e.reader.Next() || status.Code(e.reader.Err()) != codes.Aborted {
		t.Errorf("found %v, expected the end of the exchange", e.reader.Err())
	}
	var text bytes.Buffer
	s.Metrics().Write(&text)
	if !strings.Contains(text.String(), `graphmill_questions_total{outcome="answered"} 2`) {
		t.Errorf("found the metrics\n%s", text.String())
	}
}
