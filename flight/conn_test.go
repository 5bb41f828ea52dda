package flight

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/graphmill/graphmill/internal/answer"
	"github.com/graphmill/graphmill/internal/feed"
)

// lines collects what a log says.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) log() *feed.Log {
	return feed.NewLog(func(line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, line)
	})
}

// has waits for a line with both texts.
func (l *lines) has(t *testing.T, client, reason string) {
	t.Helper()
	for range 6000 {
		l.mu.Lock()
		all := slices.Clone(l.all)
		l.mu.Unlock()
		for _, line := range all {
			if strings.Contains(line, client) && strings.Contains(line, reason) {
				return
			}
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
	t.Fatalf("found %q in the log, expected a line with %q and %q", l.all, client, reason)
}

// raw is a connection that sends what it is given.
func raw(t *testing.T, address, first string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := c.Write([]byte(first)); err != nil {
		t.Fatal(err)
	}
	return c
}

// begun sends the headers of a call, and no request.
func begun(t *testing.T, address, method string) net.Conn {
	t.Helper()
	c := raw(t, address, http2.ClientPreface)
	f := http2.NewFramer(c, c)
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", "/arrow.flight.protocol.FlightService/" + method}, {":authority", "x"}, {"content-type", "application/grpc"}, {"te", "trailers"}} {
		if err := e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.WriteSettings(), f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true})); err != nil {
		t.Fatal(err)
	}
	return c
}

// A client of another protocol is refused, and the log names its address and the reason.
func TestRefusals(t *testing.T) {
	config, pool := selfSigned(t)
	for _, c := range []struct {
		name   string
		o      Options
		do     func(t *testing.T, address string) net.Conn
		reason string
	}{
		{"HTTP/1", Options{}, func(t *testing.T, address string) net.Conn {
			return raw(t, address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		}, `found a greeting of "GET / HTTP/1.1`},
		{"TLS to plain text", Options{}, func(t *testing.T, address string) net.Conn {
			c := raw(t, address, "")
			go func() {
				_ = c.SetDeadline(time.Now().Add(5 * time.Second)) // so that the client ends
				_ = tls.Client(c, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}).HandshakeContext(context.Background())
			}()
			return c
		}, "expected that of HTTP/2"},
		{"plain text to TLS", Options{TLS: config}, func(t *testing.T, address string) net.Conn {
			return raw(t, address, http2.ClientPreface)
		}, "first record does not look like a TLS handshake"},
		{"unknown authority", Options{TLS: config}, func(t *testing.T, address string) net.Conn {
			c := raw(t, address, "")
			if err := tls.Client(c, &tls.Config{ServerName: "127.0.0.1"}).HandshakeContext(t.Context()); err == nil {
				t.Error("found a handshake with a certificate that the client does not trust")
			}
			return c
		}, "bad certificate"},
		{"TLS 1.2", Options{TLS: config}, func(t *testing.T, address string) net.Conn {
			c := raw(t, address, "")
			if err := tls.Client(c, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", MaxVersion: tls.VersionTLS12}).HandshakeContext(t.Context()); err == nil {
				t.Error("found a handshake with TLS 1.2")
			}
			return c
		}, "client offered only unsupported versions"},
		{"torn greeting", Options{}, func(t *testing.T, address string) net.Conn {
			c := raw(t, address, http2.ClientPreface[:10])
			_ = c.Close()
			return c
		}, "ended in the middle of the greeting"},
		{"noise after the greeting", Options{}, func(t *testing.T, address string) net.Conn {
			return raw(t, address, http2.ClientPreface+"\xff\xff\xff\xff\xff\xff\xff\xff\xff")
		}, "the connection ended before a call"},
		{"no token", Options{Token: "correct horse battery"}, func(t *testing.T, address string) net.Conn {
			return begun(t, address, "GetFlightInfo")
		}, "Unauthenticated"},
		{"unknown method", Options{}, func(t *testing.T, address string) net.Conn {
			return begun(t, address, "DoPut")
		}, "Unimplemented"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := &lines{}
			c.o.Log = log.log()
			address, stop := start(t, source(t), c.o)
			defer stop()
			client := c.do(t, address)
			log.has(t, client.LocalAddr().String(), c.reason)
		})
	}
}

// Calls of which the request does not arrive end, whichever method they call.
func TestRequestTime(t *testing.T) {
	defer func(d time.Duration) { requestTime = d }(requestTime)
	requestTime = 50 * time.Millisecond
	log := &lines{}
	address, stop := start(t, source(t), Options{Log: log.log()})
	defer stop()
	for _, method := range []string{"GetFlightInfo", "GetSchema", "ListFlights", "DoGet"} {
		c := begun(t, address, method)
		log.has(t, c.LocalAddr().String(), "found no request within 50ms")
	}
}

// A client that takes no batch loses its stream and frees its place, and others do not notice.
func TestSendTime(t *testing.T) {
	log := &lines{}
	src := source(t)
	address, stop := start(t, src, Options{Log: log.log(), SendTime: 100 * time.Millisecond, Streams: 1})
	defer stop()
	stalled := dialSlow(t, address)
	first, err := stalled.DoGet(t.Context(), &flight.Ticket{Ticket: []byte(`{"world":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	log.has(t, "127.0.0.1", "found a client that took no batch for 100ms")
	second, err := dial(t, address).DoGet(t.Context(), &flight.Ticket{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; err == nil; n++ {
		_, err = second.Recv()
	}
	if !errors.Is(err, io.EOF) || n != 1+src.Batches()+1 {
		t.Errorf("found %v after %d messages, expected all batches", err, n)
	}
	for err = nil; err == nil; {
		_, err = first.Recv()
	}
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("found %v, expected an error about the time", err)
	}
}

// Connections above the bound are closed at once, and ones that end make room.
func TestMostConnections(t *testing.T) {
	log := &lines{}
	s, err := NewServer(answer.Version{Plans: []answer.Plan{{Source: source(t)}}}, Options{Threads: 1, Streams: 1, MaxMessage: 1 << 20, Log: log.log()})
	if err != nil {
		t.Fatal(err)
	}
	s.connections = 3
	l, err := Listen(t.Context(), "127.0.0.1:0", s.options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	var open []net.Conn
	for range 3 {
		open = append(open, raw(t, l.Addr().String(), ""))
	}
	late := raw(t, l.Addr().String(), "")
	_ = late.SetReadDeadline(time.Now().Add(time.Minute)) // against a hang
	if _, err := late.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("found %v, expected the end of a connection above the bound", err)
	}
	log.has(t, late.LocalAddr().String(), "found 3 connections open")
	for _, c := range open {
		_ = c.Close()
	}
	client := dial(t, l.Addr().String())
	if _, err := client.GetFlightInfo(t.Context(), &flight.FlightDescriptor{Type: flight.DescriptorCMD}, grpc.WaitForReady(true)); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Clients that sent nothing, half a greeting, or half a call do not delay the end of the server.
func TestEndWithSilentClients(t *testing.T) {
	address, stop := start(t, source(t), Options{})
	for range 5 {
		raw(t, address, "")
		raw(t, address, http2.ClientPreface[:5])
		raw(t, address, http2.ClientPreface)
		begun(t, address, "DoGet")
	}
	time.Sleep(50 * time.Millisecond) // until they are accepted
	begin := time.Now()
	stop()
	if d := time.Since(begin); d > time.Minute { // against a hang
		t.Errorf("found an end after %s, expected one at once", d)
	}
}

// A client without the token cannot make the server keep its requests.
func TestMemoryWithoutToken(t *testing.T) {
	config, pool := selfSigned(t)
	address, stop := start(t, source(t), Options{Token: "correct horse battery", TLS: config})
	defer stop()
	client := dial(t, address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool})))
	d := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: bytes.Repeat([]byte(" "), maxRequest-100)}
	call := func() {
		if _, err := client.GetFlightInfo(t.Context(), d); status.Code(err) != codes.Unauthenticated {
			t.Fatalf("found %v, expected %s", err, codes.Unauthenticated)
		}
	}
	call()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 50 {
		call()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Error(fmt.Errorf("found %d more bytes in use after 50 calls, expected at most 4 MiB", grown))
	}
}
