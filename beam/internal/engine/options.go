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
	Spark = "spark"
)

// Options say where and how a pipeline runs.
type Options struct {
	// Runner is Prism, Flink or Spark.
	Runner string
	// Endpoint is the job server, HOST:PORT. With Prism, "" starts it in this process.
	Endpoint string
	// JobManager is the URL of Flink's REST interface, such as http://localhost:8081, through which a cancelled job is cancelled:
	// Beam's job server does not tell Flink. "" is right for a Flink inside the job server.
	JobManager string
	// TLS encrypts the connections to the job server, and verifies those to a JobManager with https. Nil is plain.
	TLS *tls.Config
	// Insecure allows endpoints beyond loopback without TLS.
	Insecure bool
	// Workers is the address of the worker services, HOST:PORT, as each machine of the engine sees it. "" runs the workers in this
	// process.
	Workers string
	// Parallelism is the number of parallel instances of each stage on Flink. 0 is Flink's default. Prism and Spark ignore it: Spark
	// runs a task on each of its cores.
	Parallelism int
	// JobName is shown by the runner. "" is "graphmill".
	JobName string
	// TimeLimit cancels a job that runs for longer. 0 is no limit.
	TimeLimit time.Duration
	// Build is the identity of this program. Worker services of another build refuse the job.
	Build string
	// Message receives the messages of the job and of Beam. It may be called by several goroutines. Nil drops them.
	Message func(level slog.Level, text string)

	// Record is a file that names the job while it runs, so that Free finds it after the death of this process. "" is none.
	Record string

	ownWorkers bool // this process runs the workers
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
	case o.Runner != Prism && o.Runner != Flink && o.Runner != Spark:
		return fmt.Errorf("found `Runner` %q, expected %s, %s or %s", o.Runner, Prism, Flink, Spark)
	case o.Runner != Prism && o.Endpoint == "":
		return errors.New("found no `Endpoint`, expected HOST:PORT of Beam's job server; give `Endpoint` localhost:8099 or run with `Runner` prism")
	case o.Parallelism < 0:
		return fmt.Errorf("found `Parallelism` %d, expected 0 or more", o.Parallelism)
	case o.TimeLimit < 0:
		return fmt.Errorf("found `TimeLimit` %s, expected 0 or more", o.TimeLimit)
	case o.Runner == Prism && o.Endpoint == "" && o.Workers != "":
		return errors.New("found `Workers` with Prism in this process, expected none; leave `Workers` out or give `Endpoint`")
	case o.Runner == Prism && o.Endpoint == "" && !confined && !o.Insecure:
		return errors.New("found Prism in this process, which takes jobs from other machines on this system; allow that by `Insecure`, or run Prism as a program of its own and give `Endpoint`")
	case o.Runner != Flink && o.JobManager != "":
		return fmt.Errorf("found `JobManager` with `Runner` %s, expected none; leave it out or run with `Runner` %s", o.Runner, Flink)
	}
	if o.Endpoint != "" {
		if err := o.allowed("`Endpoint`", o.Endpoint, o.TLS != nil, "encrypt the connection by `TLS`, or "); err != nil {
			return err
		}
		if o.Workers == "" && !workers.Loopback(o.Endpoint) {
			return fmt.Errorf("found `Endpoint` %s on another machine and no `Workers`, expected worker services; run graphmill-beam worker on each machine of the cluster and give `Workers` localhost:PORT", o.Endpoint)
		}
	}
	if o.JobManager != "" {
		if err := o.checkManager(); err != nil {
			return err
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
