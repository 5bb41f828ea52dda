package engine

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/graphmill/graphmill/beam/internal/workers"
)

// The runners.
const (
	Prism = "prism"
	Flink = "flink"
)

// Options say where and how a pipeline runs.
type Options struct {
	// Runner is Prism or Flink.
	Runner string
	// Endpoint is the job server, HOST:PORT. With Prism, "" starts it in this process.
	Endpoint string
	// TLS encrypts the connections to the job server. Nil is plain.
	TLS *tls.Config
	// Insecure allows endpoints beyond loopback without TLS.
	Insecure bool
	// Workers is the address of the worker services, HOST:PORT, as each TaskManager sees it. "" runs the workers in this
	// process.
	Workers string
	// Parallelism is the number of parallel instances of each stage. Prism ignores it. 0 is Flink's default.
	Parallelism int
	// JobName is shown by the runner. "" is "graphmill".
	JobName string
	// TimeLimit cancels a job that runs for longer. 0 is no limit.
	TimeLimit time.Duration
	// Build is the identity of this program. Worker services of another build refuse the job.
	Build string
	// Message receives the messages of the job and of Beam. It may be called by several goroutines. Nil drops them.
	Message func(level slog.Level, text string)
}

// Check completes options and refuses those that cannot run. Run calls it.
func (o *Options) Check() error {
	if o.JobName == "" {
		o.JobName = "graphmill"
	}
	if o.Message == nil {
		o.Message = func(slog.Level, string) {}
	}
	switch {
	case o.Runner != Prism && o.Runner != Flink:
		return fmt.Errorf("found `Runner` %q, expected %s or %s", o.Runner, Prism, Flink)
	case o.Runner == Flink && o.Endpoint == "":
		return errors.New("found no `Endpoint`, expected HOST:PORT of Beam's job server; give `Endpoint` localhost:8099 or run with `Runner` prism")
	case o.Parallelism < 0:
		return fmt.Errorf("found `Parallelism` %d, expected 0 or more", o.Parallelism)
	case o.TimeLimit < 0:
		return fmt.Errorf("found `TimeLimit` %s, expected 0 or more", o.TimeLimit)
	case o.Runner == Prism && o.Endpoint == "" && o.Workers != "":
		return errors.New("found `Workers` with Prism in this process, expected none; leave `Workers` out or give `Endpoint`")
	}
	if o.Endpoint != "" {
		if err := o.allowed("`Endpoint`", o.Endpoint, o.TLS != nil, "encrypt the connection by `TLS`, or "); err != nil {
			return err
		}
		if o.Workers == "" && !workers.Loopback(o.Endpoint) {
			return fmt.Errorf("found `Endpoint` %s on another machine and no `Workers`, expected worker services; run graphmill-beam worker on each machine of the cluster and give `Workers` localhost:PORT", o.Endpoint)
		}
	}
	if o.Workers != "" {
		return o.allowed("`Workers`", o.Workers, false, "run a worker service on each machine and give localhost:PORT, or ")
	}
	return nil
}

// allowed refuses an endpoint that is none, and one beyond loopback that is neither encrypted nor allowed.
func (o *Options) allowed(name, endpoint string, encrypted bool, remedy string) error {
	if host, port, err := net.SplitHostPort(endpoint); err != nil || host == "" || port == "" || port == "0" {
		return fmt.Errorf("found %s %q, expected HOST:PORT", name, endpoint)
	}
	if encrypted || o.Insecure || workers.Loopback(endpoint) {
		return nil
	}
	return fmt.Errorf("found %s %s, which is beyond loopback, expected TLS or leave to do without; %sallow plain connections by `Insecure`", name, endpoint, remedy)
}
