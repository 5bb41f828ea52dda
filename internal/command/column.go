package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// NewColumn makes the command column.
func NewColumn(t *cli.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "column",
		Short: "Add, replace and drop columns of a store",
		Long: `Changes a column of a store, and writes no other file again: the store gets a new version
under its name in one step, whose other files are hard links to those of the version
before. Programs that have the store open keep that version.`,
		Example: `  graphmill column add g.store paper emb emb.npy  # a row per node, in the order of the nodes
  graphmill column replace g.store paper year years.csv  # by the ids of the nodes
  graphmill column drop g.store paper title`,
		Args: cli.UnknownCommand("found %q, expected add, replace or drop"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newColumnOf(t, "add", "Add a column to the nodes or edges of a type", graphmill.AddColumn),
		newColumnOf(t, "replace", "Replace a column of the nodes or edges of a type", graphmill.ReplaceColumn),
		newColumnDrop(t))
	return cmd
}

// columnFunc is AddColumn or ReplaceColumn.
type columnFunc func(ctx context.Context, dir, typ, name, source string, o option.Column) (*graphmill.Report, error)

// newColumnOf makes the commands that read values.
func newColumnOf(t *cli.Terminal, verb, short string, do columnFunc) *cobra.Command {
	var f struct {
		CommonFlags
		option.Column
		NoReport bool
	}
	o := &f.Column
	cmd := &cobra.Command{
		Use:   verb + " STORE TYPE NAME FILE",
		Short: short,
		Long: `Reads the values of the column NAME from FILE. TYPE is a node type, an edge type
SRC:REL:DST, or the relation of one edge type.

FILE is a .npy file with a row per node, in the order of the nodes (of their type-wise
ids), or per edge, in the order of the edge ids. Or it is a table of a kind that
graphmill import reads (CSV, Parquet, Arrow, JSON lines): of nodes with a column of
their ids, unless --ordered; of edges in the order of the edge ids.

A row with an id that no node has, a second row with an id, and a node without a row are
errors, unless a flag says how to treat them.`,
		Example: strings.ReplaceAll(`  graphmill column VERB g.store paper emb emb.npy
  graphmill column VERB g.store paper year years.csv --missing -1
  graphmill column VERB g.store author country authors.parquet --id orcid --column land --dtype category
  graphmill column VERB g.store author:writes:paper weight weights.npy`, "VERB", verb),
		Args: cli.Args(4, "a STORE, a TYPE of it, the NAME of the column, and a FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			o.Run = f.CommonFlags.Run(t)
			o.NoReport = f.NoReport
			return t.Finish(f.AsJSON)(do(cmd.Context(), args[0], args[1], args[2], args[3], *o))
		},
	}
	f.AddThreads(cmd)
	f.Bind(cmd, options.NoReport, &f)
	f.Bind(cmd, options.Column, o)
	cmd.ValidArgsFunction = completeColumn(verb)
	return cmd
}

// newColumnDrop makes the command column drop.
func newColumnDrop(t *cli.Terminal) *cobra.Command {
	var f struct {
		CommonFlags
		NoReport bool
	}
	cmd := &cobra.Command{
		Use:   "drop STORE TYPE NAME",
		Short: "Remove a column from the nodes or edges of a type",
		Long: `Removes the column NAME from the nodes or edges of a type. What it is used for elsewhere,
such as a split or times, is not looked at.`,
		Example: `  graphmill column drop g.store paper title
  graphmill column drop g.store author:writes:paper weight`,
		Args: cli.Args(3, "a STORE, a TYPE of it, and the NAME of the column"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			o := f.CommonFlags.Run(t)
			o.NoReport = f.NoReport
			return t.Finish(f.AsJSON)(graphmill.DropColumn(cmd.Context(), args[0], args[1], args[2], o))
		},
	}
	f.AddThreads(cmd)
	f.Bind(cmd, options.NoReport, &f)
	cmd.ValidArgsFunction = completeColumn("drop")
	return cmd
}

// completeColumn completes the arguments: a folder, a type of the store, one of its columns where it must be there, and a file.
func completeColumn(verb string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return nil, cobra.ShellCompDirectiveFilterDirs
		case len(args) == 1:
			return cli.TypesOf(args[0], typed), cobra.ShellCompDirectiveNoFileComp
		case len(args) == 2 && verb != "add":
			return cli.ColumnsOf(args[0], args[1], typed), cobra.ShellCompDirectiveNoFileComp
		case len(args) == 3 && verb != "drop":
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}
