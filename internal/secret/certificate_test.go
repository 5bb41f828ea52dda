package secret

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/certtest"
	"github.com/graphmill/graphmill/internal/feed"
)

// A certificate that is replaced is used from the next connection on. Until then, and where the files are damaged or gone, the
// server keeps what it has, also after its end, and the log says what to do.
func TestCertificateIsReplaced(t *testing.T) {
	defer func(d time.Duration) { lookEvery = d }(lookEvery)
	lookEvery = 0
	var later atomic.Int64 // the clock of both sides is ahead by this
	defer func(f func() time.Time) { now = f }(now)
	now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	name := filepath.Join(t.TempDir(), "server")
	var mu sync.Mutex
	var said []string
	log := feed.NewLog(func(line string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, line)
	})
	first := certtest.Issue(t, name, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	c, err := OpenCertificate(name+".cert", name+".key", log.Client)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: c.Get, MinVersion: tls.VersionTLS13})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(time.Minute)) // against a hang
			_, _ = conn.Read(make([]byte, 1))
			_ = conn.Close()
		}
	}()
	connect := func(want *x509.Certificate, ok bool) {
		t.Helper()
		pool := x509.NewCertPool()
		pool.AddCert(want)
		conn, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{RootCAs: pool, Time: now})
		if conn != nil {
			_ = conn.Close()
		}
		if (err == nil) != ok {
			t.Errorf("found %v, expected a connection: %t", err, ok)
		}
	}
	logged := func(want string) {
		t.Helper()
		for range 6000 {
			mu.Lock()
			all := strings.Join(said, "\n")
			mu.Unlock()
			if strings.Contains(all, want) {
				return
			}
			time.Sleep(10 * time.Millisecond) // between two looks
		}
		t.Fatalf("found %q in the log, expected %q", said, want)
	}
	connect(first, true)
	if err := os.WriteFile(name+".cert", []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	connect(first, true)
	logged("the certificate is not renewed")
	logged("expected a certificate and its key, in PEM")
	later.Store(int64(2 * time.Hour))
	connect(first, false)
	logged("found a certificate for the time from")
	second := certtest.Issue(t, name, now().Add(-time.Hour), now().Add(time.Hour))
	connect(second, true)
	connect(first, false)
	if err := os.Remove(name + ".cert"); err != nil {
		t.Fatal(err)
	}
	connect(second, true)
	logged("no such file")
	_ = l.Close()
	<-ended
}
