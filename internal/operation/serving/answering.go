package serving

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/graphmill/graphmill/internal/answer"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/guard"
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

// Serve answers questions about the store in a folder until ctx ends. The options say what answers are; they name no seeds.
func (a *Answering) Serve(ctx context.Context, dir string, o option.Batches) error {
	l, err := listenUnix(a.Socket)
	if err != nil {
		return fmt.Errorf("`Socket`: %w", err)
	}
	defer func() { _ = l.Close() }() // Serve closes it; this is for errors before
	web, err := ListenHTTP(ctx, a.HTTP)
	if err != nil {
		return err
	}
	if web != nil {
		defer func() { _ = web.Close() }() // as above
	}
	store := NewestOf(dir, o, true)
	version, err := store.Open(ctx)
	if err != nil {
		return err
	}
	server, err := answer.NewServer(version, answer.Options{Threads: o.Threads, Waiting: a.Waiting, Connections: a.Connections, MaxAnswer: a.MaxAnswer, Log: feed.NewLog(a.Say)})
	if err != nil {
		return err
	}
	defer server.Close()
	// A collection of garbage waits for the thread of low priority that takes a version over. These bytes, which are never touched and so take no memory, make the heap look larger, so that collections are
	// rare.
	spare := make([]byte, spareHeap)
	defer runtime.KeepAlive(spare)
	address := ""
	if web != nil {
		address = web.Addr().String()
	}
	return store.Beside(ctx, server, web, a.Refresh, version.Name, a.Say, func(ctx context.Context) error {
		if err := a.Ready(address); err != nil {
			return err
		}
		server.Serve(ctx, l)
		return nil
	})
}

const spareHeap = 32 << 20

// ListenHTTP listens on host:port for health and metrics; it returns nil for "".
func ListenHTTP(ctx context.Context, address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("`HTTP`: found %q, expected HOST:PORT of this machine that is free, such as 127.0.0.1:9090: %w", address, err)
	}
	return l, nil
}

// Answers is a server of answers, or of more.
type Answers interface {
	// Take makes a version the one that is answered from. The server owns it, also after an error.
	Take(v answer.Version) error
	Metrics() *answer.Metrics
}

// Beside runs serve, which answers until its context ends, and beside it the health and the metrics of the server at web, if it is not nil, and, if refresh is above 0, the
// search for versions after the one with the name last. All has ended when it returns.
func (n *Newest) Beside(ctx context.Context, server Answers, web net.Listener, refresh time.Duration, last string, say func(line string), serve func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	var failed error
	if web != nil {
		running.Go(func() {
			if failed = server.Metrics().ServeHTTP(ctx, web); failed != nil {
				cancel()
			}
		})
	}
	if refresh > 0 {
		running.Go(func() { n.watch(ctx, server, refresh, last, say) })
	}
	err := serve(ctx)
	cancel()
	running.Wait()
	return errors.Join(err, failed)
}

// Newest opens the newest version of a store.
type Newest struct {
	dir     string
	options option.Batches
	alone   bool
	files   vfs.FS
	last    *sampling.Loader // of the version that answers
}

// NewestOf opens versions of the store in a folder for batches that are made at random, by the memory executor. With alone all batches are of seeds that are asked for.
func NewestOf(dir string, o option.Batches, alone bool) *Newest {
	o.Executor = option.ExecutorMemory // questions ask for any epoch and any seeds
	return &Newest{dir: dir, options: o, alone: alone, files: vfs.SharedMaps(vfs.OS)}
}

// Open opens the version that is in the folder now, the first one.
func (n *Newest) Open(ctx context.Context) (v answer.Version, err error) {
	n.last, v, err = n.open(ctx)
	return v, err
}

// open opens the version that is in the folder now. If a version answers, it leaves the other processors to that.
func (n *Newest) open(ctx context.Context) (loader *sampling.Loader, v answer.Version, err error) {
	defer guard.Catch(&err)()
	if v.Name, err = store.Sum(vfs.OS, n.dir); err != nil && !vfs.Absent(err) { // of no store: the loader says so
		return nil, v, err
	}
	var find sampling.Find
	if n.last == nil {
		loader, find, err = sampling.OpenAnswering(ctx, n.files, n.dir, n.options, n.alone)
	} else {
		loader, find, err = sampling.OpenBeside(ctx, n.files, n.dir, n.options, n.alone, n.last)
	}
	if err != nil {
		return nil, v, err
	}
	v.Source, v.Find, v.Close = loader.Source(), answer.Find(find), loader.Close
	return loader, v, nil
}

// take makes the version that is in the folder now the one that a server answers from.
func (n *Newest) take(ctx context.Context, server Answers) (name string, err error) {
	loader, version, err := n.open(ctx)
	if err != nil {
		return "", err
	}
	if err := server.Take(version); err != nil {
		return "", err
	}
	n.last = loader
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
