package clients

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/credentials"

	"github.com/graphmill/graphmill/internal/proof"
)

// dial connects without TLS.
func (s *server) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(time.Minute)) // against a hang
	return c
}

// spoken sends bytes, and closes the connection.
func (s *server) spoken(t *testing.T, b []byte) {
	t.Helper()
	c := s.dial(t)
	_, _ = c.Write(b)
	_ = c.Close()
}

// headers is the headers of a call.
func headers(method string, more ...[2]string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for _, h := range append([][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", flightService + method}, {":authority", "x"}, {"content-type", "application/grpc"}, {"te", "trailers"}}, more...) {
		_ = e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]})
	}
	return b.Bytes()
}

// called is the bytes of a connection with one call, whose request is given with the prefix of gRPC.
func called(method string, request []byte, more ...[2]string) []byte {
	var b bytes.Buffer
	b.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&b, nil)
	_ = f.WriteSettings()
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: headers(method, more...), EndHeaders: true})
	for len(request) > 0 {
		n := min(len(request), 16<<10)
		_ = f.WriteData(1, n == len(request), request[:n])
		request = request[n:]
	}
	return b.Bytes()
}

// prefixed is a message with the prefix of gRPC, which may lie about the length.
func prefixed(length uint32, message string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, length), message...)
}

// ticket is a Ticket with a request.
func ticket(request string) []byte {
	m := append([]byte{0x0a, byte(len(request))}, request...)
	return prefixed(uint32(len(m)), string(m))
}

var serverAttacks = []attack[*server]{
	{"calls cut at every byte", "", func(t *testing.T, s *server, _ *rand.Rand) {
		whole := called("DoGet", ticket(`{"epoch":0}`))
		for n := range len(whole) {
			s.spoken(t, whole[:n])
		}
	}},
	{"calls with a changed byte", "", func(t *testing.T, s *server, r *rand.Rand) {
		whole := called("DoGet", ticket(`{"epoch":0}`))
		for range proof.Count(t, 300, 20_000) {
			b := bytes.Clone(whole)
			b[r.IntN(len(b))] = byte(r.Uint32())
			s.spoken(t, b)
		}
	}},
	{"noise", "expected that of HTTP/2", func(t *testing.T, s *server, r *rand.Rand) {
		for i := range proof.Count(t, 300, 20_000) {
			b := make([]byte, 24+r.IntN(500))
			for j := range b {
				b[j] = byte(r.Uint32())
			}
			if i%2 == 0 {
				b = append([]byte(http2.ClientPreface), b...)
			}
			s.spoken(t, b)
		}
	}},
	{"lengths that lie", "", func(t *testing.T, s *server, _ *rand.Rand) {
		for _, request := range [][]byte{
			prefixed(math.MaxUint32, "x"), prefixed(1<<31, ""), prefixed(1<<20+1, strings.Repeat("x", 1<<16)), {1, 0, 0, 0, 1, 0}, {9, 0, 0, 0, 0},
			prefixed(12, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), ticket(`{"first":9223372036854775807}`), ticket(`{"world":9223372036854775807,"rank":5}`),
			ticket(`{"seeds":[9223372036854775807]}`), ticket(`{"epoch":99999999999999999999}`), ticket(strings.Repeat("[", 120)), ticket(`{"version":7}`),
		} {
			for _, method := range []string{"DoGet", "GetFlightInfo", "DoPut"} {
				c := s.dial(t)
				_, _ = c.Write(called(method, request))
				_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond)) // so that the attack goes on
				_, _ = c.Read(make([]byte, 1<<16))
				_ = c.Close()
			}
		}
	}},
	{"frames that lie", "", func(t *testing.T, s *server, _ *rand.Rand) {
		for _, frame := range [][]byte{
			{0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1}, {0xff, 0xff, 0xff, 1, 4, 0, 0, 0, 1}, {0, 0, 0, 9, 0, 0, 0, 0, 1}, {0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff}, {0, 0, 5, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		} {
			var b bytes.Buffer
			b.WriteString(http2.ClientPreface)
			_ = http2.NewFramer(&b, nil).WriteSettings()
			s.spoken(t, append(b.Bytes(), frame...))
		}
	}},
	{"headers without end", "", func(t *testing.T, s *server, _ *rand.Rand) {
		var b bytes.Buffer
		b.WriteString(http2.ClientPreface)
		f := http2.NewFramer(&b, nil)
		_ = f.WriteSettings()
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: headers("DoGet")})
		for range 2000 {
			_ = f.WriteContinuation(1, false, bytes.Repeat([]byte{0x00, 1, 'a', 1, 'b'}, 1000))
		}
		s.spoken(t, b.Bytes())
	}},
	{"streams that are reset at once", "", func(t *testing.T, s *server, _ *rand.Rand) {
		c := s.dial(t)
		defer c.Close()
		go func() { _, _ = c.Read(make([]byte, 1<<16)) }()
		var b bytes.Buffer
		b.WriteString(http2.ClientPreface)
		f := http2.NewFramer(&b, nil)
		_ = f.WriteSettings()
		for i := range uint32(proof.Count(t, 2000, 100_000)) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: headers("DoGet"), EndHeaders: true})
			_ = f.WriteRSTStream(2*i+1, http2.ErrCodeCancel)
		}
		_, _ = c.Write(b.Bytes())
	}},
	{"more streams than a connection may have", "", func(t *testing.T, s *server, _ *rand.Rand) {
		c := s.dial(t)
		var b bytes.Buffer
		b.WriteString(http2.ClientPreface)
		f := http2.NewFramer(&b, nil)
		_ = f.WriteSettings()
		for i := range uint32(1000) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: headers("DoGet"), EndHeaders: true})
		}
		_, _ = c.Write(b.Bytes())
		time.Sleep(200 * time.Millisecond) // so that the server works on them
		_ = c.Close()
	}},
	{"pings and settings without end", "", func(t *testing.T, s *server, _ *rand.Rand) {
		var b bytes.Buffer
		b.WriteString(http2.ClientPreface)
		f := http2.NewFramer(&b, nil)
		for range 5000 {
			_ = f.WriteSettings()
			_ = f.WritePing(false, [8]byte{})
		}
		s.spoken(t, b.Bytes())
	}},
	{"clients that come and go", "", func(t *testing.T, s *server, _ *rand.Rand) {
		whole := called("DoGet", ticket("{}"))
		for i := range proof.Count(t, 400, 20_000) {
			s.spoken(t, [][]byte{nil, []byte(http2.ClientPreface), whole, called("GetFlightInfo", prefixed(0, ""))}[i%4])
		}
	}},
	{"clients that leave in the middle of an answer", "", func(t *testing.T, s *server, r *rand.Rand) {
		whole := called("DoGet", ticket("{}"))
		for range proof.Count(t, 50, 2000) {
			c := s.dial(t)
			_, _ = c.Write(whole)
			_, _ = c.Read(make([]byte, 1+r.IntN(60_000)))
			if r.IntN(2) == 0 {
				_ = c.(*net.TCPConn).SetLinger(0)
			}
			_ = c.Close()
		}
	}},
	{"clients that read nothing", "", func(t *testing.T, s *server, _ *rand.Rand) {
		var all []net.Conn
		for range 10 {
			c := s.dial(t)
			_, _ = c.Write(called("DoGet", ticket("{}")))
			all = append(all, c)
		}
		time.Sleep(300 * time.Millisecond) // so that the server works on them
		for _, c := range all {
			_ = c.Close()
		}
	}},
	{"clients that send a byte at a time", "found no whole greeting within 10s", func(t *testing.T, s *server, _ *rand.Rand) {
		var running sync.WaitGroup
		for range 20 {
			running.Go(func() {
				c := s.dial(t)
				defer c.Close()
				start := time.Now()
				for i := range len(http2.ClientPreface) {
					if _, err := c.Write([]byte(http2.ClientPreface[i : i+1])); err != nil {
						break
					}
					_ = c.SetReadDeadline(time.Now().Add(time.Second)) // so that the attack goes on
					if _, err := c.Read(make([]byte, 1)); err != nil && !isTimeout(err) {
						if d := time.Since(start); d > time.Minute { // against a hang
							t.Errorf("found an end after %s, expected one after 10 s", d)
						}
						return
					}
				}
				t.Error("found a greeting that took 24 s accepted, expected an end after 10 s")
			})
		}
		running.Wait()
	}},
	{"clients that send nothing", "", func(t *testing.T, s *server, _ *rand.Rand) { gathered(t, s, "") }},
	{"clients that are greeted and send nothing", "", func(t *testing.T, s *server, _ *rand.Rand) {
		gathered(t, s, http2.ClientPreface+"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	}},
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// gathered opens 1,500 connections (300 in the short form), and checks what they take.
func gathered(t *testing.T, s *server, first string) {
	t.Helper()
	open(t)
	const bound = 128 << 10
	before := s.usage(t)
	n := proof.Count(t, 300, 1500)
	for range n {
		c := s.dial(t)
		defer c.Close()
		_, _ = c.Write([]byte(first))
	}
	time.Sleep(300 * time.Millisecond) // so that the server comes to rest
	now := s.usage(t)
	each := (now.resident - before.resident) / int64(n)
	if each > bound {
		t.Errorf("found %d bytes of memory per idle connection, expected at most %d", each, bound)
	}
	t.Logf("%d connections: %d bytes of memory and %d descriptors each, %d threads", n, each, (now.files-before.files)/n, now.threads)
}

// A server without TLS survives its clients.
func TestFlight(t *testing.T) {
	t.Parallel()
	s := startServer(t, randomStore(t, t.TempDir()), "--streams", "64")
	for range 3 {
		if _, err := s.epoch(); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(100 * time.Millisecond) // so that the server comes to rest
	base := s.usage(t)
	for i, a := range serverAttacks {
		t.Run(a.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if a.reason != "" {
				nextSecond() // the log has a few lines per second
			}
			epochs := witness(ctx, t, s.epoch)
			a.do(t, s, proof.Random(t, uint64(i)))
			cancel()
			n := epochs()
			s.returns(t, base, 128<<20)
			if a.reason != "" {
				s.named(t, "client 127.0.0.1:", a.reason)
			}
			t.Logf("the good client read %d epochs", n)
		})
	}
	s.idle(t)
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.over(t)
	if s.ProcessState.ExitCode() != 0 {
		t.Errorf("found %s, expected the end without an error:\n%s", s.ProcessState, s.stderr.String())
	}
}

// Clients without the right TLS or token get nothing, and the log names them. A certificate that ends while the server runs is
// replaced on the disk, and clients go on.
func TestFlightSecured(t *testing.T) {
	t.Parallel()
	s, name := secured(t, randomStore(t, t.TempDir()))
	if _, err := s.epoch(); err != nil {
		t.Fatal(err)
	}
	base := s.usage(t)
	good := s.client
	other := issue(t, name+"-other", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	refused := func(what, reason string) {
		t.Helper()
		if _, err := s.epoch(); err == nil {
			t.Errorf("%s: found batches, expected an error", what)
		}
		s.named(t, "client 127.0.0.1:", reason)
	}
	s.client = func() credentials.TransportCredentials { return credentials.NewTLS(&tls.Config{RootCAs: other}) }
	refused("another authority", "bad certificate")
	s.client = func() credentials.TransportCredentials {
		return credentials.NewTLS(&tls.Config{RootCAs: x509.NewCertPool(), MaxVersion: tls.VersionTLS12})
	}
	refused("TLS 1.2", "unsupported versions")
	s.client, s.token = good, false
	refused("no token", "found no token, a wrong one or several")
	s.token = true
	s.spoken(t, called("DoGet", ticket("{}")))
	s.named(t, "client 127.0.0.1:", "does not look like a TLS handshake")
	for range proof.Count(t, 200, 5000) {
		s.spoken(t, []byte{22, 3, 1, 255, 255, 1})
	}
	s.returns(t, base, 64<<20)

	ended := issue(t, name, time.Now().Add(-time.Hour), time.Now().Add(2*time.Second))
	time.Sleep(3500 * time.Millisecond) // until the certificate has ended
	s.client = func() credentials.TransportCredentials { return credentials.NewTLS(&tls.Config{RootCAs: ended}) }
	refused("a certificate that has ended", "found a certificate for the time from")
	renewed := issue(t, name, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	time.Sleep(1100 * time.Millisecond) // until the files are looked at again
	s.client = func() credentials.TransportCredentials { return credentials.NewTLS(&tls.Config{RootCAs: renewed}) }
	if _, err := s.epoch(); err != nil {
		t.Errorf("with a renewed certificate: %v", err)
	}
	s.idle(t)
	// A client that sends nothing does not delay the end.
	c := s.dial(t)
	defer c.Close()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.over(t)
}
