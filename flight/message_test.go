package flight

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/internal/answer"
)

// The codec writes a message as a FlightData with its fields. The message's memory is returned after it was
// written, and not before.
func TestMessage(t *testing.T) {
	src := source(t)
	schema, err := schemaOf(&answer.Plan{Source: src}, &answer.Version{})
	if err != nil {
		t.Fatal(err)
	}
	m := &maker{Maker: src.Maker()}
	size, err := m.Batch(src.Epoch(0), 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := ipc.GetRecordBatchPayload(m.record(schema, size))
	if err != nil {
		t.Fatal(err)
	}
	defer payload.Release()
	pool := &bodies{}
	sent, err := newMessage(&payload, []byte("which"), size+8*schema.NumFields(), pool)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if err := payload.SerializeBody(&body); err != nil {
		t.Fatal(err)
	}
	if body.Len() > size+8*schema.NumFields() {
		t.Errorf("found a body of %d bytes, expected the forecast %d to hold it", body.Len(), size+8*schema.NumFields())
	}
	meta := payload.Meta()
	defer meta.Release()

	slices, err := codec{encoding.GetCodecV2("proto")}.Marshal(&sent)
	if err != nil {
		t.Fatal(err)
	}
	var found flight.FlightData
	if err := proto.Unmarshal(slices.Materialize(), &found); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(&found, &flight.FlightData{DataHeader: meta.Bytes(), AppMetadata: []byte("which"), DataBody: body.Bytes()}) {
		t.Errorf("found a message of %d, %q and %d bytes, expected %d, which and %d", len(found.DataHeader), found.AppMetadata, len(found.DataBody), meta.Len(), body.Len())
	}
	if len(pool.free) != 0 {
		t.Error("found memory given back before it was written")
	}
	slices.Free()
	if len(pool.free) != 1 || pool.Get(size) != sent.body {
		t.Errorf("found %d bodies given back, expected that of the message", len(pool.free))
	}
}
