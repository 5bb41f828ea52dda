package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/option"
)

// policy is a flag whose value is one of several policies.
type policy struct {
	value *option.Policy
	takes string // "error|drop"
}

// Set parses a policy.
func (p policy) Set(s string) error {
	for _, name := range strings.Split(p.takes, "|") {
		if s == name {
			*p.value = option.Policy(s)
			return nil
		}
	}
	return fmt.Errorf("found %q, expected one of %s", s, strings.ReplaceAll(p.takes, "|", ", "))
}

// String returns the policy, or "" for the default.
func (p policy) String() string {
	if p.value == nil {
		return ""
	}
	return string(*p.value)
}

// Type returns the policies that the flag accepts, for the help.
func (p policy) Type() string { return p.takes }

// addBuildFlags adds the flags of the commands that make a store from edges.
func addBuildFlags(cmd *cobra.Command, o *option.Build, duplicates, loops string) {
	f := cmd.Flags()
	f.BoolVar(&o.Both, "both", false, "store the adjacency of both directions, not only of the primary one")
	f.Var(policy{&o.DuplicateEdges, "keep|drop|drop-equal|error|sum|count"}, "duplicate-edges", "how to treat edges with equal ends; drop keeps the first, drop-equal the first of those with equal columns, sum adds up its columns, count adds a column count")
	f.Var(policy{&o.SelfLoops, "keep|drop|error|add"}, "self-loops", "how to treat edges from a node to itself; add gives one to each node that has none")
	f.BoolVar(&o.LargestComponent, "largest-component", false, "keep only the nodes and edges of the largest component")
	f.Var(&splits{&o.Splits}, "split", "add a column split to a type, such as paper=0.8,0.1,0.1; at random, or in the order of a column (paper.year=0.8,0.1,0.1), or at two of its values (paper.year@2018,2020); can be repeated")
	f.Uint64Var(&o.SplitSeed, "split-seed", 0, "random seed of --split")
	f.StringArrayVar(&o.Normalise, "normalise", nil, "column whose rows to divide by the sum of their absolute values: feat, or paper.feat; can be repeated")
	cli.Defaults(f, map[string]string{"duplicate-edges": duplicates, "self-loops": loops})
	cli.Named(f, "SPLIT", "split")
	cli.Named(f, "COLUMN", "normalise")
	cli.Group(f, cli.GroupGraph, "*both", "*duplicate-edges", "*self-loops", "largest-component", "*split", "split-seed", "normalise")
}

// splits is a flag that adds a split each time it is given.
type splits struct{ list *[]option.Split }

// Set adds a split.
func (s *splits) Set(text string) error {
	split, err := option.ParseSplit(text)
	*s.list = append(*s.list, split)
	return err
}

// String returns the splits.
func (s *splits) String() string {
	if s.list == nil {
		return ""
	}
	var texts []string
	for _, x := range *s.list {
		texts = append(texts, x.String())
	}
	return strings.Join(texts, " ")
}

// Type returns the form of a split, for the help.
func (s *splits) Type() string { return "[TYPE][.COLUMN]=TRAIN,VALID,TEST" }
