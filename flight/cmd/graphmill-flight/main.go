package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/command"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/options"
)

// Exit statuses, the same as graphmill's.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() { os.Exit(runCommand(os.Args, os.Stdout, os.Stderr)) }

// runCommand runs the command. args begins with the name of the program.
func runCommand(args []string, stdout, stderr io.Writer) int {
	ctx, stop := cli.Interruptible()
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := cli.NewStdout(stdout, cancel)
	t := &cli.Terminal{Program: "graphmill-flight", Args: args, Stdout: out, Stderr: stderr}
	cmd := newCommand(t)
	cmd.SetArgs(args[1:])
	cmd.SetOut(out)
	cmd.SetErr(stderr)
	err := guard.Do(func() error { return cmd.ExecuteContext(ctx) }) // what the operations do not guard
	status := exitFailed
	if out.Err() != nil {
		status, err = out.Failed(err, status)
	} else if err == nil {
		return exitDone
	}
	if err == nil {
		return status
	}
	t.Begin(cmd)
	t.Fail(err)
	if cli.IsUsage(err) {
		fmt.Fprintln(stderr, "Try 'graphmill-flight --help'.")
		return exitUsage
	}
	return status
}

// serveFlags has the flags.
type serveFlags struct {
	plans                     command.PlansFlags
	watching                  struct{ HTTP string }
	threads, streams, waiting int
	sendTime, refresh         time.Duration
	memory, maxMessage        cli.Bytes
	listen                    string
	secrets                   command.SecretFlags
}

func newCommand(t *cli.Terminal) *cobra.Command {
	c := serveFlags{maxMessage: 1 << 30}
	cmd := &cobra.Command{
		Use:   "graphmill-flight STORE",
		Short: "Serve sampled batches to trainers on other machines over Arrow Flight",
		Long: `Samples batches of a store and streams them to Arrow Flight clients. With the same options,
the loaders of the Python package make the same batches. When clients can connect, the command
prints one line of JSON, {"addr":"HOST:PORT"}. SIGINT, SIGTERM and SIGHUP end it.

An address that other machines can reach requires TLS, and a token that each call must have. A
loopback address requires neither; without a token, every user of this machine can read batches.`,
		Example: `  graphmill-flight g.store --fanout 15,10 --batch-size 1024 --shuffle
  graphmill-flight g.store --fanout 15,10 --listen 0.0.0.0:8815 --tls-cert cert.pem --tls-key key.pem --token-file token
  graphmill-flight g.store --plan users=users.json --plan items=items.json --refresh 1s
  head -c 32 /dev/urandom | base64 > token  # make a token`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("found %d arguments, expected one STORE", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			return c.serve(cmd, t, args[0])
		},
	}
	f := cmd.Flags()
	c.plans.Add(f)
	cli.Bind(f, options.Watching, &c.watching)
	f.IntVar(&c.threads, "threads", runtime.GOMAXPROCS(0), "number of batches made at a time; their content does not depend on it (default: one per processor)")
	f.IntVar(&c.streams, "streams", 16, "most streams at a time; each holds up to 11 batches in memory")
	f.IntVar(&c.waiting, "waiting", 256, "most questions of exchanges that wait for a thread; further ones are refused at once")
	f.Var(&c.memory, "memory", "bound on the memory for sampling, such as 2GiB; the batches of streams need more (default: no bound)")
	f.Var(&c.maxMessage, "max-message", "bound on the size of a batch, below 2GiB; a larger batch ends its stream with an error")
	f.DurationVar(&c.sendTime, "send-timeout", time.Hour, "a stream whose client takes no batch for this long ends and frees its place")
	f.DurationVar(&c.refresh, "refresh", 0, "look for a new version of the store so often, such as 1s, and answer new calls from it; 0 keeps the version that was there at the start")
	f.StringVar(&c.listen, "listen", "127.0.0.1:0", "HOST:PORT to listen on; port 0 chooses a free port")
	c.secrets.Add(f)
	cli.Named(f, "HOST:PORT", "listen")
	cli.Group(f, options.GroupRun, "*threads", "*memory")
	cli.Group(f, options.GroupServe, "*listen", "streams", "waiting", "max-message", "send-timeout", "refresh")
	cli.Setup(cmd, t, "0 ended by a signal, 1 failed, 2 wrong usage")
	return cmd
}
