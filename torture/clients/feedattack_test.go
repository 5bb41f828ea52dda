package clients

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/proof"
)

// attack is what foreign clients do to a server.
type attack[S any] struct {
	name   string
	reason string // in the log, with the name of the client; "" for what is no violation
	do     func(t *testing.T, s S, r *rand.Rand)
}

var feedAttacks = []attack[*feed]{
	{"greetings cut at every byte", "reading the greeting", func(t *testing.T, f *feed, _ *rand.Rand) {
		whole := f.hello(nil)
		for n := range len(whole) {
			with(t, f, func(c *net.UnixConn) {
				if n == 0 {
					return
				}
				_, _ = c.Write(whole[:n])
				if text := reply(c); !strings.Contains(text, "protocol") {
					t.Errorf("greeting of %d bytes: found %q, expected an error", n, text)
				}
			})
		}
	}},
	{"requests cut at every byte", "found a packet of", func(t *testing.T, f *feed, _ *rand.Rand) {
		for _, whole := range [][]byte{message(2, 0, 1, 0), message(3, 0, 0, 0), append(message(4, 0, 0, 0), make([]byte, 16)...)} {
			for n := 1; n < len(whole); n++ {
				if n >= 24 && (n-24)%8 == 0 {
					continue // whole, with fewer seeds
				}
				greeted(t, f, nil, func(c *consumer) {
					_, _ = c.Write(whole[:n])
					if text := reply(c); !strings.Contains(text, "protocol") {
						t.Errorf("request of %d bytes: found %q, expected an error", n, text)
					}
				})
			}
		}
	}},
	{"greetings with hostile values", "expected", func(t *testing.T, f *feed, _ *rand.Rand) {
		for _, other := range []map[string]any{
			{"token": ""}, {"token": "x"}, {"token": strings.Repeat("x", 3000)}, {"version": 1}, {"version": 99}, {"version": -1},
			{"slots": 0}, {"slots": -1}, {"slots": 1 << 40}, {"slots": uint64(math.MaxInt64)}, {"slot_bytes": int64(math.MaxInt64)}, {"slot_bytes": -5},
			{"rank": 5}, {"rank": -1}, {"world": 0}, {"world": int64(math.MaxInt64)}, {"worker": 7}, {"workers": int64(math.MaxInt64)}, {"workers": -3, "worker": -1},
			{"tail": "x"}, {"tail": 7}, {"rank": uint64(math.MaxUint64)}, {"slots": 1e300},
		} {
			with(t, f, func(c *net.UnixConn) {
				_, _ = c.Write(f.hello(other))
				if text := reply(c); !strings.Contains(text, "protocol") {
					t.Errorf("greeting with %v: found %q, expected an error", other, text)
				}
			})
		}
	}},
	{"requests with hostile values", "expected", func(t *testing.T, f *feed, _ *rand.Rand) {
		for _, p := range [][]byte{
			message(0, 0, 0, 0), message(1, 0, 0, 0), message(99, 0, 0, 0), message(math.MaxUint32, math.MaxUint32, math.MaxUint64, math.MaxUint64),
			message(2, math.MaxUint32, 0, 0), message(2, 0, math.MaxUint64, 0), message(2, 1<<31, 1, 0), message(3, 0, 1<<63, 0), message(3, 0, math.MaxUint64, math.MaxUint64),
		} {
			greeted(t, f, nil, func(c *consumer) {
				_, _ = c.Write(p)
				if text := reply(c); !strings.Contains(text, "protocol") {
					t.Errorf("request %x: found %q, expected an error", p, text)
				}
			})
		}
	}},
	{"seeds that are no nodes", "", func(t *testing.T, f *feed, _ *rand.Rand) {
		for _, seed := range []uint64{2000, 1 << 63, math.MaxUint64, 1 << 32} {
			greeted(t, f, nil, func(c *consumer) {
				p := append(message(4, 0, math.MaxUint64, math.MaxUint64), 0, 0, 0, 0, 0, 0, 0, 0)
				for i := range 8 {
					p[24+i] = byte(seed >> (8 * i))
				}
				_, _ = c.Write(p)
				buf := make([]byte, 4096)
				n, err := c.Read(buf)
				if err != nil || !strings.Contains(string(buf[:n]), `"code":"batch"`) {
					t.Errorf("seed %d: found %q, %v, expected an error", seed, buf[:n], err)
				}
			})
		}
	}},
	{"noise", "expected", func(t *testing.T, f *feed, r *rand.Rand) {
		for i := range proof.Count(t, 200, 20_000) {
			noise := make([]byte, 4+r.IntN(200))
			for j := range noise {
				noise[j] = byte(r.Uint32())
			}
			if i%2 == 0 {
				with(t, f, func(c *net.UnixConn) { _, _ = c.Write(noise) })
				continue
			}
			greeted(t, f, nil, func(c *consumer) {
				for range 3 {
					noise[0], noise[1], noise[2], noise[3] = byte(r.IntN(6)), 0, 0, 0
					_, _ = c.Write(noise)
				}
			})
		}
	}},
	{"packets of every size", "expected", func(t *testing.T, f *feed, _ *rand.Rand) {
		for _, size := range []int{4095, 4096, 4097, 1 << 16, 200_000} {
			with(t, f, func(c *net.UnixConn) {
				_, _ = c.Write(make([]byte, size))
				_ = reply(c)
			})
			greeted(t, f, nil, func(c *consumer) {
				p := make([]byte, size)
				p[0] = 3
				_, _ = c.Write(p)
				_ = reply(c)
			})
		}
	}},
	{"clients that come and go", "", func(t *testing.T, f *feed, _ *rand.Rand) {
		for i := range proof.Count(t, 500, 20_000) {
			switch i % 4 {
			case 0:
				with(t, f, func(*net.UnixConn) {})
			case 1:
				with(t, f, func(c *net.UnixConn) { _, _ = c.Write(f.hello(nil)) })
			case 2:
				greeted(t, f, nil, func(*consumer) {})
			case 3:
				greeted(t, f, nil, func(c *consumer) { _, _ = c.Write(message(3, 0, 0, uint64(i))) })
			}
		}
	}},
	{"clients that leave in the middle of an epoch", "", func(t *testing.T, f *feed, r *rand.Rand) {
		for range proof.Count(t, 50, 2000) {
			slots := 1 + r.IntN(16)
			greeted(t, f, map[string]any{"slots": slots}, func(c *consumer) {
				_, _ = c.Write(message(3, 0, 0, r.Uint64()))
				buf := make([]byte, 4096)
				for range r.IntN(slots + 1) {
					_, _ = c.Read(buf)
				}
			})
		}
	}},
	{"clients that send nothing", "", func(t *testing.T, f *feed, _ *rand.Rand) {
		crowd(t, f, func() (any, func(), error) {
			c, err := f.dial()
			return c, func() { _ = c.Close() }, err
		})
	}},
	{"clients that are greeted and send nothing", "", func(t *testing.T, f *feed, _ *rand.Rand) {
		crowd(t, f, func() (any, func(), error) {
			c, err := f.greet(nil)
			return c, func() { _ = c.Close() }, err
		})
	}},
	{"clients that read nothing", "", func(t *testing.T, f *feed, _ *rand.Rand) {
		var all []*consumer
		for range 5 {
			c, err := f.greet(map[string]any{"slots": 1024})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = c.Write(message(3, 0, 0, 0))
			all = append(all, c)
		}
		time.Sleep(200 * time.Millisecond) // so that the feed works on them
		for _, c := range all {
			_ = c.Close()
		}
	}},
	{"clients that ask without end and read nothing", "SAMPLE requests", func(t *testing.T, f *feed, _ *rand.Rand) {
		greeted(t, f, nil, func(c *consumer) {
			p := append(message(4, 0, 0, 0), make([]byte, 80_000)...)
			_ = c.SetWriteDeadline(time.Now().Add(time.Minute)) // against a hang
			for range 1000 {
				if _, err := c.Write(p); err != nil {
					return
				}
			}
			t.Error("found 80 MB of requests accepted, expected an end")
		})
	}},
	{"rings that are cut and overwritten", "", func(t *testing.T, f *feed, r *rand.Rand) {
		for range proof.Count(t, 5, 100) {
			greeted(t, f, nil, func(c *consumer) {
				if err := syscall.Ftruncate(c.ring, 0); err == nil {
					t.Error("found a ring that a client can cut, expected a sealed size")
				}
				size := int(c.slotBytes) * c.slots
				ring, err := unix.Mmap(c.ring, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
				if err != nil {
					t.Error(err)
					return
				}
				defer unix.Munmap(ring)
				stop := make(chan struct{})
				go func() {
					defer close(stop)
					for range 20 {
						for at := 0; at < size; at += 64 {
							ring[at] = byte(r.Uint32())
						}
						_ = unix.Fallocate(c.ring, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, int64(size))
					}
				}()
				_, _ = c.Write(message(3, 0, 0, 0))
				buf := make([]byte, 4096)
				for range 20 {
					_ = c.SetReadDeadline(time.Now().Add(5 * time.Second)) // so that the attack ends
					if n, err := c.Read(buf); err != nil || n < 40 || buf[0] == 2 {
						break
					}
					p := append([]byte(nil), message(2, 0, 0, 0)...)
					copy(p[4:8], buf[4:8])
					copy(p[8:16], buf[8:16])
					_, _ = c.Write(p)
				}
				<-stop
			})
		}
	}},
	{"owners that join, write noise and die", "", func(t *testing.T, f *feed, r *rand.Rand) {
		var all []net.Conn
		for i := range proof.Count(t, 100, 5000) {
			c, err := net.Dial("unix", f.join)
			if err != nil {
				t.Fatal(err)
			}
			if i%3 == 0 {
				_, _ = c.Write(make([]byte, 1+r.IntN(100_000)))
			}
			all = append(all, c)
			if i%2 == 0 {
				j := r.IntN(len(all))
				_ = all[j].Close()
				all = append(all[:j], all[j+1:]...)
			}
		}
		for _, c := range all {
			_ = c.Close()
		}
	}},
}

// with connects, calls do, and closes the connection.
func with(t *testing.T, f *feed, do func(*net.UnixConn)) {
	t.Helper()
	c, err := f.dial()
	if err != nil {
		t.Fatal(err)
	}
	do(c)
	_ = c.Close()
}

// greeted is with for a client that is greeted.
func greeted(t *testing.T, f *feed, hello map[string]any, do func(*consumer)) {
	t.Helper()
	c, err := f.greet(hello)
	if err != nil {
		t.Fatal(err)
	}
	do(c)
	_ = c.Close()
}

// crowd opens 1,500 connections (300 in the short form), and checks what they take.
func crowd(t *testing.T, f *feed, connect func() (any, func(), error)) {
	t.Helper()
	open(t)
	const bound = 64 << 10
	before := f.usage(t)
	n := proof.Count(t, 300, 1500)
	for range n {
		_, end, err := connect()
		if err != nil {
			t.Fatal(err)
		}
		defer end()
	}
	time.Sleep(200 * time.Millisecond) // so that the feed comes to rest
	now := f.usage(t)
	if each := (now.resident - before.resident) / int64(n); each > bound {
		t.Errorf("found %d bytes of memory per idle connection, expected at most %d", each, bound)
	}
	t.Logf("%d connections: %d bytes of memory and %d descriptors each, %d threads", n, (now.resident-before.resident)/int64(n), (now.files-before.files)/n, now.threads)
}

// The feed survives its clients.
func TestFeed(t *testing.T) {
	t.Parallel()
	before := shared(t)
	f := startFeed(t, randomStore(t, t.TempDir()))
	for range 3 {
		if _, err := f.epoch(); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(100 * time.Millisecond) // so that the feed comes to rest
	base := f.usage(t)
	for i, a := range feedAttacks {
		t.Run(a.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if a.reason != "" {
				nextSecond() // the log has a few lines per second
			}
			epochs := witness(ctx, t, f.epoch)
			a.do(t, f, proof.Random(t, uint64(i)))
			cancel()
			n := epochs()
			f.returns(t, base, 64<<20)
			if a.reason != "" {
				f.named(t, fmt.Sprintf("process %d:", os.Getpid()), a.reason)
			}
			t.Logf("the good client read %d epochs", n)
		})
	}
	f.idle(t)
	_ = f.lifeline.Close()
	f.over(t)
	if f.ProcessState.ExitCode() != 0 {
		t.Errorf("found %s, expected the end without an error:\n%s", f.ProcessState, f.stderr.String())
	}
	left(t, f.ready.PID, before)
}

// A client that sends no greeting is cut off after a time, and does not delay the end of the feed.
func TestFeedTimes(t *testing.T) {
	t.Parallel()
	f := startFeed(t, randomStore(t, t.TempDir()))
	c, err := f.dial()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if text := reply(c); !strings.Contains(text, "found no greeting within 10s") || time.Since(start) > time.Minute { // against a hang
		t.Errorf("found %q after %s, expected an end after 10 s", text, time.Since(start))
	}
	f.named(t, fmt.Sprintf("process %d:", os.Getpid()), "found no greeting")
	if _, err := f.dial(); err != nil {
		t.Fatal(err)
	}
	_ = f.lifeline.Close()
	f.over(t)
}

// A feed that is killed, also with clients and batches under way, leaves nothing, and another starts at once.
func TestFeedKilled(t *testing.T) {
	t.Parallel()
	before := shared(t)
	path := randomStore(t, t.TempDir())
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		f := startFeed(t, path)
		c, err := f.greet(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write(message(3, 0, 0, 0))
		if err := f.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		f.over(t)
		_ = c.Close()
		left(t, f.ready.PID, before)
	}
	f := startFeed(t, path)
	if _, err := f.epoch(); err != nil {
		t.Error(err)
	}
}

// A feed with few descriptors serves its clients one after the other: more than it can hold wait, and it takes no processor
// time for them.
func TestFeedWithFewFiles(t *testing.T) {
	t.Parallel()
	path := randomStore(t, t.TempDir())
	f := startFeed(t, path)
	limit := unix.Rlimit{Cur: 64, Max: 64}
	if err := unix.Prlimit(f.Process.Pid, unix.RLIMIT_NOFILE, &limit, nil); err != nil {
		t.Fatal(err)
	}
	var all []net.Conn
	for range 200 {
		c, err := net.DialTimeout("unixpacket", "@"+f.ready.Addr, time.Second)
		if err != nil {
			break // the queue of the socket is full
		}
		all = append(all, c)
	}
	f.named(t, "that connects", "too many open files")
	f.idle(t)
	for _, c := range all {
		_ = c.Close()
	}
	if _, err := f.epoch(); err != nil {
		t.Error(err)
	}
	f.alive(t)
}
