package feed

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/host"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/sampletest"
)

// hosting are hosts of a graph on this machine.
type hosting struct {
	addresses []string
	stop      context.CancelFunc
	running   sync.WaitGroup
}

// startHosts starts n hosts of a graph.
func startHosts(t testing.TB, g *graph.Graph, n int) *hosting {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	h := &hosting{stop: cancel}
	for part := range n {
		s, err := host.NewServer(g, host.ServerOptions{Store: "sum", Part: part, Parts: n, Threads: 2, Connections: 64})
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		h.addresses = append(h.addresses, l.Addr().String())
		h.running.Go(func() { s.Serve(ctx, l) })
	}
	return h
}

func (h *hosting) close() {
	h.stop()
	h.running.Wait()
}

// Batches of any number of hosts have the bytes of batches of the whole store, on graphs with empty types, first hops that draw nothing, weights, times, links and
// negatives.
func TestHostedEqualsWhole(t *testing.T) {
	dir, taken := t.TempDir(), 0
	rapid.Check(t, func(r *rapid.T) {
		s := sampletest.Sparse(t, r, dir)
		defer sampletest.Drop(t, s)
		p, job := sampletest.SparseCase(r, s.Graph)
		if p.CanGive(s.Graph) != nil {
			return
		}
		ops := p.Scope != sample.ScopeSeed && rapid.Bool().Draw(r, "ops")
		f := Features{Nodes: map[string][]string{}, Edges: map[string][]string{}, NoEdgeIDs: rapid.Bool().Draw(r, "no edge ids")}
		for _, n := range s.Graph.Nodes {
			if rapid.Bool().Draw(r, "born") {
				f.Nodes[n.Type] = []string{"born"}
			}
		}
		for _, e := range s.Graph.Edges {
			f.Edges[e.Type.String()] = rapid.SampledFrom([][]string{nil, {"t"}, {"w", "t"}}).Draw(r, "columns")
		}
		whole, err := sample.New(s.Graph, p, sample.Options{Ops: ops})
		if err != nil {
			t.Fatal(err)
		}
		defer whole.Close()
		want, err := NewSource(whole, job, f, ops)
		if err != nil {
			r.Skip(err) // a job that no loader has
		}
		defer want.Close()
		hosts := startHosts(t, s.Graph, rapid.SampledFrom([]int{1, 2, 3, 7}).Draw(r, "hosts"))
		defer hosts.close()
		given, err := sample.New(s.Graph, p, sample.Options{Ops: ops, Given: true})
		if err != nil {
			t.Fatal(err)
		}
		defer given.Close()
		client, err := DialHosts(t.Context(), given, &f, "sum", "", host.Options{Addresses: hosts.addresses, Patience: time.Minute})
		if err != nil && strings.Contains(err.Error(), "expected them, because a host builds no direction") {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		got, err := NewHostedSource(client, given, job, f, ops)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		taken++
		a, b := want.Maker(), got.Maker()
		for epoch := range uint64(2) {
			order := want.Epoch(epoch)
			for n := range want.Batches() {
				size, err := a.Batch(order, epoch, n)
				other, errHosted := b.Batch(order, epoch, n)
				if err != nil || errHosted != nil {
					if err == nil || errHosted == nil || err.Error() != errHosted.Error() {
						t.Fatalf("epoch %d, batch %d: found %v of hosts and %v of the whole store", epoch, n, errHosted, err)
					}
					continue
				}
				x, y := graph.Bytes(make([]uint64, (size+7)/8))[:size], graph.Bytes(make([]uint64, (other+7)/8))[:other]
				a.Write(x, uint64(n))
				b.Write(y, uint64(n))
				if !bytes.Equal(x, y) {
					t.Fatalf("epoch %d, batch %d: found other bytes of hosts than of the whole store", epoch, n)
				}
			}
		}
	})
	if t.Logf("hosts took %d plans", taken); taken == 0 {
		t.Error("found no plan that hosts take, expected some")
	}
}
