package feed

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// loopbackPair is a server's socket of the loopback and its client's end.
func loopbackPair(t *testing.T) (*loopback, net.Conn) {
	t.Helper()
	l, addr, clean, err := listenLoopback()
	if err != nil {
		t.Fatal(err)
	}
	defer clean()
	defer func() { _ = l.Close() }()
	client, err := net.Dial("tcp", strings.TrimPrefix(addr, loopbackScheme))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	_ = client.SetDeadline(time.Now().Add(time.Minute)) // against a hang
	socket := Accept(t.Context(), l, nil)
	return packetSocket(socket).(*loopback), client
}

// Packets and the bytes of batches arrive in order, while the client sends requests and does not read.
func TestLoopback(t *testing.T) {
	s, client := loopbackPair(t)
	body := make([]byte, 32<<20) // more than the system holds between two processes
	for i := range body {
		body[i] = byte(i * 7)
	}
	if err := s.writePacket([]byte("first"), -1); err != nil {
		t.Fatal(err)
	}
	s.writeBody(body)
	if err := s.writePacket([]byte("second"), -1); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Write(frame([]byte("request"))); err != nil {
		t.Fatal(err)
	}
	if p, err := s.readPacket(nil, 100); err != nil || string(p) != "request" {
		t.Fatalf("found %q, %v, expected the request", p, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Close() }()
	got, err := io.ReadAll(client)
	if err != nil {
		t.Fatal(err)
	}
	if want := string(frame([]byte("first"))) + string(body) + string(frame([]byte("second"))); string(got) != want {
		t.Errorf("found %d bytes, expected %d: two packets and a batch, in order", len(got), len(want))
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A client that makes the server queue answers and reads none is cut off.
func TestLoopbackQueue(t *testing.T) {
	s, _ := loopbackPair(t)
	s.writeBody(make([]byte, 64<<20)) // which fills what the system holds
	var err error
	for range mostQueued + 1 {
		if err = s.writePacket([]byte("x"), -1); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("found a queue without an end")
	}
	_ = s.Close()
}

// A server with a lifeline of two pipes tells its address, refuses a wrong token, and ends with the first pipe.
func TestPipes(t *testing.T) {
	theirs, ours := io.Pipe()
	back, told := io.Pipe()
	ended := make(chan error, 1)
	owners := NewOwners(t.Context(), newPipes(theirs, told), nil, nil)
	src := source(t, Features{}, false)
	go func() {
		defer owners.Close()
		ended <- Serve(src, Options{Threads: 2, Loopback: true}, owners)
	}()
	var ready readyLine
	if err := json.NewDecoder(back).Decode(&ready); err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("tcp", strings.TrimPrefix(ready.Addr, loopbackScheme))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	hello, err := json.Marshal(hello{Version: ready.Version, Token: "wrong", World: 1, Slots: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Write(frame(hello)); err != nil {
		t.Fatal(err)
	}
	_ = client.SetDeadline(time.Now().Add(time.Minute)) // against a hang
	answer, err := readFrame(client, nil, 1<<16)
	if err != nil || len(answer) < messageBytes || binary.LittleEndian.Uint32(answer) != msgError || !strings.Contains(string(answer), "wrong token") {
		t.Errorf("found %q, %v, expected an ERROR about the token", answer, err)
	}
	_ = ours.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
