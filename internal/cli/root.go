package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/options"
)

// Setup gives a root command what all programs have: the flags of every command, the help, the completions, and errors about flags. It is
// called once, after the last command was added. status lists the exit statuses for the help.
func Setup(root *cobra.Command, t *Terminal, status string) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Annotations = map[string]string{statusNote: status}
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return Usagef("%w%s", wrongValue(err), Suggest(cmd.Flags(), err))
	})
	if t.colour == "" {
		t.colour = colourAuto
	}
	fs := root.PersistentFlags()
	fs.BoolP("help", "h", false, "print the examples and the common flags")
	fs.BoolVar(&t.helpAll, "help-all", false, "print the examples, the description and all flags")
	fs.BoolVarP(&t.Quiet, "quiet", "q", t.Quiet, "print no progress, notes or summary, only errors, warnings and what was asked for")
	fs.BoolVar(&t.Verbose, "verbose", t.Verbose, "print the whole report of what was done, not three lines of it")
	fs.Var(&t.colour, "color", "colours and bold text (default: on a terminal, unless NO_COLOR is set)")
	Choices(fs, "color", colourAuto, colourAlways, colourNever)
	Group(fs, options.GroupEvery, "help", "help-all", "quiet", "verbose", "color")
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		text := Help(cmd, Page{Columns: t.columns(), All: t.helpAll, Bold: t.colours(t.Stdout)})
		_, _ = cmd.OutOrStdout().Write([]byte(text)) // Stdout remembers the error
	})
	before := root.PersistentPreRun
	root.PersistentPreRun = func(cmd *cobra.Command, args []string) {
		t.Begin(cmd)
		if before != nil {
			before(cmd, args)
		}
	}
	if root.HasSubCommands() {
		root.AddCommand(newMan())
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	Walk(root, func(cmd *cobra.Command) {
		cmd.Flags().SortFlags = false // a group has the flags in the order of the program
		if f := cmd.Flags().Lookup("no-descriptions"); f != nil {
			Group(cmd.Flags(), options.GroupOutput, f.Name)
		}
		if cmd.Version != "" {
			cmd.InitDefaultVersionFlag()
			Group(cmd.Flags(), options.GroupEvery, "version")
		}
		complete(cmd)
		// The arguments are checked before anything runs, so that --help-all needs none.
		check := cmd.Args
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			switch {
			case t.helpAll && cmd.Name() != "help":
				return pflag.ErrHelp
			case check != nil:
				return check(cmd, args)
			}
			return cobra.ArbitraryArgs(cmd, args)
		}
	})
}

// CommandGroup is a group of commands in the help.
type CommandGroup struct {
	Title string
	Names []string
}

// GroupCommands puts the commands below a command into groups. A name without a command is ignored.
func GroupCommands(cmd *cobra.Command, all []CommandGroup) {
	for _, g := range all {
		cmd.AddGroup(&cobra.Group{ID: g.Title, Title: g.Title})
		for _, c := range cmd.Commands() {
			if slices.Contains(g.Names, c.Name()) {
				c.GroupID = g.Title
			}
		}
	}
}

// Walk calls f with a command and all commands below it.
func Walk(cmd *cobra.Command, f func(cmd *cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		Walk(c, f)
	}
}

// UnknownCommand refuses the first argument of a command that only has subcommands, and suggests those with a similar name. format is the text
// of the error, with a verb for the argument.
func UnknownCommand(format string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		hint := ""
		cmd.SuggestionsMinimumDistance = 2
		if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
			hint = "; did you mean " + strings.Join(s, " or ") + "?"
		}
		return Usagef(format+"%s", args[0], hint)
	}
}
