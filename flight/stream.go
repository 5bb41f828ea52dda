package flight

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ordered"
)

// streamThreads is the number of batches of one stream that are made at a time. More would be faster than a
// connection, and each needs the memory of two batches.
const streamThreads = 4

// item is a batch that is being made or sent.
type item struct {
	number  int
	message message
}

// maker makes batches in memory that it reuses for the next batch.
type maker struct {
	*feed.Maker
	words []uint64
}

// DoGet streams the batches of a request, which is the ticket.
func (s *Server) DoGet(ticket *flight.Ticket, stream grpc.ServerStreamingServer[flight.FlightData]) error {
	held := s.versions.Enter()
	defer held.Leave()
	x, r, err := held.Value.parse(stream.Context(), ticket.GetTicket())
	if err != nil {
		return err
	}
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		return s.tooMany()
	}
	schema := ipc.GetSchemaPayload(x.schema, memory.DefaultAllocator)
	defer schema.Release()
	pool := &bodies{}
	first, err := newMessage(&schema, nil, 0, pool)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(&first); err != nil {
		return err
	}
	ctx := stream.Context()
	number, left := r.First+r.Rank, r.batches(x.Source)
	sample := x.sampling(r)
	return ordered.Run(ctx, min(s.options.Threads, streamThreads), func() struct{} { return struct{}{} }, func() *item { return &item{} }, ordered.Stages[struct{}, *item]{
		Fill: func(it *item) error {
			if left == 0 {
				return io.EOF
			}
			it.number = number
			number += r.World
			left--
			return nil
		},
		Work: func(ctx context.Context, _ struct{}, it *item) error {
			err := guard.Do(func() error { return s.make(ctx, x, it, r.Epoch, sample, pool) })
			var fault *guard.Error
			if errors.As(err, &fault) {
				return status.Errorf(codes.DataLoss, "batch %d: %v", it.number, fault)
			}
			return err
		},
		Sink: func(it *item) error { return stream.SendMsg(&it.message) },
	})
}

// sampling returns the function with which a maker samples a batch of a request.
func (x *servedPlan) sampling(r *Request) func(*feed.Maker, int) (int, error) {
	if r.Is() {
		return func(m *feed.Maker, b int) (int, error) { return r.Sample(m, x.Plan, r.Epoch, uint64(b)) }
	}
	order := x.Source.Epoch(r.Epoch)
	return func(m *feed.Maker, b int) (int, error) { return m.Batch(order, r.Epoch, b) }
}

// make makes a batch. At most Options.Threads batches are made at a time, over all streams.
func (s *Server) make(ctx context.Context, x *servedPlan, it *item, epoch uint64, sample func(*feed.Maker, int) (int, error), pool *bodies) error {
	if err := s.places.Wait(ctx); err != nil {
		return err
	}
	defer s.places.Leave()
	m := <-x.makers // as many as places
	defer func() { x.makers <- m }()
	var err error
	it.message, err = s.message(x, m, batchInfo{Epoch: epoch, Batch: it.number}, pool, func(m *feed.Maker) (int, error) { return sample(m, it.number) })
	return err
}

// message samples a batch and makes its message.
func (s *Server) message(x *servedPlan, m *maker, info batchInfo, pool *bodies, sample func(*feed.Maker) (int, error)) (message, error) {
	size, err := sample(m.Maker)
	if err != nil {
		return message{}, status.Errorf(codes.InvalidArgument, "batch %d: %v", info.Batch, err)
	}
	if int64(size) > s.options.MaxMessage {
		return message{}, status.Errorf(codes.ResourceExhausted,
			"batch %d: found %s, expected at most %s; raise the server's bound of a message, or use smaller batches, fanouts or features",
			info.Batch, human.Bytes(int64(size)), human.Bytes(s.options.MaxMessage))
	}
	record := m.record(x.schema, size)
	defer record.Release()
	payload, err := ipc.GetRecordBatchPayload(record)
	if err != nil {
		return message{}, err
	}
	defer payload.Release()
	text, err := json.Marshal(info)
	if err != nil {
		return message{}, err
	}
	// A column has two offsets in addition to its values, and less padding than in a slot.
	return newMessage(&payload, text, size+8*len(x.schema.Fields()), pool)
}

// record returns the sampled batch, which takes size bytes in a slot. It is valid until the maker's next
// batch.
func (m *maker) record(schema *arrow.Schema, size int) arrow.RecordBatch {
	if n := (size + 7) / 8; cap(m.words) < n {
		m.words = make([]uint64, n+n/8)
	}
	dst := graph.Bytes(m.words[:cap(m.words)])
	columns := make([]arrow.Array, schema.NumFields())
	at := 0
	for i, field := range schema.Fields() {
		n := m.Rows(i) * m.RowBytes(i)
		values := dst[at : at+n : at+n]
		m.Fill(i, values)
		at = (at + n + 7) &^ 7
		columns[i] = list(field.Type.(*arrow.ListType), values)
	}
	return array.NewRecordBatch(schema, columns, 1)
}

// list makes a column of one row that has all values. Their number fits an int32, because a message does.
func list(t *arrow.ListType, values []byte) arrow.Array {
	n := len(values) / t.Elem().(arrow.FixedWidthDataType).Bytes()
	elements := array.NewData(t.Elem(), n, []*memory.Buffer{nil, memory.NewBufferBytes(values)}, nil, 0, 0)
	offsets := memory.NewBufferBytes(graph.Bytes([]int32{0, int32(n)}))
	return array.MakeFromData(array.NewData(t, 1, []*memory.Buffer{nil, offsets}, []arrow.ArrayData{elements}, 0, 0))
}
