// Command library is a program of its own that uses Graphmill as a library: it imports CSV tables, reads features of
// sampled batches, and packs sampled subgraphs.
//
//	go run . TABLES OUT
//
// TABLES is a folder with a graph.yaml, such as ../../testdata/library; OUT is a folder for what it makes.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

func main() {
	ctx, tables, out := context.Background(), os.Args[1], os.Args[2]
	st, err := graphmill.Import(ctx, tables, out+"/papers.store", option.Import{})
	exitOn(err)
	defer st.Close()

	for b, err := range graphmill.Batches(ctx, st, option.Batches{Draw: option.Draw{Fanout: []int{3, 2}}, Batching: option.Batching{BatchSize: 4}}) {
		exitOn(err)
		x, err := graphmill.Column[float32](b, "paper", "x")
		exitOn(err)
		src, _ := b.Edges("paper:cites:paper")
		fmt.Printf("batch %d: %d nodes, %d edges, first row %v\n", b.Number, len(b.Nodes("paper")), len(src), x[:2])
	}

	_, err = graphmill.Sample(ctx, st, out+"/subgraphs", option.Sample{Draw: option.Draw{Fanout: []int{3, 2}, Scope: option.ScopeSeed}})
	exitOn(err)
	limits := []option.PackLimit{{Component: "num_nodes", Max: 8}, {Component: "num_edges", Max: 8}}
	p, err := graphmill.Pack(ctx, out+"/subgraphs", out+"/packs", option.Pack{Limits: limits})
	exitOn(err)
	fmt.Printf("%d subgraphs in %d packs\n", p.Graphs, p.Packs)
}

func exitOn(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
