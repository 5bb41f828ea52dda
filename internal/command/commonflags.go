package command

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/option"
)

// CommonFlags has the flags of every command that may run for long.
type CommonFlags struct {
	AsJSON  bool
	Threads int
	Memory  cli.Bytes
}

// Add adds the flags to a command.
func (c *CommonFlags) Add(cmd *cobra.Command) {
	c.AddThreads(cmd)
	cmd.Flags().Var(&c.Memory, "memory", "bound on the peak memory of the process, such as 2GiB (default: no bound)")
	cli.Group(cmd.Flags(), cli.GroupRun, "*memory")
}

// AddThreads adds the flags of a command that needs little memory: all but --memory.
func (c *CommonFlags) AddThreads(cmd *cobra.Command) {
	f := cmd.Flags()
	addJSON(cmd, &c.AsJSON, "print the result as one JSON object on stdout")
	f.IntVar(&c.Threads, "threads", runtime.GOMAXPROCS(0), "number of worker threads; results do not depend on it (default: one per processor)")
	cli.Defaults(f, map[string]string{"threads": ""})
	cli.Group(f, cli.GroupRun, "*threads")
}

// addJSON adds the flag --json to a command.
func addJSON(cmd *cobra.Command, asJSON *bool, usage string) {
	cmd.Flags().BoolVar(asJSON, "json", false, usage)
	cli.Group(cmd.Flags(), cli.GroupRun, "*json")
}

// Check refuses values that no command takes.
func (c *CommonFlags) Check() error {
	if c.Threads < 1 || c.Threads > 4096 {
		return cli.Usagef("found `Threads` %d, expected 1 to 4096", c.Threads)
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
	Path     string
	Force    bool
	NoReport bool
}

// Add adds the flags to a command.
func (o *outFlags) Add(cmd *cobra.Command) {
	o.AddFolder(cmd, "folder to write (required)")
	cmd.Flags().BoolVar(&o.NoReport, "no-report", false, "write no report.html and report.json")
	cli.Group(cmd.Flags(), cli.GroupOutput, "no-report")
}

// AddFolder adds the flags of a command whose output is itself a report.
func (o *outFlags) AddFolder(cmd *cobra.Command, usage string) {
	f := cmd.Flags()
	f.StringVarP(&o.Path, "out", "o", "", usage)
	f.BoolVar(&o.Force, "force", false, "replace an existing output folder of graphmill")
	cli.Folders(f, "out")
	cli.Group(f, cli.GroupOutput, "*out", "*force")
}

// Apply sets the options of the output.
func (o *outFlags) Apply(r *option.Run) { r.Overwrite, r.NoReport = o.Force, o.NoReport }

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
	if err := o.CommonFlags.Check(); err != nil {
		return err
	}
	return o.outFlags.Check()
}

// Run converts the flags to options.
func (o *outputFlags) Run(t *cli.Terminal) option.Run {
	r := o.CommonFlags.Run(t)
	o.Apply(&r)
	return r
}
