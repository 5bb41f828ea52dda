package pack

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
)

// packFlags are the flags of pack.
type packFlags struct {
	cli.Common
	cli.Out
	graphmill.PackStreamOptions
	limits []string
	stream bool
}

// New makes the command pack.
func New(t *cli.Terminal) *cobra.Command {
	var f packFlags
	o := &f.PackOptions
	cmd := &cobra.Command{
		Use:   "pack HIST.csv|COLLECTION|SIZES.csv|-",
		Short: "Pack many small graphs into few packs of one fixed shape",
		Long: `Finds how to put small graphs into packs that keep a limit in each component
(nodes, edges, ...), with as few packs as can be, and proves how few that is: no
packing has fewer packs than the lower bound. Graphs come from a collection, or as
a histogram: a CSV of num_nodes,num_edges,count, with one to seven components of
any name.

Components of a collection are num_nodes, num_edges, num_nodes:TYPE,
num_edges:TYPE, and integer columns of the context.

Methods: auto runs a portfolio and keeps the best; dlpfhp is the published "tuple
longest-pack-first" algorithm and spfhp its first-fit variant, both to the digit;
best-fit, first-fit, next-fit (what dynamic batching does) and none are what else
people do. The result depends on neither threads nor the machine, unless
--time-budget is given.

--stream packs graphs of unknown number as they come, of which it holds --buffer:
sizes from a CSV with a graph a line, from stdin (-), or of a collection, in order.
It prints a JSON line a pack, or writes pack_ptr.npy and graph_id.npy to --out.
Graphs that --oversize alone sets apart are lines, or alone_id.npy, of their own.`,
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
			o.Run = f.Common.Run(t)
			o.Overwrite = f.Force
			if f.stream {
				return f.packStream(cmd, t, args[0])
			}
			p, err := graphmill.Pack(cmd.Context(), args[0], f.Path, *o)
			if err != nil {
				return err
			}
			return t.Print(p, f.AsJSON)
		},
	}
	f.AddThreads(cmd)
	fs := cmd.Flags()
	fs.StringVarP(&f.Path, "out", "o", "", "folder to write the pack layout to (default: only print)")
	fs.BoolVar(&f.Force, "force", false, "replace the folder if it is an output of graphmill")
	fs.StringArrayVar(&f.limits, "limit", nil, "COMPONENT=N, the limit of a pack; once for each component (required)")
	fs.IntVar(&o.MaxGraphs, "max-graphs", 0, "most graphs in a pack; 0 is no cap")
	fs.StringVar((*string)(&o.Method), "method", "", strings.Join(graphmill.PackMethods(), ", "))
	fs.StringVar(&o.Heuristic, "heuristic", "", "of dlpfhp, spfhp, best-fit and first-fit: "+strings.Join(graphmill.PackHeuristics(), ", ")+", weighted:W,W, or a component")
	fs.Float64Var(&o.Effort, "effort", 0, "how long auto works; 1 is worth about two seconds")
	fs.DurationVar(&o.TimeBudget, "time-budget", 0, "end auto by the clock, such as 30s; the result then depends on the machine")
	fs.StringVar((*string)(&o.Oversize), "oversize", "", "graphs that are larger than a pack: error, skip (left out and counted) or alone (packs of their own, apart)")
	fs.BoolVar(&o.Reserve, "reserve", false, "count a padding node of each type and a padding graph in the limits, for arrays of fixed shape")
	fs.IntVar(&o.Ranks, "ranks", 0, "make the number of packs a multiple of this")
	fs.BoolVar(&f.stream, "stream", false, "pack graphs as they come: SIZES.csv (a graph per line), - (stdin) or a COLLECTION, in order")
	fs.IntVar(&f.Buffer, "buffer", 0, "graphs that --stream holds")
	cli.Defaults(fs, map[string]string{"method": "auto", "heuristic": "product", "effort": "1", "oversize": "error", "ranks": "1", "buffer": "512"})
	cmd.AddCommand(newHist(t), newFill(t), newMaterialise(t), newTables(t), newTune(t))
	return cmd
}

// check reads the limits, and refuses zeros that stand for a default.
func (f *packFlags) check(cmd *cobra.Command) error {
	if err := f.Common.Check(); err != nil {
		return err
	}
	if !f.stream && cmd.Flags().Changed("buffer") {
		return cli.Usagef("found --buffer without --stream, which it belongs to")
	}
	if err := cli.Positive(cmd.Flags(), "effort", "ranks", "buffer"); err != nil {
		return err
	}
	f.Limits = nil
	for _, s := range f.limits {
		name, text, ok := strings.Cut(s, "=")
		n, err := strconv.ParseInt(text, 10, 32)
		if !ok || name == "" || err != nil || n < 0 {
			return cli.Usagef("found --limit %q, expected COMPONENT=N with an integer from 0 to 2^31 - 1, such as num_nodes=222", s)
		}
		f.Limits = append(f.Limits, graphmill.PackLimit{Component: name, Max: int(n)})
	}
	return nil
}

// packStream packs graphs as they come.
func (f *packFlags) packStream(cmd *cobra.Command, t *cli.Terminal, in string) error {
	o := f.PackStreamOptions
	o.In, o.Lines = t.Stdin, t.Stdout
	p, err := graphmill.PackStream(cmd.Context(), in, f.Path, o)
	if err != nil {
		return err
	}
	if f.AsJSON {
		return json.NewEncoder(t.Stdout).Encode(p)
	}
	if f.Path == "" {
		return p.Text(t.Stderr) // stdout has the packs
	}
	return t.Print(p, false)
}
