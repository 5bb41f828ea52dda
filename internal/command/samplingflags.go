package command

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/operation/serving"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// addSamplingFlags adds the flags of tables. They set the options in structs, which are pointers; the options of draws among them are d. The
// function that it returns sets the options whose flags are texts, once the flags are parsed.
func addSamplingFlags(fs *pflag.FlagSet, d *option.Draw, tables [][]options.Option, structs ...any) (parse func() error) {
	var text struct{ Fanout string }
	finish := cli.Bind(fs, slices.Concat(tables...), append([]any{&text}, structs...)...)
	return func() error {
		if err := finish(); err != nil || text.Fanout == "" {
			return err
		}
		var err error
		d.Fanout, d.FanoutByType, err = sampling.ParseFanouts(text.Fanout)
		return err
	}
}

// BatchesFlags has the flags that say what to sample into batches.
type BatchesFlags struct {
	option.Batches
	parse func() error
}

// Add adds the flags, and the flags of more options of batches.
func (f *BatchesFlags) Add(fs *pflag.FlagSet, more ...options.Option) {
	f.addTables(fs, [][]options.Option{options.Sampling, options.OfColumns, options.Order, options.Batches, more})
}

func (f *BatchesFlags) addTables(fs *pflag.FlagSet, tables [][]options.Option, structs ...any) {
	f.Features, f.EdgeFeatures = []string{"all"}, []string{}
	f.parse = addSamplingFlags(fs, &f.Draw, tables, append(structs, &f.Batches)...)
}

// Options returns the options that the flags set.
func (f *BatchesFlags) Options(run option.Run) (option.Batches, error) {
	err := f.parse()
	f.Run = run
	return f.Batches, err
}

// PlansFlags has the flags of a server, which answers by several plans.
type PlansFlags struct {
	batches BatchesFlags
	text    struct{ Plans []string }
}

// Add adds the flags of a server of any batches.
func (f *PlansFlags) Add(fs *pflag.FlagSet) {
	f.batches.addTables(fs, [][]options.Option{options.Served, options.OfColumns, options.Order, options.Batches, options.Answers}, &f.text)
}

// addAsked adds the flags of a server of batches whose seeds are asked for.
func (f *PlansFlags) addAsked(fs *pflag.FlagSet) {
	f.batches.addTables(fs, [][]options.Option{options.Asked, options.OfColumns, options.Batches, options.Answers}, &f.text)
}

// Plans returns the plans that the flags set, the default one first.
func (f *PlansFlags) Plans(run option.Run) ([]sampling.Plan, error) {
	o, err := f.batches.Options(run)
	if err != nil {
		return nil, err
	}
	return serving.ParsePlans(o, f.text.Plans)
}
