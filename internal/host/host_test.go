package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/sample"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ring is a ring of four nodes with a column, whose edges have one, too.
func ring(t testing.TB) (*graph.Graph, *sample.Sampler) {
	t.Helper()
	e, err := graph.ParseEdgeType("user:follows:user")
	if err != nil {
		t.Fatal(err)
	}
	x := &graph.Column{Name: "x", DType: graph.Uint32, Shape: []int{}, Rows: 4, Values: graph.Bytes([]uint32{10, 11, 12, 13})}
	w := &graph.Column{Name: "w", DType: graph.Float32, Shape: []int{2}, Rows: 4, Values: graph.Bytes([]float32{0, 1, 2, 3, 4, 5, 6, 7})}
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "user", Count: 4, Columns: []*graph.Column{x}}}, Edges: []*graph.Edges{{Type: e, Count: 4, Primary: graph.In, Columns: []*graph.Column{w},
		Adj: [2]*graph.Adjacency{{Indptr: graph.Index{U32: []uint32{0, 1, 2, 3, 4}}, Far: graph.Index{U32: []uint32{1, 2, 3, 0}}}}}}}
	p, err := sample.FromFanouts(g, sample.Fanouts{Each: []int{2, 2}}, sample.FanoutOptions{SeedType: []string{"user"}, Scope: sample.ScopeBatch, Expand: sample.ExpandNew})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sample.New(g, p, sample.Options{Given: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return g, s
}

// hello is the Hello of a loader of ring.
func hello(t testing.TB, s *sample.Sampler) Hello {
	t.Helper()
	plan, err := s.Plan().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return Hello{Store: "sum", Plan: plan, Nodes: map[string][]string{"user": {"x"}}, Edges: map[string][]string{"user:follows:user": {"w"}}}
}

// serveRing answers one connection as part of parts of ring, and returns its other end. It has ended when the test ends.
func serveRing(t testing.TB, g *graph.Graph, o ServerOptions) net.Conn {
	t.Helper()
	o.Store, o.Threads, o.Connections = "sum", 1, 1
	s, err := NewServer(g, o)
	if err != nil {
		t.Fatal(err)
	}
	here, there := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.serve(ctx, there) })
	t.Cleanup(func() {
		cancel()
		_ = here.Close()
		running.Wait()
	})
	return here
}

// ask sends bytes, and returns the frame that answers them.
func ask(t testing.TB, c net.Conn, sent []byte) (kind uint32, body []byte) {
	t.Helper()
	var sending sync.WaitGroup
	sending.Go(func() { _, _ = c.Write(sent) }) // a server that refuses need not read all
	kind, body, err := readFrame(c, noRoom, mostAnswer, false)
	if err != nil {
		t.Fatalf("found %v, expected an answer", err)
	}
	if kind == kindFailure {
		_ = c.Close()
	}
	sending.Wait()
	return kind, body
}

// frame is a frame.
func frame(kind uint32, parts ...[]byte) []byte {
	return endFrame(append(newFrame(nil, kind), bytes.Join(parts, nil)...))
}

// words are numbers of 32 bits.
func words(list ...uint32) []byte { return graph.Bytes(list) }

// Every violation of the protocol, and every question that a host cannot answer, gets a failure that says why.
func TestServerRefuses(t *testing.T) {
	g, s := ring(t)
	greet := func(change func(h *Hello)) []byte {
		h := hello(t, s)
		change(&h)
		f, err := jsonFrame(kindHello, magic, h)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	good := greet(func(*Hello) {})
	draws := appendDrawsHead(nil, 1, 7, sample.IntTime(0))
	for name, c := range map[string]struct {
		hello, question []byte
		want            string
	}{
		"another protocol": {hello: []byte("GET / HTTP/1.1\r\n\r\n"), want: "found a greeting of another protocol"},
		"huge":             {hello: append([]byte{0xff, 0xff, 0xff, 0xff}, words(kindHello)...), want: "found a greeting of another protocol"},
		"no magic":         {hello: frame(kindHello, []byte("GMHOST9\n{}")), want: "found a greeting of another protocol or version"},
		"no JSON":          {hello: frame(kindHello, []byte(magic+"{")), want: "reading the greeting"},
		"no token":         {hello: greet(func(h *Hello) { h.Token = "other" }), want: "found another token"},
		"store":            {hello: greet(func(h *Hello) { h.Store = "other" }), want: "found a loader of the store other, expected sum"},
		"plan":             {hello: greet(func(h *Hello) { h.Plan = json.RawMessage(`{}`) }), want: "the plan of the loader"},
		"column":           {hello: greet(func(h *Hello) { h.Nodes["user"] = []string{"y"} }), want: "expected a column of the store with numbers"},
		"kind":             {hello: good, question: frame(kindWelcome), want: "found a frame of kind 2"},
		"unknown kind":     {hello: good, question: frame(9), want: "found a frame of kind 9"},
		"short head":       {hello: good, question: frame(kindDraws, words(1, 1)), want: "found a section of draws that is not whole"},
		"no such op":       {hello: good, question: frame(kindDraws, appendDrawsHead(nil, 3, 7, sample.IntTime(0))), want: "or op 3, expected one of 2 ops"},
		"fewer nodes":      {hello: good, question: frame(kindDraws, bytes.Replace(draws, words(1, 0), words(1, 5), 1), words(0)), want: "found a section of draws that is not whole"},
		"other's node":     {hello: good, question: frame(kindDraws, bytes.Replace(draws, words(1, 0), words(1, 1), 1), words(3)), want: "found node 3, expected one of 0 to 2"},
		"short rows":       {hello: good, question: frame(kindRows, words(ofNodes, 0, 9, 4), words(0)), want: "found a section of rows that is not whole"},
		"no such type":     {hello: good, question: frame(kindRows, words(ofEdges, 1, 0, 4)), want: "or of no type of the store"},
		"other's row":      {hello: good, question: frame(kindRows, words(ofNodes, 0, 1, 8), words(2, 0)), want: "found the row 2, expected one of 0 to 2"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := serveRing(t, g, ServerOptions{Part: 0, Parts: 2})
			kind, body := ask(t, conn, c.hello)
			if c.question != nil {
				if kind != kindWelcome {
					t.Fatalf("found %s, expected a welcome", body)
				}
				kind, body = ask(t, conn, c.question)
			}
			if kind != kindFailure || !strings.Contains(string(body), c.want) {
				t.Errorf("found frame %d with %s, expected a failure with %q", kind, body, c.want)
			}
		})
	}
}

// The bytes of answers are those of docs/format-hosts.md.
func TestServerAnswers(t *testing.T) {
	g, s := ring(t)
	conn := serveRing(t, g, ServerOptions{Part: 0, Parts: 1})
	first, err := jsonFrame(kindHello, magic, hello(t, s))
	if err != nil {
		t.Fatal(err)
	}
	kind, body := ask(t, conn, first)
	if want := `{"part":0,"parts":1,"edges":{"user:follows:user":[0,4]}}`; kind != kindWelcome || string(body) != want {
		t.Errorf("found %s, expected %s", body, want)
	}
	section := func(op int, nodes ...uint32) []byte {
		head := appendDrawsHead(nil, op, 7, sample.IntTime(0))
		binary.LittleEndian.PutUint32(head[4:], uint32(len(nodes)))
		return append(head, words(nodes...)...)
	}
	for _, c := range []struct{ sent, want []byte }{
		{frame(kindDraws, section(1, 0, 3)), words(1, 1, 1, 0, 0, 3)}, // counts, far ends, ids
		{frame(kindDraws, section(1, 2), section(2, 1)), words(1, 3, 2, 1, 2, 1)},
		{frame(kindDraws), nil},
		{frame(kindRows, words(ofNodes, 0, 2, 4, 3, 0), words(ofEdges, 0, 1, 8, 2, 0)), append(words(13, 10), graph.Bytes([]float32{4, 5})...)},
	} {
		if kind, got := ask(t, conn, c.sent); kind != binary.LittleEndian.Uint32(c.sent[4:]) || !bytes.Equal(got, c.want) {
			t.Errorf("found frame %d with %v, expected %v", kind, got, c.want)
		}
	}
}

// Each member of a type has one host, also where hosts have none.
func TestBounds(t *testing.T) {
	for count := range 40 {
		for n := 1; n < 50; n++ {
			b := Bounds(count, n)
			if err := checkBounds("a", b, count); err != nil || len(b) != n+1 {
				t.Fatalf("found bounds %v of %d nodes and %d hosts: %v", b, count, n, err)
			}
			o := owners{b}
			for v := range uint64(count) {
				if h := o.of(v); b[h] > v || v >= b[h+1] {
					t.Fatalf("found host %d of %d, expected the one whose range of %v has it", h, v, b)
				}
			}
		}
	}
	if b := Bounds(math.MaxUint32, MostHosts); b[MostHosts] != math.MaxUint32 || !slices.IsSorted(b) {
		t.Errorf("found %v, expected ascending bounds", b)
	}
}

// cutting is a listener that cuts its first connections, each after a number of bytes that it has sent.
type cutting struct {
	net.Listener
	after []int
}

// cut is a connection that closes itself once it has sent a number of bytes.
type cut struct {
	net.Conn
	left int
}

func (l *cutting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil && len(l.after) > 0 {
		c = &cut{c, l.after[0]}
		l.after = l.after[1:]
	}
	return c, err
}

func (c *cut) Write(b []byte) (int, error) {
	if len(b) >= c.left {
		_, _ = c.Conn.Write(b[:c.left])
		return 0, errors.Join(io.ErrClosedPipe, c.Close())
	}
	c.left -= len(b)
	return c.Conn.Write(b)
}

// A connection that ends at any byte of a welcome or an answer is opened again, and the question is asked again.
func TestSessionAsksAgain(t *testing.T) {
	g, s := ring(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, err := NewServer(g, ServerOptions{Store: "sum", Parts: 1, Threads: 1, Connections: 8})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { server.Serve(ctx, &cutting{l, []int{1, 9, 1 << 20, 66, 70, 75}}) })
	defer running.Wait()
	defer cancel()
	var said []string
	client, err := Dial(t.Context(), g, hello(t, s), Options{Addresses: []string{l.Addr().String()}, Patience: time.Hour, Say: func(line string) { said = append(said, line) }})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	x := NewSampling(client, s)
	if err := x.Fetch([]sample.Input{{Seeds: []uint32{2}}}); err != nil {
		t.Fatal(err)
	}
	sub, err := x.Sample(0)
	if err != nil || !slices.Equal(sub.Nodes[0], []uint32{2, 3, 0}) || !slices.Equal(sub.Edges[0].ID.U32, []uint32{2, 3}) {
		t.Errorf("found nodes %v and edges %v, %v, expected those of the ring", sub.Nodes, sub.Edges, err)
	}
	if text := strings.Join(said, "\n"); !strings.Contains(text, "waiting for the host") || !strings.Contains(text, "answers again") {
		t.Errorf("found %q, expected lines about the host", text)
	}
}

// A host that does not come back is named once patience has ended.
func TestSessionGivesUp(t *testing.T) {
	g, s := ring(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), g, hello(t, s), Options{Addresses: []string{address}}); err == nil || !strings.Contains(err.Error(), "host "+address+": found no answer for 0s, expected one; start the host again") {
		t.Errorf("found %v, expected the host that does not answer", err)
	}
}

// Any question is answered or refused.
func FuzzQuestion(f *testing.F) {
	g, s := ring(f)
	h := hello(f, s)
	plan, share := h.Plan, newShare(g, 0, 2)
	for _, q := range [][]byte{nil, append(appendDrawsHead(nil, 1, 1, sample.FloatTime(2)), words(0)...), words(ofNodes, 0, 2, 4, 1, 0), words(ofEdges, 0, 1, 8, 1, 0), words(1, 0xffffffff)} {
		f.Add(uint32(kindDraws), q)
		f.Add(uint32(kindRows), q)
	}
	d, err := newDrawer(g, share, plan)
	if err != nil {
		f.Fatal(err)
	}
	columns, err := newRowColumns(g, &h)
	if err != nil {
		f.Fatal(err)
	}
	c := d.sampler.NewContext()
	f.Fuzz(func(t *testing.T, kind uint32, b []byte) {
		fuzzing.Check(t, len(b), func() {
			if kind == kindDraws {
				_, _ = d.draws(c, &drawn{}, b, nil)
			} else {
				_, _ = columns.rows(share, b, nil)
			}
		})
	})
}

// Any answer is taken or refused, and what is taken makes a subgraph.
func FuzzAnswer(f *testing.F) {
	g, s := ring(f)
	f.Add(words(1, 1, 1, 2, 0, 1), words(13, 10))
	f.Add(words(2, 0, 1, 2, 0, 1), words(13))
	f.Add(words(0xffffffff, 1), []byte(nil))
	f.Add(words(1, 1, 4, 2, 0, 9), words(1, 2, 3))
	f.Fuzz(func(t *testing.T, draws, rows []byte) {
		fuzzing.Check(t, len(draws)+len(rows), func() {
			client := &Client{addresses: []string{"a"}, nodes: []owners{{Bounds(4, 1)}}, edges: []owners{{Bounds(4, 1)}}}
			x := NewSampling(client, s)
			x.inputs = []sample.Input{{Seeds: []uint32{0, 1}}}
			x.ops[1].asked.add(0)
			x.ops[1].asked.add(1)
			x.posts[0].frame = newFrame(nil, kindDraws)
			x.post(1)
			if x.take(&x.posts[0], draws) == nil {
				x.follow(1)
				x.ops[2].asked.reset() // the second op has no answers
				_, _ = x.Sample(0)
			}
			r := NewRows(client)
			table := r.NodeTable(0)
			c := table.Column(g.Nodes[0].Columns[0])
			table.Want(nil, graph.Index{U32: []uint32{3, 0, 3}})
			table.columns[0].buf = make([]byte, 8)
			r.posts[0].frame = newFrame(nil, kindRows)
			r.post(table)
			if err := r.posts[0].take(rows); (err == nil) != (len(rows) == 8) {
				t.Errorf("found %v of %d bytes of %s, expected 8", err, len(rows), c.Name)
			}
		})
	})
}
