package feed

import (
	"io"
	"sync"
)

// pipes is a lifeline of two pipes: the owner writes nothing to in, and reads out.
type pipes struct {
	in     io.ReadCloser
	out    io.WriteCloser
	ended  chan struct{} // closed at the end of in
	closed chan struct{}
	close  func()
}

// newPipes takes over the files. The read of stdin, which no close ends on every system, goes on until the owner ends it or the process ends.
func newPipes(in io.ReadCloser, out io.WriteCloser) *pipes {
	p := &pipes{in: in, out: out, ended: make(chan struct{}), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	go func() {
		_, _ = io.Copy(io.Discard, in)
		close(p.ended)
	}()
	return p
}

// Read implements io.Reader: it waits for the end.
func (p *pipes) Read([]byte) (int, error) {
	select {
	case <-p.ended:
		return 0, io.EOF
	case <-p.closed:
		return 0, io.ErrClosedPipe
	}
}

// Write implements io.Writer.
func (p *pipes) Write(b []byte) (int, error) { return p.out.Write(b) }

// Close implements io.Closer.
func (p *pipes) Close() error {
	p.close()
	return p.out.Close()
}
