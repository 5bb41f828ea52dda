package command

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// packFlags has the flags of pack.
type packFlags struct {
	outputFlags
	option.PackStream
	text   struct{ Limits []string }
	Stream bool
}

// NewPack makes the command pack.
func NewPack(t *cli.Terminal) *cobra.Command {
	var f packFlags
	o := &f.Pack
	cmd := &cobra.Command{
		Use:   "pack HIST.csv|COLLECTION|SIZES.csv|-",
		Short: "Pack many small graphs into few packs of one fixed shape",
		Long: `Puts small graphs into as few packs as it can find, so that no pack exceeds the limit
of a component (nodes, edges, ...). It also proves a lower bound: no packing has fewer
packs. The input is a collection or a histogram: a CSV file with one line per size and
the columns num_nodes,num_edges,count, or one to seven components of any name and count.

The components of a collection are num_nodes, num_edges, num_nodes:TYPE,
num_edges:TYPE, and the integer columns of the context.

Methods: auto tries several methods and keeps the best packing. dlpfhp is the published
"tuple longest-pack-first" algorithm, and spfhp its first-fit variant; both give the
published results exactly. best-fit, first-fit, next-fit (dynamic batching) and none
(one graph per pack) are for comparison. The result does not depend on the number of
threads or the machine, unless --time-budget is given.

--stream packs the graphs in their order, without knowing their number, and holds at
most --buffer of them. The input is a CSV file with one graph per line, stdin (-) with
the same text, or a collection. It prints one line of JSON per pack, or writes
pack_ptr.npy and graph_id.npy to --out. With --oversize alone, graphs that are larger
than a pack go to lines of their own, or to alone_id.npy.`,
		Example: `  graphmill pack molhiv.csv --limit num_nodes=222 --limit num_edges=502
  graphmill pack molecules.coll --limit num_nodes=1024 --limit num_edges=2200 --max-graphs 64 --out plan
  graphmill pack molhiv.csv --limit num_nodes=222 --limit num_edges=502 --max-graphs 256 --method dlpfhp --heuristic product --json
  graphmill pack molecules.coll --limit num_nodes=1024 --limit num_edges=2200 --reserve --out plan
  graphmill pack fill plan molecules.coll --seed 1 --epochs 10 --out filled
  graphmill pack materialise plan molecules.coll --seed 1 --out packs
  make-graphs | graphmill pack - --stream --buffer 512 --limit num_nodes=1024 --limit num_edges=2200
  graphmill pack hist molecules.coll > molecules.csv`,
		Args: cli.OneArg("one histogram (.csv) or collection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			o.Run = f.outputFlags.Run(t)
			if f.Stream {
				return f.packStream(cmd, t, args[0])
			}
			p, err := graphmill.Pack(cmd.Context(), args[0], f.Path, *o)
			if err != nil {
				return err
			}
			return f.print(t, p)
		},
	}
	f.CommonFlags.Add(cmd)
	fs := cmd.Flags()
	f.outFlags.Add(cmd)
	fs.Lookup("out").Usage = "folder to write the pack layout to (default: write nothing, only print the result)"
	f.Bind(cmd, options.Pack, &f.text, &f)
	cmd.AddCommand(newPackHist(t), newPackFill(t), newPackMaterialise(t), newPackTables(t), newPackTune(t))
	return cmd
}

// check parses the limits, and refuses zeros that would stand for a default.
func (f *packFlags) check(cmd *cobra.Command) error {
	if !f.Stream && cmd.Flags().Changed("buffer") {
		return cli.Usagef("found --buffer without --stream, expected both")
	}
	if err := f.CommonFlags.Check(); err != nil {
		return err
	}
	f.Limits = nil
	for _, s := range f.text.Limits {
		name, text, ok := strings.Cut(s, "=")
		n, err := strconv.ParseInt(text, 10, 32)
		if !ok || name == "" || err != nil || n < 0 {
			return cli.Usagef("found --limit %q, expected COMPONENT=N with an integer from 0 to 2^31 - 1, such as num_nodes=222", s)
		}
		f.Limits = append(f.Limits, option.PackLimit{Component: name, Max: int(n)})
	}
	return nil
}

// packStream packs a stream of graphs.
func (f *packFlags) packStream(cmd *cobra.Command, t *cli.Terminal, in string) error {
	o := f.PackStream
	o.In, o.Lines = t.Stdin, t.Stdout
	p, err := graphmill.PackStream(cmd.Context(), in, f.Path, o)
	if err != nil {
		return err
	}
	if f.AsJSON {
		return json.NewEncoder(t.Stdout).Encode(p)
	}
	if f.Path == "" {
		return p.Text(t.Stderr) // the packs are on stdout
	}
	return t.Summarise(p, false)
}

// print prints a packing: a summary if the layout was written, else the result.
func (f *packFlags) print(t *cli.Terminal, p *report.Packing) error {
	if f.Path != "" {
		return t.Summarise(p, f.AsJSON)
	}
	return t.Print(p, f.AsJSON)
}
