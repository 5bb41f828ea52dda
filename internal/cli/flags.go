package cli

import (
	"errors"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Usagef makes an error about the command line.
func Usagef(format string, a ...any) error { return tagged.Errorf(graphmill.ErrUsage, format, a...) }

// IsUsage reports whether an error is about the command line, or about options that the command line set.
func IsUsage(err error) bool { return errors.Is(err, graphmill.ErrUsage) }

var (
	// ErrDamage ends a command that found damage and printed it.
	ErrDamage = errors.New("damage found")
	// ErrTold ends a command that failed and already printed the reason.
	ErrTold = errors.New("faults found")
)

// Common has the flags of every command that may run for long.
type Common struct {
	AsJSON  bool
	Threads int
	Memory  Bytes
}

// Add adds the flags to a command.
func (c *Common) Add(cmd *cobra.Command) {
	c.AddThreads(cmd)
	cmd.Flags().Var(&c.Memory, "memory", "bound on the peak memory of the process, such as 2GiB (default: no bound)")
	Group(cmd.Flags(), GroupRun, "*memory")
}

// AddThreads adds the flags of a command that needs little memory: all but --memory.
func (c *Common) AddThreads(cmd *cobra.Command) {
	f := cmd.Flags()
	AddJSON(cmd, &c.AsJSON, "print the result as one JSON object on stdout")
	f.IntVar(&c.Threads, "threads", runtime.GOMAXPROCS(0), "number of worker threads; results do not depend on it (default: one per processor)")
	Defaults(f, map[string]string{"threads": ""})
	Group(f, GroupRun, "*threads")
}

// AddJSON adds the flag --json to a command.
func AddJSON(cmd *cobra.Command, asJSON *bool, usage string) {
	cmd.Flags().BoolVar(asJSON, "json", false, usage)
	Group(cmd.Flags(), GroupRun, "*json")
}

// Check refuses values that no command takes.
func (c *Common) Check() error {
	if c.Threads < 1 || c.Threads > 4096 {
		return Usagef("found `Threads` %d, expected 1 to 4096", c.Threads)
	}
	return nil
}

// Run converts the flags to options. The operation prints its progress, warnings and notes to the terminal.
func (c *Common) Run(t *Terminal) graphmill.Run {
	return graphmill.Run{Threads: c.Threads, Memory: int64(c.Memory), Progress: t.Progress, Warn: t.Warn,
		Note: t.Note, CommandLine: t.Args}
}

// Out has the flags of every command that writes a folder.
type Out struct {
	Path     string
	Force    bool
	NoReport bool
}

// Add adds the flags to a command.
func (o *Out) Add(cmd *cobra.Command) {
	o.AddFolder(cmd, "folder to write (required)")
	cmd.Flags().BoolVar(&o.NoReport, "no-report", false, "write no report.html and report.json")
	Group(cmd.Flags(), GroupOutput, "no-report")
}

// AddFolder adds the flags of a command whose output is itself a report.
func (o *Out) AddFolder(cmd *cobra.Command, usage string) {
	f := cmd.Flags()
	f.StringVarP(&o.Path, "out", "o", "", usage)
	f.BoolVar(&o.Force, "force", false, "replace an existing output folder of graphmill")
	Folders(f, "out")
	Group(f, GroupOutput, "*out", "*force")
}

// Apply sets the options of the output.
func (o *Out) Apply(r *graphmill.Run) { r.Overwrite, r.NoReport = o.Force, o.NoReport }

// Check refuses a command line without a folder.
func (o *Out) Check() error {
	if o.Path == "" {
		return Usagef("found no `Out`, expected a folder to write; give `Out` FOLDER")
	}
	return nil
}

// Output has the flags of a command that may run for long and writes a folder.
type Output struct {
	Common
	Out
}

// Add adds the flags to a command.
func (o *Output) Add(cmd *cobra.Command) {
	o.Common.Add(cmd)
	o.Out.Add(cmd)
}

// Check refuses values that no command takes, and a command line without a folder.
func (o *Output) Check() error {
	if err := o.Common.Check(); err != nil {
		return err
	}
	return o.Out.Check()
}

// Run converts the flags to options.
func (o *Output) Run(t *Terminal) graphmill.Run {
	r := o.Common.Run(t)
	o.Apply(&r)
	return r
}

// Defaults sets the defaults that the help shows, for flags whose zero value stands for a default.
func Defaults(f *pflag.FlagSet, values map[string]string) {
	for name, value := range values {
		f.Lookup(name).DefValue = value
	}
}

// Positive refuses the value 0 for flags, because the options treat 0 as not given.
func Positive(f *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if f.Changed(name) && f.Lookup(name).Value.String() == "0" {
			if f.Lookup(name).Value.Type() == "float64" {
				return Usagef("found --%s 0, expected a number above 0", name)
			}
			return Usagef("found --%s 0, expected at least 1", name)
		}
	}
	return nil
}

// OneArg returns the check of a command with one argument, which what describes.
func OneArg(what string) cobra.PositionalArgs { return nArgs(1, what) }

// TwoArgs returns the check of a command with two arguments, which what describes.
func TwoArgs(what string) cobra.PositionalArgs { return nArgs(2, what) }

func nArgs(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return Usagef("found %d arguments, expected %s", len(args), what)
		}
		return nil
	}
}

// NoArgs checks a command without arguments.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("found argument %q, expected none", args[0])
	}
	return nil
}
