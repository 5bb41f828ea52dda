//go:build unix

package feed

import (
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// lines collects what a log says.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) say(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

// wait is the lines as soon as there are n of them.
func (l *lines) wait(t *testing.T, n int) []string {
	t.Helper()
	for range 6000 {
		l.mu.Lock()
		all := slices.Clone(l.all)
		l.mu.Unlock()
		if len(all) >= n {
			return all
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
	t.Fatalf("found fewer than %d lines in the log", n)
	return nil
}

// logged starts a server with a log.
func logged(t *testing.T, src *Source) (*lines, readyLine, net.Conn, chan error) {
	t.Helper()
	log := &lines{}
	ours, theirs := lifelines(t)
	ended := serving(src, NewOwners(t.Context(), theirs, nil, NewLog(log.say)))
	return log, told(t, ours), ours, ended
}

// A client that violates the protocol gets the reason, its connection ends, and the log names its process and the reason.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, want string
		do         func(c *client, r readyLine)
	}{
		{"no JSON", "reading the greeting", func(c *client, _ readyLine) { _, _ = c.Write([]byte("hello")) }},
		{"long greeting", "found a packet of 5000 bytes, expected at most 4096", func(c *client, _ readyLine) { _, _ = c.Write(make([]byte, 5000)) }},
		{"token", "found a wrong token", func(c *client, r readyLine) { c.send(hello{Version: r.Version, Token: "x", World: 1, Slots: 3}) }},
		{"version", "found a client of protocol version 99", func(c *client, r readyLine) { c.send(hello{Version: 99, Token: r.Token, World: 1, Slots: 3}) }},
		{"slots", "found 1073741824 slots", func(c *client, r readyLine) {
			c.send(hello{Version: r.Version, Token: r.Token, World: 1, Slots: 1 << 30})
		}},
		{"slot bytes", "found slots of 9223372036854775807 bytes", func(c *client, r readyLine) {
			c.send(hello{Version: r.Version, Token: r.Token, World: 1, Slots: 3, SlotBytes: math.MaxInt64})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, ready, lifeline, ended := logged(t, source(t, Features{}, false))
			client := dial(t, ready)
			c.do(client, ready)
			if p := client.next(); p.kind != msgError || !strings.Contains(p.text, c.want) {
				t.Errorf("found %d, %q, expected an error with %q", p.kind, p.text, c.want)
			}
			if line := log.wait(t, 1)[0]; !strings.Contains(line, fmt.Sprintf("process %d", os.Getpid())) || !strings.Contains(line, c.want) {
				t.Errorf("found %q in the log, expected the process and %q", line, c.want)
			}
			end(t, lifeline, ended)
		})
	}
}

// A client that asks for batches and neither reads nor gives slots back is cut off before what waits for it takes memory.
func TestSamplesThatWait(t *testing.T) {
	log, ready, lifeline, ended := logged(t, source(t, Features{}, false))
	c := connect(t, ready, hello{Slots: 3})
	seeds := make([]int64, 10_000)
	_ = c.SetWriteDeadline(time.Now().Add(time.Minute)) // against a hang
	packet := request{kind: reqSample, seeds: seeds}
	for sent := 0; ; sent += packet.bytes() {
		if sent > 2*mostAsked {
			t.Fatalf("found %d bytes of requests accepted, expected at most about %d", sent, mostAsked)
		}
		if err := c.try(reqSample, 0, 0, 0, seeds...); err != nil {
			break
		}
	}
	if line := log.wait(t, 1)[0]; !strings.Contains(line, "SAMPLE requests") {
		t.Errorf("found %q in the log, expected the reason", line)
	}
	other := connect(t, ready, hello{})
	other.request(reqStart, 0, 0, 0)
	if p := other.next(); p.kind != msgBatch {
		t.Errorf("found message %d, expected a batch", p.kind)
	}
	end(t, lifeline, ended)
}

// A client that connected and sent nothing does not delay the end of the server.
func TestEndWithSilentClients(t *testing.T) {
	_, ready, lifeline, ended := logged(t, source(t, Features{}, false))
	for range 20 {
		dial(t, ready)
	}
	time.Sleep(50 * time.Millisecond) // until they are accepted
	end(t, lifeline, ended)
}

// Lines above the rate are counted, and the number follows.
func TestLogRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &lines{}
		log := NewLog(all.say)
		for range 100 {
			log.Client("c", os.ErrInvalid)
		}
		if n := len(all.all); n != mostLines {
			t.Errorf("found %d lines, expected %d per second", n, mostLines)
		}
		time.Sleep(time.Second)
		log.Client("d", os.ErrInvalid)
		if got := all.all[len(all.all)-2:]; !strings.Contains(got[0], "left out ") || got[1] != "client d: invalid argument" {
			t.Errorf("found %q, expected the number of lines that were left out, and the line", got)
		}
	})
}
