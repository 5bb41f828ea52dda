package command

import (
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// CommonFlags has the flags of every command that may run for long.
type CommonFlags struct {
	AsJSON  bool
	Threads int
	Memory  cli.Bytes
	finish  []func() error // what is left to do once the flags are parsed
}

// Bind adds flags by a table, as cli.Bind does. Check does what is left to do once they are parsed.
func (c *CommonFlags) Bind(cmd *cobra.Command, table []options.Option, structs ...any) {
	c.finish = append(c.finish, cli.Bind(cmd.Flags(), table, structs...))
}

// Add adds the flags to a command.
func (c *CommonFlags) Add(cmd *cobra.Command) {
	c.AddThreads(cmd)
	c.Bind(cmd, options.Memory, c)
}

// AddThreads adds the flags of a command that needs little memory: all but --memory.
func (c *CommonFlags) AddThreads(cmd *cobra.Command) {
	addJSON(cmd, &c.AsJSON, "print the result as one JSON object on stdout")
	c.Threads = runtime.GOMAXPROCS(0)
	c.Bind(cmd, options.Threads, c)
}

// addJSON adds the flag --json to a command.
func addJSON(cmd *cobra.Command, asJSON *bool, usage string) {
	cmd.Flags().BoolVar(asJSON, "json", false, usage)
	cli.Group(cmd.Flags(), options.GroupRun, "*json")
}

// Check refuses values that no command takes, and sets the options whose flags are texts.
func (c *CommonFlags) Check() error {
	if c.Threads < 1 || c.Threads > 4096 {
		return cli.Usagef("found `Threads` %d, expected 1 to 4096", c.Threads)
	}
	for _, finish := range c.finish {
		if err := finish(); err != nil {
			return err
		}
	}
	return nil
}

// Run converts the flags to options. The operation prints its progress, warnings and notes to the terminal.
func (c *CommonFlags) Run(t *cli.Terminal) option.Run {
	return option.Run{Threads: c.Threads, Memory: int64(c.Memory), Progress: t.Progress, Warn: t.Warn,
		Note: t.Note, CommandLine: t.Args}
}

// outFlags has the flags of every command that writes a folder.
type outFlags struct {
	Path      string
	Overwrite bool
	NoReport  bool
}

// Add adds the flags to a command.
func (o *outFlags) Add(cmd *cobra.Command) {
	o.AddFolder(cmd, "folder to write (required)")
	cli.Bind(cmd.Flags(), options.NoReport, o)
}

// AddFolder adds the flags of a command whose output is itself a report.
func (o *outFlags) AddFolder(cmd *cobra.Command, usage string) {
	f := cmd.Flags()
	f.StringVarP(&o.Path, "out", "o", "", usage)
	cli.Folders(f, "out")
	cli.Group(f, options.GroupOutput, "*out")
	cli.Bind(f, options.Overwrite, o)
}

// Apply sets the options of the output.
func (o *outFlags) Apply(r *option.Run) { r.Overwrite, r.NoReport = o.Overwrite, o.NoReport }

// Check refuses a command line without a folder.
func (o *outFlags) Check() error {
	if o.Path == "" {
		return cli.Usagef("found no `Out`, expected a folder to write; give `Out` FOLDER")
	}
	return nil
}

// outputFlags has the flags of a command that may run for long and writes a folder.
type outputFlags struct {
	CommonFlags
	outFlags
}

// Add adds the flags to a command.
func (o *outputFlags) Add(cmd *cobra.Command) {
	o.CommonFlags.Add(cmd)
	o.outFlags.Add(cmd)
}

// Check refuses values that no command takes, and a command line without a folder.
func (o *outputFlags) Check() error {
	o.finish = slices.Insert(o.finish, 0, o.outFlags.Check)
	return o.CommonFlags.Check()
}

// Run converts the flags to options.
func (o *outputFlags) Run(t *cli.Terminal) option.Run {
	r := o.CommonFlags.Run(t)
	o.Apply(&r)
	return r
}
