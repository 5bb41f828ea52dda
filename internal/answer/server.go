package answer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"time"

	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/metrics"
	"github.com/graphmill/graphmill/internal/options"
)

// Options bound the resources of a server.
type Options struct {
	// Threads is the number of questions that are worked on at a time, and Waiting the most that wait for that.
	Threads, Waiting int
	// MaxAnswer bounds the bytes of an answer; it is at most MostAnswer.
	MaxAnswer int64
	// Connections is the most connections at a time.
	Connections int
	// Log gets the name of each client that was refused or cut off, and the reason. It may be nil.
	Log *feed.Log
	// Metrics gets the metrics of the server; nil: nobody asks for them before there is a server.
	Metrics *metrics.Set
}

// MostAnswer is the upper bound of MaxAnswer: the length of a frame has 32 bits.
const MostAnswer = math.MaxInt32 - 1<<20

// Server answers questions in frames over a Unix socket.
type Server struct {
	options     Options
	versions    Versions[*served]
	places      *Places
	metrics     *Metrics
	connections chan struct{}
}

// served is a version that the server answers from.
type served struct {
	plans *Plans[*servedPlan]
}

// servedPlan is a plan of a version.
type servedPlan struct {
	*Plan
	description []byte
	makers      chan *feed.Maker
}

// ErrStreamed refuses batches of the stream executor.
var ErrStreamed = errors.New("found batches of the stream executor, expected those of the memory executor: calls ask for any epoch")

// NewServer returns a server of the answers of a version, which it owns, also after an error.
func NewServer(v Version, o Options) (*Server, error) {
	s := &Server{options: o}
	if err := errors.Join(o.check(), v.Check()); err != nil {
		v.Discard()
		return nil, err
	}
	s.places, s.connections = NewPlaces(o.Threads, o.Waiting), make(chan struct{}, o.Connections)
	s.metrics = NewMetrics(o.Metrics, s.places, v.Names())
	s.metrics.Gauge("graphmill_connections", func() float64 { return float64(len(s.connections)) })
	return s, s.Take(v)
}

func (o *Options) check() error {
	switch {
	case o.Threads < 1:
		return fmt.Errorf("found %d threads, expected at least 1", o.Threads)
	case o.Waiting < 0:
		return fmt.Errorf("found %d questions that may wait, expected at least 0", o.Waiting)
	case o.Connections < 1:
		return fmt.Errorf("found %d connections, expected at least 1", o.Connections)
	case o.MaxAnswer < 1 || o.MaxAnswer > MostAnswer:
		return fmt.Errorf("found a largest answer of %d bytes, expected 1 to %d", o.MaxAnswer, MostAnswer)
	}
	return nil
}

// Take makes a version the one that new questions are answered from, without a pause. The server owns it, also after an error.
func (s *Server) Take(v Version) error {
	x, err := s.prepare(&v)
	if err != nil {
		v.Discard()
		return err
	}
	s.versions.Take(x, v.Close)
	s.metrics.Took(&v)
	return nil
}

// prepare prepares a version for questions.
func (s *Server) prepare(v *Version) (*served, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	plans, err := NewPlans(v.Plans, func(p *Plan) (*servedPlan, error) {
		x := &servedPlan{Plan: p, makers: make(chan *feed.Maker, s.options.Threads)}
		for range s.options.Threads {
			x.makers <- p.Source.Maker()
		}
		var err error
		x.description, err = describe(v, p)
		return x, err
	})
	return &served{plans}, err
}

// Metrics returns the counters of the server.
func (s *Server) Metrics() *Metrics { return s.metrics }

// Close retires the version that the server has. It is called once, after Serve.
func (s *Server) Close() { s.versions.Close() }

// Serve answers questions until ctx ends. It then closes l and returns when all work has ended.
func (s *Server) Serve(ctx context.Context, l net.Listener) {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	for {
		socket := feed.Accept(ctx, l, s.options.Log)
		if socket == nil {
			return
		}
		select {
		case s.connections <- struct{}{}:
			running.Go(func() {
				defer func() { <-s.connections }()
				s.serve(ctx, socket)
			})
		default:
			err := fmt.Errorf("found %d connections open, expected fewer; close some, or allow more on the server", s.options.Connections)
			s.options.Log.Client(feed.PeerName(socket), err)
			// It is small, and nothing else was sent, so it does not wait.
			_ = socket.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = socket.Write(failure(0, CodeBusy, err))
			_ = socket.Close()
		}
	}
}

// serve answers the questions of a connection until it ends.
func (s *Server) serve(ctx context.Context, socket net.Conn) {
	name := feed.PeerName(socket) // which a closed socket does not tell
	defer func() { _ = socket.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = socket.Close() })
	defer stop()
	c := &connection{server: s, socket: socket, described: map[string]string{}, questions: questions{socket: socket, in: bufio.NewReaderSize(socket, 4096)}}
	err := c.describe()
	for err == nil {
		err = c.answer(ctx)
	}
	if errors.Is(err, errProtocol) || !errors.Is(err, io.EOF) && ctx.Err() == nil { // the end of the server violates nothing
		s.options.Log.Client(name, err)
	}
}

// connection is the connection of a client.
type connection struct {
	server    *Server
	socket    net.Conn
	questions questions
	out       []byte            // the frame that is sent
	described map[string]string // descriptions that the client has, by plan
}

// describe sends the description of the newest version by its default plan.
func (c *connection) describe() error {
	held := c.server.versions.Enter()
	defer held.Leave()
	return c.describePlan(held.Value.plans.Default())
}

// describePlan sends the description of a plan of a version, if the client does not have it.
func (c *connection) describePlan(x *servedPlan) error {
	if c.described[x.Name] == string(x.description) {
		return nil
	}
	c.described[x.Name] = string(x.description)
	frame := append(make([]byte, frameHead), x.description...)
	putHead(frame, len(x.description), kindDescription, 0)
	return c.send(frame)
}

// send sends a frame.
func (c *connection) send(frame []byte) error {
	if err := c.socket.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
		return io.EOF
	}
	_, err := c.socket.Write(frame)
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("found a client that took no answer for %s, expected one that reads", sendTime)
	} else if err != nil {
		return io.EOF // the client is gone
	}
	return nil
}

// mostKept bounds the memory that a connection keeps between answers.
const mostKept = 1 << 20

// answer takes a question and answers it.
func (c *connection) answer(ctx context.Context) error {
	number, text, err := c.questions.next()
	if errors.Is(err, errProtocol) {
		_ = c.send(failure(number, codeProtocol, err))
		return err
	} else if err != nil {
		return err
	}
	began := time.Now()
	held := c.server.versions.Enter()
	x, frame, code, err := c.frame(ctx, held.Value, number, text)
	if err == nil {
		err = c.describePlan(x)
	} else if ctx.Err() == nil {
		frame = failure(number, code, errors.New(options.Keywords(err.Error())))
		err = nil
	}
	held.Leave()
	if err != nil {
		return err
	}
	c.server.metrics.Question(x.Name, code, time.Since(began), len(frame))
	err = c.send(frame)
	if cap(c.out) > mostKept {
		c.out = nil
	}
	return err
}

// frame makes the frame of an answer, or says why there is none. It returns the plan that was asked, the default one where the question does not tell.
func (c *connection) frame(ctx context.Context, of *served, number uint64, text []byte) (x *servedPlan, frame []byte, code string, err error) {
	x = of.plans.Default()
	q, err := ParseQuestion(text)
	if err == nil {
		var asked *servedPlan
		if asked, err = of.plans.Of(q.Plan); err == nil {
			x, err = asked, q.Check(asked.Plan)
		}
	}
	if err != nil {
		return x, nil, CodeQuestion, err
	}
	places := c.server.places
	if err := places.Enter(ctx); err != nil {
		return x, nil, CodeBusy, err
	}
	defer places.Leave()
	m := <-x.makers // as many as places
	defer func() { x.makers <- m }()
	code = CodeQuestion
	err = guard.Recovered(func() error {
		n, err := q.Sample(m, x.Plan, q.Epoch, q.Batch)
		if err != nil {
			return err
		}
		if most := c.server.options.MaxAnswer; int64(n) > most {
			code = CodeLarge
			return fmt.Errorf("found an answer of %s, expected at most %s; raise the server's bound, or use fewer seeds, smaller fanouts or fewer features", human.Bytes(int64(n)), human.Bytes(most))
		}
		frame = c.room(frameHead + n)
		putHead(frame, n, kindAnswer, number)
		m.Write(frame[frameHead:], q.Batch)
		return nil
	})
	var fault *guard.Error
	if errors.As(err, &fault) {
		code = CodeFault
	}
	if err == nil {
		code = ""
	}
	return x, frame, code, err
}

// room is n bytes for a frame, of which the part after the head is aligned as the columns of a batch.
func (c *connection) room(n int) []byte {
	if cap(c.out) < n {
		c.out = make([]byte, n, n+n/8)
	}
	return c.out[:n]
}
