package transport

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Options say how parts are sent. Only RemoteDir must be set; the zero value of the other fields is usable.
type Options struct {
	// User is the user name on every machine; "" is the user of this process.
	User string
	// Port is the port of SSH; 0 is 22.
	Port int
	// Identities are files of private keys; nil: the keys in ~/.ssh that need no passphrase.
	Identities []string
	// Agent is the socket of an SSH agent, "" for none.
	Agent string
	// KnownHosts are the files with the keys of the machines; nil: the files of the user and of the system.
	KnownHosts []string
	// RemoteDir is the folder on each machine; it is created if it is missing. A relative path begins in the
	// folder where the user's sessions begin.
	RemoteDir string
	// Force replaces other parts in RemoteDir.
	Force bool
	// Machines is the number of machines that are served at once; 0 is 4. Each takes 16 MiB of memory.
	Machines int
	// Timeout is the longest silence of a machine; 0 is 30 seconds.
	Timeout time.Duration
	// Progress, which may be nil, receives the number of bytes that were verified on a machine. Several
	// goroutines call it.
	Progress func(bytes int64)

	pause time.Duration // before the first new attempt; it doubles
	block int64         // bytes that are written and read back at once
}

// Report says what Send did: one entry per machine, in the order of their first parts.
type Report struct {
	Machines []Sent `json:"machines"`
}

// Sent says what one machine received.
type Sent struct {
	Host  string `json:"host"`
	Parts []int  `json:"parts"`
	Files int    `json:"files"`
	// Bytes were written, Kept were there before; both were read back.
	Bytes int64 `json:"bytes"`
	Kept  int64 `json:"kept_bytes"`
	// Connections is 1 if no connection was lost.
	Connections int `json:"connections"`
}

const (
	// attempts is the number of consecutive attempts without progress after which Send gives up.
	attempts = 5
	maxPause = 30 * time.Second
)

func (o *Options) fill() error {
	set := func(to *int, value int) {
		if *to == 0 {
			*to = value
		}
	}
	set(&o.Port, 22)
	set(&o.Machines, 4)
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.pause == 0 {
		o.pause = time.Second
	}
	if o.block == 0 {
		o.block = 8 << 20
	}
	if o.RemoteDir == "" {
		return errors.New("found no folder to send to, expected one; give `RemoteDir`")
	}
	return nil
}

// Shipment is a partitioned folder divided over machines.
type Shipment struct {
	fs     vfs.FS
	dir    string
	own    []byte // manifest of dir, nil if it has none
	places []*place
}

// Load divides the partitioned folder dir over machines. Files without a checksum, in a folder that DGL wrote,
// are read here, by as many threads. Symbolic links in the folder are errors.
func Load(ctx context.Context, fsys vfs.FS, dir string, machines []Machine, threads int) (*Shipment, error) {
	fsys = vfs.Confine(fsys, dir)
	places, own, err := placesOf(ctx, fsys, dir, machines, threads)
	if err != nil {
		return nil, err
	}
	return &Shipment{fs: fsys, dir: dir, own: own, places: places}, nil
}

// Bytes is the number of bytes that Send verifies on all machines.
func (s *Shipment) Bytes() (n int64) {
	for _, pl := range s.places {
		for _, f := range pl.files {
			n += f.want.Bytes
		}
	}
	return n
}

// Check logs in on every machine and out again. It finds a missing key, a wrong name or a machine that is down
// before the work that produces the parts.
func Check(ctx context.Context, fsys vfs.FS, machines []Machine, o Options) error {
	if err := o.fill(); err != nil {
		return err
	}
	l, err := newLogin(fsys, &o)
	if err != nil {
		return err
	}
	hosts := map[string]bool{}
	var each []func() error
	for _, m := range machines {
		if hosts[m.Host] {
			continue
		}
		hosts[m.Host] = true
		each = append(each, func() error {
			c, err := l.connect(ctx, m.Host)
			if err != nil {
				return fmt.Errorf("machine %s: %w", m.Host, err)
			}
			c.Close()
			return nil
		})
	}
	return callAll(ctx, o.Machines, each)
}

// Send sends the parts to their machines. Files that are already there are kept, so a Send that failed or was
// stopped continues where it ended. The failure of a machine does not end the work of the others; the error
// joins all failures.
func (s *Shipment) Send(ctx context.Context, o Options) (*Report, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	l, err := newLogin(s.fs, &o)
	if err != nil {
		return nil, err
	}
	r := &Report{Machines: make([]Sent, len(s.places))}
	each := make([]func() error, len(s.places))
	for i, pl := range s.places {
		to := &sender{place: pl, fs: s.fs, dir: s.dir, own: s.own, login: l, o: &o, sent: &r.Machines[i]}
		each[i] = func() error { return to.run(ctx) }
	}
	if err := callAll(ctx, o.Machines, each); err != nil {
		return nil, err
	}
	return r, nil
}

// callAll calls the functions, at most atOnce at a time, and joins their errors in the order of the functions. If a context that
// ended stopped some of them, the error is its cause.
func callAll(ctx context.Context, atOnce int, each []func() error) error {
	errs := make([]error, len(each))
	var g guard.Group
	g.SetLimit(atOnce)
	for i, f := range each {
		g.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] == nil {
				errs[i] = f()
			}
			return nil
		})
	}
	_ = g.Wait() // the functions above return nil
	err := errors.Join(errs...)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// run serves one machine, over as many connections as needed.
func (s *sender) run(ctx context.Context) error {
	s.sent.Host, s.sent.Parts, s.sent.Files = s.host, s.parts, len(s.files)
	s.mine, s.theirs = make([]byte, s.o.block), make([]byte, s.o.block)
	failed, pause := 0, s.o.pause
	for {
		before := s.far
		lost, err := s.attempt(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if s.far > before {
			failed, pause = 0, s.o.pause
		}
		failed++
		switch {
		case !lost || s.sent.Connections == 0:
			return s.named(err)
		case failed > attempts:
			return fmt.Errorf("%w; the connection was lost %d times in a row; run the command again to go on where it ended", s.named(err), failed)
		}
		wait := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			wait.Stop()
			return context.Cause(ctx)
		case <-wait.C:
		}
		pause = min(2*pause, maxPause)
	}
}

// attempt is run over one connection. lost says that another connection may succeed.
func (s *sender) attempt(ctx context.Context) (lost bool, err error) {
	c, err := s.login.connect(ctx, s.host)
	if err != nil {
		return !errors.Is(err, errHostKey), err
	}
	defer c.Close()
	s.sent.Connections++
	s.at = 0
	if err := s.send(ctx, c); err != nil {
		return c.lost(err), c.why(ctx, err)
	}
	return false, nil
}

// named adds the machine and the part to an error.
func (s *sender) named(err error) error {
	var what string
	switch {
	case s.current == nil && len(s.parts) == 1:
		what = fmt.Sprintf("part %d", s.parts[0])
	case s.current == nil:
		what = "parts " + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.parts), " ", ", "), "[]")
	case s.current.part == noPart:
		what = s.current.name
	default:
		what = fmt.Sprintf("part %d, %s", s.current.part, s.current.name)
	}
	return fmt.Errorf("machine %s, %s: %w", s.host, what, err)
}
