//go:build unix

package feed

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/metrics"
)

// counted is a value of a set.
func counted(t *testing.T, set *metrics.Set, name string) float64 {
	t.Helper()
	var b bytes.Buffer
	set.Write(&b)
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindSubmatch(b.Bytes())
	if m == nil {
		t.Fatalf("found no %s in\n%s", name, b.Bytes())
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A feed counts its batches, and for how long its client held all slots: it then waits for the client. A client that wants nothing waits for nothing.
func TestCounts(t *testing.T) {
	src := source(t, Features{}, false)
	ours, theirs := lifelines(t)
	set := metrics.New()
	ended := make(chan error, 1)
	go func() {
		owners := NewOwners(t.Context(), theirs, nil, nil)
		err := Serve(src, Options{Threads: 2, Metrics: set, HTTP: "127.0.0.1:9"}, owners)
		owners.Close()
		ended <- err
	}()
	ready := told(t, ours)
	if ready.HTTP != "127.0.0.1:9" {
		t.Errorf("found the address %q of health and metrics, expected the one that was given", ready.HTTP)
	}
	c := connect(t, ready, hello{Slots: 3})
	c.request(reqStart, 0, 0, 0)
	var held []packet
	bytes := uint64(0)
	for range 3 {
		p := c.next()
		held = append(held, p)
		bytes += p.bytes
	}
	const waits = `graphmill_feed_waits_seconds_total{for=%q}`
	for client := fmt.Sprintf(waits, "client"); counted(t, set, client) < 0.01; {
		time.Sleep(time.Millisecond) // the time that is counted
	}
	for name, want := range map[string]float64{"graphmill_batches_total": 3, "graphmill_batch_bytes_total": float64(bytes), "graphmill_batches_failed_total": 0, "graphmill_clients": 1} {
		if got := counted(t, set, name); got != want {
			t.Errorf("%s: found %g, expected %g", name, got, want)
		}
	}
	if n := counted(t, set, "graphmill_batch_seconds_count"); n < 3 {
		t.Errorf("found %g batches with a time, expected 3 or more", n)
	}
	for _, p := range held {
		c.request(reqReturn, p.slot, p.gen, 0)
	}
	made := 3
	for p := c.next(); p.kind != msgEnd; p = c.next() {
		made++
		c.request(reqReturn, p.slot, p.gen, 0)
	}
	if got := counted(t, set, "graphmill_batches_total"); got != float64(made) {
		t.Errorf("found %g batches, expected %d", got, made)
	}
	before := counted(t, set, fmt.Sprintf(waits, "batches"))
	if after := counted(t, set, fmt.Sprintf(waits, "batches")); after != before {
		t.Errorf("found a client that waits %g s longer after the end of its epoch, expected none", after-before)
	}
	end(t, ours, ended)
}
