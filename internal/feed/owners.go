package feed

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"sync"
)

// Owners are the processes that a server serves: each holds the other end of a lifeline. The first owner started the
// server. Others of the same user can join, if there is a socket for it. An owner leaves by closing or shutting down its
// end, or by ending in any way.
type Owners struct {
	ctx     context.Context
	cancel  context.CancelFunc
	join    *net.UnixListener
	log     *Log
	running sync.WaitGroup

	mu        sync.Mutex
	lifelines map[io.ReadWriteCloser]bool
	line      []byte // what was told to all
	over      bool   // all have left
}

// NewOwners takes over the lifeline of the first owner and the socket at which others join, which may be nil. Processes
// that are refused are told to log.
func NewOwners(ctx context.Context, first io.ReadWriteCloser, join *net.UnixListener, log *Log) *Owners {
	o := &Owners{join: join, log: log, lifelines: map[io.ReadWriteCloser]bool{}}
	o.ctx, o.cancel = context.WithCancel(ctx)
	o.add(first)
	if join != nil {
		o.running.Go(o.accept)
	}
	return o
}

// Context ends when the last owner has left.
func (o *Owners) Context() context.Context { return o.ctx }

// accept takes further owners until the socket is closed.
func (o *Owners) accept() {
	for {
		socket := Accept(o.ctx, o.join, o.log)
		if socket == nil {
			return
		}
		if name, err := peer(socket.(*net.UnixConn)); err != nil {
			o.log.Client(name, err)
			_ = socket.Close()
			continue
		}
		o.add(socket)
	}
}

// add makes the process at the other end of a lifeline an owner. If all others have left, it is too late: the lifeline
// is closed, and the process starts a server of its own.
func (o *Owners) add(lifeline io.ReadWriteCloser) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		_ = lifeline.Close()
		return
	}
	o.lifelines[lifeline] = true
	if o.line != nil {
		_, _ = lifeline.Write(o.line) // an owner that is gone is noticed below
	}
	o.running.Go(func() {
		// An owner writes nothing.
		_, _ = io.Copy(io.Discard, lifeline)
		o.leave(lifeline)
	})
}

// leave removes an owner. The lifeline of the last one stays open until Close, so that its end tells the owner that the
// server has ended.
func (o *Owners) leave(lifeline io.ReadWriteCloser) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.lifelines) > 1 {
		delete(o.lifelines, lifeline)
		_ = lifeline.Close()
		return
	}
	o.end()
}

// dismiss ends the context. Lifelines stay open until Close.
func (o *Owners) dismiss() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end()
}

// end is dismiss while the lock is held.
func (o *Owners) end() {
	o.over = true
	if o.join != nil {
		_ = o.join.Close()
	}
	o.cancel()
}

// tell writes a line to all owners, and to those that join later.
func (o *Owners) tell(what any) error {
	line, err := json.Marshal(what)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.line = append(line, '\n')
	for lifeline := range o.lifelines {
		_, _ = lifeline.Write(o.line) // an owner that is gone leaves
	}
	return nil
}

// Refuse tells all owners why the server cannot start.
func (o *Owners) Refuse(failure Failure) { _ = o.tell(failure) } // strings alone

// Close closes all lifelines.
func (o *Owners) Close() {
	o.mu.Lock()
	o.end()
	for lifeline := range o.lifelines {
		_ = lifeline.Close()
	}
	o.mu.Unlock()
	o.running.Wait()
}

// Lifeline is the inherited socket with the given descriptor, as one end of a lifeline. 0 is stdin and stdout together.
func Lifeline(fd int) (io.ReadWriteCloser, error) {
	if fd == 0 {
		return newPipes(os.Stdin, os.Stdout), nil
	}
	file := os.NewFile(uintptr(fd), "lifeline")
	defer func() { _ = file.Close() }()
	return net.FileConn(file)
}

// Joining is the inherited, listening Unix socket with the given descriptor.
func Joining(fd int) (*net.UnixListener, error) {
	file := os.NewFile(uintptr(fd), "joining")
	defer func() { _ = file.Close() }()
	l, err := net.FileListener(file)
	if err != nil {
		return nil, err
	}
	unix, ok := l.(*net.UnixListener)
	if !ok {
		_ = l.Close()
		return nil, net.UnknownNetworkError(l.Addr().Network())
	}
	return unix, nil
}
