package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/beam/internal/engine"
	"github.com/graphmill/graphmill/beam/internal/staging"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/command"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/vfs"
)

// engineFlags say where a job runs.
type engineFlags struct {
	o       engine.Options
	ca      string
	verbose bool
	noWait  bool
}

func (f *engineFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.o.Runner, "runner", engine.Prism, "prism (Beam's own runner, in this process), flink, spark, or steps (none: graphmill-beam step runs the tasks)")
	fs.StringVar(&f.o.Endpoint, "endpoint", "", "HOST:PORT of Beam's job server (default with prism: started in this process)")
	fs.IntVar(&f.o.Parallelism, "parallelism", 2, "parallel instances of each stage: the slots of Flink that the job takes, the cores of Spark, or the processes of steps")
	fs.StringVar(&f.o.Workers, "workers", "", "HOST:PORT of graphmill-beam worker, as each machine of Flink or Spark sees it (default: the workers run in this process)")
	fs.StringVar(&f.o.JobManager, "job-manager", "", "URL of Flink's JobManager, such as http://localhost:8081: with it, a job that is cancelled ends at once in Flink, too")
	fs.DurationVar(&f.o.TimeLimit, "time-limit", 0, "cancel the job after this time (default: no limit)")
	fs.BoolVar(&f.o.Insecure, "insecure", false, "allow endpoints on other machines without TLS")
	fs.StringVar(&f.ca, "tls-ca", "", "PEM file with the certificates that the job server's is signed by; encrypts the connection to it")
	fs.BoolVar(&f.noWait, "no-wait", false, "with --runner steps: end when the job is planned; the same command goes on once the steps have run")
	fs.BoolVar(&f.verbose, "verbose", false, "print the messages of the runner")
	cli.Choices(fs, "runner", engine.Prism, engine.Flink, engine.Spark, runnerSteps)
	cli.Named(fs, "HOST:PORT", "endpoint", "workers")
	cli.Named(fs, "URL", "job-manager")
	cli.Named(fs, "FILE", "tls-ca")
	cli.Group(fs, options.GroupCluster, "*runner", "*endpoint", "*parallelism", "*workers", "job-manager", "time-limit", "*insecure", "tls-ca", "no-wait", "verbose")
}

// continues says of the flag resume that a run on a cluster needs none.
func continues(cmd *cobra.Command) {
	fs := cmd.Flags()
	if fs.Lookup("resume") == nil {
		fs.Bool("resume", false, "")
	}
	if err := fs.MarkDeprecated("resume", "a run on a cluster continues from what an interrupted run of the same command left"); err != nil {
		panic(err)
	}
}

// options completes the options of the engine.
func (f *engineFlags) options(t *cli.Terminal) (engine.Options, error) {
	o := f.o
	if o.Parallelism < 1 {
		return o, cli.Usagef("found --parallelism %d, expected at least 1", o.Parallelism)
	}
	if o.TimeLimit < 0 {
		return o, cli.Usagef("found --time-limit %s, expected more than 0s", o.TimeLimit)
	}
	if f.ca != "" {
		pem, err := vfs.ReadFile(vfs.OS, f.ca, 1<<20)
		if err != nil {
			return o, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return o, fmt.Errorf("%s: found no certificate, expected PEM", f.ca)
		}
		o.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	if f.verbose {
		o.Message = func(level slog.Level, text string) { t.Say("%s: %s", level, text) }
	}
	if err := o.Check(); err != nil {
		return o, cli.Usagef("%w", err)
	}
	var err error
	o.Build, err = engine.Build()
	return o, err
}

// newSample makes the command sample.
func newSample(t *cli.Terminal) *cobra.Command {
	var e engineFlags
	var c sampling.Cluster
	cmd := command.NewSample(t, &command.Where[sampling.Cluster]{
		Long: `Samples subgraphs on a cluster, by Apache Beam on Flink or Spark, or on this machine by
Beam's Prism. Each file has the bytes that graphmill sample writes with the same flags.

The store and the folder of the output lie on storage that the submitter and all workers
reach at the same paths. With --method local each worker maps the whole store, and only
seeds are dealt out. With --method shuffle workers read ranges of the store, and
exchange what they find through the storage: for stores that do not fit the memory of a
worker. Workers also write a large output, each a part of it. If a job fails, the same command continues from what is whole.`,
		Example: `  graphmill-beam sample g.store --fanout 15,10 --scope seed --format tfrecord --shards 64 --out samples
  graphmill-beam sample g.store --fanout 15,10 --out batches --runner flink --endpoint localhost:8099
  graphmill-beam sample /shared/g.store --fanout 15,10,5 --out /shared/batches --runner flink \
    --endpoint flink:8099 --workers localhost:50000 --parallelism 64 --method shuffle --insecure`,
		Add: func(fs *pflag.FlagSet) {
			e.add(fs)
			fs.StringVar((*string)(&c.Method), "method", string(sampling.ClusterAuto), "how workers read the store: whole (local), in ranges (shuffle), or whole if --memory or the memory of this machine holds it (auto)")
			fs.BoolVar(&c.ShipGraph, "ship-graph", false, "copy the store next to the output first, for workers that reach the output and not the store")
			fs.IntVar(&c.WaveSeeds, "wave-seeds", 0, "seeds whose requests to one range a worker holds at a time, with shuffle (default: about 64 MiB of requests)")
			fs.IntVar(&c.ArrayShards, "array-shards", 0, "the most files of an array of a collection, or tasks that write TFRecord files, which workers write at the same time (default: one per 256 MiB of the output, by the forecast)")
			cli.Choices(fs, "method", sampling.ClusterAuto, sampling.ClusterLocal, sampling.ClusterShuffle)
			cli.Group(fs, options.GroupCluster, "*method", "array-shards", "ship-graph", "wave-seeds")
		},
		Cluster: func() (*sampling.Cluster, error) {
			var err error
			c.Engine, err = e.engine(t, staging.Sample)
			return &c, err
		},
	})
	continues(cmd)
	// It says how one process reads the store; --method says it for workers.
	if err := cmd.Flags().MarkHidden("executor"); err != nil {
		panic(err)
	}
	return cmd
}
