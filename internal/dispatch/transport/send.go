package transport

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Options say how parts travel. The zero value of every field but RemoteDir is
// usable.
type Options struct {
	// User logs in on every machine; "" is the user of this process.
	User string
	// Port is that of SSH; 0 is 22.
	Port int
	// Identities are files of private keys; nil takes those of ~/.ssh that need no
	// passphrase.
	Identities []string
	// Agent is the socket of an SSH agent, "" for none.
	Agent string
	// KnownHosts are the files with the keys of the machines; nil takes those of
	// the user and of the system.
	KnownHosts []string
	// RemoteDir is the folder on each machine, made where it is missing. A relative
	// one begins where the user arrives there.
	RemoteDir string
	// Force replaces what other parts are in RemoteDir.
	Force bool
	// Machines is how many are served at once; 0 is 4. Each takes 16 MiB of memory.
	Machines int
	// Timeout is how long a machine may be silent; 0 is 30 seconds.
	Timeout time.Duration
	// Progress, which may be nil, is told of bytes that are verified on a machine.
	// It is called from several goroutines.
	Progress func(bytes int64)

	pause time.Duration // before the first new attempt; it doubles
	block int64         // what is written and read back at once
}

// Report says what Send did, a machine each in the order of their first parts.
type Report struct {
	Machines []Sent `json:"machines"`
}

// Sent is what one machine got.
type Sent struct {
	Host  string `json:"host"`
	Parts []int  `json:"parts"`
	Files int    `json:"files"`
	// Bytes were written, Kept were there already; both were read back.
	Bytes int64 `json:"bytes"`
	Kept  int64 `json:"kept_bytes"`
	// Connections is 1 where none was lost.
	Connections int `json:"connections"`
}

const (
	// attempts is how often a lost connection is made again without a block more.
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
		return errors.New("found no folder to send to, expected one; give --remote-dir")
	}
	return nil
}

// Shipment is a partitioned folder divided over machines.
type Shipment struct {
	fs     vfs.FS
	dir    string
	own    []byte // manifest of dir, nil where it has none
	places []*place
}

// Load divides the partitioned folder dir over machines. Files that have no checksum
// yet, in a folder that DGL wrote, are read here, by so many threads.
func Load(ctx context.Context, fsys vfs.FS, dir string, machines []Machine, threads int) (*Shipment, error) {
	places, own, err := placesOf(ctx, fsys, dir, machines, threads)
	if err != nil {
		return nil, err
	}
	return &Shipment{fs: fsys, dir: dir, own: own, places: places}, nil
}

// Bytes is how much Send verifies on all machines.
func (s *Shipment) Bytes() (n int64) {
	for _, pl := range s.places {
		for _, f := range pl.files {
			n += f.want.Bytes
		}
	}
	return n
}

// Check logs in on every machine and goes again: it finds a missing key, a wrong
// name or a machine that is down before the work whose result is sent.
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
	return all(ctx, o.Machines, each)
}

// Send brings the parts to their machines. What is there already is kept, so that a
// Send that failed or was stopped goes on where it ended. A machine's failure does not
// end the others' work; the error joins all.
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
	if err := all(ctx, o.Machines, each); err != nil {
		return nil, err
	}
	return r, nil
}

// all calls functions, so many at once, and joins their errors in their order.
func all(ctx context.Context, atOnce int, each []func() error) error {
	errs := make([]error, len(each))
	var g errgroup.Group
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
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(errs...)
}

// run serves one machine, over as many connections as it takes.
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

// attempt is run over one connection. lost says that another may do better.
func (s *sender) attempt(ctx context.Context) (lost bool, err error) {
	c, err := s.login.connect(ctx, s.host)
	if err != nil {
		return !errors.Is(err, ErrHostKey), err
	}
	defer c.Close()
	s.sent.Connections++
	s.at = 0
	if err := s.send(ctx, c); err != nil {
		return c.lost(err), c.why(ctx, err)
	}
	return false, nil
}

// named says of which machine and part an error is.
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
