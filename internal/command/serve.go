package command

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/answer"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/serving"
	"github.com/graphmill/graphmill/internal/options"
)

// serveFlags has the flags of serve.
type serveFlags struct {
	CommonFlags
	plans     PlansFlags
	answering serving.Answering
	maxAnswer cli.Bytes
}

// NewServe makes the command serve.
func NewServe(t *cli.Terminal) *cobra.Command {
	f := serveFlags{maxAnswer: 1 << 30}
	cmd := &cobra.Command{
		Use:   "serve STORE --socket PATH",
		Short: "Answer questions for the subgraphs of single nodes, from the newest version of a store",
		Long: `Answers questions of services on this machine: the subgraph around the nodes that are asked
for, by their original ids, with the columns that a model needs. The answer is the batch that
a training with the same options would have got for these seeds. With --refresh, questions
are answered from each new version of the store, such as "graphmill append" makes. The Client
of the Python package asks; docs/format-answers.md describes the protocol.

When clients can connect, the command prints one line of JSON. SIGINT, SIGTERM and SIGHUP
end it.`,
		Example: `  graphmill serve g.store --fanout 15,10 --socket g.sock
  graphmill serve g.store --fanout 15,10 --socket g.sock --refresh 1s --http 127.0.0.1:9090
  graphmill serve g.store --plan users=users.json --plan items=items.json --socket g.sock
  python -c 'import graphmill; print(graphmill.Client("g.sock").ask(ids=["ada"]))'`,
		Args: cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			plans, err := f.plans.Plans(f.Run(t))
			if err != nil {
				return err
			}
			a := f.answering
			a.MaxAnswer, a.Say = int64(f.maxAnswer), func(line string) { t.Say("%s", line) }
			a.Ready = func(http string) error {
				ready := map[string]string{"socket": a.Socket}
				if http != "" {
					ready["http"] = http
				}
				line, err := json.Marshal(ready)
				if err == nil {
					_, err = fmt.Fprintf(t.Stdout, "%s\n", line)
				}
				return err
			}
			return a.Serve(cmd.Context(), args[0], plans)
		},
	}
	f.CommonFlags.Add(cmd)
	fs := cmd.Flags()
	f.plans.addAsked(fs)
	a := &f.answering
	f.Bind(cmd, options.Watching, a)
	fs.StringVar(&a.Socket, "socket", "", "path of the Unix socket to answer on; processes of this user can connect (required)")
	fs.DurationVar(&a.Refresh, "refresh", 0, "look for a new version of the store so often, such as 1s, and answer new questions from it; 0 keeps the version that was there at the start")
	fs.IntVar(&a.Waiting, "waiting", 256, "most questions that wait for a thread; further ones are refused at once")
	fs.IntVar(&a.Connections, "connections", 256, "most connections at a time")
	fs.Var(&f.maxAnswer, "max-answer", "bound on the size of an answer, below 2GiB; a question with a larger one is refused")
	cli.Named(fs, "PATH", "socket")
	cli.Group(fs, options.GroupServe, "*socket", "*refresh", "waiting", "connections", "max-answer")
	return cmd
}

// check refuses values that no server takes.
func (f *serveFlags) check() error {
	if err := f.Check(); err != nil {
		return err
	}
	a := &f.answering
	switch {
	case a.Socket == "":
		return cli.Usagef("found no `Socket`, expected the path of a Unix socket; give `Socket` PATH")
	case a.Refresh < 0:
		return cli.Usagef("found `Refresh` %s, expected a time such as 1s, or 0", a.Refresh)
	case a.Waiting < 0 || a.Waiting > 1<<20:
		return cli.Usagef("found `Waiting` %d, expected 0 to %d", a.Waiting, 1<<20)
	case a.Connections < 1 || a.Connections > 1<<16:
		return cli.Usagef("found `Connections` %d, expected 1 to %d", a.Connections, 1<<16)
	case f.maxAnswer < 1 || f.maxAnswer > answer.MostAnswer:
		return cli.Usagef("found `MaxAnswer` %s, expected 1 to %d bytes, which the length of a frame holds", f.maxAnswer.String(), answer.MostAnswer)
	}
	return nil
}
