//go:build unix

package feed

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// owner starts a server and holds its lifeline.
func owner(t *testing.T, src *Source) (ready readyLine, lifeline net.Conn, ended chan error) {
	t.Helper()
	lifeline, theirs := lifelines(t)
	ended = serving(src, NewOwners(t.Context(), theirs, nil, nil))
	return told(t, lifeline), lifeline, ended
}

// lifelines is both ends of a lifeline.
func lifelines(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, end := range []*net.Conn{&ours, &theirs} {
		lifeline, err := Lifeline(fds[i])
		if err != nil {
			t.Fatal(err)
		}
		*end = lifeline.(net.Conn)
	}
	return ours, theirs
}

// serving starts a server. What Serve returns is sent when it has ended.
func serving(src *Source, owners *Owners) chan error {
	ended := make(chan error, 1)
	go func() {
		err := Serve(src, Options{Threads: 2}, owners)
		owners.Close()
		ended <- err
	}()
	return ended
}

// told is the line on a lifeline.
func told(t *testing.T, lifeline net.Conn) (ready readyLine) {
	t.Helper()
	if err := json.NewDecoder(lifeline).Decode(&ready); err != nil {
		t.Fatal(err)
	}
	return ready
}

// end closes the lifeline and waits for the server.
func end(t *testing.T, lifeline net.Conn, ended chan error) {
	t.Helper()
	_ = lifeline.Close()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("found %v, expected a server that ends without an error", err)
		}
	case <-time.After(time.Minute): // against a hang
		t.Fatal("found a server that goes on without its lifeline")
	}
}

// client is the other end, written as any program may write it.
type client struct {
	t *testing.T
	*net.UnixConn
	welcome
	ring []byte
}

func dial(t *testing.T, r readyLine) *client {
	t.Helper()
	c, err := dialed(r.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &client{t: t, UnixConn: c}
}

func connect(t *testing.T, r readyLine, h hello) *client {
	t.Helper()
	c := dial(t, r)
	h.Version, h.Token = r.Version, r.Token
	h.World, h.Slots = max(h.World, 1), max(h.Slots, 3)
	c.send(h)
	body, fd := c.receive()
	if fd < 0 {
		t.Fatalf("found %q, expected a welcome", body)
	}
	if err := json.Unmarshal(body, &c.welcome); err != nil {
		t.Fatal(err)
	}
	c.ring = mapped(t, fd, int(c.SlotBytes)*c.Slots)
	return c
}

func mapped(t *testing.T, fd, n int) []byte {
	t.Helper()
	b, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(fd)
	t.Cleanup(func() { _ = unix.Munmap(b) })
	return b
}

// Write sends a packet.
func (c *client) Write(p []byte) (int, error) { return c.UnixConn.Write(framed(p)) }

func (c *client) send(v any) {
	b, err := json.Marshal(v)
	if err == nil {
		_, err = c.Write(b)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) request(kind, slot uint32, a, b uint64, seeds ...int64) {
	if err := c.try(kind, slot, a, b, seeds...); err != nil {
		c.t.Fatal(err)
	}
}

// try sends a request to a server that may have closed the connection.
func (c *client) try(kind, slot uint32, a, b uint64, seeds ...int64) error {
	p := binary.LittleEndian.AppendUint32(nil, kind)
	p = binary.LittleEndian.AppendUint32(p, slot)
	p = binary.LittleEndian.AppendUint64(p, a)
	p = binary.LittleEndian.AppendUint64(p, b)
	for _, s := range seeds {
		p = binary.LittleEndian.AppendUint64(p, uint64(s))
	}
	_, err := c.Write(p)
	return err
}

func (c *client) receive() ([]byte, int) {
	c.t.Helper()
	buf, oob := make([]byte, 1<<16), make([]byte, 128)
	_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // against a hang
	buf, oob, err := packetOf(c.UnixConn, buf, oob)
	if err != nil {
		c.t.Fatal(err)
	}
	if len(oob) == 0 {
		return buf, -1
	}
	m, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		c.t.Fatal(err)
	}
	fds, err := unix.ParseUnixRights(&m[0])
	if err != nil {
		c.t.Fatal(err)
	}
	return buf, fds[0]
}

// packet is a message of the server.
type packet struct {
	kind, slot uint32
	ticket
	bytes uint64
	text  string
	data  []byte // of a batch
}

func (c *client) next() packet {
	c.t.Helper()
	b, fd := c.receive()
	p := packet{kind: binary.LittleEndian.Uint32(b), slot: binary.LittleEndian.Uint32(b[4:]), text: string(b[messageBytes:])}
	p.gen, p.seq = binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	p.bytes, p.run = binary.LittleEndian.Uint64(b[24:]), binary.LittleEndian.Uint64(b[32:])
	switch {
	case p.kind == msgJumbo:
		p.data = mapped(c.t, fd, int(p.bytes))
	case p.kind == msgBatch:
		p.data = c.ring[int64(p.slot)*c.SlotBytes:][:p.bytes]
	}
	return p
}

// columns reads a batch by the names of WELCOME.
func (c *client) columns(p packet) map[string][]byte {
	c.t.Helper()
	words := graph.View[uint64](p.data[:8*(headerWords+columnWords*len(c.Columns))])
	if words[0] != magic || words[1] != p.gen || words[2] != p.seq || words[3] != p.bytes || words[5] != uint64(len(c.Columns)) || words[6] != p.run {
		c.t.Fatalf("found header %v, expected that of %+v", words[:headerWords], p.ticket)
	}
	out := map[string][]byte{}
	for i, info := range c.Columns {
		d, err := graph.ParseDType(info.DType)
		if err != nil {
			c.t.Fatal(err)
		}
		width := d.Size()
		for _, s := range info.Shape {
			width *= s
		}
		at, rows := words[headerWords+2*i], words[headerWords+2*i+1]
		if at%alignment != 0 {
			c.t.Fatalf("column %s: found offset %d, expected a multiple of %d", info.Name, at, alignment)
		}
		out[info.Name] = p.data[at:][:rows*uint64(width)]
	}
	return out
}

// check compares a batch with the subgraph of the sampler for its seeds.
func (c *client) check(src *Source, p packet, epoch uint64, seeds []uint32, unit uint64) {
	c.t.Helper()
	got := c.columns(p)
	x := src.sampler.NewContext()
	sub, err := x.Sample(sample.Input{Seeds: seeds, Seed: src.job.Seed, Epoch: epoch, Unit: unit})
	if err != nil {
		c.t.Fatal(err)
	}
	ints := func(name string, want []uint32) {
		c.t.Helper()
		wide := make([]int64, len(want))
		for i, v := range want {
			wide[i] = int64(v)
		}
		if g := graph.View[int64](got[name]); !slices.Equal(g, wide) {
			c.t.Errorf("batch %d, column %s: found %v, expected %v", p.seq, name, g, wide)
		}
	}
	g := src.sampler.Graph()
	ints("seed_local", sub.SeedLocal)
	for t, n := range g.Nodes {
		ints("nodes/"+n.Type+"/n_id", sub.Nodes[t])
		ints("nodes/"+n.Type+"/by_hop", sub.NodesByHop[t])
		if features, ok := got["nodes/"+n.Type+"/x/x"]; ok {
			for i, v := range sub.Nodes[t] {
				if want := n.Columns[1].Row(int(v)); !slices.Equal(features[i*12:(i+1)*12], want) {
					c.t.Fatalf("batch %d, node %d of %s: found other features", p.seq, i, n.Type)
				}
			}
		}
	}
	for t, e := range g.Edges {
		at := "edges/" + e.Type.String() + "/"
		ints(at+"edge_index", slices.Concat(sub.Edges[t].Src, sub.Edges[t].Dst))
		ints(at+"by_hop", sub.EdgesByHop[t])
		var want []uint32
		for _, id := range sub.Edges[t].ID.U32 {
			want = append(want, graph.View[uint32](e.Columns[0].Values)[id])
		}
		ints(at+"e_id", want)
	}
	for k, o := range sub.Ops {
		if _, ok := got["ops/1/frontier"]; ok {
			ints(fmt.Sprintf("ops/%d/frontier", k+1), o.Frontier)
			ints(fmt.Sprintf("ops/%d/edge_index", k+1), slices.Concat(o.Src, o.Dst))
			ints(fmt.Sprintf("ops/%d/indptr", k+1), indptrOf(src.sampler, sub, k))
		}
	}
}

// indptrOf is where the edges of op k (from 0) begin for each destination that was found before its hop, counted one by one; empty if
// they are not in this order.
func indptrOf(s *sample.Sampler, sub *sample.Subgraph, k int) []uint32 {
	g, p := s.Graph(), s.Plan()
	t, _ := g.EdgeType(p.Ops[k].Edges)
	n := 0
	for _, found := range sub.NodesByHop[g.NodeType(g.Edges[t].Type.Dst)][:p.OpHops()[k+1]] {
		n += int(found)
	}
	dst := sub.Ops[k].Dst
	if !slices.IsSorted(dst) || slices.ContainsFunc(dst, func(d uint32) bool { return int(d) >= n }) {
		return nil
	}
	ptr := make([]uint32, n+1)
	for i := range ptr {
		for _, d := range dst {
			if int(d) < i {
				ptr[i]++
			}
		}
	}
	return ptr
}

// seedsOf is the seeds of a batch, by the law of orders.
func seedsOf(src *Source, epoch uint64, b int) (seeds []uint32) {
	n := uint64(len(src.job.Seeds))
	o := draw.NewOrder(n, draw.Key(src.job.Seed, epoch, draw.OrderWord))
	for i := b * src.job.BatchSize; i < min((b+1)*src.job.BatchSize, int(n)); i++ {
		seeds = append(seeds, src.job.Seeds[o.At(uint64(i))])
	}
	return seeds
}

// Every rank gets its batches in order, equal to the sampler's, and an END after the last, whether they fit a
// slot or not and whether tables were copied or not.
func TestEpoch(t *testing.T) {
	defer func(n int) { leastTable = n }(leastTable)
	leastTable = 1
	for _, c := range []struct {
		ops    bool
		memory int64
	}{{false, 0}, {false, 6000}, {true, 0}, {true, 1 << 20}} {
		src := source(t, Features{Nodes: map[string][]string{"user": {"x"}, "item": {"x"}}}, c.ops)
		defer src.Close()
		src.Load(c.memory, func() {})
		src.loading.Wait()
		if copied := len(src.tables.frees); (copied > 0) != (c.memory > 0) || (copied == 4) != (c.memory == 1<<20) {
			t.Errorf("%d bytes: found %d of 4 tables copied", c.memory, copied)
		}
		ready, lifeline, ended := owner(t, src)
		for _, h := range []hello{{}, {Rank: 1, World: 3, Slots: 5}, {SlotBytes: 1, Slots: 3}, {Rank: 60, World: 100}, {Rank: 60, World: 100, Tail: "short"}, {Tail: "drop"}} {
			c := connect(t, ready, h)
			for epoch := range uint64(2) {
				c.request(reqStart, 0, 0, epoch)
				want := 0
				for _, b := range numbersOf(src, h, 0) {
					p := c.next()
					if p.kind != msgBatch && p.kind != msgJumbo || p.seq != uint64(b) || p.run != epoch+1 {
						t.Fatalf("found message %d of batch %d and run %d (%s), expected batch %d of run %d", p.kind, p.seq, p.run, p.text, b, epoch+1)
					}
					c.check(src, p, epoch, seedsOf(src, epoch, b%src.Batches()), uint64(b))
					c.request(reqReturn, p.slot, p.gen, 0)
					want++
				}
				if p := c.next(); p.kind != msgEnd || want != c.Batches {
					t.Fatalf("found message %d after %d batches, expected the end after %d", p.kind, want, c.Batches)
				}
			}
			_ = c.Close()
		}
		end(t, lifeline, ended)
	}
}

// numbersOf is the batches of an epoch that a rank gets from first on, computed as in the reference.
func numbersOf(src *Source, h hello, first int) (numbers []int) {
	world, n := max(h.World, 1), src.Batches()
	tail := h.Tail
	switch {
	case tail == "drop":
		n = src.Seeds() / src.job.BatchSize
	case tail == "" && world > 1:
		tail = "fill"
	}
	for b := first + h.Rank; ; b += world {
		step := b - h.Rank // each rank takes one of the next batches
		if tail == "fill" && step >= n || tail == "drop" && step+world > n || tail != "fill" && b >= n {
			return numbers
		}
		numbers = append(numbers, b)
	}
}

// For any number of seeds, batch size, world and tail, every rank gets its share of an epoch, from any batch on, and
// its workers take turns.
func TestShares(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		job := sample.Job{BatchSize: rapid.IntRange(1, 40).Draw(r, "size"), Seed: 4, Shuffle: true}
		for v := range uint32(rapid.IntRange(0, 130).Draw(r, "seeds")) {
			job.Seeds = append(job.Seeds, v)
		}
		src := planned(t, testGraph(), sample.FanoutOptions{SeedType: []string{"user"}, Scope: sample.ScopeBatch}, job, Features{})
		defer src.Close()
		ready, lifeline, ended := owner(t, src)
		defer end(t, lifeline, ended)
		h := hello{World: rapid.IntRange(1, 5).Draw(r, "world"), Tail: rapid.SampledFrom([]string{"", "short", "fill", "drop"}).Draw(r, "tail")}
		first := rapid.IntRange(0, src.Batches()+h.World-1).Draw(r, "first")
		lens := map[int]bool{}
		for h.Rank = range h.World {
			numbers := numbersOf(src, h, first)
			lens[len(numbers)] = true
			h.Workers = rapid.IntRange(0, 3).Draw(r, "workers")
			for h.Worker = range max(h.Workers, 1) {
				c := connect(t, ready, h)
				if whole := numbersOf(src, h, 0); c.Batches != len(whole) || c.Total != len(numbersOf(src, hello{Tail: h.Tail}, 0)) {
					t.Fatalf("found %d batches of %d, expected %d", c.Batches, c.Total, len(whole))
				}
				c.request(reqStart, 0, uint64(first), 2)
				for i := h.Worker; i < len(numbers); i += max(h.Workers, 1) {
					b := numbers[i]
					p := c.next()
					if p.kind != msgBatch || p.seq != uint64(b) {
						t.Fatalf("%+v from %d: found message %d of batch %d, expected batch %d", h, first, p.kind, p.seq, b)
					}
					c.check(src, p, 2, seedsOf(src, 2, b%src.Batches()), uint64(b))
					c.request(reqReturn, p.slot, p.gen, 0)
				}
				if p := c.next(); p.kind != msgEnd {
					t.Fatalf("%+v from %d: found batch %d, expected the end after %v", h, first, p.seq, numbers)
				}
				_ = c.Close()
			}
		}
		if h.Tail != "short" && len(lens) > 1 {
			t.Fatalf("%+v from %d: found ranks with %v batches, expected equal numbers", h, first, lens)
		}
	})
}

// A type that no op reaches has columns without rows, so that the columns depend only on the graph.
func TestColumnsOfEveryType(t *testing.T) {
	names := func(fanouts sample.Fanouts) (names []string) {
		g := testGraph()
		p, err := sample.FromFanouts(g, fanouts, sample.FanoutOptions{SeedType: []string{"user"}, Scope: sample.ScopeBatch})
		if err != nil {
			t.Fatal(err)
		}
		s, err := sample.New(g, p, sample.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		src, err := NewSource(s, sample.Job{BatchSize: 16, Seeds: []uint32{1, 2}}, Features{Nodes: map[string][]string{"item": {"x"}}}, false)
		if err != nil {
			t.Fatal(err)
		}
		m := src.Maker()
		if _, err := m.Batch(src.Epoch(0), 0, 0); err != nil {
			t.Fatal(err)
		}
		for i, c := range src.Columns() {
			names = append(names, c.Name)
			if strings.HasPrefix(c.Name, "nodes/item/") && !strings.HasSuffix(c.Name, "/by_hop") && len(fanouts.Types) > 0 && m.Rows(i) != 0 {
				t.Errorf("%s: found %d rows of a type that is not reached, expected none", c.Name, m.Rows(i))
			}
		}
		return names
	}
	all, one := names(sample.Fanouts{Each: []int{4}}), names(sample.Fanouts{Types: []sample.TypeFanouts{{Edges: "follows", Hops: []int{4}}}})
	if !slices.Equal(one, all) || !slices.Contains(one, "nodes/item/x/x") {
		t.Errorf("found columns %q of a plan that reaches one type, expected %q", one, all)
	}
}

// A batch does not change until it is released, for any number of later batches.
func TestLease(t *testing.T) {
	src := source(t, Features{}, false)
	ready, lifeline, ended := owner(t, src)
	c := connect(t, ready, hello{Slots: 3})
	c.request(reqStart, 0, 0, 0)
	kept := c.next()
	before := slices.Clone(kept.data)
	for range 10 {
		p := c.next()
		c.request(reqReturn, p.slot, p.gen, 0)
	}
	if !slices.Equal(before, kept.data) {
		t.Error("found a batch that changed while it was held")
	}
	// All slots are leased: no batch comes until one is released.
	a, b := c.next(), c.next()
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // time for a wrong packet
	if n, err := c.Read(make([]byte, 100)); err == nil {
		t.Errorf("found a packet of %d bytes with every slot held", n)
	}
	c.request(reqReturn, a.slot, a.gen, 0)
	if p := c.next(); p.slot != a.slot || p.seq != b.seq+1 {
		t.Errorf("found batch %d in slot %d, expected batch %d in slot %d", p.seq, p.slot, b.seq+1, a.slot)
	}
	end(t, lifeline, ended)
}

// A START drops the batches under way. SAMPLE may come at any time.
func TestStartAgainAndSample(t *testing.T) {
	src := source(t, Features{}, false)
	ready, lifeline, ended := owner(t, src)
	c := connect(t, ready, hello{Slots: 4})
	run := uint64(0)
	for epoch := range uint64(20) {
		c.request(reqStart, 0, 5, epoch)
		run++
		for taken := 0; taken < int(epoch)%4; {
			p := c.next()
			if p.run == run {
				if p.seq != uint64(5+taken) {
					t.Fatalf("found batch %d, expected %d", p.seq, 5+taken)
				}
				c.check(src, p, epoch, seedsOf(src, epoch, 5+taken), p.seq)
				taken++
			}
			c.request(reqReturn, p.slot, p.gen, 0)
		}
	}
	c.request(reqStart, 0, uint64(src.Batches()), 0) // an epoch without batches
	run++
	for {
		p := c.next()
		if p.kind == msgEnd && p.run == run {
			break
		}
		c.request(reqReturn, p.slot, p.gen, 0)
	}
	c.request(reqSample, 0, 77, 3, 5, 9, 5, 499)
	p := c.next()
	c.check(src, p, 3, []uint32{5, 9, 5, 499}, 77)
	c.request(reqReturn, p.slot, p.gen, 0)
	c.request(reqSample, 0, 0, 0, 500)
	if p := c.next(); p.kind != msgError || !strings.Contains(p.text, "found node 500, expected 0 to 499") {
		t.Errorf("found message %d %q, expected an error", p.kind, p.text)
	}
	c.request(reqSample, 0, 0, 0, 1)
	if p := c.next(); p.kind != msgBatch {
		t.Errorf("found message %d %q, expected a batch after the error", p.kind, p.text)
	}
	end(t, lifeline, ended)
}

// When all batches of an epoch are under way, the next epoch begins. It is sent when it is requested, and gives its
// slots up for other requests.
func TestNextEpoch(t *testing.T) {
	src := source(t, Features{}, false)
	ready, lifeline, ended := owner(t, src)
	c := connect(t, ready, hello{Slots: 3})
	run := uint64(0)
	epoch := func(number, from uint64) {
		t.Helper()
		run++
		c.request(reqStart, 0, from, number)
		for b := from; b < uint64(src.Batches()); b++ {
			p := c.next()
			if p.kind != msgBatch || p.seq != b || p.run != run {
				t.Fatalf("found message %d of batch %d and run %d (%s), expected batch %d of run %d", p.kind, p.seq, p.run, p.text, b, run)
			}
			c.check(src, p, number, seedsOf(src, number, int(b)), b)
			c.request(reqReturn, p.slot, p.gen, 0)
		}
		if p := c.next(); p.kind != msgEnd {
			t.Fatalf("found message %d, expected the end", p.kind)
		}
	}
	begun := func() {
		t.Helper()
		for slot := range c.Slots {
			header := graph.View[uint64](c.ring[int64(slot)*c.SlotBytes:][:8*headerWords])
			for until := time.Now().Add(time.Minute); atomic.LoadUint64(&header[6]) != run+1; time.Sleep(time.Millisecond) { // between two looks, and against a hang
				if time.Now().After(until) { // against a hang
					t.Fatalf("found slot %d without a batch of the next epoch", slot)
				}
			}
		}
	}
	epoch(0, 0)
	begun()
	epoch(1, 0) // the epoch that was begun
	begun()
	epoch(7, 0) // another epoch
	begun()
	epoch(8, 5) // the epoch that was begun, from another batch
	begun()
	c.request(reqSample, 0, 77, 3, 5, 9)
	p := c.next()
	c.check(src, p, 3, []uint32{5, 9}, 77)
	c.request(reqReturn, p.slot, p.gen, 0)
	epoch(9, 0)
	end(t, lifeline, ended)
}

// A violation of the protocol is answered with an error, and ends only the connection of that client.
func TestBadClients(t *testing.T) {
	src := source(t, Features{}, false)
	ready, lifeline, ended := owner(t, src)
	good := connect(t, ready, hello{})
	for name, test := range map[string]struct {
		h    hello
		want string
	}{
		"token":   {hello{Version: ProtocolVersion, Token: "x", World: 1, Slots: 1}, "wrong token"},
		"version": {hello{Version: ProtocolVersion + 1, Token: ready.Token, World: 1, Slots: 1}, "protocol version 3"},
		"rank":    {hello{Version: ProtocolVersion, Token: ready.Token, World: 1, Rank: 1, Slots: 1}, "rank 1 of 1"},
		"world":   {hello{Version: ProtocolVersion, Token: ready.Token, World: 1 << 62, Slots: 1}, "a world of"},
		"worker":  {hello{Version: ProtocolVersion, Token: ready.Token, World: 1, Worker: 2, Workers: 2, Slots: 1}, "worker 2 of 2"},
		"tail":    {hello{Version: ProtocolVersion, Token: ready.Token, World: 1, Tail: "pad", Slots: 1}, "expected one of short, fill, drop"},
		"slots":   {hello{Version: ProtocolVersion, Token: ready.Token, World: 1, Slots: 1 << 20}, "slots"},
		"bytes":   {hello{Version: ProtocolVersion, Token: ready.Token, World: 1, Slots: 1, SlotBytes: 1 << 50}, "slots of"},
	} {
		c := dial(t, ready)
		c.send(test.h)
		if p := c.next(); p.kind != msgError || !strings.Contains(p.text, test.want) {
			t.Errorf("%s: found %q, expected an error with %q", name, p.text, test.want)
		}
	}
	for name, f := range map[string]func(c *client){
		"short packet": func(c *client) { _, _ = c.Write([]byte{1, 2, 3}) },
		"unknown type": func(c *client) { c.request(99, 0, 0, 0) },
		"slot":         func(c *client) { c.request(reqReturn, 1000, 0, 0) },
		"not leased":   func(c *client) { c.request(reqReturn, 0, 0, 0) },
		"start":        func(c *client) { c.request(reqStart, 0, 1<<60, 0) },
		"odd seeds":    func(c *client) { _, _ = c.Write(append(message(reqSample, 0, ticket{}, 0)[:requestBytes], 1)) },
	} {
		c := connect(t, ready, hello{})
		f(c)
		if p := c.next(); p.kind != msgError || !strings.Contains(p.text, codeProtocol) {
			t.Errorf("%s: found message %d %q, expected an error of the protocol", name, p.kind, p.text)
		}
	}
	good.request(reqStart, 0, 0, 0)
	if p := good.next(); p.kind != msgBatch {
		t.Errorf("found message %d, expected the good client to go on", p.kind)
	}
	end(t, lifeline, ended)
}

func TestBadSources(t *testing.T) {
	src := source(t, Features{}, false)
	for want, f := range map[string]Features{
		`no column "y" of nodes/user`: {Nodes: map[string][]string{"user": {"y"}}},
		"string rows":                 {Nodes: map[string][]string{"user": {"s"}}},
		`node type "dog"`:             {Nodes: map[string][]string{"dog": {"x"}}},
		`edge type "follows"`:         {Edges: map[string][]string{"follows": {"x"}}},
	} {
		if _, err := NewSource(src.sampler, src.job, f, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected an error with %q", err, want)
		}
	}
	job := src.job
	job.BatchSize = 0
	if _, err := NewSource(src.sampler, job, Features{}, false); err == nil {
		t.Error("found no error for batches of 0")
	}
}
