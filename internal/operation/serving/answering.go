package serving

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/graphmill/graphmill/internal/answer"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/metrics"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// Answering says where questions about a store come from, and what bounds them.
type Answering struct {
	// Socket is the path of the Unix socket that clients connect to. Only processes of this user can.
	Socket string
	// HTTP is the host:port of health and metrics; "" leaves them out.
	HTTP string
	// Refresh is how often a new version of the store is looked for; 0 keeps the first one.
	Refresh time.Duration
	// Waiting is the most questions that wait for a thread; further ones are refused at once.
	Waiting int
	// Connections is the most connections at a time.
	Connections int
	// MaxAnswer bounds the bytes of an answer.
	MaxAnswer int64
	// Say is called with lines for people.
	Say func(line string)
	// Ready is called once clients can connect. http is the address of health and metrics, "" without.
	Ready func(http string) error
}

// Serve answers questions about the store in a folder until ctx ends. The plans say what answers are; they name no seeds.
func (a *Answering) Serve(ctx context.Context, dir string, plans []sampling.Plan) error {
	l, err := listenUnix(a.Socket)
	if err != nil {
		return fmt.Errorf("`Socket`: %w", err)
	}
	defer func() { _ = l.Close() }() // Serve closes it; this is for errors before
	web, err := metrics.Listen(ctx, a.HTTP)
	if err != nil {
		return err
	}
	set := metrics.New()
	return set.Beside(ctx, web, func(ctx context.Context) error {
		store := NewestOf(dir, plans, true)
		version, err := store.Open(ctx)
		if err != nil {
			return err
		}
		server, err := answer.NewServer(version, answer.Options{Threads: plans[0].Batches.Threads, Waiting: a.Waiting, Connections: a.Connections, MaxAnswer: a.MaxAnswer, Log: feed.NewLog(a.Say), Metrics: set})
		if err != nil {
			return err
		}
		defer server.Close()
		// A collection of garbage waits for the thread of low priority that takes a version over. These bytes, which are never touched and so take no memory, make the heap look larger, so that collections
		// are rare.
		spare := make([]byte, spareHeap)
		defer runtime.KeepAlive(spare)
		return store.Beside(ctx, server, a.Refresh, version.Name, a.Say, func(ctx context.Context) error {
			if err := a.Ready(metrics.Address(web)); err != nil {
				return err
			}
			server.Serve(ctx, l)
			return nil
		})
	})
}

const spareHeap = 32 << 20

// Answers is a server of answers, or of more.
type Answers interface {
	// Take makes a version the one that is answered from. The server owns it, also after an error.
	Take(v answer.Version) error
	Metrics() *answer.Metrics
}

// Beside runs serve, which answers until its context ends, and beside it, if refresh is above 0, the search for versions after the one with the name last. Both have ended when it returns.
func (n *Newest) Beside(ctx context.Context, server Answers, refresh time.Duration, last string, say func(line string), serve func(ctx context.Context) error) error {
	if refresh <= 0 {
		return serve(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() { n.watch(ctx, server, refresh, last, say) })
	return serve(ctx)
}

// Newest opens the newest version of a store.
type Newest struct {
	dir   string
	plans []sampling.Plan
	alone bool
	files vfs.FS
	last  *sampling.Answering // the version that answers
}

// NewestOf opens versions of the store in a folder for plans whose batches are made at random, by the memory executor. With alone all batches are of seeds that are asked for.
func NewestOf(dir string, plans []sampling.Plan, alone bool) *Newest {
	plans = slices.Clone(plans)
	for i := range plans {
		plans[i].Batches.Executor = option.ExecutorMemory // questions ask for any epoch and any seeds
	}
	return &Newest{dir: dir, plans: plans, alone: alone, files: vfs.SharedMaps(vfs.OS)}
}

// Open opens the version that is in the folder now, the first one.
func (n *Newest) Open(ctx context.Context) (v answer.Version, err error) {
	n.last, v, err = n.open(ctx)
	return v, err
}

// open opens the version that is in the folder now. If a version answers, it leaves the other processors to that.
func (n *Newest) open(ctx context.Context) (opened *sampling.Answering, v answer.Version, err error) {
	defer guard.Catch(&err)()
	if v.Name, err = store.Sum(vfs.OS, n.dir); err != nil && !vfs.Absent(err) { // of no store: the loader says so
		return nil, v, err
	}
	if n.last == nil {
		opened, err = sampling.OpenAnswering(ctx, n.files, n.dir, n.plans, n.alone)
	} else {
		opened, err = sampling.OpenBeside(ctx, n.files, n.dir, n.plans, n.alone, n.last)
	}
	if err != nil {
		return nil, v, err
	}
	for i := range n.plans {
		v.Plans = append(v.Plans, answer.Plan{Name: n.plans[i].Name, Source: opened.Loader(i).Source(), Find: answer.Find(opened.Find(i))})
	}
	v.Segments, v.Merged = opened.Segments()
	v.Close = opened.Close
	return opened, v, nil
}

// take makes the version that is in the folder now the one that a server answers from.
func (n *Newest) take(ctx context.Context, server Answers) (name string, err error) {
	opened, version, err := n.open(ctx)
	if err != nil {
		return "", err
	}
	if err := server.Take(version); err != nil {
		return "", err
	}
	n.last = opened
	return version.Name, nil
}

// watch looks for a new version every so often, and gives it to the server, until ctx ends. A version that cannot be served is said once, and the server goes on with the one that it has.
func (n *Newest) watch(ctx context.Context, server Answers, every time.Duration, last string, say func(line string)) {
	lowerPriority()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		sum, err := store.Sum(vfs.OS, n.dir)
		if err != nil || sum == last { // the folder may be replaced at this moment
			continue
		}
		last = sum
		name, err := n.take(ctx, server)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			server.Metrics().Refused()
			say(fmt.Sprintf("the new version %s of the store cannot be served, so calls get the one before: %v", sum, err))
		default:
			last = name
			say(fmt.Sprintf("calls get the version %s of the store", last))
		}
	}
}

// mostSocketPath is the most bytes of the path of a Unix socket on all systems.
const mostSocketPath = 103

// listenUnix listens on a Unix socket that only processes of this user can open. A socket that a server left that was killed is replaced.
func listenUnix(path string) (*net.UnixListener, error) {
	switch info, err := os.Lstat(path); {
	case len(path) > mostSocketPath:
		return nil, operation.Usagef("found a path of %d bytes, expected at most %d, as systems want of sockets; give a shorter one", len(path), mostSocketPath)
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s: found a file that is no socket, expected a new path; give another one", path)
	default:
		if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
			_ = c.Close()
			return nil, fmt.Errorf("%s: found a server that listens there, expected a path without one; end it, or give another path", path)
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return listenPrivate(path)
}
