// Package questions asks a server for the subgraphs of random nodes, and prints how fast the answers come. bench/bench.py runs it.
//
//	questions --socket PATH | --exchange HOST:PORT | --calls HOST:PORT | --echo BYTES
//
// Each connection asks the next question when it has the answer to the one before; with --rate questions are asked at fixed times, and the time of each
// is counted from when it should have been asked. --echo answers itself, over a Unix socket, with as many bytes: what the machine allows.
//
// It is a test binary, because the product asks no server: go test -c makes it. It prints {"questions_per_second", "p50", "p99", "max", "answer_bytes", "busy"}, with times in milliseconds.
package questions

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/graphmill/graphmill/graph"
)

func TestMain(m *testing.M) {
	var a asking
	flag.StringVar(&a.socket, "socket", "", "path of graphmill serve's socket")
	flag.StringVar(&a.exchange, "exchange", "", "address of graphmill-flight, asked in one exchange per connection")
	flag.StringVar(&a.calls, "calls", "", "address of graphmill-flight, asked by a call per question")
	flag.IntVar(&a.echo, "echo", 0, "bytes that an echo in this process answers")
	seeds := flag.String("seeds", "", "file of int64, the nodes that are asked for")
	flag.IntVar(&a.connections, "connections", 2, "connections")
	flag.IntVar(&a.questions, "questions", 20000, "questions in all")
	flag.Float64Var(&a.rate, "rate", 0, "questions per second over all connections; 0: as fast as answers come")
	flag.Parse()
	if a.socket+a.exchange+a.calls == "" && a.echo == 0 {
		os.Exit(m.Run())
	}
	if *seeds != "" {
		b, err := os.ReadFile(*seeds)
		if err != nil || len(b) < 8 {
			fmt.Fprintf(os.Stderr, "%s: found %d bytes, %v, expected int64\n", *seeds, len(b), err)
			os.Exit(1)
		}
		a.seeds = graph.View[int64](b)
	}
	if err := a.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// asking says which server is asked, and how.
type asking struct {
	socket, exchange, calls string
	echo                    int
	seeds                   []int64
	connections, questions  int
	rate                    float64

	busy  atomic.Int64
	bytes atomic.Int64
}

// asker asks one question, and returns the bytes of its answer.
type asker func(node int64) (int, error)

var errBusy = errors.New("busy")

func (a *asking) run() error {
	if a.echo > 0 {
		dir, err := os.MkdirTemp("", "echo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		a.socket, a.seeds = filepath.Join(dir, "echo"), []int64{0}
		l, err := net.Listen("unix", a.socket)
		if err != nil {
			return err
		}
		defer l.Close()
		go echo(l, a.echo)
	}
	took := make([][]time.Duration, a.connections)
	errs := make([]error, a.connections)
	var connected, running sync.WaitGroup
	begin := make(chan time.Time)
	connected.Add(a.connections)
	for i := range a.connections {
		running.Go(func() {
			ask, err := a.dial()
			if err == nil {
				_, err = ask(a.seeds[0]) // what is made once
			}
			connected.Done()
			start := <-begin
			if err == nil {
				took[i], err = a.ask(ask, i, start)
			}
			errs[i] = err
		})
	}
	connected.Wait()
	start := time.Now()
	for range a.connections {
		begin <- start
	}
	running.Wait()
	seconds := time.Since(start).Seconds() // of which the rate is made
	if err := errors.Join(errs...); err != nil {
		return err
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	at := func(q float64) float64 { return float64(all[min(int(q*float64(len(all))), len(all)-1)]) / 1e6 }
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"questions_per_second": float64(len(all)) / seconds, "p50": at(.5), "p99": at(.99), "max": at(1),
		"answer_bytes": float64(a.bytes.Load()) / float64(len(all)), "busy": float64(a.busy.Load()),
	})
}

// ask asks the questions of a connection, and returns how long each took.
func (a *asking) ask(ask asker, connection int, start time.Time) ([]time.Duration, error) {
	r := rand.New(rand.NewPCG(uint64(connection), 1))
	n := a.questions / a.connections
	took := make([]time.Duration, 0, n)
	for i := range n {
		began := time.Now()
		if a.rate > 0 {
			began = start.Add(time.Duration(float64(i*a.connections+connection) / a.rate * 1e9))
			time.Sleep(time.Until(began)) // until the question should be asked
		}
		bytes, err := ask(a.seeds[r.IntN(len(a.seeds))])
		if errors.Is(err, errBusy) {
			a.busy.Add(1)
		} else if err != nil {
			return nil, err
		}
		a.bytes.Add(int64(bytes))
		took = append(took, time.Since(began)) // the measured time
	}
	return took, nil
}

func (a *asking) dial() (asker, error) {
	switch {
	case a.socket != "":
		return dialFrames(a.socket)
	case a.exchange != "":
		return dialExchange(a.exchange)
	}
	return dialCalls(a.calls)
}

// dialFrames asks in frames: docs/format-answers.md.
func dialFrames(path string) (asker, error) {
	socket, err := net.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	in, out, body := bufio.NewReaderSize(socket, 1<<16), []byte(nil), []byte(nil)
	read := func() (kind uint32, n int, err error) {
		var head [16]byte
		if _, err = io.ReadFull(in, head[:]); err != nil {
			return 0, 0, err
		}
		if n = int(binary.LittleEndian.Uint32(head[:])); cap(body) < n {
			body = make([]byte, n)
		}
		body = body[:n]
		_, err = io.ReadFull(in, body)
		return binary.LittleEndian.Uint32(head[4:]), n, err
	}
	if _, _, err := read(); err != nil {
		return nil, err
	}
	var number uint64
	return func(node int64) (int, error) {
		number++
		out = append(out[:0], make([]byte, 16)...)
		out = fmt.Appendf(out, `{"seeds":[%d]}`, node)
		binary.LittleEndian.PutUint32(out, uint32(len(out)-16))
		binary.LittleEndian.PutUint32(out[4:], 1)
		binary.LittleEndian.PutUint64(out[8:], number)
		if _, err := socket.Write(out); err != nil {
			return 0, err
		}
		for {
			kind, n, err := read()
			switch {
			case err != nil:
				return 0, err
			case kind == 2: // of a new version
			case kind == 3:
				return n, nil
			default:
				return 0, failed(body)
			}
		}
	}, nil
}

func failed(body []byte) error {
	var f struct{ Error, Code string }
	if err := json.Unmarshal(body, &f); err != nil || f.Code != "busy" {
		return fmt.Errorf("found the failure %s", body)
	}
	return errBusy
}

// echo answers each frame with the given number of bytes.
func echo(l net.Listener, bytes int) {
	answer := make([]byte, 16+bytes)
	binary.LittleEndian.PutUint32(answer, uint32(bytes))
	binary.LittleEndian.PutUint32(answer[4:], 3)
	for {
		socket, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			_, err := socket.Write(answer[:16:16]) // in place of a description: n bytes follow
			if err == nil {
				_, err = socket.Write(answer[16:])
			}
			in := make([]byte, 4096)
			for err == nil {
				if _, err = socket.Read(in); err == nil {
					_, err = socket.Write(answer)
				}
			}
		}()
	}
}

// dialFlight connects with windows that an answer fits, so that the server need not wait for the client to open them.
func dialFlight(address string) (flight.Client, error) {
	return flight.NewClientWithMiddleware(address, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<30)),
		grpc.WithInitialWindowSize(4<<20), grpc.WithInitialConnWindowSize(4<<20), grpc.WithReadBufferSize(256<<10))
}

// dialExchange asks in one exchange.
func dialExchange(address string) (asker, error) {
	c, err := dialFlight(address)
	if err != nil {
		return nil, err
	}
	stream, err := c.DoExchange(context.Background())
	if err != nil {
		return nil, err
	}
	reader, err := flight.NewRecordReader(stream)
	if err != nil {
		return nil, err
	}
	return func(node int64) (int, error) {
		if err := stream.Send(&flight.FlightData{AppMetadata: fmt.Appendf(nil, `{"seeds":[%d]}`, node)}); err != nil {
			return 0, err
		}
		if !reader.Next() {
			return 0, fmt.Errorf("found the end, expected an answer: %w", reader.Err())
		}
		if record := reader.RecordBatch(); record == nil {
			return 0, failed(reader.LatestAppMetadata())
		}
		return 0, nil
	}, nil
}

// dialCalls asks by a call per question.
func dialCalls(address string) (asker, error) {
	c, err := dialFlight(address)
	if err != nil {
		return nil, err
	}
	return func(node int64) (int, error) {
		stream, err := c.DoGet(context.Background(), &flight.Ticket{Ticket: fmt.Appendf(nil, `{"seeds":[%d]}`, node)})
		if err != nil {
			return 0, err
		}
		reader, err := flight.NewRecordReader(stream)
		if err != nil {
			return 0, err
		}
		defer reader.Release()
		for reader.Next() {
		}
		return 0, reader.Err()
	}, nil
}

// Questions are asked and counted: of an echo.
func TestEcho(t *testing.T) {
	a := asking{echo: 1000, connections: 2, questions: 10}
	if err := a.run(); err != nil || a.bytes.Load() != 10_000 {
		t.Errorf("found %d bytes, %v, expected 10 answers of 1,000", a.bytes.Load(), err)
	}
}
