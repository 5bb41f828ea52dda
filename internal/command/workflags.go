package command

import (
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// workFlags has the flags that sample and forecast share: what is sampled, by which executor, and in which format.
type workFlags struct {
	CommonFlags
	sample option.Unigraph
	text   struct{ Rank string }
}

// Add adds the flags to a command.
func (f *workFlags) Add(cmd *cobra.Command) {
	f.CommonFlags.Add(cmd)
	f.text.Rank = "0/1"
	f.finish = append(f.finish, addSamplingFlags(cmd.Flags(), &f.sample.Draw, [][]options.Option{options.Sampling, options.Epoch, options.Work}, &f.text, &f.sample))
}

var rankForm = regexp.MustCompile(`^(\d{1,9})/(\d{1,9})$`)

// options returns the options that the flags set.
func (f *workFlags) options(t *cli.Terminal) (option.Unigraph, error) {
	o := &f.sample
	if err := f.Check(); err != nil {
		return *o, err
	}
	var err error
	if o.Rank, o.Ranks, err = parseRank(f.text.Rank); err != nil {
		return *o, err
	}
	o.Run = f.Run(t)
	return *o, sampling.Check(o.Sample)
}

// parseRank reads R/W.
func parseRank(text string) (rank, ranks int, err error) {
	m := rankForm.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, cli.Usagef("found --rank %q, expected R/W, such as 0/4", text)
	}
	// Numbers of nine digits fit an int.
	rank, _ = strconv.Atoi(m[1])
	ranks, _ = strconv.Atoi(m[2])
	if rank >= ranks {
		return 0, 0, cli.Usagef("found --rank %q, expected R below W", text)
	}
	return rank, ranks, nil
}
