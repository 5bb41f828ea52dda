package clients

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"

	"github.com/graphmill/graphmill/internal/certtest"
	"github.com/graphmill/graphmill/torture/internal/command"
)

// token of the servers that have one.
const token = "correct-horse-battery-staple"

// server is a running graphmill-flight.
type server struct {
	*process
	addr   string
	token  bool
	client func() credentials.TransportCredentials // of a client that trusts the server
}

func startServer(t *testing.T, store string, arguments ...string) *server {
	t.Helper()
	cmd := exec.Command(command.Build(t, "graphmill-flight"), append([]string{store, "--fanout", "5,3", "--batch-size", "64", "--shuffle", "--edge-features", "all"}, arguments...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{process: begin(t, cmd), client: insecure.NewCredentials}
	var ready struct{ Addr string }
	if err := json.NewDecoder(stdout).Decode(&ready); err != nil {
		<-s.ended
		t.Fatalf("%v: %s", err, s.stderr.String())
	}
	s.addr = ready.Addr
	return s
}

// bare passes on the bytes of messages.
type bare struct{}

func (bare) Name() string { return "proto" }

func (bare) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (bare) Unmarshal(b mem.BufferSlice, v any) error {
	*v.(*[]byte) = b.Materialize()
	return nil
}

var _ encoding.CodecV2 = bare{}

const flightService = "/arrow.flight.protocol.FlightService/"

// epoch reads epoch 0, and returns a digest of the messages.
func (s *server) epoch() (string, error) {
	conn, err := grpc.NewClient(s.addr, grpc.WithTransportCredentials(s.client()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(bare{}), grpc.MaxCallRecvMsgSize(1<<30)))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // against a hang
	defer cancel()
	if s.token {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
	}
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, flightService+"DoGet")
	if err != nil {
		return "", err
	}
	empty := []byte{}
	if err := errors.Join(stream.SendMsg(&empty), stream.CloseSend()); err != nil {
		return "", err
	}
	digest := sha256.New()
	for {
		var b []byte
		err := stream.RecvMsg(&b)
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(digest.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
		_, _ = digest.Write(b)
	}
}

// issue is certtest.Issue, and returns a pool that trusts the certificate.
func issue(t *testing.T, name string, from, to time.Time) *x509.CertPool {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AddCert(certtest.Issue(t, name, from, to))
	return pool
}

// secured starts a server with TLS and a token. The name is the name in its certificate.
func secured(t *testing.T, store string) (s *server, name string) {
	t.Helper()
	dir := t.TempDir()
	name = filepath.Join(dir, "server")
	pool := issue(t, name, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = startServer(t, store, "--tls-cert", name+".cert", "--tls-key", name+".key", "--token-file", filepath.Join(dir, "token"))
	s.token, s.client = true, func() credentials.TransportCredentials { return credentials.NewTLS(&tls.Config{RootCAs: pool}) }
	return s, name
}
