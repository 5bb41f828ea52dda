package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/generate"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/ingest/build"
	"github.com/graphmill/graphmill/ingest/table"
	"github.com/graphmill/graphmill/store"
)

func newGenerate(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "generate",
		Short:   "Make a synthetic graph",
		Example: `  graphmill generate rmat --scale 20 --edge-factor 16 --seed 1 --out rmat20.store`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("found graph %q, expected rmat", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGenerateRMAT(t))
	return cmd
}

func newGenerateRMAT(t *terminal) *cobra.Command {
	var (
		flags         buildFlags
		scale, factor int
		seed          uint64
	)
	cmd := &cobra.Command{
		Use:   "rmat",
		Short: "An R-MAT graph as of Graph500: 2^scale nodes, edge-factor edges a node",
		Long: `Makes the R-MAT graph of Graph500 (A .57, B .19, C .19), its nodes renumbered
at random. Self-loops and duplicate edges stay. The same parameters give the
same graph on every machine.`,
		Example: `  graphmill generate rmat --scale 20 --edge-factor 16 --seed 1 --out rmat20.store
  graphmill generate rmat --scale 27 --edge-factor 16 --memory 1GiB --out big.store`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			law, err := generate.NewRMAT(seed, scale, factor)
			if err != nil {
				return usageError{err}
			}
			end := func(name string) table.Column { return table.Column{Name: name, DType: graph.Uint64, ID: true} }
			in := build.Input{
				Nodes: []build.Nodes{{Type: graph.HomogeneousNode, Count: law.Nodes()}},
				Edges: []build.Edges{{Type: graph.HomogeneousEdge, Table: law, Src: end("src"), Dst: end("dst")}},
			}
			made := store.Made{Command: "generate rmat", Seed: &seed, Version: version(), Options: map[string]string{
				"scale": strconv.Itoa(scale), "edge_factor": strconv.Itoa(factor),
				"duplicate_edges": flags.duplicates.String(), "self_loops": flags.selves.String()}}
			r := t.begin("generate rmat", fmt.Sprintf("R-MAT graph, scale %d", scale), flags.common)
			return t.makeStore(cmd.Context(), in, flags.options(), &flags, made, r)
		},
	}
	flags.add(cmd)
	f := cmd.Flags()
	f.IntVar(&scale, "scale", 0, "2^SCALE nodes (required)")
	f.IntVar(&factor, "edge-factor", 16, "edges a node")
	f.Uint64Var(&seed, "seed", 0, "seed of the edges")
	return cmd
}
