//go:build unix

package feed

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// twin is a source in memory and a streamed one of batches of 16 of 500 seeds, shuffled, with columns.
func twin(t *testing.T, s *store.Store, fsys vfs.FS, window int) (mem, stream *Source) {
	t.Helper()
	p, err := sample.FromFanouts(s.Graph, sample.Fanouts{Each: []int{4, 3}}, sample.FanoutOptions{SeedType: []string{"b"}, Scope: sample.ScopeBatch})
	if err != nil {
		t.Fatal(err)
	}
	job := sample.Job{BatchSize: 16, Seed: 9, Shuffle: true}
	for v := range uint32(500) {
		job.Seeds = append(job.Seeds, v)
	}
	mem, stream, end, err := sources(fsys, s, p, job, Features{Nodes: map[string][]string{"a": {"x"}, "b": {"k"}}}, false,
		outofcore.Options{Threads: 2, Window: window, Slots: 3, Epochs: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return mem, stream
}

// same compares a batch with the batch of a source in memory.
func (c *client) same(mem *Source, p packet, epoch uint64) {
	c.t.Helper()
	if p.kind != msgBatch && p.kind != msgJumbo {
		c.t.Fatalf("found message %d (%s), expected a batch", p.kind, p.text)
	}
	want, err := inMemory(mem, Pass{Epoch: epoch, First: int(p.seq), Step: int(p.seq) + 1, End: int(p.seq) + 1, Epochs: 1})
	if err != nil {
		c.t.Fatal(err)
	}
	of := p
	of.gen, of.run, of.bytes, of.data = 0, 0, uint64(len(want[0].bytes)), want[0].bytes
	wanted := c.columns(of)
	for name, got := range c.columns(p) {
		if !bytes.Equal(got, wanted[name]) {
			c.t.Fatalf("epoch %d, batch %d, column %s: found other bytes than in memory", epoch, p.seq, name)
		}
	}
}

// back returns the slot of a batch.
func (c *client) back(p packet) {
	if p.kind == msgBatch || p.kind == msgJumbo {
		c.request(reqReturn, p.slot, p.gen, 0)
	}
}

// A client of a streamed source gets the batches of memory, however it starts epochs, breaks them off and holds slots, as one
// worker of several, and whether batches fit a slot or not.
func TestStreamedClients(t *testing.T) {
	s := rowStore(t)
	for _, window := range []int{1, 5, 40} {
		mem, stream := twin(t, s, vfs.OS, window)
		ready, lifeline, ended := owner(t, stream)
		r := rand.New(rand.NewPCG(1, uint64(window)))
		for _, h := range []hello{{}, {Rank: 1, World: 3, Slots: 5}, {SlotBytes: 1, Slots: 3}, {Rank: 1, World: 2, Worker: 1, Workers: 2}, {Tail: "drop"}, {Rank: 60, World: 100, Tail: "short"}} {
			c := connect(t, ready, h)
			tail, err := ParseTail(h.Tail)
			if err != nil {
				t.Fatal(err)
			}
			world, step := max(h.World, 1), max(h.World, 1)*max(h.Workers, 1)
			epoch, run := uint64(0), uint64(0)
			for range 6 {
				first := 0
				switch r.IntN(4) {
				case 0: // another epoch
					epoch = r.Uint64N(3)
				case 1: // from another batch
					first = r.IntN(mem.Batches() + 1)
				}
				run++
				c.request(reqStart, 0, uint64(first), epoch)
				leave := -1
				if r.IntN(3) == 0 {
					leave = r.IntN(4)
				}
				b, end := first+h.Rank+world*h.Worker, stream.End(tail.Of(world), first, world)
				var held []packet
				for n := 0; n != leave; {
					p := c.next()
					if p.run != run { // of a pass that was left
						c.back(p)
						continue
					}
					if b >= end {
						if p.kind != msgEnd {
							t.Fatalf("found message %d (%s) after the last batch, expected the end", p.kind, p.text)
						}
						break
					}
					if p.seq != uint64(b) {
						t.Fatalf("found batch %d (%s), expected %d", p.seq, p.text, b)
					}
					c.same(mem, p, epoch)
					if held = append(held, p); len(held) > r.IntN(2) {
						for _, p := range held {
							c.request(reqReturn, p.slot, p.gen, 0)
						}
						held = nil
					}
					b += step
					n++
				}
				for _, p := range held {
					c.request(reqReturn, p.slot, p.gen, 0)
				}
				epoch++
			}
			_ = c.Close()
		}
		end(t, lifeline, ended)
	}
}

// Clients that leave at any time, and owners that end with them, leave no goroutine and no lease behind.
func TestStreamedLeave(t *testing.T) {
	_, stream := twin(t, rowStore(t), vfs.OS, 2)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		ready, lifeline, ended := owner(t, stream)
		c := connect(t, ready, hello{Slots: 3})
		c.request(reqStart, 0, 0, r.Uint64N(2))
		for range r.IntN(4) {
			p := c.next()
			c.request(reqReturn, p.slot, p.gen, 0)
		}
		if r.IntN(2) == 0 {
			_ = c.Close()
		}
		end(t, lifeline, ended)
	}
}

// Seeds that are asked for are refused, and the epoch goes on.
func TestStreamedSample(t *testing.T) {
	mem, stream := twin(t, rowStore(t), vfs.OS, 4)
	ready, lifeline, ended := owner(t, stream)
	c := connect(t, ready, hello{})
	c.request(reqSample, 0, 1, 2, 3)
	if p := c.next(); p.kind != msgError || p.seq != 1 || p.run != 0 || !strings.Contains(p.text, "take the memory executor") {
		t.Errorf("found message %d %q, expected a refusal", p.kind, p.text)
	}
	c.request(reqStart, 0, 0, 4)
	c.same(mem, c.next(), 4)
	end(t, lifeline, ended)
}

// The memory of a source is for the workers of one DataLoader: one more stream is refused, until one of them ends.
func TestStreamedShares(t *testing.T) {
	mem, stream := twin(t, rowStore(t), vfs.OS, 4)
	stream.wait = 50 * time.Millisecond
	ready, lifeline, ended := owner(t, stream)
	var workers []*client
	for i := range 2 {
		c := connect(t, ready, hello{Worker: i, Workers: 2})
		c.request(reqStart, 0, 0, 0)
		c.same(mem, c.next(), 0)
		workers = append(workers, c)
	}
	other := connect(t, ready, hello{})
	other.request(reqStart, 0, 0, 0)
	if p := other.next(); p.kind != msgError || !strings.Contains(p.text, "which have all of memory") {
		t.Errorf("found message %d %q, expected a refusal", p.kind, p.text)
	}
	for _, c := range workers {
		_ = c.Close()
	}

	for { // the workers end soon
		other.request(reqStart, 0, 0, 0)
		p := other.next()
		if p.kind == msgBatch {
			other.same(mem, p, 0)
			break
		}
	}
	end(t, lifeline, ended)
}

// A batch whose turn never comes, because an earlier one has failed, does not wait for it.
func TestLeaseEnds(t *testing.T) {
	c := &conn{run: &run{until: 2}, free: []int{0}}
	c.wake.L = &c.mu
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error)
	go func() { waits <- c.lease(ctx, &swept{}, 0, 1) }()
	cancel()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the end of the context", err)
	}
}

// A read that fails is the error of the batch that needs it, and the same epoch can start again.
func TestStreamedFault(t *testing.T) {
	s, failed := rowStore(t), 0
	for at := int64(1); at < 60; at += 7 {
		fault := &vfs.Fault{FS: vfs.OS, Err: errors.New("the disk is broken")}
		mem, stream := twin(t, s, fault, 3)
		fault.FailAt = fault.Calls() + at
		ready, lifeline, ended := owner(t, stream)
		c := connect(t, ready, hello{})
		for run := uint64(1); run < 3; run++ {
			c.request(reqStart, 0, 0, 7)
			for b := uint64(0); ; b++ {
				p := c.next()
				for p.run != run {
					c.back(p)
					p = c.next()
				}
				if p.kind == msgError && run == 1 {
					if p.seq != b || !strings.Contains(p.text, "the disk is broken") {
						t.Fatalf("found %q at batch %d, expected the error of the disk at batch %d", p.text, p.seq, b)
					}
					failed++
					break
				}
				if p.kind == msgEnd {
					break
				}
				c.same(mem, p, 7)
				c.back(p)
			}
		}
		end(t, lifeline, ended)
	}
	if failed == 0 {
		t.Error("found no run that failed")
	}
}
