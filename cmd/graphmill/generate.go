package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/generate"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
)

func newGenerate(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Make a synthetic graph",
		Example: `  graphmill generate rmat --scale 20 --edge-factor 16 --seed 1 --out rmat20.store
  graphmill generate community --nodes 2000000 --seed 1 --out community2m.store`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("found graph %q, expected rmat or community", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGenerateRMAT(t), newGenerateCommunity(t))
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
			made := store.Made{Command: "generate rmat", Seed: &seed, Law: draw.Version, Version: version(), Options: map[string]string{
				"scale": strconv.Itoa(scale), "edge_factor": strconv.Itoa(factor),
				"duplicate_edges": flags.duplicates.String(), "self_loops": flags.selves.String()}}
			r := t.begin("generate rmat", fmt.Sprintf("R-MAT graph, scale %d", scale), flags.common)
			return t.makeStore(cmd.Context(), pairsInput(law, law.Nodes()), flags.options(), &flags, made, r)
		},
	}
	flags.add(cmd)
	f := cmd.Flags()
	f.IntVar(&scale, "scale", 0, "2^SCALE nodes (required)")
	f.IntVar(&factor, "edge-factor", 16, "edges a node")
	f.Uint64Var(&seed, "seed", 0, "seed of the edges")
	return cmd
}

// pairsInput is a homogeneous graph whose edges a table lists as src and dst.
func pairsInput(edges table.Table, nodes uint64) assemble.Input {
	end := func(name string) table.Column { return table.Column{Name: name, DType: graph.Uint64, ID: true} }
	return assemble.Input{
		Nodes: []assemble.Nodes{{Type: graph.HomogeneousNode, Count: nodes}},
		Edges: []assemble.Edges{{Type: graph.HomogeneousEdge, Table: edges, Src: end("src"), Dst: end("dst")}},
	}
}

func newGenerateCommunity(t *terminal) *cobra.Command {
	var (
		flags buildFlags
		nodes int
		seed  uint64
	)
	cmd := &cobra.Command{
		Use:   "community",
		Short: "A power-law graph with communities in regions",
		Long: `Makes an undirected graph, each pair of neighbours listed once: degrees have a
density of d^-7/3; 65 % of the edges stay in their community, 20 % in its region, 15 % go
anywhere. Nodes are named at random. It is what partitioners are compared on. The same
parameters give the same graph on every machine.`,
		Example: `  graphmill generate community --nodes 2000000 --seed 1 --out community2m.store
  graphmill generate community --n 200000 --seed 7 --both --out small.store`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			opt := flags.options()
			if nodes > 0 && nodes <= generate.MaxCommunityNodes {
				opt.Held = int64(nodes) * generate.CommunityNodeBytes
			}
			if opt.Memory > 0 && opt.Held >= opt.Memory {
				return fmt.Errorf("found --memory %s, expected more than the %s that the law of %s nodes takes; give more, or fewer nodes",
					human.Bytes(opt.Memory), human.Bytes(opt.Held), human.Exact(int64(nodes)))
			}
			law, err := generate.NewCommunity(seed, nodes)
			if err != nil {
				return usageError{err}
			}
			made := store.Made{Command: "generate community", Seed: &seed, Version: version(), Options: map[string]string{
				"nodes": strconv.Itoa(nodes), "duplicate_edges": flags.duplicates.String(), "self_loops": flags.selves.String()}}
			r := t.begin("generate community", fmt.Sprintf("Community graph, %d nodes", nodes), flags.common)
			return t.makeStore(cmd.Context(), pairsInput(law, law.Nodes()), opt, &flags, made, r)
		},
	}
	flags.add(cmd)
	f := cmd.Flags()
	// The definition has each pair once, and no loops.
	for name, p := range map[string]*policy{"duplicate-edges": &flags.duplicates, "self-loops": &flags.selves} {
		p.value = assemble.Drop
		f.Lookup(name).DefValue = p.String()
	}
	f.IntVar(&nodes, "nodes", 0, "number of nodes (required)")
	f.IntVar(&nodes, "n", 0, "the same as --nodes")
	f.Uint64Var(&seed, "seed", 0, "seed of the graph")
	return cmd
}
