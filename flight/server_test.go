package flight

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/answer"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/sample"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testNodes = 300
	testBatch = 16
)

// columnShapes are the columns of the test's nodes: each numeric dtype, and rows of several ranks.
var columnShapes = []*graph.Column{
	{Name: "b", DType: graph.Bool}, {Name: "bf", DType: graph.BFloat16, Shape: []int{2, 2}}, {Name: "f16", DType: graph.Float16},
	{Name: "f32", DType: graph.Float32, Shape: []int{5}}, {Name: "f64", DType: graph.Float64}, {Name: "i16", DType: graph.Int16},
	{Name: "i32", DType: graph.Int32}, {Name: "i64", DType: graph.Int64, Shape: []int{1}}, {Name: "i8", DType: graph.Int8, Shape: []int{3}},
	{Name: "nothing", DType: graph.Float32, Shape: []int{0}}, {Name: "u16", DType: graph.Uint16}, {Name: "u32", DType: graph.Uint32},
	{Name: "u64", DType: graph.Uint64}, {Name: "u8", DType: graph.Uint8},
}

// source returns shuffled batches of all nodes of a random graph, with every column.
func source(t testing.TB) *feed.Source {
	t.Helper()
	return sourceOf(t, func(_ string, values []byte) []byte { return values })
}

// sourceOf returns the same batches, with the values of columns at a place of their own.
func sourceOf(t testing.TB, place func(column string, values []byte) []byte) *feed.Source {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	ptr, to := []uint32{0}, []uint32(nil)
	for range testNodes {
		for range r.IntN(12) {
			to = append(to, uint32(r.IntN(testNodes)))
		}
		ptr = append(ptr, uint32(len(to)))
	}
	n := &graph.Nodes{Type: "user", Count: testNodes}
	names := []string{}
	for _, shape := range columnShapes {
		c := *shape
		c.Rows = testNodes
		c.Values = make([]byte, testNodes*c.RowBytes())
		for i := range c.Values {
			c.Values[i] = byte(r.Uint32())
		}
		c.Values = place(c.Name, c.Values)
		n.Columns, names = append(n.Columns, &c), append(names, c.Name)
	}
	e, err := graph.ParseEdgeType("user:follows:user")
	if err != nil {
		t.Fatal(err)
	}
	g := &graph.Graph{Nodes: []*graph.Nodes{n}, Edges: []*graph.Edges{{Type: e, Count: len(to), Primary: graph.In,
		Adj: [2]*graph.Adjacency{{Indptr: graph.Index{U32: ptr}, Far: graph.Index{U32: to}}}}}}
	p, err := sample.FromFanouts(g, sample.Fanouts{Each: []int{4, 3}}, sample.FanoutOptions{SeedType: []string{"user"}, Scope: sample.ScopeBatch, Expand: sample.ExpandAll})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sample.New(g, p, sample.Options{Ops: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	job := sample.Job{BatchSize: testBatch, Seed: 9, Shuffle: true}
	for v := range uint32(testNodes) {
		job.Seeds = append(job.Seeds, v)
	}
	src, err := feed.NewSource(s, job, feed.Features{Nodes: map[string][]string{"user": names}}, true)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// start serves src on loopback; stop ends the server and waits until it has ended.
func start(t *testing.T, src *feed.Source, o Options) (address string, stop func()) {
	t.Helper()
	o.Threads, o.Streams = max(o.Threads, 1), max(o.Streams, 1)
	if o.MaxMessage == 0 {
		o.MaxMessage = MostMessage
	}
	s, err := NewServer(answer.Version{Plans: []answer.Plan{{Source: src}}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, s, o)
}

// serve runs a server on loopback.
func serve(t *testing.T, s *Server, o Options) (address string, stop func()) {
	t.Helper()
	l, err := Listen(t.Context(), "127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	stop = func() {
		t.Helper()
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("found %v, expected a server that ends without an error", err)
			}
		case <-time.After(time.Minute): // against a hang
			t.Fatal("found a server that goes on when it should end")
		}
	}
	return l.Addr().String(), stop
}

func dial(t *testing.T, address string, options ...grpc.DialOption) flight.Client {
	t.Helper()
	if options == nil {
		options = []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	}
	c, err := flight.NewClientWithMiddleware(address, nil, nil, append(options, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MostMessage)))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// dialSlow returns a client whose window does not grow. A window that grows can take the whole epoch of a client that reads
// none of it.
func dialSlow(t *testing.T, address string) flight.Client {
	t.Helper()
	return dial(t, address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStaticStreamWindowSize(64<<10))
}

// stream has the remaining batches of a request.
type stream struct {
	t *testing.T
	*flight.Reader
	request Request
}

func get(t *testing.T, c flight.Client, r Request) *stream {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := c.DoGet(t.Context(), &flight.Ticket{Ticket: text})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := flight.NewRecordReader(calls)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(reader.Release)
	return &stream{t, reader, r}
}

// check takes the next batch and compares it with the batch of the given number from a maker of src.
func (s *stream) check(src *feed.Source, number int) {
	s.t.Helper()
	if !s.Next() {
		s.t.Fatalf("found the end (%v), expected batch %d", s.Err(), number)
	}
	if found, want := string(s.LatestAppMetadata()), fmt.Sprintf(`{"epoch":%d,"batch":%d}`, s.request.Epoch, number); found != want {
		s.t.Errorf("found metadata %s, expected %s", found, want)
	}
	m := src.Maker()
	var err error
	if s.request.Seeds != nil {
		_, err = m.Of(s.request.Seeds, s.request.Epoch, uint64(number))
	} else {
		_, err = m.Batch(src.Epoch(s.request.Epoch), s.request.Epoch, number)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	record := s.RecordBatch()
	for i, c := range src.Columns() {
		want := make([]byte, m.Rows(i)*m.RowBytes(i))
		m.Fill(i, want)
		if found := valuesOf(s.t, record, c.Name); !bytes.Equal(found, want) {
			s.t.Errorf("batch %d, column %s: found %d bytes that differ from the %d expected", number, c.Name, len(found), len(want))
		}
	}
}

// valuesOf returns the bytes of a column.
func valuesOf(t *testing.T, record arrow.RecordBatch, name string) []byte {
	t.Helper()
	at := record.Schema().FieldIndices(name)
	if len(at) != 1 || record.NumRows() != 1 {
		t.Fatalf("found %d columns %s and %d rows, expected one of each", len(at), name, record.NumRows())
	}
	values := record.Column(at[0]).(*array.List).ListValues().Data()
	if values.Len() == 0 {
		return nil
	}
	return values.Buffers()[1].Bytes()[:values.Len()*values.DataType().(arrow.FixedWidthDataType).Bytes()]
}

// Every request gets its batches, whole and in order, at any number of threads.
func TestStreams(t *testing.T) {
	src := source(t)
	for _, threads := range []int{1, 3} {
		address, stop := start(t, src, Options{Threads: threads, Streams: 2})
		c := dial(t, address)
		for _, r := range []Request{
			{}, {Epoch: 3}, {First: 17}, {First: 19}, {World: 3, Rank: 1}, {World: 3, Rank: 2}, {First: 4, World: 4, Rank: 3}, {World: 100, Rank: 70},
			{World: 3, Rank: 1, Tail: "short"}, {World: 3, Rank: 0, Tail: "drop"}, {World: 100, Rank: 70, Tail: "short"}, {First: 21, World: 3},
			{Tail: "drop"}, {Tail: "fill", First: 3},
			{Asked: answer.Asked{Seeds: []int64{7, 7, 299, 0}}, First: 1 << 40, Epoch: 2},
		} {
			s := get(t, c, r)
			n := 0
			if r.Seeds != nil {
				s.check(src, r.First)
				n = 1
			} else {
				for _, b := range numbersOf(r) {
					s.check(src, b)
					n++
				}
			}
			if s.Next() || s.Err() != nil {
				t.Errorf("%+v: found more than %d batches (%v), expected the end", r, n, s.Err())
			}
		}
		stop()
	}
}

// numbersOf returns the batches of a request, out of 19, the last of which is not full.
func numbersOf(r Request) (numbers []int) {
	world, n := max(r.World, 1), 19
	fill := r.Tail == "fill" || r.Tail == "" && world > 1
	if r.Tail == "drop" {
		n = 18
	}
	for b := r.First + r.Rank; ; b += world {
		step := b - r.Rank // all ranks take one of the batches from here on
		if fill && step >= n || !fill && b >= n || r.Tail == "drop" && step+world > n {
			return numbers
		}
		numbers = append(numbers, b)
	}
}

// Batches after the last one repeat the first ones, with different draws.
func TestFill(t *testing.T) {
	src := source(t)
	address, stop := start(t, src, Options{})
	defer stop()
	c := dial(t, address)
	ids := func(r Request, name string) (all [][]int64) {
		s := get(t, c, r)
		for s.Next() {
			all = append(all, slices.Clone(graph.View[int64](valuesOf(t, s.RecordBatch(), name))))
		}
		return all
	}
	whole, last := ids(Request{}, "input_id"), ids(Request{World: 5, Rank: 4}, "input_id")
	if len(last) != 4 || !slices.Equal(last[3], whole[0]) {
		t.Errorf("found batch 19 of seeds %v, expected those of batch 0, %v", last[len(last)-1], whole[0])
	}
	if nodes := ids(Request{World: 5, Rank: 4}, "nodes/user/n_id"); slices.Equal(nodes[3], ids(Request{}, "nodes/user/n_id")[0]) {
		t.Error("found batch 19 with the draws of batch 0, expected others")
	}
}

// The values are those that the store has for the ids of the batch.
func TestValues(t *testing.T) {
	src := source(t)
	address, stop := start(t, src, Options{})
	defer stop()
	s := get(t, dial(t, address), Request{Asked: answer.Asked{Seeds: []int64{5, 9, 5}}})
	if !s.Next() {
		t.Fatal(s.Err())
	}
	record := s.RecordBatch()
	ids := graph.View[int64](valuesOf(t, record, "nodes/user/n_id"))
	if len(ids) < 2 || ids[0] != 5 || ids[1] != 9 {
		t.Fatalf("found nodes %v, expected 5 and 9 first", ids)
	}
	if local := graph.View[int64](valuesOf(t, record, "seed_local")); !slices.Equal(local, []int64{0, 1, 0}) {
		t.Errorf("found seeds at %v, expected 0 1 0", local)
	}
	for i, c := range columnShapes {
		at := "nodes/user/x/" + c.Name
		field := record.Schema().Field(record.Schema().FieldIndices(at)[0])
		shape, _ := json.Marshal(append([]int{}, c.Shape...))
		if d, _ := field.Metadata.GetValue("dtype"); d != c.DType.String() {
			t.Errorf("column %s: found dtype %q, expected %s", at, d, c.DType)
		}
		if d, _ := field.Metadata.GetValue("shape"); d != string(shape) {
			t.Errorf("column %s: found shape %q, expected %s", at, d, shape)
		}
		if len(valuesOf(t, record, at)) != len(ids)*columnShapes[i].RowBytes() {
			t.Errorf("column %s: found %d bytes, expected %d rows", at, len(valuesOf(t, record, at)), len(ids))
		}
	}
}

// What a client can ask about batches before it reads them.
func TestInfo(t *testing.T) {
	src := source(t)
	address, stop := start(t, src, Options{})
	defer stop()
	c := dial(t, address)
	list, err := c.ListFlights(t.Context(), &flight.Criteria{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := list.Recv()
	if err != nil || info.TotalRecords != 19 {
		t.Fatalf("found %v, %v, expected a flight of 19 batches", info, err)
	}
	if _, err := list.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("found %v, expected one flight", err)
	}
	d := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(`{"epoch":1,"first":2,"rank":1,"world":2}`)}
	if info, err = c.GetFlightInfo(t.Context(), d); err != nil || info.TotalRecords != 9 || !info.Ordered || len(info.Endpoint) != 1 {
		t.Fatalf("found %v, %v, expected 9 batches at one endpoint", info, err)
	}
	result, err := c.GetSchema(t.Context(), d)
	if err != nil || !bytes.Equal(result.Schema, info.Schema) {
		t.Fatalf("found %v, %v, expected the schema of the flight", result, err)
	}
	schema, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := schema.Metadata().GetValue(metadataKey)
	if want := `{"version":1,"batches":19,"seeds":300,"seed_types":["user"],"hops":2,"ops":[{"edges":"user:follows:user","hop":1},{"edges":"user:follows:user","hop":2}]}`; text != want {
		t.Errorf("found metadata %s, expected %s", text, want)
	}
	// The ticket of the endpoint selects that stream.
	var r Request
	if err := json.Unmarshal(info.Endpoint[0].Ticket.Ticket, &r); err != nil {
		t.Fatal(err)
	}
	s := get(t, c, r)
	if !s.Schema().Equal(schema) {
		t.Error("found a stream of another schema")
	}
	s.check(src, 3)
}

// A request that no server can serve is an error that says why, before and in a stream.
func TestErrors(t *testing.T) {
	src := source(t)
	address, stop := start(t, src, Options{Streams: 2})
	defer stop()
	c := dial(t, address)
	for ticket, want := range map[string]string{
		"x":                             "reading the request",
		`{"epoch":-1}`:                  "reading the request",
		`{"epochs":1}`:                  `unknown field "epochs"`,
		`{"epoch":1}{}`:                 "expected one JSON object",
		`{"first":20}`:                  "found a start at batch 20, expected 0 to 19",
		`{"first":22,"world":3}`:        "found a start at batch 22, expected 0 to 21",
		`{"tail":"pad"}`:                "expected one of short, fill, drop",
		`{"seeds":[1],"tail":"fill"}`:   "found seeds and the tail",
		`{"first":-1}`:                  "found a start at batch -1",
		`{"rank":1}`:                    "found rank 1 of 1",
		`{"rank":-1,"world":2}`:         "found rank -1 of 2",
		`{"world":-1}`:                  "found a world of -1",
		`{"world":9223372036854775807}`: "found a world of",
		`{"seeds":[]}`:                  "found 0 seeds, expected 1 to 16",
		`{"ids":["u1"]}`:                "this server has no original ids",
		`{"ids":["u1"],"world":2}`:      "found seeds and a world of 2",
		`{"ids":[{}]}`:                  "found the id {}, expected a text or a whole number",
		`{"seeds":[1],"world":2}`:       "found seeds and a world of 2",
		`{"seeds":[1],"first":-1}`:      "found a start at batch -1",
		`{"seeds":[300]}`:               "seed 0: found node 300, expected 0 to 299",
		`{"seeds":[1,-1]}`:              "seed 1: found node -1",
		fmt.Sprintf(`{"seeds":[1%s]}`, strings.Repeat(",1", testBatch)): "found 17 seeds",
	} {
		if err := failure(t, c, ticket); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected a bad argument with %q", ticket, err, want)
		}
	}
	for _, d := range []*flight.FlightDescriptor{{Type: flight.DescriptorPATH, Path: []string{"epoch"}}, {Type: flight.DescriptorCMD, Cmd: []byte("x")}} {
		if _, err := c.GetFlightInfo(t.Context(), d); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%v: found %v, expected a bad argument", d, err)
		}
		if _, err := c.GetSchema(t.Context(), d); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%v: found %v, expected a bad argument", d, err)
		}
	}
	if list, err := c.ListFlights(t.Context(), &flight.Criteria{Expression: []byte("x")}); err != nil {
		t.Error(err)
	} else if _, err := list.Recv(); status.Code(err) != codes.InvalidArgument {
		t.Errorf("found %v, expected a bad argument", err)
	}
	if err := failure(t, c, strings.Repeat(" ", maxRequest)); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("found %v, expected a request that is too large", err)
	}
	get(t, c, Request{}).check(src, 0) // the server continues
}

// failure returns the error for a ticket.
func failure(t *testing.T, c flight.Client, ticket string) error {
	t.Helper()
	calls, err := c.DoGet(t.Context(), &flight.Ticket{Ticket: []byte(ticket)})
	for err == nil {
		_, err = calls.Recv()
	}
	return err
}

// A batch that is too large for a message ends its stream, and no other.
func TestMaxMessage(t *testing.T) {
	src := source(t)
	m := src.Maker()
	most := 0
	for b := range src.Batches() {
		n, err := m.Batch(src.Epoch(0), 0, b)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
	}
	address, stop := start(t, src, Options{MaxMessage: int64(most - 1), Streams: 2})
	defer stop()
	c := dial(t, address)
	err := failure(t, c, `{}`)
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "bound of a message") {
		t.Errorf("found %v, expected a batch that is too large", err)
	}
	get(t, c, Request{Asked: answer.Asked{Seeds: []int64{1}}}).check(src, 0)
}

// A client that does not read blocks only its own stream. Streams beyond the bound are rejected. All streams
// end with the server or with the client.
func TestSlowClients(t *testing.T) {
	src := source(t)
	address, stop := start(t, src, Options{Threads: 2, Streams: 2})
	slow, fast := dialSlow(t, address), dial(t, address)
	ctx, cancel := context.WithCancel(t.Context())
	begin := func(ctx context.Context, epoch int) flight.FlightService_DoGetClient {
		t.Helper()
		calls, err := slow.DoGet(ctx, &flight.Ticket{Ticket: fmt.Appendf(nil, `{"epoch":%d}`, epoch)})
		if err == nil {
			_, err = calls.Recv()
		}
		if err != nil {
			t.Fatal(err)
		}
		return calls
	}
	begin(ctx, 1)
	s := get(t, fast, Request{})
	for b := range src.Batches() {
		s.check(src, b)
	}
	if s.Next() {
		t.Error("found a batch beyond the epoch")
	}
	// An ended stream may be counted for another moment.
	retry(t, func() bool { return len(failures(t, fast)) == 0 })
	held := begin(t.Context(), 2)
	if err := failure(t, fast, `{}`); status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "2 streams") {
		t.Errorf("found %v, expected a stream too many", err)
	}
	cancel()
	retry(t, func() bool { return len(failures(t, fast)) == 0 })
	stop()
	for {
		if _, err := held.Recv(); err != nil {
			if errors.Is(err, io.EOF) {
				t.Error("found the end of a stream, expected an error: the server ended before it")
			}
			return
		}
	}
}

// failures returns the error of a small request, or "".
func failures(t *testing.T, c flight.Client) string {
	if err := failure(t, c, `{"seeds":[1]}`); !errors.Is(err, io.EOF) {
		return err.Error()
	}
	return ""
}

func retry(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(time.Millisecond) { // between two looks, and against a hang
		if time.Now().After(end) { // against a hang
			t.Fatal("found a condition that does not come true")
		}
	}
}

func TestBadOptions(t *testing.T) {
	src := source(t)
	for _, o := range []Options{{Streams: 1, MaxMessage: 1}, {Threads: 1, MaxMessage: 1}, {Threads: 1, Streams: 1}, {Threads: 1, Streams: 1, MaxMessage: MostMessage + 1}} {
		if _, err := NewServer(answer.Version{Plans: []answer.Plan{{Source: src}}}, o); err == nil {
			t.Errorf("%+v: found no error", o)
		}
	}
}

// A listener that fails ends the server with its error.
func TestListenerFails(t *testing.T) {
	s, err := NewServer(answer.Version{Plans: []answer.Plan{{Source: source(t)}}}, Options{Threads: 1, Streams: 1, MaxMessage: 1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := s.Serve(t.Context(), l); err == nil {
		t.Error("found no error of a closed listener")
	}
}
